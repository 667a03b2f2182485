//! A configuration file before it has types: where values may still be set from outside, and
//! where an error finds its place in the text.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use assay_verifiers::code::Code;
use assay_verifiers::from_value::{self, steps};
use assay_verifiers::{BuildError, toml_bounds};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use toml::de::{DeTable, DeValue};

use super::config::Config;
use super::error::ConfigError;
use super::help;
use super::preset;
use super::unique_keys::UniqueKeys;
use crate::data::Preset;

/// A parsed file, with its text at hand for errors.
#[derive(Clone)]
pub struct Document {
    name: String,
    text: String,
    tree: Value,
    /// What was set from outside, the last one last.
    sets: Vec<Set>,
}

/// Where the text has a value: its key, or the value where it has none, and the value.
struct Located {
    key: Range<usize>,
    value: Range<usize>,
}

/// A value that was set from outside.
#[derive(Clone)]
struct Set {
    path: Vec<String>,
    origin: Origin,
}

/// Where a value comes from that is not in the file.
#[derive(Clone, Debug)]
pub struct Origin {
    /// What messages call the place, such as `command line`.
    pub place: &'static str,
    /// The flag or the variable as it was written.
    pub text: String,
    /// The bytes of the key in it.
    pub key: Range<usize>,
}

/// The most parts of a key that is set from outside: each becomes a table within a table.
const SEGMENTS_MAX: usize = 32;

