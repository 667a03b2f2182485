//! Rows that say something about a reward.

use serde::Serialize;

/// Rows that are listed for one finding; the rest are counted.
pub(super) const LISTED_MAX: usize = 100;

/// The cheat that says the prompt again.
pub(super) const ECHO: &str = "echo";

/// One row that says something.
#[derive(Clone, Serialize)]
pub(super) struct Finding {
    pub(super) id: String,
    pub(super) row: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) hack: Option<&'static str>,
    pub(super) completion: String,
    pub(super) verdict: String,
}

pub(super) fn list(findings: &mut Vec<Finding>, finding: Finding) {
    if findings.len() < LISTED_MAX {
        findings.push(finding);
    }
}
