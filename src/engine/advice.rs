//! What to type where a key or a value of a configuration is wrong.

use serde_json::{Map, Value};

use super::config::Config;
use super::error::did_you_mean;
use super::quantities::{number, quantity};
use super::{foreign, wording};

/// The tables and values at the top of a configuration, those first in which most keys are looked for.
pub(super) const ROOMS: [&str; 12] = [
    "version",
    "data",
    "combine",
    "limits",
    "cache",
    "reward",
    "judges",
    "serve",
    "train",
    "advantage",
    "select",
    "loss",
];

/// The tables whose keys people write into a reward.
const BESIDE_REWARDS: [&str; 4] = ["data", "combine", "limits", "cache"];

/// Keys that no key of ours stands for, and what to write in their place.
const ELSEWHERE: [(&[&str], &str); 5] = [
    (
        &["sandbox", "memory", "memory_mb"],
        "what programs may use is a setting of their verifier: config = { limits = { ... } } (`assay show unit_tests`)",
    ),
    (
        &["include", "extends", "defaults"],
        "a configuration is one file; what differs is set by --set KEY=VALUE",
    ),
    (
        &["reward_weights"],
        "a weight stands in the reward itself: write weight = 1.0 in each [[reward]]",
    ),
    (&["batch_size"], "rows are batched by themselves: leave it out; --jobs N sets the threads"),
    (&["port", "host"], "write bind = \"127.0.0.1:7878\""),
];

/// Keys that others switch a reward off by.
const SWITCHES: [&str; 4] = ["enabled", "disabled", "active", "skip"];

/// What the data of a run are called by.
const DATA_ARE_ARGUMENTS: &str = "[data] says which columns mean what; the files are named on the command line: assay score CONFIG DATA";

/// The kinds of a schedule, each with what it asks for.
const SCHEDULES: [(&str, &str); 4] = [
    ("linear", "from = 0.0, to = 1.0, end = 1000"),
    ("cosine", "from = 0.0, to = 1.0, end = 1000"),
    ("exponential", "from = 1.0, to = 0.1, end = 1000"),
    ("step", "from = 1.0, changes = [[1000, 0.5]]"),
];

/// A value, or a key, that a configuration cannot have.
pub(super) struct Slip<'a> {
    pub(super) tree: &'a Value,
    /// The dotted path of the place.
    pub(super) path: &'a str,
    /// What serde says.
    pub(super) message: &'a str,
    /// Whether a flag or a variable set it.
    pub(super) is_set: bool,
}

