//! Rows that say something about a reward.

use assay::verifiers::Verdict;
use serde::Serialize;

use super::read::{LISTED_MAX, Row};
use crate::verdict;

/// The cheat that says the prompt again.
pub(crate) const ECHO: &str = "echo";

/// One row that says something.
#[derive(Clone, Serialize)]
pub(crate) struct Finding {
    pub(crate) id: String,
    pub(crate) row: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hack: Option<&'static str>,
    pub(crate) completion: String,
    pub(crate) verdict: String,
}

impl Finding {
    pub(crate) fn of(
        row: &Row,
        hack: Option<&'static str>,
        completion: String,
        verdict: &Verdict,
    ) -> Self {
        let verdict = verdict::outcome(&verdict.outcome);
        Self { id: row.sample.id().to_owned(), row: row.number, hack, completion, verdict }
    }
}

pub(crate) fn list(findings: &mut Vec<Finding>, finding: Finding) {
    if findings.len() < LISTED_MAX {
        findings.push(finding);
    }
}