impl Document {
    /// Parses TOML, or JSON where the text starts with a brace.
    ///
    /// # Errors
    /// Where the text does not parse.
    pub fn parse(name: &str, text: &str) -> Result<Self, ConfigError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let tree = if text.trim_start().starts_with('{') {
            json(name, text)?
        } else {
            read_toml(name, text)?
        };
        let document =
            Self { name: name.to_owned(), text: text.to_owned(), tree, sets: Vec::new() };
        if document.is_json()
            && let Some(error) = ConfigError::of_rows(name, text, &document.tree)
        {
            return Err(error);
        }
        Ok(document)
    }

    /// Sets the value at a dotted path. A reward is named by its index or by its name
    /// (`reward.correct.weight`). The value is read as TOML, else taken as text.
    ///
    /// # Errors
    /// A path that leads through something other than a table.
    pub fn set(&mut self, path: &str, value: &str) -> Result<(), ConfigError> {
        let text = format!("{path}={value}");
        self.set_by(path, value, Origin { place: "setting", text, key: 0..path.len() })
    }

    /// The same; errors point at where the value comes from.
    ///
    /// # Errors
    /// A path that leads through something other than a table.
    pub fn set_by(&mut self, path: &str, value: &str, origin: Origin) -> Result<(), ConfigError> {
        if path.split('.').count() > SEGMENTS_MAX {
            let message = format!("the key has more than {SEGMENTS_MAX} parts");
            return Err(origin.error(message));
        }
        if ["nan", "inf", "+nan", "-nan", "+inf", "-inf"].contains(&value.trim()) {
            let message =
                format!("`{}`: expected a finite number, found {}", path.trim(), value.trim());
            return Err(origin.error(message));
        }
        let value = Self::value(value.trim());
        let path = path.trim();
        if path.starts_with("reward.") {
            // A part of a reward of the preset can be set.
            let rewards = self.filled()?.get("reward").cloned();
            if let (Some(rewards), Some(own)) = (rewards, self.tree.as_object_mut()) {
                own.entry("reward").or_insert(rewards);
            }
        }
        let mut place = &mut self.tree;
        let mut resolved = Vec::new();
        for segment in steps(path) {
            let known = names(place);
            let (name, Some(next)) = step(place, segment) else {
                let message = format!("`{path}` cannot be set: nothing is called `{segment}`");
                let error = origin.error(message).code(Code::UnknownName);
                return Err(error.known(segment, known.iter().map(String::as_str)));
            };
            resolved.push(name);
            place = next;
        }
        *place = value;
        self.sets.push(Set { path: resolved, origin });
        Ok(())
    }

    /// What is set by a text: read as TOML, else the text itself.
    pub fn value(text: &str) -> Value {
        let read = toml::from_str::<toml::Table>(&format!("value = {text}")).ok();
        let value = read.and_then(|mut table| table.remove("value"));
        // No setting is a date: what looks like one is text.
        let value = value.filter(|value| !value.is_datetime());
        let value = value.and_then(|value| serde_json::to_value(value).ok());
        value.unwrap_or_else(|| Value::from(text))
    }

    /// The typed configuration.
    ///
    /// # Errors
    /// An unknown key, or a value of the wrong type.
    pub fn config(&self) -> Result<Config, ConfigError> {
        let tree = self.filled()?;
        let config: Config = from_value::read(&tree).map_err(|error| self.untyped(error, &tree))?;
        if config.version != 1 {
            let message = format!("version {} is not known; this build reads 1", config.version);
            return Err(self.error("version", message).code(Code::Version));
        }
        Ok(config)
    }

    /// The tree, with what a preset of the data says.
    fn filled(&self) -> Result<Cow<'_, Value>, ConfigError> {
        preset::filled(&self.tree).map_err(|name| {
            let message = format!("data.preset: no preset is called \"{name}\"");
            let error = self.error("data.preset", message).code(Code::UnknownName);
            error.known(name, Preset::names())
        })
    }

    /// What a table at a path is refused for.
    pub fn refused(&self, table: &str, error: BuildError) -> ConfigError {
        let key = match error.setting.as_str() {
            "" => table.to_owned(),
            setting => format!("{table}.{setting}"),
        };
        let help = help::plain(&error, self.text_at(&key));
        let BuildError { code, found, expected, message, place, .. } = error;
        let wrong = match place {
            Some(part) => self.error_in(&key, *part, message),
            None => self.error(&key, message),
        };
        wrong.code(code).help(help).taking(found, expected)
    }

    /// An error at a dotted path such as `reward[0].config.pattern`.
    pub fn error(&self, path: &str, message: impl Into<String>) -> ConfigError {
        self.placed(&steps(path), message.into()).of(path)
    }

    fn placed(&self, segments: &[&str], message: String) -> ConfigError {
        if let Some(set) = self.sets.iter().rev().find(|set| set.is_at(segments)) {
            return set.origin.error(message);
        }
        let (found, depth) = self.locate(segments);
        // What a preset says is not in the text.
        let named =
            || self.locate(&["data", "preset"]).0.filter(|_| preset::name(&self.tree).is_some());
        let span = found.or_else(named).map(|found| found.key);
        let below = |set: &&Set| depth < segments.len() && set.is_below(segments);
        match self.sets.iter().rev().find(below) {
            Some(set) => set.origin.error(message),
            None => ConfigError::new(&self.name, &self.text, message).at(span),
        }
    }

    /// The same at some bytes of the text that is at the path, where the file has that text as it is.
    pub fn error_in(
        &self,
        path: &str,
        part: Range<usize>,
        message: impl Into<String>,
    ) -> ConfigError {
        let whole = self.error(path, message);
        let segments = steps(path);
        let is_set = self.sets.iter().any(|set| set.is_at(&segments) || set.is_below(&segments));
        let written = || {
            let value = self.value_at(&segments)?.as_str().filter(|text| part.end <= text.len())?;
            let (found, depth) = self.locate(&segments);
            let span = found.filter(|_| depth == segments.len())?.value;
            let start = span.start + self.text.get(span)?.find(value)?;
            Some(start + part.start..start + part.end)
        };
        let span = if is_set { None } else { written() };
        if span.is_some() { whole.at(span) } else { whole }
    }

    /// The text at a dotted path.
    pub(super) fn text_at(&self, path: &str) -> Option<&str> {
        self.value_at(&steps(path))?.as_str()
    }

    fn value_at(&self, segments: &[&str]) -> Option<&Value> {
        segments.iter().try_fold(&self.tree, |at, segment| match at {
            Value::Object(table) => table.get(*segment),
            Value::Array(values) => values.get(segment.parse::<usize>().ok()?),
            _ => None,
        })
    }

    /// An error that is not about one place.
    fn whole(&self, message: impl Into<String>) -> ConfigError {
        let span = (!self.text.is_empty()).then_some(0..1);
        ConfigError::new(&self.name, &self.text, message).at(span)
    }

    fn is_json(&self) -> bool {
        self.text.trim_start().starts_with('{')
    }

    fn untyped(&self, error: BuildError, tree: &Value) -> ConfigError {
        let path = error.setting.clone();
        let parts = steps(&path);
        let is_set = self.sets.iter().any(|set| set.is_at(&parts) || set.is_below(&parts));
        let help = help::in_config(&error, self.text_at(&path), tree, is_set);
        let BuildError { code, found, expected, message, .. } = error;
        let error = if self.text.trim().is_empty() && self.sets.is_empty() {
            self.whole("the configuration is empty").of(&path)
        } else if path.is_empty() || parts.len() == 1 && code == Code::MissingKey {
            self.whole(message).of(&path)
        } else {
            let told = match code {
                Code::UnknownKey => format!("unknown key `{path}`"),
                Code::MissingKey => format!("missing key `{path}`"),
                _ => format!("`{path}`: {message}"),
            };
            self.error(&path, told)
        };
        error.code(code).help(help).taking(found, expected)
    }

    /// The bytes of the key at a dotted path, or of the nearest thing above it that is there, and how
    /// many steps of the path lead to it.
    fn locate(&self, segments: &[&str]) -> (Option<Located>, usize) {
        if self.is_json() { self.locate_json(segments) } else { self.locate_toml(segments) }
    }

    fn locate_json(&self, segments: &[&str]) -> (Option<Located>, usize) {
        let base = self.text.as_ptr().addr();
        let mut value = self.text.as_str();
        let (mut found, mut depth) = (None, 0);
        for segment in segments {
            let next = match value.trim_start().chars().next() {
                Some('{') => serde_json::from_str::<BTreeMap<Cow<'_, str>, &RawValue>>(value)
                    .ok()
                    .and_then(|table| table.get(*segment).copied()),
                Some('[') => serde_json::from_str::<Vec<&RawValue>>(value)
                    .ok()
                    .and_then(|values| values.get(segment.parse::<usize>().ok()?).copied()),
                _ => None,
            };
            let Some(next) = next else { break };
            value = next.get();
            let start = value.as_ptr().addr() - base;
            let line = start..start + value.lines().next().unwrap_or_default().len();
            found = Some(Located { key: line.clone(), value: line });
            depth += 1;
        }
        (found, depth)
    }

    fn locate_toml(&self, segments: &[&str]) -> (Option<Located>, usize) {
        let Ok(document) = DeTable::parse(&self.text) else { return (None, 0) };
        let mut value = &DeValue::Table(document.get_ref().clone());
        let (mut found, mut depth) = (None, 0);
        for segment in segments {
            let next = match value {
                DeValue::Table(table) => {
                    let found = table.iter().find(|(key, _)| key.get_ref() == segment);
                    found.map(|(key, value)| (key.span(), value))
                }
                DeValue::Array(values) => segment
                    .parse()
                    .ok()
                    .and_then(|at: usize| values.get(at))
                    .map(|value| (value.span(), value)),
                _ => None,
            };
            let Some((key, below)) = next else { break };
            found = Some(Located { key, value: below.span() });
            value = below.get_ref();
            depth += 1;
        }
        (found, depth)
    }
}