impl Slip<'_> {
    /// What to type.
    pub(super) fn help(&self) -> Option<String> {
        let first = foreign::FIRST;
        let message = self.message;
        if message.starts_with("missing field `version`") {
            return Some(format!("begin with\n{first}\nor let `assay init` write one"));
        }
        let parts = segments(self.path);
        if message.starts_with("unknown field") {
            return self.unknown(&parts);
        }
        match *parts.as_slice() {
            ["version"] => Some("write version = 1".to_owned()),
            ["reward"] => match self.tree.get("reward") {
                Some(Value::Object(table)) => Some(of_one_table(table)),
                _ => Some(reward_table()),
            },
            ["reward", at] => {
                let table = self.tree.get("reward")?.get(at.parse::<usize>().ok()?)?;
                let id = table.get("verifier").and_then(Value::as_str).unwrap_or("math");
                Some(if message.starts_with("missing field `name`") {
                    format!("write name = \"{id}\", or any name of your own")
                } else if message.starts_with("missing field `verifier`") {
                    "write verifier = \"math\"; `assay list` names all".to_owned()
                } else {
                    reward_table()
                })
            }
            ["reward", _, "shape"] => Some("write shape = [{ kind = ... }]".to_owned()),
            ["reward", _, "shape", at] => {
                let kind = self.value(&parts).and_then(Value::as_str).unwrap_or("clip");
                at.parse::<usize>()
                    .ok()
                    .map(|_| format!("write shape = [{{ kind = \"{kind}\", ... }}]"))
            }
            ["reward", _, "config"] => Some("write config = { KEY = VALUE }".to_owned()),
            ["reward", _, "weight"] if message.contains("missing field") => {
                let kind =
                    self.value(&parts).and_then(|own| own.get("kind")).and_then(Value::as_str);
                let own = SCHEDULES.iter().find(|(known, _)| kind == Some(known));
                let (kind, rest) = own.or(SCHEDULES.first())?;
                Some(format!("write weight = {{ kind = \"{kind}\", {rest} }}"))
            }
            ["judges", key] | ["judges", key, ..] if !self.is_table(&["judges", key]) => Some(
                "a judge has a name: write [judges.NAME], and judge = \"NAME\" where it is asked"
                    .to_owned(),
            ),
            _ => suggestion(message).or_else(|| self.mistyped(&parts)),
        }
    }

    /// What to type for a value of another type.
    fn mistyped(&self, parts: &[&str]) -> Option<String> {
        let (key, value) = (*parts.last()?, self.value(parts)?);
        if let [section] = *parts
            && !value.is_object()
        {
            return Some(as_table(section, value));
        }
        let words = || {
            let words = words_at(parts).filter(|_| self.message.starts_with("invalid type"))?;
            let words: Vec<String> =
                words.iter().map(|word| format!("{key} = \"{word}\"")).collect();
            Some(format!("write {}", words.join(", or ")))
        };
        words().or_else(|| typed(key, value, self.message))
    }

    /// What to type for a key that the place has not.
    fn unknown(&self, parts: &[&str]) -> Option<String> {
        let (key, above) = parts.split_last()?;
        let value = self.value(parts);
        let near = suggestion(self.message);
        let own = match *above {
            ["reward", at] => Some(self.setting(at, key, value)),
            _ => None,
        };
        if above.is_empty()
            && let Some(name) = self.rewards().find(|name| name == key)
        {
            return Some(format!(
                "a reward is set by reward.NAME.KEY, as in --set reward.{name}.weight=0.5"
            ));
        }
        if let Some((_, help)) = ELSEWHERE.iter().find(|(words, _)| words.contains(key)) {
            return Some((*help).to_owned());
        }
        if matches!(*above, ["reward", _]) && SWITCHES.contains(key) {
            let help = "write weight = 0.0: the reward is reported then, and has no say";
            return Some(help.to_owned());
        }
        if *key == "version" {
            return Some("it stands at the top, before the first table: version = 1".to_owned());
        }
        if !above.is_empty() && ROOMS.contains(key) && (own.is_none() || near.is_none()) {
            let table = value.map_or_else(|| format!("[{key}]"), |value| as_table(key, value));
            return Some(format!("it is a table of its own: {table}"));
        }
        let home = home(key, above).map(|place| {
            let value = value.map_or_else(|| "...".to_owned(), in_one_line);
            format!("it stands in {place}: write\n{place}\n{key} = {value}")
        });
        // A word of others is most likely meant for the place where it stands.
        let stays = near.is_some() && !above.is_empty();
        match (home, near) {
            (Some(home), _) if !stays => Some(match own {
                Some(own) => format!("{home}\nElse: {own}"),
                None => home,
            }),
            (_, Some(near)) if near == "did you mean `reward`?" && above.is_empty() => {
                Some(format!("{near} {}", reward_table()))
            }
            (_, Some(near)) => {
                Some(own.map_or_else(|| near.clone(), |own| format!("{near} Else: {own}")))
            }
            (_, None) => match *above {
                ["data"] if ["path", "file", "files", "train_files", "dataset"].contains(key) => {
                    Some(DATA_ARE_ARGUMENTS.to_owned())
                }
                ["data"] if *key == "columns" => Some(
                    "the columns stand in [data] itself, as in prompt = \"question\"".to_owned(),
                ),
                _ => own,
            },
        }
    }

    /// Where a setting of the verifier stands.
    fn setting(&self, at: &str, key: &str, value: Option<&Value>) -> String {
        if self.is_set {
            let name = at.parse::<usize>().ok().and_then(|at| self.rewards().nth(at));
            let name = name.unwrap_or("NAME");
            return format!("a setting of the verifier is set by reward.{name}.config.{key}");
        }
        let value = value.map(in_one_line).unwrap_or_default();
        format!("a setting of the verifier stands in config = {{ {key} = {value} }}")
    }

    fn rewards(&self) -> impl Iterator<Item = &str> {
        let rewards = self.tree.get("reward").and_then(Value::as_array).into_iter().flatten();
        rewards.map(|reward| reward.get("name").and_then(Value::as_str).unwrap_or_default())
    }

    fn value(&self, parts: &[&str]) -> Option<&Value> {
        parts.iter().try_fold(self.tree, |at, part| match at {
            Value::Array(values) => values.get(part.parse::<usize>().ok()?),
            other => other.get(part),
        })
    }

    fn is_table(&self, parts: &[&str]) -> bool {
        self.value(parts).is_some_and(Value::is_object)
    }
}

