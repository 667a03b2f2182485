//! Signals that a reward may be hacked, or teaches nothing: one number and one limit each.

use super::report::{RunReport, Signal};
use super::view::TOTAL;

/// The signals that the report has numbers for. The limits are ours.
pub(super) fn signals(report: &RunReport) -> Vec<Signal> {
    useless(report).into_iter().chain(hackable(report)).flatten().collect()
}

/// Rewards that teach nothing.
fn useless(report: &RunReport) -> [Option<Signal>; 6] {
    let total = report.total();
    let zero_variance = total.and_then(|total| total.zero_variance_share);
    let collapsed = total.and_then(|total| total.collapsed_share);
    [
        above("fault_share", report.faults.share, 0.01, "rewards are missing"),
        above("fault_clustering", report.faults.clustering, 2.0, "faults stick to some prompts"),
        above("zero_variance_share", zero_variance, 0.5, "most prompts teach nothing"),
        above(
            "collapsed_share",
            collapsed,
            0.1,
            "right and wrong rollouts of a prompt get the same reward",
        ),
        above(
            "part_share_within",
            deciding_share(report),
            0.9,
            "one part decides, and the others hardly count",
        ),
        above(
            "part_discordance",
            part_discordance(report),
            0.25,
            "two parts order the rollouts of a prompt in opposite ways",
        ),
    ]
}

/// Rewards that pay for something else.
fn hackable(report: &RunReport) -> [Option<Signal>; 7] {
    let size = |correlation: Option<f64>| correlation.map(f64::abs);
    let length = report.length.as_ref().and_then(|length| length.by_reward.get(TOTAL));
    let length = size(length.and_then(|length| length.within_groups.spearman));
    let steps = size(report.steps.and_then(|steps| steps.within_groups.spearman));
    let repetition = report.repetition.as_ref().and_then(|found| found.with_reward.spearman);
    let second = report.second_problem.as_ref().and_then(|found| found.share);
    let all = report.verifier_quality.as_ref().and_then(|quality| quality.get("all"));
    let accepts = all.and_then(|all| all.false_accept_rate).map(|rate| rate.high);
    let calibration = report.calibration.as_ref().and_then(|found| found.expected_error);
    [
        above(
            "length_correlation_within",
            length,
            0.3,
            "length decides which rollout of a prompt wins",
        ),
        above(
            "step_correlation_within",
            steps,
            0.3,
            "the number of steps decides which rollout of a prompt wins",
        ),
        above(
            "repetition_correlation",
            repetition,
            0.2,
            "completions that repeat themselves are paid more",
        ),
        above("second_problem_share", second, 0.01, "completions that go on to another problem"),
        above("format_only_share", report.format_only_share, 0.01, "rewards without an answer"),
        above(
            "false_accept_rate",
            accepts,
            0.05,
            "wrong completions may be accepted more often than this (upper end of the interval)",
        ),
        above("calibration_error", calibration, 0.1, "the reward is not a probability"),
    ]
}

/// The share of the part that decides most, where there are several.
fn deciding_share(report: &RunReport) -> Option<f64> {
    let parts = report.parts.iter().filter(|_| report.parts.len() > 1);
    parts.filter_map(|part| part.variance_share_within).reduce(f64::max)
}

/// The greatest discordance of two parts that count, the combined reward aside.
fn part_discordance(report: &RunReport) -> Option<f64> {
    let counts =
        |name: &String| report.parts.iter().any(|part| part.name == *name && part.weight != 0.0);
    let names = &report.correlations.names;
    let rows = report.discordance_within.iter().zip(names).filter(|(_, name)| counts(name));
    let cells = rows.flat_map(|(row, _)| row.iter().zip(names));
    let parts = cells.filter(|(_, name)| counts(name));
    parts.filter_map(|(cell, _)| *cell).reduce(f64::max)
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
