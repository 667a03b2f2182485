//! What `assay validate` found. The keys are part of the command-line contract.

use serde::Serialize;

use super::finding::{ECHO, Finding};
use super::hacks::FixtureReport;
use super::problem::Problem;
use super::read::DataReport;
use super::suites::SuitesReport;
use super::tally::RowsTally;

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

/// What was found of one reward.
#[derive(Serialize)]
pub(super) struct RewardReport {
    pub(super) name: String,
    pub(super) verifier: String,
    /// What came of it on the rows as they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rows: Option<RowsTally>,
    /// The hack cases of its fixture file. What a setting of the configuration pays for is a warning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cases: Option<FixtureReport>,
    /// Its own right answers, and cheats made of them; none without data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) data: Option<RewardOnData>,
}

#[derive(Default, Serialize)]
pub(super) struct RewardOnData {
    /// Whether taking the reference away changes any verdict. Where it does not, the reward
    /// judges form, and neither gold answers nor cheats say anything about it.
    pub(super) uses_reference: bool,
    /// Rows to which the verifier applies, with a reference of which a gold answer can be made.
    pub(super) gold_rows: u64,
    /// Those of them whose gold answer earned full reward.
    pub(super) gold_accepted: u64,
    pub(super) gold_rejected: Vec<Finding>,
    /// Cheats that were tried.
    pub(super) hacks_tried: u64,
    /// Those that earned full reward.
    pub(super) hacks_paid: u64,
    pub(super) paid: Vec<Finding>,
    /// Prompts that happen to end with the answer, so few that nobody cheats with them: they are not among
    /// `paid`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) echoes_by_chance: Option<u64>,
    /// Answers, cheats and programs on which the verifier ran out of fuel, memory or time. After a few of them no
    /// more are tried.
    pub(super) probes_exhausted: u64,
    /// Where the reference is tests: whether they test anything. Gold answers and cheats cannot be
    /// made of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) suites: Option<SuitesReport>,
}

/// One prompt in so many may hold its answer by chance.
const ECHO_SHARE: u64 = 100;

impl RewardOnData {
    /// Takes out the prompts that are right by chance, of so many rows: an answer that says `n` stands at the end
    /// of one prompt in hundreds.
    pub(super) fn without_chance(&mut self, rows: u64) {
        let is_echo = |finding: &Finding| finding.hack == Some(ECHO);
        let echoes = self.paid.iter().filter(|finding| is_echo(finding)).count() as u64;
        if echoes > 0 && echoes * ECHO_SHARE <= rows {
            self.paid.retain(|finding| !is_echo(finding));
            self.hacks_paid -= echoes;
            self.echoes_by_chance = Some(echoes);
        }
    }
}

impl RewardReport {
    /// Whether it judges answers: it hangs on the reference, and right answers are paid.
    pub(super) fn judges_answers(&self) -> bool {
        self.data.as_ref().is_some_and(|data| data.uses_reference && data.gold_accepted > 0)
    }

    pub(super) fn ok(&self) -> bool {
        let cases = self.cases.as_ref().is_none_or(|cases| cases.failed.is_empty());
        let data = self.data.as_ref().is_none_or(|data| {
            let right = data.hacks_paid == 0 && data.gold_accepted == data.gold_rows;
            let broken = data.suites.as_ref().map_or(0, |suites| suites.broken);
            (!data.uses_reference || right) && broken == 0
        });
        cases && data
    }
}
