//! Red-team cases: completions that try to be paid without solving their task, or solve it in an
//! unusual way, with the verdict that a careful person would give.
//!
//! `fixtures/redteam/<verifier>.jsonl` holds them, a row each. Verdicts that we hold against the
//! expectation are in `fixtures/redteam/kept.toml` with their reason.

use std::collections::BTreeMap;

use serde_json::Map;

use super::{Case, described};
use crate::from_value::from_value;
use crate::prelude::*;
use crate::sample::Content;
use crate::verifier::Built;

/// One case.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RedTeamCase {
    /// Unique among all cases.
    pub id: String,
    /// What the case plays.
    pub family: String,
    /// The id of the verifier.
    pub verifier: String,
    /// Settings.
    #[serde(default)]
    pub config: Map<String, Value>,
    /// The files that the settings name: name to text.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// What the completion answers.
    pub prompt: Option<Content>,
    /// What is judged.
    pub completion: Content,
    /// What a right completion comes to.
    pub reference: Option<Value>,
    /// The other columns of the row.
    #[serde(default)]
    pub columns: Map<String, Value>,
    /// `accept` (reward of at least 1), `reject` (at most 0), `partial`, `abstain` or `fault`;
    /// several are joined by `|`.
    pub expect: String,
}

/// A verdict that is held against the expectation.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    id: String,
    why: String,
}

/// `fixtures/redteam/kept.toml`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct KeptFile {
    kept: Vec<Kept>,
}

/// Reads the rows of a file.
///
/// # Errors
/// The line that is not a case, and what it lacks.
pub fn parse(text: &str) -> Result<Vec<RedTeamCase>, String> {
    let row = |(at, line)| {
        serde_json::from_str(line).map_err(|error| format!("line {}: {error}", at + 1))
    };
    text.lines().enumerate().map(row).collect()
}

/// The ids of the cases whose expectation we do not share, each with the reason.
///
/// # Errors
/// Text that is not the TOML of such a list.
pub fn kept(text: &str) -> Result<BTreeMap<String, String>, String> {
    let tree = toml::from_str(text).map_err(|error| error.to_string())?;
    let file: KeptFile =
        from_value(&tree).map_err(|error| format!("{}: {error}", error.setting))?;
    Ok(file.kept.into_iter().map(|kept| (kept.id, kept.why)).collect())
}

impl RedTeamCase {
    /// Judges the case with the verifier that `maker` builds. `None`: as expected; otherwise how
    /// the verdict differs.
    ///
    /// # Errors
    /// Settings that the verifier refuses.
    pub fn disagreement(
        &self,
        maker: impl FnOnce(Value, &dyn Files) -> Result<Built, BuildError>,
    ) -> Result<Option<String>, BuildError> {
        let verdict = self.case().run(maker)?;
        let got = outcome(&verdict);
        let agrees = self.expect.split('|').any(|wanted| wanted == got);
        Ok((!agrees)
            .then(|| format!("expected {}, got {got}: {}", self.expect, described(&verdict))))
    }

    fn case(&self) -> Case {
        Case {
            name: self.id.clone(),
            hack: None,
            completion: self.completion.clone(),
            reference: self.reference.clone(),
            prompt: self.prompt.clone(),
            meta: self.columns.clone(),
            config: self.config.clone(),
            files: self.files.clone(),
            earlier: BTreeMap::new(),
            peers: Vec::new(),
            place: 0,
            reward: None,
            outcome: None,
            fault: None,
            evidence: Map::new(),
            components: Map::new(),
            steps: None,
            usage: Map::new(),
        }
    }
}

fn outcome(verdict: &Verdict) -> &'static str {
    match &verdict.outcome {
        Outcome::Scored(reward) if reward.get() >= 1.0 => "accept",
        Outcome::Scored(reward) if reward.get() <= 0.0 => "reject",
        Outcome::Scored(_) => "partial",
        Outcome::Abstained(_) => "abstain",
        Outcome::Failed(_) => "fault",
    }
}