impl Origin {
    fn error(&self, message: impl Into<String>) -> ConfigError {
        ConfigError::new(self.place, &self.text, message).at(Some(self.key.clone()))
    }
}

impl Set {
    /// Whether the path leads to what was set, or into it.
    fn is_at(&self, path: &[&str]) -> bool {
        path.len() >= self.path.len() && self.path.iter().zip(path).all(|(own, other)| own == other)
    }

    /// Whether what was set is below the path.
    fn is_below(&self, path: &[&str]) -> bool {
        path.len() < self.path.len() && self.path.iter().zip(path).all(|(own, other)| own == other)
    }
}

fn json(name: &str, text: &str) -> Result<Value, ConfigError> {
    let read = serde_json::from_str(text);
    let read = read.and_then(|tree: Value| serde_json::from_str::<UniqueKeys>(text).map(|_| tree));
    read.map_err(|error| {
        // Lines of objects are rows.
        let mut objects =
            serde_json::Deserializer::from_str(text).into_iter::<Map<String, Value>>();
        if let (Some(Ok(first)), Some(_)) = (objects.next(), objects.next())
            && let Some(error) = ConfigError::of_rows(name, text, &Value::Object(first))
        {
            return error;
        }
        let at = offset(text, error.line(), error.column());
        let code = if error.is_data() { Code::DuplicateKey } else { Code::Syntax };
        ConfigError::new(name, text, format!("not JSON: {error}")).code(code).at(Some(at))
    })
}