/// What is wrong with the tables at the top: one that is written as a list of tables has its path, what
/// is wrong and what to type.
pub(super) fn listed_table(tree: &Value) -> Option<(String, &'static str, String)> {
    let table = tree.as_object()?;
    let wrong = "expected a table, found an array";
    let listed = |(key, value): (&String, &Value)| {
        (key != "reward" && key != "version" && value.is_array()).then(|| key.clone())
    };
    if let Some(key) = table.iter().find_map(listed) {
        let help = match key.as_str() {
            "judges" => "a judge has a name: write [judges.NAME]".to_owned(),
            _ => format!("write [{key}], in one pair of brackets"),
        };
        return ROOMS.contains(&key.as_str()).then_some((key, wrong, help));
    }
    let judges = table.get("judges").and_then(Value::as_object).into_iter().flatten();
    if let Some((name, _)) = judges.into_iter().find(|(_, judge)| judge.is_array()) {
        let help = format!("write [judges.{name}], in one pair of brackets");
        return Some((format!("judges.{name}"), wrong, help));
    }
    let mut rewards = table.get("reward").and_then(Value::as_array)?.iter();
    let at = rewards.position(Value::is_array)?;
    Some((format!("reward[{at}]"), wrong, reward_table()))
}

/// How a value that was written in another type is written in the one that `message` expects; `None`
/// where that is not plain.
pub(super) fn typed(key: &str, value: &Value, message: &str) -> Option<String> {
    let (_, expected) = message.rsplit_once(", expected ").or_else(|| {
        let (before, _) = message.rsplit_once(", found ")?;
        Some(("", before.rsplit_once("expected ")?.1))
    })?;
    let expected = wording::wanted(expected);
    let written = match (expected.as_str(), value) {
        (words, Value::String(text)) if words.starts_with("an integer") => quantity(key, text)?,
        (words, Value::Number(number)) if words.starts_with("an integer") => {
            let whole = number.as_f64().filter(|float| number.is_f64() && float.fract() == 0.0)?;
            format!("{whole:.0}")
        }
        (words, Value::String(text)) if words.starts_with("a number") => number(text)?,
        (words, _) if words.starts_with("a number") => "1.0".to_owned(),
        ("a boolean", Value::String(text)) => match text.to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" | "1" => "true".to_owned(),
            "false" | "no" | "off" | "0" => "false".to_owned(),
            _ => return None,
        },
        ("a boolean", Value::Number(number)) => (number.as_f64()? != 0.0).to_string(),
        ("a string", Value::Number(port)) if key == "bind" => format!("\"127.0.0.1:{port}\""),
        ("a string", Value::Number(number)) if key == "decimals" => {
            format!(
                "{{ relative = {} }}",
                number.as_f64().filter(|share| (0.0..1.0).contains(share))?
            )
        }
        ("a string", Value::Number(number)) => format!("\"{number}\""),
        ("a string", Value::Array(values)) => match values.as_slice() {
            [Value::String(text)] => Value::from(text.as_str()).to_string(),
            _ if key == "verifier" => return Some("write a [[reward]] for each".to_owned()),
            _ => return None,
        },
        (words, Value::String(text)) if words.starts_with("an array") => as_array(text, words)?,
        (words, Value::Object(table)) if words.starts_with("an array of 2") => {
            let bound = |keys: [&str; 3]| keys.iter().find_map(|key| table.get(*key));
            let (low, high) = (bound(["min", "low", "lower"])?, bound(["max", "high", "upper"])?);
            format!("[{}, {}]", in_one_line(low), in_one_line(high))
        }
        (words, Value::Number(high)) if words.starts_with("an array of 2") => {
            let high = high.as_f64()?;
            if high > 0.0 { format!("[0.0, {high:?}]") } else { format!("[{high:?}, 1.0]") }
        }
        _ => return None,
    };
    // An element of a list has no key.
    let is_element = key.bytes().all(|byte| byte.is_ascii_digit());
    Some(if is_element { format!("write {written}") } else { format!("write {key} = {written}") })
}

/// A text as an array: its parts where it has separators.
fn as_array(text: &str, expected: &str) -> Option<String> {
    let inner = text.trim().trim_matches(['[', ']', '(', ')']);
    let parts: Vec<&str> = if inner.contains(',') {
        inner.split(',').map(str::trim).collect()
    } else if inner.contains("..") {
        inner.split("..").map(str::trim).collect()
    } else {
        vec![inner]
    };
    if expected.contains(" values") {
        let numbers: Option<Vec<String>> = parts.iter().map(|part| number(part)).collect();
        return Some(format!("[{}]", numbers?.join(", ")));
    }
    let texts: Vec<String> = parts.iter().map(|part| Value::from(*part).to_string()).collect();
    Some(format!("[{}]", texts.join(", ")))
}

