//! Rewards of steps, normalised among the steps of a class: of a group, a tag or a turn.

use std::collections::BTreeMap;

use crate::advantages::prelude::*;

/// The group of each rollout, by its place among the groups.
pub fn group_of_rows(batch: &RewardBatch<'_>) -> Vec<usize> {
    let mut places = vec![0; batch.groups.rows()];
    for (place, group) in batch.groups.iter().enumerate() {
        for row in group.rows() {
            if let Some(of_row) = places.get_mut(row) {
                *of_row = place;
            }
        }
    }
    places
}

/// The reward of each step less the mean of its class, by what `divisor` makes of the class; 0 where
/// it returns `None`, for a class whose rewards are equal, for steps that `class` leaves out, and for
/// steps or rollouts without a reward.
pub fn normalized<K: Ord>(
    batch: &RewardBatch<'_>,
    steps: &Ragged<StepReward>,
    class: impl Fn(usize, usize) -> Option<K>,
    divisor: impl Fn(&Moments) -> Option<f64>,
) -> Ragged<f64> {
    let mut classes: BTreeMap<K, Vec<f64>> = BTreeMap::new();
    let scored = |row: usize| batch.rewards.get(row).is_some_and(|reward| !reward.is_nan());
    let class = |row: usize, at: usize, step: &StepReward| {
        if scored(row) && !step.reward.is_nan() { class(row, at) } else { None }
    };
    for (row, steps) in steps.iter().enumerate() {
        for (at, step) in steps.iter().enumerate() {
            if let Some(class) = class(row, at, step) {
                classes.entry(class).or_default().push(step.reward);
            }
        }
    }
    // In ascending order, so that the order of the rollouts changes no bit.
    let moments = classes.into_iter().map(|(class, mut rewards)| {
        rewards.sort_unstable_by(f64::total_cmp);
        (class, Moments::of(&rewards))
    });
    let moments: BTreeMap<K, Moments> = moments.collect();
    let normalized = |row: usize, at: usize, step: &StepReward| {
        let moments = moments.get(&class(row, at, step)?)?;
        if moments.is_constant {
            return None;
        }
        Some(divided(step.reward - moments.mean, divisor(moments)?))
    };
    let row = |(row, steps): (usize, &[StepReward])| {
        let value = |(at, step)| normalized(row, at, step).unwrap_or(0.0);
        steps.iter().enumerate().map(value).collect::<Vec<_>>()
    };
    steps.iter().enumerate().map(row).collect()
}

/// For each step, the sum of the numbers of it and of those behind it.
pub fn future_sums(values: &mut Ragged<f64>) {
    for row in 0..values.rows() {
        let mut rest = 0.0;
        for value in values.row_mut(row).iter_mut().rev() {
            rest += *value;
            *value = rest;
        }
    }
}