/// What a line of a configuration can be.
const LINES: &str = "a line is KEY = VALUE, [TABLE] or [[LIST OF TABLES]]; a text is in quotes, and single quotes hold \
                     backslashes as they are; a comment begins with #";

fn read_toml(name: &str, text: &str) -> Result<Value, ConfigError> {
    let fail = |code, message: String, span| {
        Err(ConfigError::new(name, text, message).code(code).at(span))
    };
    if let Some(message) = toml_bounds::excess(text) {
        return fail(Code::Limit, message, Some(0..1));
    }
    match toml::from_str(text) {
        Ok(tree) => match odd_value(text) {
            Some((message, span)) => fail(Code::WrongType, message, Some(span)),
            None => Ok(tree),
        },
        Err(error) => {
            let rows = serde_json::from_str::<Value>(text).ok();
            let rows = rows.and_then(|tree| ConfigError::of_rows(name, text, &tree));
            let other = rows.or_else(|| ConfigError::of_language(name, text));
            Err(other.unwrap_or_else(|| {
                let at = error.span().unwrap_or(0..1);
                let error = ConfigError::new(name, text, error.message()).code(Code::Syntax);
                error.at(Some(at)).help(Some(LINES.to_owned()))
            }))
        }
    }
}

/// A value that JSON has not, and no setting takes: a date, or a number that is not finite. What is wrong,
/// and the place.
fn odd_value(text: &str) -> Option<(String, Range<usize>)> {
    fn within(value: &toml::Spanned<DeValue<'_>>) -> Option<(bool, Range<usize>)> {
        match value.get_ref() {
            DeValue::Float(float) => {
                let digits = float.as_str().trim_start_matches(['+', '-']);
                ["nan", "inf"].contains(&digits).then(|| (false, value.span()))
            }
            DeValue::Datetime(_) => Some((true, value.span())),
            DeValue::Array(values) => values.iter().find_map(within),
            DeValue::Table(table) => table.iter().find_map(|(_, value)| within(value)),
            _ => None,
        }
    }
    let document = DeTable::parse(text).ok()?;
    let (is_date, span) = document.get_ref().iter().find_map(|(_, value)| within(value))?;
    let line = text.get(..span.start)?.rfind('\n').map_or(0, |end| end + 1);
    let told = text.get(line..)?.lines().next()?.trim();
    let found = text.get(span.clone())?;
    let message = if is_date {
        format!("{told}: found the date {found}, and no setting is a date: write \"{found}\"")
    } else {
        format!("{told}: expected a finite number, found {found}")
    };
    Some((message, span))
}

impl Config {
    /// Reads a configuration: TOML, or JSON of the same shape where the text starts with a brace.
    ///
    /// # Errors
    /// Where the text does not parse, a key is unknown, or a value is out of place; the error
    /// points at it.
    pub fn parse(name: &str, text: &str) -> Result<Self, ConfigError> {
        Document::parse(name, text)?.config()
    }
}

impl From<Config> for Document {
    /// A configuration that was made in a program. Errors point into it as if it were a file.
    fn from(config: Config) -> Self {
        let mut tree = serde_json::to_value(&config).unwrap_or_default();
        if config.data.preset.is_some() {
            preset::leave_defaults(&mut tree);
        }
        let text = toml::to_string(&tree).unwrap_or_default();
        Self { name: "configuration".to_owned(), text, tree, sets: Vec::new() }
    }
}

