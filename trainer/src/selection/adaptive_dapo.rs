//! `adaptive_dapo`: dynamic sampling that asks for as many prompts as it will need.

use std::ops::Bound::{Excluded, Included};

use crate::selection::fill::{Filled, Surplus, hold, train};
use crate::selection::prelude::*;
use crate::selection::usable::{GroupTest, KeepBy, Singles, right, zero_to_one};

/// Dynamic sampling that asks for so many prompts at once that a training batch will be full of groups
/// whose rewards differ (CodeV-R1: Reasoning-Enhanced Verilog Generation, section "Adaptive DAPO").
///
/// A running mean of the share `u` of groups that can be used says how many prompts are needed:
/// `ceil(missing / u * (1 + margin))`. Groups too many are held for the next training batch, so that
/// nothing is sampled in vain. Every selection asks for what the next training batch needs.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdaptiveSampling {
    /// How many groups a training batch has.
    batch_groups: usize,
    /// By which share more prompts are asked for than the running mean says.
    #[serde(default = "tenth")]
    margin: f64,
    /// The weight of the batches before in the running mean.
    #[serde(default = "most")]
    decay: f64,
    /// The least share that is reckoned with, so that a batch without a use does not ask for a whole
    /// dataset.
    #[serde(default = "twentieth")]
    share_min: f64,
    /// By what a group is kept.
    #[serde(default)]
    by: KeepBy,
    /// A group is kept where the standard deviation of its rewards is above this.
    #[serde(default)]
    std_above: f64,
    /// Which standard deviation.
    #[serde(default)]
    std: Std,
    /// A group is kept where the mean of its rewards, or its pass rate, is above the first number and
    /// below the second.
    #[serde(default = "zero_to_one")]
    between: (f64, f64),
    /// A reward from which an answer is right, where pass rates are not given.
    #[serde(default = "right")]
    pass_at: f64,
}

fn tenth() -> f64 {
    0.1
}

fn most() -> f64 {
    0.9
}

fn twentieth() -> f64 {
    0.05
}

/// The running mean of the share of groups that can be used.
const SHARE: &str = "usable_share";

/// How many prompts give `missing` groups that can be used where a `share` of them can, with a `margin`:
/// `ceil(missing / share * (1 + margin))`.
pub fn request_size(missing: usize, share: f64, margin: f64) -> usize {
    let prompts = stats::float(missing) / share * (1.0 + margin);
    // What the product is above a whole number by rounding alone does not count.
    stats::floored((prompts * (1.0 - 1e-12)).ceil())
}

impl SelectorSettings for AdaptiveSampling {
    fn check(&self) -> Result<(), TrainerError> {
        self.test().check()?;
        within("batch_groups", stats::float(self.batch_groups), 1.0..)?;
        within("margin", self.margin, 0.0..)?;
        within("decay", self.decay, 0.0..1.0)?;
        within("share_min", self.share_min, (Excluded(0.0), Included(1.0)))
    }
}

impl Selector for AdaptiveSampling {
    fn select(
        &self,
        batch: &RolloutBatch<'_>,
        state: &SelectionState,
    ) -> Result<Selection, TrainerError> {
        batch.check()?;
        let test = self.test();
        let mut fates = Fates::new(batch);
        let groups = (0..batch.groups.len()).filter(|group| test.keep(batch, *group, &mut fates));
        let usable: Vec<usize> = groups.collect();
        let mut after = state.next();
        let share = self.share(state, usable.len(), batch.groups.len());
        if let Some(share) = share {
            after.set(SHARE, share);
        }
        let there = after.held.len() + usable.len();
        let mut selection = if there < self.batch_groups {
            hold(batch, &usable, &mut fates, &mut after);
            Selection { ready: false, ..fates.selection(after) }
        } else {
            after.steps += 1;
            let filled = Filled { usable, wanted: self.batch_groups, surplus: Surplus::Hold };
            train(batch, &filled, fates, after)
        };
        let missing = self.batch_groups.saturating_sub(selection.state.held.len());
        let prompts = request_size(missing, share.unwrap_or(1.0).max(self.share_min), self.margin);
        if prompts > 0 {
            selection.requests.push(RolloutRequest::NewPrompts { prompts });
        }
        selection.metrics.extend(share.map(|share| (SHARE.to_owned(), share)));
        Ok(selection)
    }
}

impl AdaptiveSampling {
    fn test(&self) -> GroupTest {
        GroupTest {
            by: self.by,
            std_above: self.std_above,
            std: self.std,
            between: self.between,
            pass_at: self.pass_at,
            singles: Singles::Drop,
        }
    }

