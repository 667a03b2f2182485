//! The alarm about tasks that are held out: paired over tasks, and corrected for many looks.

use assay_verifiers::stats::float;

use super::finding::Finding;
use super::memory::{EvaluationMarks, MonitorMemory};
use super::phrases::beginning;
use crate::config::MonitorConfig;
use crate::reports::EvaluationReport;
use crate::reports::ShownRollout;

/// Of the tasks that both evaluations have: those that were lost, and those that were gained.
struct Flips<'a> {
    then: &'a EvaluationMarks,
    lost: Vec<&'a str>,
    gained: usize,
    shared: usize,
}

/// [`super::Alarm::HeldOutFalls`]: the last evaluation against each earlier one by the exact sign test
/// over the tasks that changed ("Note on the sampling error of the difference between correlated
/// proportions or percentages", `McNemar` 1947).
///
/// There are many looks: of the level of the whole run, look `k` is given `1 / (k (k + 1))`, and each
/// of its `k` comparisons an equal share, so that all of them together are below the level (Bonferroni).
pub(super) fn held_out_falls(
    config: &MonitorConfig,
    memory: &MonitorMemory,
    report: &EvaluationReport,
) -> Option<Finding> {
    let (now, earlier) = memory.evaluations.split_last()?;
    let looks = float(earlier.len());
    let level = config.held_out_level / (looks * looks * (looks + 1.0));
    let compared =
        earlier.iter().filter(|then| reward_rose(then, now)).map(|then| flips(then, now));
    let fell = compared.filter(|flips| flips.lost.len() > flips.gained);
    let tested = fell.map(|flips| (sign_test(flips.lost.len(), flips.gained), flips));
    let (chance, flips) = tested.min_by(|a, b| a.0.total_cmp(&b.0))?;
    let is_sure = chance < level;
    let message = format!(
        "held-out accuracy fell: since the evaluation after step {}, {} tasks of {} are no longer \
         answered right and {} now are (by {:.1} points); by chance that happens with probability \
         {chance:.1e}, the limit is {level:.1e}; the reward went from {} to {}",
        flips.then.step,
        flips.lost.len(),
        flips.shared,
        flips.gained,
        100.0 * (float(flips.lost.len()) - float(flips.gained)) / float(flips.shared),
        number(flips.then.reward),
        number(now.reward),
    );
    let rollouts = shown(report, &flips.lost, config.samples);
    Some(Finding { is_sure, since: Some(flips.then.step + 1), message, rollouts })
}

/// The probability of `lost` or more losses among `lost + gained` fair coins.
pub(super) fn sign_test(lost: usize, gained: usize) -> f64 {
    let all = lost + gained;
    // ln of C(all, i) / 2^all, from i = all downwards: C(all, i - 1) = C(all, i) i / (all - i + 1).
    let mut ln_term = -float(all) * std::f64::consts::LN_2;
    let mut sum = ln_term.exp();
    for i in (lost + 1..=all).rev() {
        ln_term += (float(i) / float(all - i + 1)).ln();
        sum += ln_term.exp();
    }
    sum.min(1.0)
}

fn reward_rose(then: &EvaluationMarks, now: &EvaluationMarks) -> bool {
    then.reward.zip(now.reward).is_none_or(|(then, now)| now >= then)
}

fn flips<'a>(then: &'a EvaluationMarks, now: &'a EvaluationMarks) -> Flips<'a> {
    let mut flips = Flips { then, lost: Vec::new(), gained: 0, shared: 0 };
    for (task, was_right) in &then.right {
        let Some(is_right) = now.right.get(task) else { continue };
        flips.shared += 1;
        match (was_right, is_right) {
            (true, false) => flips.lost.push(task),
            (false, true) => flips.gained += 1,
            _ => {}
        }
    }
    flips
}

fn shown(report: &EvaluationReport, lost: &[&str], most: usize) -> Vec<ShownRollout> {
    let tasks = report.tasks.iter().filter(|task| lost.contains(&&*task.id));
    let mut tasks: Vec<_> = tasks.collect();
    let reward = |reward: Option<f64>| reward.unwrap_or(f64::NEG_INFINITY);
    tasks.sort_by(|a, b| reward(b.reward).total_cmp(&reward(a.reward)));
    let one = |task: &&crate::reports::TaskEvaluation| ShownRollout {
        task: task.id.clone(),
        completion: beginning(&task.completion, 4000).to_owned(),
        reward: task.reward,
        correct: task.correct,
        ..ShownRollout::default()
    };
    tasks.iter().take(most).map(one).collect()
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "unknown".to_owned(), |value| format!("{value:.3}"))
}
