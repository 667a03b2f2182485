//! The measurements of a step, by the names of TRL's `GRPOTrainer`.

use std::collections::BTreeMap;

use assay_verifiers::stats;

use super::sampling::SampledRollout;

/// Measurements by name.
pub(super) type Metrics = BTreeMap<String, f64>;

/// What is to be said of the completions of a step and their rewards. `parts` are the names of the
/// rewards that make up the one.
pub(super) fn of_rollouts(rollouts: &[SampledRollout], parts: &[(String, f64)]) -> Metrics {
    let mut metrics = Metrics::new();
    rewards(rollouts, &mut metrics);
    for (at, (name, _)) in parts.iter().enumerate() {
        let of = |one: &SampledRollout| one.reward.parts.get(at).copied().flatten();
        let values: Vec<f64> = rollouts.iter().filter_map(of).collect();
        if !values.is_empty() {
            metrics.insert(format!("rewards/{name}/mean"), mean(&values));
            metrics.insert(format!("rewards/{name}/std"), deviation(&values));
        }
    }
    let correct: Vec<f64> = rollouts.iter().filter_map(|one| one.reward.correct).collect();
    if !correct.is_empty() {
        metrics.insert("accuracy".into(), mean(&correct));
    }
    lengths(rollouts, &mut metrics);
    metrics
}

/// What is to be said of the calls of a tool: how many a completion has, and the share that failed.
#[expect(clippy::cast_precision_loss, reason = "no step has 2^53 calls")]
pub(super) fn of_calls(rollouts: &[SampledRollout]) -> Metrics {
    let calls = || rollouts.iter().flat_map(|one| &one.observations);
    let (count, failed) = (calls().count(), calls().filter(|call| call.is_error).count());
    let each = count as f64 / rollouts.len().max(1) as f64;
    Metrics::from([
        ("tools/call_frequency".to_owned(), each),
        ("tools/failure_frequency".to_owned(), failed as f64 / count.max(1) as f64),
    ])
}

/// The measurements of updates, by TRL's names where it has one: the mean over the updates of a step.
pub(super) fn of_updates(updates: &[Metrics]) -> Metrics {
    let mut values: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (name, value) in updates.iter().flatten() {
        values.entry(trl_name(name)).or_default().push(*value);
    }
    values.into_iter().map(|(name, values)| (name.to_owned(), mean(&values))).collect()
}

fn trl_name(name: &str) -> &str {
    match name {
        "clip_fraction" => "clip_ratio/region_mean",
        "clip_fraction_low" => "clip_ratio/low_mean",
        "clip_fraction_high" => "clip_ratio/high_mean",
        other => other,
    }
}

fn rewards(rollouts: &[SampledRollout], metrics: &mut Metrics) {
    let mut groups: BTreeMap<(u64, u64), Vec<f64>> = BTreeMap::new();
    for one in rollouts {
        let group = groups.entry((one.step, one.group)).or_default();
        group.extend(one.reward.reward);
    }
    let all: Vec<f64> = groups.values().flatten().copied().collect();
    if !all.is_empty() {
        // As TRL has it, one reward alone has no deviation that could be 0.
        let is_constant = |group: &Vec<f64>| group.len() > 1 && deviation(group) == 0.0;
        let constant: Vec<f64> =
            groups.values().map(|group| f64::from(is_constant(group))).collect();
        metrics.insert("reward".into(), mean(&all));
        metrics.insert("reward_std".into(), deviation(&all));
        metrics.insert("frac_reward_zero_std".into(), mean(&constant));
    }
    let share = |is: &dyn Fn(&SampledRollout) -> bool| {
        mean(&rollouts.iter().map(|one| f64::from(is(one))).collect::<Vec<_>>())
    };
    metrics.insert("reward_faults".into(), share(&|one| one.reward.fault.is_some()));
    metrics.insert("reward_missing".into(), share(&|one| one.reward.reward.is_none()));
}

#[expect(clippy::cast_precision_loss, reason = "no completion has 2^53 tokens")]
fn lengths(rollouts: &[SampledRollout], metrics: &mut Metrics) {
    let all: Vec<f64> = rollouts.iter().map(|one| one.length() as f64).collect();
    let ended = rollouts.iter().filter(|one| !one.truncated);
    let terminated: Vec<f64> = ended.map(|one| one.length() as f64).collect();
    let clipped = 1.0 - terminated.len() as f64 / all.len().max(1) as f64;
    metrics.insert("completions/clipped_ratio".into(), clipped);
    for (kind, lengths) in [("length", &all), ("terminated_length", &terminated)] {
        let bound = |pick: fn(f64, f64) -> f64| lengths.iter().copied().reduce(pick).unwrap_or(0.0);
        metrics.insert(format!("completions/mean_{kind}"), mean(lengths));
        metrics.insert(format!("completions/min_{kind}"), bound(f64::min));
        metrics.insert(format!("completions/max_{kind}"), bound(f64::max));
    }
}

/// The mean; 0 of nothing.
fn mean(values: &[f64]) -> f64 {
    stats::mean(values).unwrap_or(0.0)
}

/// The unbiased standard deviation; 0 of one.
fn deviation(values: &[f64]) -> f64 {
    stats::sample_variance(values).unwrap_or(0.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::training::rewards::RolloutReward;

    fn rollout(group: u64, reward: Option<f64>, tokens: usize, truncated: bool) -> SampledRollout {
        SampledRollout {
            name: String::new(),
            task: 0,
            group,
            tokens: vec![0; tokens],
            log_probs: vec![0.0; tokens],
            observations: Vec::new(),
            completion: String::new(),
            truncated,
            extra: false,
            step: 1,
            reward: RolloutReward {
                reward,
                parts: vec![reward],
                correct: reward,
                ..RolloutReward::default()
            },
        }
    }

    #[test]
    fn the_names_are_those_of_trl() {
        let rollouts = [
            rollout(0, Some(1.0), 3, false),
            rollout(0, Some(0.0), 5, true),
            rollout(1, Some(1.0), 4, false),
            rollout(1, None, 4, false),
        ];
        let metrics = of_rollouts(&rollouts, &[("right".to_owned(), 1.0)]);
        let expected = [
            ("accuracy", 2.0 / 3.0),
            ("completions/clipped_ratio", 0.25),
            ("completions/max_length", 5.0),
            ("completions/max_terminated_length", 4.0),
            ("completions/mean_length", 4.0),
            ("completions/mean_terminated_length", 11.0 / 3.0),
            ("completions/min_length", 3.0),
            ("completions/min_terminated_length", 3.0),
            ("frac_reward_zero_std", 0.0),
            ("reward", 2.0 / 3.0),
            ("reward_faults", 0.0),
            ("reward_missing", 0.25),
            ("reward_std", (1.0_f64 / 3.0).sqrt()),
            ("rewards/right/mean", 2.0 / 3.0),
            ("rewards/right/std", (1.0_f64 / 3.0).sqrt()),
        ];
        assert_eq!(metrics.keys().collect::<Vec<_>>(), expected.map(|(name, _)| name));
        for (name, value) in expected {
            assert!((metrics[name] - value).abs() < 1e-12, "{name}: {}", metrics[name]);
        }
    }

    #[test]
    fn updates_of_a_step_are_averaged() {
        let update =
            |loss: f64| Metrics::from([("loss".into(), loss), ("clip_fraction".into(), 0.5)]);
        let metrics = of_updates(&[update(1.0), update(2.0)]);
        assert!((metrics["loss"] - 1.5).abs() < 1e-12);
        assert!((metrics["clip_ratio/region_mean"] - 0.5).abs() < 1e-12);
    }
}
