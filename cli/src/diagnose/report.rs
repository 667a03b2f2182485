//! What is reported of one run, as it is written.

use std::collections::BTreeMap;

use assay::engine::UnreadLabels;
use assay::trainer::diagnostics::{
    CalibrationReport, Correlation, CorrelationMatrix, DecisionQuality, Discriminability, Estimate,
    FaultShares, LengthBias, PartShare, PassCurve,
};
use serde::Serialize;

use super::view::TOTAL;

/// What is reported of one run. What could not be had is null, and `missing` says why.
#[derive(Serialize)]
pub(super) struct RunReport {
    pub(super) run: String,
    /// The digest of the verdict lines that this is of, where the run says it.
    pub(super) verdicts_sha256: Option<String>,
    pub(super) rows: usize,
    pub(super) prompts: usize,
    pub(super) grouped_by: &'static str,
    /// The reward that says correct; null for the combined one.
    pub(super) correct: Option<String>,
    pub(super) above: f64,
    /// Where the labels come from that rewards are held against.
    pub(super) labelled_by: Option<String>,
    /// Labels of the data that are neither right nor wrong.
    pub(super) labels: UnreadLabels,
    pub(super) outcomes: Outcomes,
    /// The mean of the combined reward.
    pub(super) mean_reward: Option<f64>,
    /// The mean of the labels, where they are trusted: another reward or a column.
    pub(super) mean_trusted: Option<f64>,
    pub(super) pass_at_k: PassCurve,
    /// Of prompts with one sample each: their share, with Wilson's interval.
    pub(super) pass_at_1_wilson: Option<Estimate>,
    pub(super) answers: Option<AnswerReport>,
    /// How rewards tell rollouts of a prompt apart, by reward.
    pub(super) groups: BTreeMap<String, Discriminability>,
    /// Prompts all of whose judged samples are correct, and wrong; of two samples or more.
    pub(super) all_correct: usize,
    pub(super) all_wrong: usize,
    /// Correlations of the rewards over all rows.
    pub(super) correlations: CorrelationMatrix,
    /// The same relative to the prompt.
    pub(super) correlations_within: CorrelationMatrix,
    /// For each pair of the same rewards: of the pairs of rollouts of a prompt that both order, the share
    /// that they order in opposite ways.
    pub(super) discordance_within: Vec<Vec<Option<f64>>>,
    pub(super) parts: Vec<PartShare>,
    pub(super) length: Option<LengthReport>,
    pub(super) steps: Option<LengthBias>,
    pub(super) repetition: Option<RepetitionReport>,
    pub(super) second_problem: Option<SecondProblemReport>,
    /// The share of the completions without an extracted answer whose reward is paid all the same.
    pub(super) format_only_share: Option<f64>,
    pub(super) faults: FaultShares,
    /// The prompts of `faults.worst`, by name.
    pub(super) fault_prompts: Vec<String>,
    /// The decisions of what says correct against the labels, by stratum and `all`.
    pub(super) verifier_quality: Option<BTreeMap<String, DecisionQuality>>,
    pub(super) calibration: Option<CalibrationReport>,
    /// What may be hacked, or is of no use.
    pub(super) signals: Vec<Signal>,
    pub(super) missing: Vec<String>,
}

#[derive(Serialize)]
pub(super) struct Outcomes {
    pub(super) scored: usize,
    pub(super) abstained: usize,
    pub(super) failed: usize,
}

/// The answers of prompts.
#[derive(Serialize)]
pub(super) struct AnswerReport {
    /// The reward that extracted them; null where each row has that of the first that did.
    pub(super) reward: Option<String>,
    /// The share of the rows that such a reward judged and that have an answer.
    pub(super) answered: Option<f64>,
    /// The mean over prompts of the entropy of their answers, in nats.
    pub(super) entropy: Option<f64>,
    pub(super) majority_at_k: Vec<MajorityPoint>,
}

#[derive(Serialize)]
pub(super) struct MajorityPoint {
    pub(super) k: usize,
    #[serde(flatten)]
    pub(super) estimate: Estimate,
    pub(super) prompts: usize,
}

/// Length against each reward.
#[derive(Serialize)]
pub(super) struct LengthReport {
    /// `tokens` or `characters`.
    pub(super) unit: &'static str,
    pub(super) mean: Option<f64>,
    pub(super) by_reward: BTreeMap<String, LengthBias>,
}

/// Repetition within completions.
#[derive(Serialize)]
pub(super) struct RepetitionReport {
    /// Words of a phrase.
    pub(super) words: usize,
    /// The mean share of the phrases that repeat an earlier one.
    pub(super) mean: Option<f64>,
    /// That share against the combined reward.
    pub(super) with_reward: Correlation,
}

/// Completions that solve another problem behind theirs.
#[derive(Serialize)]
pub(super) struct SecondProblemReport {
    /// The share of the completions.
    pub(super) share: Option<f64>,
    /// Doing so against the combined reward.
    pub(super) with_reward: Correlation,
}

/// A number and the limit beyond which it is worth a look.
#[derive(Serialize)]
pub(super) struct Signal {
    pub(super) name: &'static str,
    pub(super) value: f64,
    pub(super) limit: f64,
    /// Whether the value is beyond the limit.
    pub(super) raised: bool,
    /// What a value beyond the limit means.
    pub(super) means: &'static str,
}

impl RunReport {
    /// How the combined reward tells rollouts apart.
    pub(super) fn total(&self) -> Option<&Discriminability> {
        self.groups.get(TOTAL)
    }
}
