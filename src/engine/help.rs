//! What to type where a key or a value of a configuration is wrong: the JSON Schema says it.

use assay_verifiers::BuildError;
use assay_verifiers::code::Code;
use assay_verifiers::from_value::{self, steps};
use serde_json::Value;

use super::config::Config;
use super::error::did_you_mean;
use super::misread::FIRST;

/// What to type for a key or a value of the configuration `tree`; `word` is the text there, where it is one.
pub(super) fn in_config(
    error: &BuildError,
    word: Option<&str>,
    tree: &Value,
    is_set: bool,
) -> Option<String> {
    let path = steps(&error.setting);
    let (key, above) = path.split_last()?;
    match (error.code, above) {
        (Code::MissingKey, []) if *key == "version" => {
            Some(format!("begin with\n{FIRST}\nor let `assay init` write one"))
        }
        (Code::MissingKey, ["reward", _]) => {
            Some("a reward has a name and a verifier; `assay list` names the verifiers".to_owned())
        }
        (Code::UnknownKey, []) if reward_names(tree).any(|name| name == *key) => Some(format!(
            "a reward is set by reward.{key}.KEY, as in --set reward.{key}.weight=0.5"
        )),
        (Code::UnknownKey, _) => misplaced(error, key, above, is_set.then_some(tree)),
        _ => listed(error, key),
    }
    .or_else(|| plain(error, word))
}

/// What to type of settings whose schema lists all that is taken; `word` is the text there, where it is one.
pub(super) fn plain(error: &BuildError, word: Option<&str>) -> Option<String> {
    let path = steps(&error.setting);
    let key = path.last().copied().unwrap_or_default();
    let expected = &error.expected;
    match error.code {
        Code::UnknownKey => match near(key, expected) {
            Some(near) => Some(format!("did you mean `{near}`?")),
            None if expected.is_empty() => None,
            None => Some(format!("the keys here are {}", expected.join(", "))),
        },
        Code::UnknownWord => Some(format!("did you mean \"{}\"?", near(word?, expected)?)),
        Code::MissingKey if expected.is_empty() => Some(format!("write {key} = ...")),
        Code::MissingKey => Some(format!("write {key} = {}", expected.join(" | "))),
        _ => None,
    }
}

fn near<'a>(word: &str, expected: &'a [String]) -> Option<&'a str> {
    did_you_mean(word, expected.iter().map(String::as_str))
}

/// Tables and lists of tables are told apart by their brackets.
fn listed(error: &BuildError, key: &str) -> Option<String> {
    let takes = |kind: &str| error.expected.iter().any(|own| own == kind);
    match error.found.as_deref()? {
        "an array" if takes("a table") && !error.setting.contains('[') => {
            Some(format!("write [{}], in one pair of brackets", error.setting))
        }
        "a table" if takes("an array") && key == "reward" => {
            Some(format!("rewards are a list: write [[reward]], with two brackets\n{FIRST}"))
        }
        _ => None,
    }
}

/// Where a key stands that this table does not take; `set` is the configuration where a flag or a variable set it.
fn misplaced(error: &BuildError, key: &str, above: &[&str], set: Option<&Value>) -> Option<String> {
    let is_near = near(key, &error.expected).is_some();
    if let (["reward", at], false) = (above, is_near) {
        let home = homes(key).filter(|home| home != "[[reward]]");
        return Some(match (home, set) {
            (Some(home), _) => format!("it stands in {home}"),
            (None, Some(tree)) => {
                let name = reward_names(tree).nth(at.parse().ok()?).unwrap_or("NAME");
                format!("a setting of the verifier is set by reward.{name}.config.{key}")
            }
            (None, None) => {
                format!("a setting of the verifier stands in config = {{ {key} = ... }}")
            }
        });
    }
    if is_near && !above.is_empty() {
        return None;
    }
    homes(key).map(|home| format!("it stands in {home}"))
}

/// The names of the rewards.
fn reward_names(tree: &Value) -> impl Iterator<Item = &str> {
    let rewards = tree.get("reward").and_then(Value::as_array).into_iter().flatten();
    rewards.map(|reward| reward.get("name").and_then(Value::as_str).unwrap_or_default())
}

/// The tables that take a key, as their headers are written; `None` where there is none, or too many.
fn homes(key: &str) -> Option<String> {
    /// More of them say nothing.
    const HOMES_MAX: usize = 3;
    let schema = Config::json_schema();
    let anything = Value::Object(serde_json::Map::new());
    let keys = |path: &[&str]| from_value::properties(&schema, &anything, path).unwrap_or_default();
    let mut found = Vec::new();
    for room in keys(&[]) {
        if room == key {
            found.push("the top of the file".to_owned());
        }
        let (path, header) = match room.as_str() {
            "reward" => (vec!["reward", "0"], "[[reward]]".to_owned()),
            "judges" => (vec!["judges", "NAME"], "[judges.NAME]".to_owned()),
            room => (vec![room], format!("[{room}]")),
        };
        let members = keys(&path);
        if members.iter().any(|own| own == key) {
            found.push(header);
            continue;
        }
        let within = |member: &&String| keys(&[room.as_str(), member]).iter().any(|own| own == key);
        found.extend(members.iter().find(within).map(|member| format!("[{room}.{member}]")));
    }
    (1..=HOMES_MAX).contains(&found.len()).then(|| found.join(" or "))
}
