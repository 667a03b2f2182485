//! What to type where a key or a value of a configuration is wrong: the JSON Schema says it.

use assay_verifiers::code::Code;
use assay_verifiers::from_value::{self, steps};
use serde_json::Value;

use super::config::Config;
use super::error::did_you_mean;
use super::misread::FIRST;

/// A key or a value that a table does not take.
pub(super) struct Wrong<'a> {
    pub(super) code: Code,
    /// The path of the key, within the value that the schema describes.
    pub(super) path: &'a str,
    pub(super) found: Option<&'a str>,
    /// What would be taken.
    pub(super) expected: &'a [String],
}

impl Wrong<'_> {
    fn known(&self) -> impl Iterator<Item = &str> {
        self.expected.iter().map(|word| word.trim_matches('"'))
    }

    /// What to type, where `tree` is the whole configuration.
    pub(super) fn in_config(&self, tree: &Value, is_set: bool) -> Option<String> {
        let path = steps(self.path);
        let (key, above) = path.split_last()?;
        match (self.code, above) {
            (Code::MissingKey, []) if *key == "version" => {
                Some(format!("begin with\n{FIRST}\nor let `assay init` write one"))
            }
            (Code::MissingKey, ["reward", _]) => Some(
                "a reward has a name and a verifier; `assay list` names the verifiers".to_owned(),
            ),
            (Code::UnknownKey, []) if reward_names(tree).any(|name| name == *key) => Some(format!(
                "a reward is set by reward.{key}.KEY, as in --set reward.{key}.weight=0.5"
            )),
            (Code::UnknownKey, _) => {
                self.misplaced(key, above, tree, is_set).or_else(|| self.plain())
            }
            _ => self.listed(key).or_else(|| self.plain()),
        }
    }

    /// What to type of settings whose schema lists all that is taken.
    pub(super) fn plain(&self) -> Option<String> {
        let path = steps(self.path);
        let key = path.last().copied().unwrap_or_default();
        let word = match self.found {
            Some(found) if self.code != Code::UnknownKey => {
                found.trim_start_matches("the string ").trim_matches('"')
            }
            _ => key,
        };
        let mark = if self.code == Code::UnknownKey { '`' } else { '"' };
        match (self.code, did_you_mean(word, self.known())) {
            (Code::UnknownKey | Code::UnknownWord, Some(near)) => {
                Some(format!("did you mean {mark}{near}{mark}?"))
            }
            (Code::UnknownKey, None) if !self.expected.is_empty() => {
                Some(format!("the keys here are {}", self.expected.join(", ")))
            }
            (Code::MissingKey, _) if self.expected.is_empty() => Some(format!("write {key} = ...")),
            (Code::MissingKey, _) => Some(format!("write {key} = {}", self.expected.join(" | "))),
            _ => None,
        }
    }

    /// Tables and lists of tables are told apart by their brackets.
    fn listed(&self, key: &str) -> Option<String> {
        let takes = |kind: &str| self.expected.iter().any(|own| own == kind);
        match self.found? {
            "an array" if takes("a table") && !self.path.contains('[') => {
                Some(format!("write [{}], in one pair of brackets", self.path))
            }
            "a table" if takes("an array") && key == "reward" => {
                Some(format!("rewards are a list: write [[reward]], with two brackets\n{FIRST}"))
            }
            _ => None,
        }
    }

    /// Where a key stands that this table does not take.
    fn misplaced(&self, key: &str, above: &[&str], tree: &Value, is_set: bool) -> Option<String> {
        let near = did_you_mean(key, self.known());
        if let (["reward", at], None) = (above, near) {
            let name = reward_names(tree).nth(at.parse().ok()?).unwrap_or("NAME");
            let home = homes(key).filter(|home| home != "[[reward]]");
            return Some(match home {
                Some(home) => format!("it stands in {home}"),
                None if is_set => {
                    format!("a setting of the verifier is set by reward.{name}.config.{key}")
                }
                None => format!("a setting of the verifier stands in config = {{ {key} = ... }}"),
            });
        }
        if near.is_some() && !above.is_empty() {
            return None;
        }
        homes(key).map(|home| format!("it stands in {home}"))
    }
}

/// The names of the rewards.
fn reward_names(tree: &Value) -> impl Iterator<Item = &str> {
    let rewards = tree.get("reward").and_then(Value::as_array).into_iter().flatten();
    rewards.map(|reward| reward.get("name").and_then(Value::as_str).unwrap_or_default())
}

/// The tables that take a key, as their headers are written; `None` where there is none, or too many.
pub(super) fn homes(key: &str) -> Option<String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_looked_for_in_other_tables() {
        assert_eq!(homes("clamp").as_deref(), Some("[combine]"));
        assert_eq!(homes("completion").as_deref(), Some("[data]"));
        assert_eq!(homes("learning_rate").as_deref(), Some("[train.optimizer]"));
        assert_eq!(homes("nothing"), None);
    }
}
