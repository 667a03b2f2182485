//! A configuration file before it has types: where values may still be set from outside, and
//! where an error finds its place in the text.

use std::ops::Range;

use serde_json::{Map, Value};
use toml::de::{DeTable, DeValue};

use super::config::Config;
use super::error::{ConfigError, did_you_mean};

/// A parsed file, with its text at hand for errors.
pub struct Document {
    name: String,
    text: String,
    tree: Value,
}

impl Document {
    /// Parses TOML, or JSON where the text starts with a brace.
    ///
    /// # Errors
    /// Where the text does not parse.
    pub fn parse(name: &str, text: &str) -> Result<Self, ConfigError> {
        let fail = |message: String, span| Err(ConfigError::new(name, text, message).at(span));
        let tree = if text.trim_start().starts_with('{') {
            match serde_json::from_str(text) {
                Ok(tree) => tree,
                Err(error) => {
                    let span = offset(text, error.line(), error.column());
                    return fail(format!("not JSON: {error}"), Some(span));
                }
            }
        } else {
            match toml::from_str(text) {
                Ok(tree) => tree,
                Err(error) => return fail(error.message().to_owned(), error.span()),
            }
        };
        Ok(Self { name: name.to_owned(), text: text.to_owned(), tree })
    }

    /// Sets the value at a dotted path. A reward is named by its index or by its name
    /// (`reward.correct.weight`). The value is read as TOML, else taken as text.
    ///
    /// # Errors
    /// A path that leads through something other than a table.
    pub fn set(&mut self, path: &str, value: &str) -> Result<(), ConfigError> {
        let value = Self::value(value);
        let mut place = &mut self.tree;
        for segment in path.split('.') {
            let Some(next) = step(place, segment) else {
                let message = format!("`{path}` cannot be set: nothing is called `{segment}`");
                return Err(ConfigError::new(&self.name, &self.text, message));
            };
            place = next;
        }
        *place = value;
        Ok(())
    }

    /// What is set by a text: read as TOML, else the text itself.
    pub fn value(text: &str) -> Value {
        match toml::from_str::<Value>(&format!("value = {text}")) {
            Ok(Value::Object(mut table)) => table.remove("value").unwrap_or(Value::Null),
            _ => Value::from(text),
        }
    }

    /// The typed configuration.
    ///
    /// # Errors
    /// An unknown key, or a value of the wrong type.
    pub fn config(&self) -> Result<Config, ConfigError> {
        let config: Config =
            serde_path_to_error::deserialize(&self.tree).map_err(|error| self.untyped(&error))?;
        if config.version != 1 {
            let message = format!("version {} is not known; this build reads 1", config.version);
            return Err(self.error("version", message));
        }
        Ok(config)
    }

    /// An error at a dotted path such as `reward[0].config.pattern`.
    pub fn error(&self, path: &str, message: impl Into<String>) -> ConfigError {
        ConfigError::new(&self.name, &self.text, message).at(self.locate(path))
    }

    fn untyped(&self, error: &serde_path_to_error::Error<serde_json::Error>) -> ConfigError {
        let message = error.inner().to_string();
        let mut path = error.path().to_string();
        let unknown = quoted(&message).next().filter(|_| message.starts_with("unknown field"));
        if let Some(key) = unknown
            && path.rsplit(['.', ']']).next() != Some(key)
        {
            path = if path == "." { key.to_owned() } else { format!("{path}.{key}") };
        }
        self.error(&path, format!("`{path}`: {message}")).help(suggestion(&message))
    }

    /// The bytes of the key at a dotted path, or of the nearest thing above it that is there.
    fn locate(&self, path: &str) -> Option<Range<usize>> {
        let document = DeTable::parse(&self.text).ok()?;
        let mut value = &DeValue::Table(document.get_ref().clone());
        let mut span = None;
        for segment in path.split(['.', '[', ']']).filter(|segment| !segment.is_empty()) {
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
            let Some((at, below)) = next else { break };
            span = Some(at);
            value = below.get_ref();
        }
        span
    }
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
        let tree = serde_json::to_value(&config).unwrap_or_default();
        let text = toml::to_string(&tree).unwrap_or_default();
        Self { name: "configuration".to_owned(), text, tree }
    }
}

/// One step of a path that is being set: makes tables as it goes.
fn step<'a>(place: &'a mut Value, segment: &str) -> Option<&'a mut Value> {
    if place.is_null() {
        *place = Value::Object(Map::new());
    }
    match place {
        Value::Object(table) => Some(table.entry(segment).or_insert(Value::Null)),
        Value::Array(values) => {
            let named = |value: &Value| value.get("name").and_then(Value::as_str) == Some(segment);
            let at = segment.parse().ok().or_else(|| values.iter().position(named))?;
            values.get_mut(at)
        }
        _ => None,
    }
}

/// Serde lists what it expected in backticks after the word that it did not know.
pub(super) fn suggestion(message: &str) -> Option<String> {
    if !message.starts_with("unknown ") {
        return None;
    }
    let mut words = quoted(message);
    let unknown = words.next()?;
    did_you_mean(unknown, words).map(|near| format!("did you mean `{near}`?"))
}

fn quoted(message: &str) -> impl Iterator<Item = &str> {
    message.split('`').skip(1).step_by(2)
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
        let error = Config::parse("c.toml", &text).unwrap_err();
        assert_eq!(error.help.as_deref(), Some("did you mean `verifier`?"));
        assert_eq!(&text[error.span().unwrap()], "verifer");
        let error = Config::parse("c.toml", "version = 1\nrewards = 2\n").unwrap_err();
        assert_eq!(error.help.as_deref(), Some("did you mean `reward`?"));
        let error = Config::parse("c.toml", "version = 2").unwrap_err();
        assert!(error.message.contains("this build reads 1"));
    }

    #[test]
    fn json_is_read_too() {
        let json = r#"{"version": 1, "reward": [{"name": "a", "verifier": "exact"}]}"#;
        assert_eq!(Config::parse("c.json", json).unwrap().rewards[0].name, "a");
        assert!(Config::parse("c.json", "{\"version\": }").unwrap_err().span().is_some());
    }
}
