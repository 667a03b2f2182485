//! `std_filter`: prompts whose rewards vary less than usual.

use crate::selection::prelude::*;

/// Drops prompts whose rewards have a standard deviation below a share of its running mean (RLPR:
/// Extrapolating RLVR to General Domains without Verifiers, section "Standard Deviation Filtering").
///
/// The running mean is an exponential one over the means of batches. It begins with batch `mean_from`;
/// from batch `filter_from` on, prompts are dropped by the running mean of the batches before. Groups
/// in which one rollout alone has a reward take no part in the mean, and are dropped as soon as others
/// are.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct StdFilter {
    /// The share of the running mean.
    #[default(0.5)]
    factor: f64,
    /// The weight of the batches before in the running mean.
    #[default(0.99)]
    decay: f64,
    /// The number of the batch with which the running mean begins.
    #[default(6)]
    mean_from: u64,
    /// The number of the first batch that is filtered.
    #[default(11)]
    filter_from: u64,
    /// Which standard deviation.
    std: Std,
}

/// The running mean.
const MEAN: &str = "std_mean";

impl SelectorSettings for StdFilter {
    fn check(&self) -> Result<(), TrainerError> {
        within("decay", self.decay, 0.0..1.0)?;
        within("factor", self.factor, 0.0..)?;
        if self.filter_from <= self.mean_from {
            let message = format!(
                "`filter_from` is {}, expected more than {}, with which the mean begins",
                self.filter_from, self.mean_from
            );
            return Err(TrainerError::setting("filter_from", message));
        }
        Ok(())
    }
}

impl Selector for StdFilter {
    fn select(
        &self,
        batch: &RolloutBatch<'_>,
        state: &SelectionState,
    ) -> Result<Selection, TrainerError> {
        batch.check()?;
        let mut after = state.next();
        after.steps += 1;
        let before = state.numbers.get(MEAN).copied();
        let bound = before.filter(|_| after.batches >= self.filter_from).map(|m| m * self.factor);
        let mut fates = Fates::new(batch);
        let mut deviations = Vec::new();
        for members in batch.groups.iter() {
            let rewards: Vec<f64> = batch.scored(&members).into_iter().map(|(_, r)| r).collect();
            let deviation = stats::std(&rewards, self.std);
            if rewards.len() > 1 {
                deviations.push(deviation);
            }
            if let Some(bound) = bound {
                if rewards.len() == 1 {
                    fates.drop_all(members.rows(), DropReason::Single);
                } else if deviation < bound {
                    fates.drop_all(members.rows(), DropReason::LowVariance);
                }
            }
        }
        if after.batches >= self.mean_from && !deviations.is_empty() {
            let mean = stats::mean(&deviations);
            after.set(MEAN, before.map_or(mean, |m| self.decay * m + (1.0 - self.decay) * mean));
        }
        Ok(fates.selection(after))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::selection::testing::{Columns, built, kept_rows, refused};

    #[test]
    fn prompts_that_vary_too_little_are_dropped_after_the_warm_up() {
        let selector = built("std_filter", json!({"std": "biased"}));
        // Population deviations 0.5, 0.5 and 0.1; their mean is 1.1 / 3, and half of it 0.1833.
        let columns = Columns::new(2, &[1.0, 0.0, 0.0, 1.0, 0.5, 0.7]);
        let mut state = SelectionState::default();
        for number in 1..=12 {
            let chosen = columns.select(&*selector, &state);
            let kept = if number < 11 { vec![0, 1, 2, 3, 4, 5] } else { vec![0, 1, 2, 3] };
            assert_eq!(kept_rows(&chosen), kept, "batch {number}");
            let has_mean = chosen.state.numbers.contains_key("std_mean");
            assert_eq!(has_mean, number >= 6, "batch {number}");
            state = chosen.state;
        }
        assert!((state.number("std_mean") - 1.1 / 3.0).abs() < 1e-12);
        // One percent of a batch whose deviations are 0.5: 0.99 * 1.1 / 3 + 0.005.
        let wide = Columns::new(2, &[1.0, 0.0, f64::NAN, 0.0]);
        let chosen = wide.select(&*selector, &state);
        assert!((chosen.state.number("std_mean") - (0.99 * 1.1 / 3.0 + 0.005)).abs() < 1e-12);
        assert_eq!(chosen.reasons()[&DropReason::Single], 1);
    }

    #[test]
    fn wrong_settings_are_refused() {
        assert!(refused("std_filter", json!({"decay": 1.0})).contains("below 1"));
        assert!(refused("std_filter", json!({"factor": -0.5})).contains("0 or more"));
        assert!(refused("std_filter", json!({"filter_from": 6})).contains("more than 6"));
    }
}