/// The names at a place: of a table its keys, of a list those of its entries.
fn names(place: &Value) -> Vec<String> {
    match place {
        Value::Object(table) => table.keys().cloned().collect(),
        Value::Array(values) => values
            .iter()
            .filter_map(|value| value.get("name").and_then(Value::as_str).map(str::to_owned))
            .collect(),
        _ => Vec::new(),
    }
}

/// One step of a path that is being set, and its name from then on: makes tables as it goes.
fn step<'a>(place: &'a mut Value, segment: &str) -> (String, Option<&'a mut Value>) {
    if place.is_null() {
        *place = Value::Object(Map::new());
    }
    match place {
        Value::Object(table) => {
            (segment.to_owned(), Some(table.entry(segment).or_insert(Value::Null)))
        }
        Value::Array(values) => {
            let named = |value: &Value| value.get("name").and_then(Value::as_str) == Some(segment);
            let at = segment.parse().ok().or_else(|| values.iter().position(named));
            match at {
                Some(at) => (at.to_string(), values.get_mut(at)),
                None => (segment.to_owned(), None),
            }
        }
        _ => (segment.to_owned(), None),
    }
}

fn offset(text: &str, line: usize, column: usize) -> Range<usize> {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let at = (start + column.saturating_sub(1)).min(text.len());
    at..at
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "version = 1\n[[reward]]\nname = 'a'\nverifier = 'exact'\n";

    #[test]
    fn values_are_set_by_path() {
        let mut document = Document::parse("c.toml", TEXT).unwrap();
        document.set("reward.a.weight", "0.5").unwrap();
        document.set("reward.0.config.ignore_case", "true").unwrap();
        document.set("combine.how", "min").unwrap();
        let config = document.config().unwrap();
        assert_eq!(config.rewards[0].weight.constant(), Some(0.5));
        assert_eq!(config.rewards[0].config["ignore_case"], true);
        assert!(document.set("reward.b.weight", "1").is_err());
        assert!(document.set("version.x", "1").is_err());
    }

    #[test]
    fn an_unknown_key_is_pointed_at() {
        let text = TEXT.replace("verifier", "verifer");
        for (text, code, key, shown) in [
            (text.as_str(), Code::UnknownKey, "reward[0].verifer", "verifer"),
            ("version = 1\nrewards = 2\n", Code::UnknownKey, "rewards", "rewards"),
            ("version = 2", Code::Version, "version", "version"),
            ("version = 1\n[[combine]]\nhow = 'min'", Code::WrongType, "combine", "combine"),
            ("version = 1\n[reward]\nname = 'a'", Code::WrongType, "reward", "reward"),
        ] {
            let error = Config::parse("c.toml", text).unwrap_err();
            assert_eq!((error.code, error.setting()), (code, Some(key)), "{error}");
            assert_eq!(&text[error.span().unwrap()], shown);
        }
    }

    #[test]
    fn a_part_of_a_text_is_pointed_at() {
        let json = r#"{"version": 1, "reward": [{"name": "a", "when": "meta.kin > 1"}]}"#;
        let toml = "version = 1\n[[reward]]\nname = 'a'\nwhen = '''\nmeta.kin > 1'''\n";
        for text in [json, toml] {
            let document = Document::parse("c", text).unwrap();
            let at = document.error_in("reward[0].when", 5..8, "m").span().unwrap();
            assert_eq!(&text[at], "kin");
            let beyond = document.error_in("reward[0].when", 5..80, "m").span();
            assert_eq!(beyond, document.error("reward[0].when", "m").span());
        }
        let mut document = Document::parse("c", toml).unwrap();
        document.set("reward.a.when", "meta.kin > 2").unwrap();
        assert_eq!(document.error_in("reward[0].when", 5..8, "m").name(), "setting");
    }

    #[test]
    fn json_is_read_too() {
        let json = r#"{"version": 1, "reward": [{"name": "a", "verifier": "exact"}]}"#;
        assert_eq!(Config::parse("c.json", json).unwrap().rewards[0].name, "a");
        assert!(Config::parse("c.json", "{\"version\": }").unwrap_err().span().is_some());
    }
}