    /// The running mean of the share of groups that can be used; none before the first group.
    fn share(&self, state: &SelectionState, usable: usize, groups: usize) -> Option<f64> {
        let before = state.numbers.get(SHARE).copied();
        if groups == 0 {
            return before;
        }
        let now = stats::float(usable) / stats::float(groups);
        Some(before.map_or(now, |before| self.decay * before + (1.0 - self.decay) * now))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::selection::testing::{Columns, built, kept_rows, refused};

    #[test]
    fn requests_are_those_of_the_formula() {
        // 8 / 0.5 * 1.1 = 17.6; 10 / 0.5 * 1.1 = 22, although f64 says a little more.
        for (missing, share, margin, prompts) in [
            (8, 0.5, 0.1, 18),
            (10, 0.5, 0.1, 22),
            (8, 1.0, 0.0, 8),
            (0, 0.1, 0.1, 0),
            (1, 0.3, 0.0, 4),
        ] {
            assert_eq!(request_size(missing, share, margin), prompts, "{missing} / {share}");
        }
    }

    #[test]
    fn the_share_is_a_running_mean() {
        let selector = built("adaptive_dapo", json!({"batch_groups": 4}));
        // One of two groups can be used, then all of two.
        let one =
            Columns::new(2, &[1.0, 0.0, 1.0, 1.0]).select(&*selector, &SelectionState::default());
        assert!((one.metrics["usable_share"] - 0.5).abs() < 1e-12);
        assert_eq!(
            one.requests,
            [RolloutRequest::NewPrompts { prompts: 7 }],
            "3 / 0.5 * 1.1 = 6.6"
        );
        let two = Columns::new(2, &[1.0, 0.0, 0.0, 1.0]).select(&*selector, &one.state);
        assert!((two.metrics["usable_share"] - 0.55).abs() < 1e-12, "0.9 * 0.5 + 0.1 * 1");
        assert_eq!(two.requests, [RolloutRequest::NewPrompts { prompts: 2 }], "1 / 0.55 * 1.1 = 2");
        let full = Columns::new(2, &[1.0, 0.0, 0.0, 1.0]).select(&*selector, &two.state);
        assert_eq!(
            (full.ready, kept_rows(&full), full.held.clone()),
            (true, vec![0, 1], vec![2, 3])
        );
    }

    #[test]
    fn fewer_rounds_and_no_waste() {
        // Three in ten prompts can be used; 50 batches of 16 groups.
        let run = |kind: &str, settings| {
            let selector = built(kind, settings);
            let mut state = SelectionState::default();
            let (mut rounds, mut sampled, mut wanted, mut steps) = (0, 0, 16, 0);
            while steps < 50 {
                let reward = |row: usize| match (sampled + row / 2).wrapping_mul(2_654_435_761) >> 9
                {
                    draw if draw % 10 < 3 => f64::from(u8::from(row.is_multiple_of(2))),
                    _ => 0.0,
                };
                let rewards: Vec<f64> = (0..wanted * 2).map(reward).collect();
                let chosen = Columns::new(2, &rewards).select(&*selector, &state);
                sampled += wanted;
                rounds += 1;
                let request = chosen.requests.first();
                wanted = match request {
                    Some(RolloutRequest::NewPrompts { prompts }) => *prompts,
                    _ => 16,
                };
                if chosen.ready {
                    assert_eq!(chosen.kept.len() + chosen.replayed.len(), 32);
                    steps += 1;
                }
                state = chosen.state;
            }
            (rounds, sampled)
        };
        let adaptive = run("adaptive_dapo", json!({"batch_groups": 16}));
        let whole = run("dynamic", json!({"batch_groups": 16}));
        let missing = run("dynamic", json!({"batch_groups": 16, "refill": "missing"}));
        assert!(adaptive.0 * 2 < whole.0, "rounds: {adaptive:?}, {whole:?}");
        assert!(adaptive.0 * 2 < missing.0, "rounds: {adaptive:?}, {missing:?}");
        assert!(adaptive.1 < whole.1, "prompts: {adaptive:?}, {whole:?}");
    }

    #[test]
    fn wrong_settings_are_refused() {
        assert!(refused("adaptive_dapo", json!({})).contains("batch_groups"));
        let with = |key: &str, value: f64| {
            let mut settings = json!({"batch_groups": 4});
            settings[key] = json!(value);
            refused("adaptive_dapo", settings)
        };
        assert!(with("margin", -0.1).contains("0 or more"));
        assert!(with("decay", 1.0).contains("below 1"));
        assert!(with("share_min", 0.0).contains("above 0"));
    }
}
