//! All that is told: what is printed, and what is written.

use serde::Serialize;

use super::against::Comparison;
use super::report::RunReport;
use super::series::Series;

/// The version of the form.
const FORMAT: u32 = 1;

/// What is printed with `--json`, and written. The keys are part of the command-line contract.
#[derive(Serialize)]
pub(super) struct Diagnosis<'a> {
    /// The version of this form.
    format: u32,
    assay: &'static str,
    pub(super) runs: &'a [RunReport],
    /// One for each run; empty without `--against`.
    pub(super) against: &'a [Comparison],
    /// Of several runs.
    pub(super) series: Option<&'a Series>,
}

impl<'a> Diagnosis<'a> {
    pub(super) fn new(
        runs: &'a [RunReport],
        against: &'a [Comparison],
        series: Option<&'a Series>,
    ) -> Self {
        let assay = env!("CARGO_PKG_VERSION");
        Self { format: FORMAT, assay, runs, against, series }
    }
}
