//! What `assay validate` found. The keys are part of the command-line contract.

use serde::Serialize;

use crate::lints::Problem;
use crate::trial::read::DataReport;
use crate::trial::rewards::RewardReport;
use crate::trial::tally::RowsTally;

/// What was found of a configuration.
#[derive(Serialize)]
pub(super) struct Report {
    pub(super) ok: bool,
    pub(super) config_hash: String,
    /// Whether models and judges were asked, on a few rows.
    pub(super) deep: bool,
    /// What fails on every row that it applies to, and names that stand for nothing.
    pub(super) errors: Vec<Problem>,
    /// What fails on some rows, and what could not be tried.
    pub(super) warnings: Vec<Problem>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) data: Option<DataReport>,
    /// What the rewards of the rows came to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) combined: Option<RowsTally>,
    pub(super) rewards: Vec<RewardReport>,
}
