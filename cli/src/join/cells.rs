//! The columns that a run adds to its rows, and cells as CSV.

use std::path::Path;

use assay::engine::runs::CONFIG;
use assay::verifiers::{Outcome, Reward, Scored};
use serde_json::Value;

use crate::exit::Failure;
use crate::run_files::json;

/// The columns that are added: `outcome`, `reward`, `fault`, `why`, and `reward.NAME` for each reward.
pub(super) struct Added {
    prefix: String,
    rewards: Vec<String>,
}

impl Added {
    /// Those of a run.
    pub(super) fn of(run: &Path, prefix: &str) -> Result<Self, Failure> {
        let config: Value = json(run, CONFIG)?;
        let rewards = config.get("reward").and_then(Value::as_array).into_iter().flatten();
        let names = rewards.filter_map(|reward| Some(reward.get("name")?.as_str()?.to_owned()));
        Ok(Self { prefix: prefix.to_owned(), rewards: names.collect() })
    }

    /// Their names, each with a value of its type.
    pub(super) fn columns(&self) -> Vec<(String, &'static str)> {
        let fixed = [("outcome", "\"\""), ("reward", "0.5"), ("fault", "\"\""), ("why", "\"\"")];
        let fixed = fixed.map(|(name, example)| (self.named(name), example));
        let rewards = self.rewards.iter().map(|name| (self.of_reward(name), "0.5"));
        fixed.into_iter().chain(rewards).collect()
    }

    /// What they hold for a row, as JSON.
    pub(super) fn cells(&self, scored: &Scored) -> Vec<(String, String)> {
        let number = |reward: Option<f64>| reward.map_or(Value::Null, Value::from);
        let fault = match &scored.outcome {
            Outcome::Failed(fault) => Value::from(fault.kind.to_string()),
            Outcome::Scored(_) | Outcome::Abstained(_) => Value::Null,
        };
        let why = scored.outcome.why().map_or(Value::Null, Value::from);
        let fixed = [
            ("outcome", Value::from(scored.outcome.name())),
            ("reward", number(scored.reward())),
            ("fault", fault),
            ("why", why),
        ];
        let fixed = fixed.map(|(name, value)| (self.named(name), value.to_string()));
        let rewards = self.rewards.iter().map(|name| {
            let verdict = scored.verdict(name);
            let reward = verdict.and_then(|verdict| verdict.outcome.reward()).map(Reward::get);
            (self.of_reward(name), number(reward).to_string())
        });
        fixed.into_iter().chain(rewards).collect()
    }

    fn named(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    fn of_reward(&self, name: &str) -> String {
        self.named(&format!("reward.{name}"))
    }
}

/// A cell of CSV: quoted where it needs to be.
pub(super) fn csv(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) || text.trim() != text {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text.to_owned()
}

/// The same of a value of JSON: a text as it is, null as nothing, anything else as its JSON.
pub(super) fn csv_of(json: Option<&str>) -> String {
    let Some(json) = json else { return String::new() };
    match serde_json::from_str::<String>(json) {
        // An empty text is told from nothing.
        Ok(text) if text.is_empty() => "\"\"".to_owned(),
        Ok(text) => csv(&text),
        Err(_) => csv(json),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_where_they_need_to_be() {
        assert_eq!(csv_of(Some(r#""a,b""#)), "\"a,b\"");
        assert_eq!(csv_of(Some(r#""say \"x\"\n""#)), "\"say \"\"x\"\"\n\"");
        assert_eq!(csv_of(Some("[1,2]")), "\"[1,2]\"");
        assert_eq!((csv_of(None).as_str(), csv_of(Some("\"\"")).as_str()), ("", "\"\""));
        assert_eq!((csv_of(Some("1.5")).as_str(), csv(" x").as_str()), ("1.5", "\" x\""));
    }
}