/// A section whose value is none of its own, as a table.
fn as_table(section: &str, value: &Value) -> String {
    let shown = in_one_line(value);
    match (section, value) {
        ("data", _) => DATA_ARE_ARGUMENTS.to_owned(),
        ("combine", Value::String(_)) => format!("write\n[combine]\nhow = {shown}"),
        ("cache", Value::Bool(_)) => format!("write\n[cache]\nenabled = {shown}"),
        ("advantage" | "select" | "loss", Value::String(_)) => {
            format!("write\n[{section}]\nkind = {shown}")
        }
        ("judges", _) => "write [judges.NAME], with url and model".to_owned(),
        _ => format!("write [{section}], and its keys below"),
    }
}

/// The table in which a key of this name stands, as its header is written.
pub(super) fn home(key: &str, above: &[&str]) -> Option<String> {
    let schema = Config::json_schema();
    let own = above.first().copied().unwrap_or_default();
    let own_first =
        ROOMS.iter().filter(|room| **room == own).chain(ROOMS.iter().filter(|room| **room != own));
    let rooms = own_first.filter(|room| own != "reward" || BESIDE_REWARDS.contains(room));
    let depth = |room: &str| if own.is_empty() || room != own { 0 } else { 2 };
    rooms.filter(|room| **room != "version").find_map(|room| {
        let node = schema.pointer(&format!("/properties/{room}"))?;
        let place = found(&schema, node, key, (*room).to_owned(), depth(room))?;
        Some(match place.as_str() {
            "reward" => "[[reward]]".to_owned(),
            "judges" => "[judges.NAME]".to_owned(),
            place => format!("[{place}]"),
        })
    })
}

/// The path of the table at or below `node` that has a key.
fn found(schema: &Value, node: &Value, key: &str, path: String, depth: usize) -> Option<String> {
    let members = table_of(schema, node)?;
    if members.contains_key(key) {
        return Some(path);
    }
    let depth = depth.checked_sub(1)?;
    members
        .iter()
        .find_map(|(name, below)| found(schema, below, key, format!("{path}.{name}"), depth))
}

/// The properties of the table that a schema stands for: its own, those of its entries, or those of one
/// of its kinds.
fn table_of<'a>(schema: &'a Value, node: &'a Value) -> Option<&'a Map<String, Value>> {
    let node = resolved(schema, node);
    if let Some(members) = node.get("properties").and_then(Value::as_object) {
        return Some(members);
    }
    let entries = ["items", "additionalProperties"].into_iter().filter_map(|key| node.get(key));
    let kinds =
        ["anyOf", "allOf"].into_iter().filter_map(|key| node.get(key)?.as_array()).flatten();
    entries.chain(kinds).find_map(|below| table_of(schema, below))
}

fn resolved<'a>(schema: &'a Value, node: &'a Value) -> &'a Value {
    let place = node.get("$ref").and_then(Value::as_str).and_then(|name| name.strip_prefix('#'));
    place.and_then(|place| schema.pointer(place)).unwrap_or(node)
}

/// How deep kinds stand in kinds.
const KINDS_MAX: usize = 4;

/// The words that a key of the configuration takes.
fn words_at(parts: &[&str]) -> Option<Vec<String>> {
    let schema = Config::json_schema();
    let (key, above) = parts.split_last()?;
    let mut node = &schema;
    for part in above {
        let members = table_of(&schema, node)?;
        // A number, or a name of a judge, is an entry.
        node = members.get(*part).unwrap_or(node);
    }
    let mut words = Vec::new();
    add_words(&schema, table_of(&schema, node)?.get(*key)?, &mut words, 0);
    (!words.is_empty()).then_some(words)
}

/// Adds the words that a schema allows, those of its kinds included.
fn add_words(schema: &Value, node: &Value, words: &mut Vec<String>, depth: usize) {
    let node = resolved(schema, node);
    let word = |value: &Value| value.as_str().map(str::to_owned);
    let listed = |key: &str| node.get(key).and_then(Value::as_array).into_iter().flatten();
    words.extend(node.get("const").and_then(word));
    words.extend(listed("enum").filter_map(word));
    for kind in ["oneOf", "anyOf"].into_iter().flat_map(listed) {
        if depth < KINDS_MAX {
            add_words(schema, kind, words, depth + 1);
        }
    }
}

fn reward_table() -> String {
    let (_, table) = foreign::FIRST.split_once('\n').unwrap_or_default();
    format!("a reward is a table of a list:\n{table}")
}

