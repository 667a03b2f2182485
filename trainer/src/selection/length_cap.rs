//! `length_cap`: rollouts that were cut at the length limit.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::error::TrainerError;
use crate::selection::outcome::{DropReason, Fates, Selection};
use crate::selection::policy::{Selector, SelectorSettings};
use crate::selection::rollouts::{RolloutBatch, at};
use crate::selection::state::SelectionState;

/// Drops rollouts that were cut at the length limit: all of them, or those whose advantage is
/// positive.
///
/// A cut response that counts as right is luck, or an answer given before the reasoning
/// (`EFRame`: Deeper Reasoning via Exploration-Filter-Replay Reinforcement Learning Framework, section
/// on the filter). To drop all of them is the overlong filter of DAPO (section "Overlong Reward
/// Shaping").
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LengthCap {
    /// A response of this many tokens was cut too, beside those that are marked as cut.
    #[serde(default)]
    max: Option<usize>,
    /// Which of them are dropped.
    #[serde(default)]
    drop: CutRollouts,
}

/// Which of the rollouts that were cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CutRollouts {
    /// Those whose advantage is positive.
    #[default]
    Positive,
    /// All of them.
    All,
}

impl SelectorSettings for LengthCap {
    fn check(&self) -> Result<(), TrainerError> {
        match self.max {
            Some(0) => Err(TrainerError::setting("max", "`max` is 0, expected at least 1")),
            _ => Ok(()),
        }
    }
}

impl Selector for LengthCap {
    fn select(
        &self,
        batch: &RolloutBatch<'_>,
        state: &SelectionState,
    ) -> Result<Selection, TrainerError> {
        batch.check()?;
        let marks = match self.max {
            Some(_) => batch.truncated.unwrap_or_default(),
            None => batch.need("truncated", batch.truncated)?,
        };
        let lengths = match self.max {
            Some(_) => batch.need("lengths", batch.lengths)?,
            None => &[],
        };
        let advantages = match self.drop {
            CutRollouts::Positive => batch.need("advantages", batch.advantages)?,
            CutRollouts::All => &[],
        };
        let mut fates = Fates::new(batch);
        for row in 0..batch.rows() {
            let is_long = self.max.is_some_and(|max| at(lengths, row) >= max);
            let is_cut = at(marks, row) || is_long;
            match self.drop {
                CutRollouts::All if is_cut => fates.drop(row, DropReason::Truncated),
                CutRollouts::Positive if is_cut && at(advantages, row) > 0.0 => {
                    fates.drop(row, DropReason::TruncatedPositive);
                }
                _ => {}
            }
        }
        Ok(fates.selection(state.next()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::groups::Groups;
    use crate::selection::testing::{built, kept_rows, refused};

    #[test]
    fn cut_rollouts_are_dropped() {
        let groups = Groups::of_size(5, 5).unwrap();
        let mut batch = RolloutBatch::new(&groups, &[1.0, 1.0, 0.0, 0.0, 1.0]).unwrap();
        batch.truncated = Some(&[true, false, true, false, false]);
        batch.advantages = Some(&[0.7, 0.7, -1.1, -1.1, 0.7]);
        batch.lengths = Some(&[90, 80, 90, 70, 100]);
        for (settings, kept) in [
            (json!({}), vec![1, 2, 3, 4]),
            (json!({"drop": "all"}), vec![1, 3, 4]),
            (json!({"max": 100}), vec![1, 2, 3]),
            (json!({"max": 80, "drop": "all"}), vec![3]),
        ] {
            let chosen = built("length_cap", settings.clone());
            let chosen = chosen.select(&batch, &SelectionState::default()).unwrap();
            assert_eq!(kept_rows(&chosen), kept, "{settings}");
        }
    }

    #[test]
    fn what_is_needed_is_named() {
        let groups = Groups::of_size(1, 1).unwrap();
        let batch = RolloutBatch::new(&groups, &[1.0]).unwrap();
        let needs = |settings| {
            let selector = built("length_cap", settings);
            selector.select(&batch, &SelectionState::default()).unwrap_err().to_string()
        };
        assert!(needs(json!({})).starts_with("truncated: not given"));
        assert!(needs(json!({"max": 5})).starts_with("lengths: not given"));
        assert!(refused("length_cap", json!({"max": 0})).contains("at least 1"));
    }
}
