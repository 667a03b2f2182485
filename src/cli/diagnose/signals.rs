//! Signals that a reward may be hacked, or teaches nothing: one number and one limit each.

use super::report::{RunReport, Signal};
use super::view::TOTAL;

/// The signals that the report has numbers for. The limits are ours.
pub(super) fn signals(report: &RunReport) -> Vec<Signal> {
    let total = report.total();
    let length = report.length.as_ref().and_then(|length| length.by_reward.get(TOTAL));
    let all = report.verifier_quality.as_ref().and_then(|quality| quality.get("all"));
    let size = |correlation: Option<f64>| correlation.map(f64::abs);
    let part = report.parts.iter().filter(|_| report.parts.len() > 1);
    let part = part.filter_map(|part| part.variance_share_within).reduce(f64::max);
    [
        above("fault_share", report.faults.share, 0.01, "rewards are missing"),
        above("fault_clustering", report.faults.clustering, 2.0, "faults stick to some prompts"),
        above(
            "zero_variance_share",
            total.and_then(|total| total.zero_variance_share),
            0.5,
            "most prompts teach nothing",
        ),
        above(
            "collapsed_share",
            total.and_then(|total| total.collapsed_share),
            0.1,
            "right and wrong rollouts of a prompt get the same reward",
        ),
        above(
            "length_correlation_within",
            size(length.and_then(|length| length.within_groups.spearman)),
            0.3,
            "length decides which rollout of a prompt wins",
        ),
        above(
            "step_correlation_within",
            size(report.steps.and_then(|steps| steps.within_groups.spearman)),
            0.3,
            "the number of steps decides which rollout of a prompt wins",
        ),
        above(
            "repetition_correlation",
            report.repetition.as_ref().and_then(|found| found.with_reward.spearman),
            0.2,
            "completions that repeat themselves are paid more",
        ),
        above("format_only_share", report.format_only_share, 0.01, "rewards without an answer"),
        above("part_share_within", part, 0.9, "one part decides, and the others hardly count"),
        above(
            "false_accept_rate",
            all.and_then(|all| all.false_accept_rate).map(|rate| rate.high),
            0.05,
            "wrong completions may be accepted more often than this (upper end of the interval)",
        ),
        above(
            "calibration_error",
            report.calibration.as_ref().and_then(|found| found.expected_error),
            0.1,
            "the reward is no probability",
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn above(
    name: &'static str,
    value: Option<f64>,
    limit: f64,
    means: &'static str,
) -> Option<Signal> {
    let value = value?;
    Some(Signal { name, value, limit, raised: value > limit, means })
}