/// How a table under `reward` is written as a list of tables.
fn of_one_table(table: &Map<String, Value>) -> String {
    let text = |value: Option<&Value>, other: &str| match value.and_then(Value::as_str) {
        Some(text) => Value::from(text).to_string(),
        None => Value::from(other).to_string(),
    };
    let (name, first) = match table.iter().find(|(_, value)| value.is_object()) {
        Some((name, first)) if table.values().all(Value::is_object) => {
            (Value::from(name.as_str()).to_string(), first.get("verifier"))
        }
        _ => (text(table.get("name"), "correct"), table.get("verifier")),
    };
    let verifier = text(first, "math");
    format!(
        "rewards are a list: write [[reward]], with two brackets\n[[reward]]\nname = {name}\nverifier = {verifier}"
    )
}

/// A value as TOML has it within a line; of a long one, its place.
fn in_one_line(value: &Value) -> String {
    let shown = match value {
        Value::Object(_) => return "{ ... }".to_owned(),
        Value::Null => return "...".to_owned(),
        value => toml::Value::try_from(value).map_or_else(|_| "...".to_owned(), |v| v.to_string()),
    };
    if shown.chars().count() > 60 || shown.contains('\n') { "...".to_owned() } else { shown }
}

/// Serde lists what it expected in backticks after the word that it did not know.
pub(super) fn suggestion(message: &str) -> Option<String> {
    if !message.starts_with("unknown ") {
        return None;
    }
    let mut words = quoted(message);
    let unknown = words.next()?;
    // A value is text, a key is not.
    let mark = if message.starts_with("unknown variant") { '"' } else { '`' };
    did_you_mean(unknown, words).map(|near| format!("did you mean {mark}{near}{mark}?"))
}

/// The words in backticks.
pub(super) fn quoted(message: &str) -> impl Iterator<Item = &str> {
    message.split('`').skip(1).step_by(2)
}

/// The steps of a dotted path.
pub(super) fn segments(path: &str) -> Vec<&str> {
    path.split(['.', '[', ']']).filter(|segment| !segment.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_of_other_types_are_written_in_the_one_that_belongs() {
        for (key, value, message, written) in [
            (
                "deadline_ms",
                json!("10s"),
                "invalid type: string \"10s\", expected u64",
                "deadline_ms = 10000",
            ),
            (
                "row_bytes_max",
                json!("64MB"),
                "invalid type: string, expected u64",
                "row_bytes_max = 67108864",
            ),
            ("fuel", json!("20_000_000"), "invalid type: string, expected u64", "fuel = 20000000"),
            ("fuel", json!(1e7), "invalid type: floating point, expected u64", "fuel = 10000000"),
            (
                "weight",
                json!("50%"),
                "expected a number or a schedule {kind = ..}, found text",
                "weight = 0.5",
            ),
            (
                "enabled",
                json!("False"),
                "invalid type: string, expected a boolean",
                "enabled = false",
            ),
            ("gates", json!("a"), "invalid type: string, expected a sequence", "gates = [\"a\"]"),
            (
                "tags",
                json!("a, b"),
                "invalid type: string, expected a sequence",
                "tags = [\"a\", \"b\"]",
            ),
            (
                "clamp",
                json!("0..1"),
                "invalid type: string, expected an array of length 2",
                "clamp = [0.0, 1.0]",
            ),
            ("name", json!(1), "invalid type: integer `1`, expected a string", "name = \"1\""),
            (
                "reference",
                json!(["a"]),
                "invalid type: sequence, expected a string",
                "reference = \"a\"",
            ),
            (
                "decimals",
                json!(0.01),
                "invalid type: floating point `0.01`, expected string or map",
                "decimals = { relative = 0.01 }",
            ),
        ] {
            assert_eq!(
                typed(key, &value, message),
                Some(format!("write {written}")),
                "{key} {value}"
            );
        }
        assert_eq!(typed("fuel", &json!("lots"), "invalid type: string, expected u64"), None);
    }

    #[test]
    fn keys_are_looked_for_in_other_tables() {
        assert_eq!(home("clamp", &["reward", "0"]).as_deref(), Some("[combine]"));
        assert_eq!(home("completion", &[]).as_deref(), Some("[data]"));
        assert_eq!(home("weight", &["data"]).as_deref(), Some("[[reward]]"));
        assert_eq!(home("learning_rate", &["train"]).as_deref(), Some("[train.optimizer]"));
        assert_eq!(home("nothing", &[]), None);
        assert_eq!(words_at(&["combine", "on_fault"]).unwrap(), ["mask", "drop_group", "floor"]);
    }
}
