//! `replace`: groups of which nothing is learned give their place to copies of others.

use crate::selection::draws::Draws;
use crate::selection::prelude::*;
use crate::selection::usable::{GroupTest, KeepBy, Singles, right, zero_to_one};

/// Keeps the size of a batch without sampling more: each group whose rewards are equal is replaced by a
/// copy of another, drawn among those that differ (POLARIS; `trainer_utils.py`, `handle_replace_sampling`
/// of `SkyRL` 0.3).
///
/// A group that is drawn counts once more for each time. As long as there are enough of them, no group
/// is drawn twice. Where too few groups differ, the whole batch is rejected and another is asked for.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct GroupReplacement {
    /// A batch is rejected where not more than this share of its groups differs.
    #[default(0.3)]
    share_above: f64,
    /// A group differs where the standard deviation of its rewards is above this.
    std_above: f64,
    /// Which standard deviation.
    std: Std,
    /// What becomes of a group in which one rollout alone has a reward.
    singles: Singles,
    /// How many batches in a row may be rejected before the selection fails; 0 for any number.
    gen_batches_max: u32,
}

/// Batches that were rejected in a row.
const REJECTED: &str = "rejected_batches";

impl SelectorSettings for GroupReplacement {
    fn check(&self) -> Result<(), TrainerError> {
        within("share_above", self.share_above, 0.0..1.0)?;
        self.test().check()
    }
}

impl Selector for GroupReplacement {
    fn select(
        &self,
        batch: &RolloutBatch<'_>,
        state: &SelectionState,
    ) -> Result<Selection, TrainerError> {
        batch.check()?;
        let test = self.test();
        let mut fates = Fates::new(batch);
        let all = batch.groups.len();
        let differ: Vec<usize> =
            (0..all).filter(|group| test.keep(batch, *group, &mut fates)).collect();
        let mut after = state.next();
        if stats::float(differ.len()) <= self.share_above * stats::float(all) {
            return self.reject(batch, fates, after);
        }
        after.set(REJECTED, 0.0);
        after.steps += 1;
        let names: Vec<String> =
            differ.iter().map(|group| batch.prompt(*group, after.batches).into_owned()).collect();
        let counts = counts(&names, all - differ.len(), Draws::new(&after, "replace"));
        for (group, count) in differ.iter().zip(counts) {
            for row in batch.groups.members(*group).rows() {
                fates.weigh(row, stats::float(count));
            }
        }
        Ok(fates.selection(after))
    }
}

impl GroupReplacement {
    fn test(&self) -> GroupTest {
        GroupTest {
            by: KeepBy::Std,
            std_above: self.std_above,
            std: self.std,
            between: zero_to_one(),
            pass_at: right(),
            singles: self.singles,
        }
    }

    /// Drops a batch of which too little is left.
    fn reject(
        &self,
        batch: &RolloutBatch<'_>,
        mut fates: Fates,
        mut after: SelectionState,
    ) -> Result<Selection, TrainerError> {
        let rejected = after.number(REJECTED) + 1.0;
        if self.gen_batches_max > 0 && rejected >= f64::from(self.gen_batches_max) {
            let expected = "one in which enough groups differ";
            return Err(TrainerError::input(
                "replacement",
                format!("{rejected} batches"),
                expected,
            ));
        }
        after.set(REJECTED, rejected);
        fates.drop_all(0..batch.rows(), DropReason::RejectedBatch);
        let requests = vec![RolloutRequest::NewPrompts { prompts: batch.groups.len() }];
        Ok(Selection { ready: false, requests, ..fates.selection(after) })
    }
}

/// How often each of the groups that differ counts, so that the `lost` ones are replaced.
fn counts(names: &[String], lost: usize, draws: Draws) -> Vec<usize> {
    let items: Vec<(&str, f64)> = names.iter().map(|name| (&**name, 1.0)).collect();
    let mut counts = if names.len() >= lost {
        let mut counts = vec![0; names.len()];
        for place in draws.without_replacement(&items, lost) {
            if let Some(count) = counts.get_mut(place) {
                *count = 1;
            }
        }
        counts
    } else {
        draws.with_replacement(&items, lost)
    };
    for count in &mut counts {
        *count += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::selection::testing::{Columns, built, dropped_rows, kept_rows, refused};

    #[test]
    fn groups_that_differ_take_the_place_of_others() {
        // Three groups of five differ: two of them are drawn once more.
        let rewards = [1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0];
        let columns = Columns::new(2, &rewards);
        let selector = built("replace", json!({}));
        let mut copies = [0; 5];
        for seed in 0..300 {
            let chosen = columns.select(&*selector, &SelectionState::seeded(seed));
            assert_eq!((kept_rows(&chosen), chosen.ready), (vec![0, 1, 4, 5, 8, 9], true));
            assert!((chosen.size() - 10.0).abs() < 1e-9, "the batch keeps its size");
            for kept in &chosen.kept {
                assert!(kept.weight < 2.5, "no group is drawn twice where there are enough");
                copies[kept.row / 2] += usize::from(kept.weight > 1.5);
            }
        }
        let drawn = [copies[0], copies[2], copies[4]];
        assert!(drawn.iter().all(|count| (340..460).contains(count)), "{drawn:?}");
        // One group of three differs: it is the only one to draw.
        let one = Columns::new(2, &[0.0, 1.0, 0.0, f64::NAN, 1.0, 1.0]);
        let chosen = one.select(&*selector, &SelectionState::seeded(0));
        assert!((chosen.size() - 6.0).abs() < 1e-9 && chosen.kept.len() == 2);
    }

    #[test]
    fn a_batch_of_which_too_little_is_left_is_rejected() {
        let columns = Columns::new(2, &[0.0, 1.0, 0.0, 0.0, 1.0, 1.0]);
        let selector = built("replace", json!({"share_above": 0.34, "gen_batches_max": 3}));
        let mut state = SelectionState::default();
        for _ in 0..2 {
            let chosen = columns.select(&*selector, &state);
            assert_eq!((dropped_rows(&chosen).len(), chosen.ready), (6, false));
            assert_eq!(chosen.reasons()[&DropReason::RejectedBatch], 2);
            assert_eq!(chosen.requests, [RolloutRequest::NewPrompts { prompts: 3 }]);
            state = chosen.state;
        }
        let groups = crate::groups::Groups::of_size(6, 2).unwrap();
        let batch = RolloutBatch::new(&groups, &columns.rewards).unwrap();
        let error = selector.select(&batch, &state).unwrap_err().to_string();
        assert!(error.starts_with("replacement: 3 batches"), "{error}");
        let good = Columns::new(2, &[0.0, 1.0]).select(&*selector, &state);
        assert!(good.state.number(REJECTED).abs() < 1e-12, "the count begins anew");
        assert!(refused("replace", json!({"share_above": 1.0})).contains("below 1"));
    }
}
