//! `ssr`: selective sample replay.

use crate::selection::draws::Draws;
use crate::selection::outcome::ReplayedRollout;
use crate::selection::prelude::*;
use crate::selection::rollouts::at;
use crate::selection::state::BufferedRollout;

/// Trains on rollouts whose advantage is not 0, and fills the batch with earlier ones, drawn with a
/// probability proportional to the size of their advantage to the power `alpha` (VL-Rethinker:
/// Incentivizing Self-Reflection of Vision-Language Models with Reinforcement Learning, section
/// "Selective Sample Replay").
///
/// Without `current_share`, all such rollouts of the batch are kept, and the buffer fills what is left.
/// With it, that share of the batch is drawn from them, a few rollouts of prompts that were always
/// answered right are added, and the rest is drawn from the buffer; so does the code of the authors,
/// with a share of 0.5. Rollouts that are drawn more than once count as often. The training batch is
/// never larger than `batch_rollouts`.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct SelectiveReplay {
    /// The power of the size of an advantage.
    #[default(1.0)]
    alpha: f64,
    /// How many rollouts a training batch has; as many as the batch where it is not given.
    batch_rollouts: Option<usize>,
    /// The share of the training batch that is drawn from this batch.
    current_share: Option<f64>,
    /// Prompts that are always answered right add rollouts up to this share of what is drawn from this
    /// batch; with `current_share` alone.
    #[default(0.1)]
    solved_share: f64,
    /// A prompt is always answered right where every reward is above this.
    #[default(0.95)]
    solved_above: f64,
    /// Added to the size of an advantage in the buffer.
    #[default(1e-4)]
    floor: f64,
    /// How many rollouts the buffer holds; half a training batch where it is not given.
    capacity: Option<usize>,
    /// How many steps a rollout stays in the buffer, at most.
    age_max: Option<u64>,
    /// Whether a rollout can be drawn more than once for one batch.
    replacement: Replacement,
}

/// Whether a rollout can be drawn more than once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Replacement {
    /// It can.
    #[default]
    With,
    /// It cannot.
    Without,
}

impl SelectorSettings for SelectiveReplay {
    fn check(&self) -> Result<(), TrainerError> {
        for (key, share) in [
            ("current_share", self.current_share.unwrap_or(0.0)),
            ("solved_share", self.solved_share),
        ] {
            within(key, share, 0.0..=1.0)?;
        }
        for (key, number) in [("alpha", self.alpha), ("floor", self.floor)] {
            within(key, number, 0.0..)?;
        }
        Ok(())
    }
}

impl Selector for SelectiveReplay {
    fn select(
        &self,
        batch: &RolloutBatch<'_>,
        state: &SelectionState,
    ) -> Result<Selection, TrainerError> {
        batch.check()?;
        let advantages = batch.need("advantages", batch.advantages)?;
        let mut after = state.next();
        after.steps += 1;
        let size = self.batch_rollouts.unwrap_or(batch.rows());
        let mut released = after.buffer.expire(after.steps, self.age_max.unwrap_or(u64::MAX));
        let mut fates = Fates::new(batch);
        let is_effective = |row: &usize| at(advantages, *row) != 0.0;
        let (effective, rest): (Vec<usize>, Vec<usize>) =
            (0..batch.rows()).filter(|row| fates.is_kept(*row)).partition(is_effective);
        let solved_draws = Draws::new(&after, "solved");
        let number = after.batches;
        let current = Current { batch, advantages, effective: &effective, number, solved_draws };
        let draws = Draws::new(&after, "current");
        let mut taken = match self.current_share {
            Some(share) => {
                let share = stats::floored(share * stats::float(size));
                self.draw_current(&current, draws, share, &mut fates)
            }
            None => self.keep_current(&current, draws, size, &mut fates),
        };
        let solved = self.solved(&current, &rest, taken.min(size), size - taken.min(size));
        taken += solved.len();
        let unsolved = rest.into_iter().filter(|row| !solved.contains(row));
        fates.drop_all(unsolved, DropReason::SmallAdvantage);
        let replayed = self.replay(&after, size.saturating_sub(taken));
        let stored = current.store(&mut after);
        released.extend(after.buffer.shrink(self.capacity.unwrap_or(size / 2)));
        Ok(Selection { replayed, stored, released, ..fates.selection(after) })
    }
}

/// What of the batch can be trained on.
struct Current<'a> {
    batch: &'a RolloutBatch<'a>,
    advantages: &'a [f64],
    effective: &'a [usize],
    number: u64,
    solved_draws: Draws,
}

impl SelectiveReplay {
    /// Keeps all rollouts, or draws as many as there is room for. Returns how many are kept.
    fn keep_current(
        &self,
        current: &Current<'_>,
        draws: Draws,
        room: usize,
        fates: &mut Fates,
    ) -> usize {
        if current.effective.len() <= room {
            return current.effective.len();
        }
        let once = Self { replacement: Replacement::Without, ..*self };
        once.draw_current(current, draws, room, fates)
    }

    /// Draws rollouts. Returns how many are kept, counted as often as they count.
    fn draw_current(
        &self,
        current: &Current<'_>,
        draws: Draws,
        wanted: usize,
        fates: &mut Fates,
    ) -> usize {
        let names = current.names();
        let weight = |row: &usize| at(current.advantages, *row).abs().powf(self.alpha);
        let weights = current.effective.iter().map(weight);
        let items: Vec<(&str, f64)> = names.iter().map(String::as_str).zip(weights).collect();
        let counts = self.counts(draws, &items, wanted);
        for (row, count) in current.effective.iter().zip(&counts) {
            match count {
                0 => fates.drop(*row, DropReason::NotDrawn),
                count => fates.weigh(*row, stats::float(*count)),
            }
        }
        counts.iter().sum()
    }

    fn counts(&self, draws: Draws, items: &[(&str, f64)], wanted: usize) -> Vec<usize> {
        if self.replacement == Replacement::With {
            return draws.with_replacement(items, wanted);
        }
        let mut counts = vec![0; items.len()];
        for drawn in draws.without_replacement(items, wanted) {
            if let Some(count) = counts.get_mut(drawn) {
                *count = 1;
            }
        }
        counts
    }

    /// Rollouts of prompts that were always answered right.
    fn solved(
        &self,
        current: &Current<'_>,
        rest: &[usize],
        taken: usize,
        room: usize,
    ) -> Vec<usize> {
        if self.current_share.is_none() {
            return Vec::new();
        }
        let batch = current.batch;
        let is_solved =
            |members: &Vec<(usize, f64)>| members.iter().all(|(_, r)| *r > self.solved_above);
        let groups = batch.groups.iter().map(|members| batch.scored(&members)).filter(is_solved);
        let rows = groups.flatten().map(|(row, _)| row);
        let mut rows: Vec<usize> = rows.filter(|row| rest.binary_search(row).is_ok()).collect();
        let key = |row: &usize| current.solved_draws.of(&batch.id(*row, current.number));
        rows.sort_by(|left, right| key(left).total_cmp(&key(right)));
        let most = stats::floored(self.solved_share * stats::float(taken)).min(room);
        rows.truncate(most);
        rows
    }

    /// Draws from the buffer.
    fn replay(&self, after: &SelectionState, room: usize) -> Vec<ReplayedRollout> {
        let weight =
            |rollout: &BufferedRollout| (rollout.advantage.abs() + self.floor).powf(self.alpha);
        let items: Vec<(&str, f64)> =
            after.buffer.iter().map(|rollout| (&*rollout.id, weight(rollout))).collect();
        let counts = self.counts(Draws::new(after, "buffer"), &items, room);
        let drawn = after.buffer.iter().zip(counts).filter(|(_, count)| *count > 0);
        let again = drawn.map(|(rollout, count)| ReplayedRollout {
            id: rollout.id.clone(),
            weight: stats::float(count),
            advantage: Some(rollout.advantage),
        });
        again.collect()
    }
}

impl Current<'_> {
    fn names(&self) -> Vec<String> {
        let name = |row: &usize| self.batch.id(*row, self.number).into_owned();
        self.effective.iter().map(name).collect()
    }

    /// Stores all rollouts that can be trained on.
    fn store(&self, after: &mut SelectionState) -> Vec<StoredRollout> {
        let step = after.steps;
        let (mut stored, mut buffered) = (Vec::new(), Vec::new());
        for (row, id) in self.effective.iter().zip(self.names()) {
            let (advantage, reward) = (at(self.advantages, *row), at(self.batch.rewards, *row));
            buffered.push(BufferedRollout { id, advantage, reward, step });
            stored.push(StoredRollout { row: *row, part: StoredPart::Rollout, reward });
        }
        after.buffer.extend(buffered);
        stored
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::selection::testing::{Columns, built, kept_rows, refused, replayed_ids};

    /// Two groups of four: one teaches, one is always right.
    fn columns(step: usize) -> Columns {
        let mut columns = Columns::new(4, &[1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0]);
        columns.ids = columns.ids.iter().map(|id| format!("{step}/{id}")).collect();
        columns
    }

    #[test]
    fn the_buffer_fills_what_the_batch_lacks() {
        let selector = built("ssr", json!({}));
        let one = columns(1).select(&*selector, &SelectionState::seeded(1));
        assert_eq!(
            (kept_rows(&one), one.size(), one.state.buffer.len()),
            (vec![0, 1, 2, 3], 4.0, 4)
        );
        let two = columns(2).select(&*selector, &one.state);
        assert_eq!((two.kept.len(), two.size()), (4, 8.0), "the batch is full");
        assert!(replayed_ids(&two).iter().all(|id| id.starts_with("1/")));
        assert_eq!(two.released.len(), 4, "half a batch is kept, the newest of it");
        assert!(two.state.buffer.iter().all(|rollout| rollout.id.starts_with("2/")));
        assert_eq!(two.reasons()[&DropReason::SmallAdvantage], 4);
    }

    #[test]
    fn great_advantages_are_drawn_more_often() {
        // Advantages 1.5 and three times -0.5: half of the draws are of the first, with alpha 1; with
        // alpha 2 they are 2.25 to 0.75, three quarters.
        for (alpha, share) in [(1.0, 0.5), (2.0, 0.75), (0.0, 0.25)] {
            let selector =
                built("ssr", json!({"alpha": alpha, "batch_rollouts": 4004, "floor": 0.0}));
            let one = columns(1).select(&*selector, &SelectionState::seeded(1));
            let two = columns(2).select(&*selector, &one.state);
            let first = two.replayed.iter().find(|again| again.id == "1/0-0").unwrap();
            assert!((first.weight / 4000.0 - share).abs() < 0.03, "{alpha}: {}", first.weight);
            assert!((two.size() - 4004.0).abs() < 1e-9);
        }
    }

    #[test]
    fn a_share_is_drawn_from_the_batch_itself() {
        let settings = json!({"current_share": 0.5, "batch_rollouts": 40, "capacity": 100});
        let selector = built("ssr", settings);
        let one = columns(1).select(&*selector, &SelectionState::seeded(2));
        let right = one.kept.iter().filter(|kept| kept.row >= 4).count();
        assert_eq!((one.size(), right), (22.0, 2), "a tenth of 20 may be always right");
        let two = columns(2).select(&*selector, &one.state);
        assert!((two.size() - 40.0).abs() < 1e-9);
        let replayed: f64 = two.replayed.iter().map(|again| again.weight).sum();
        assert!((replayed - 18.0).abs() < 1e-9);
    }

    #[test]
    fn a_batch_is_never_larger_than_it_may_be() {
        for replacement in ["with", "without"] {
            for current_share in [json!(null), json!(0.0), json!(1.0)] {
                let settings = json!({
                    "batch_rollouts": 3, "replacement": replacement, "current_share": current_share,
                });
                let selector = built("ssr", settings);
                let mut state = SelectionState::seeded(3);
                for step in 0..4 {
                    let chosen = columns(step).select(&*selector, &state);
                    assert!(chosen.size() <= 3.0, "{replacement} {current_share}");
                    assert!(chosen.state.buffer.len() <= 1);
                    state = chosen.state;
                }
            }
        }
    }

    #[test]
    fn a_seed_draws_the_same_in_any_order() {
        let selector = built("ssr", json!({"current_share": 0.75, "replacement": "without"}));
        let all = Columns::new(4, &[1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0]);
        let turned = all.in_order(&[2, 0, 1]);
        let mut differ = 0;
        for seed in 0..20 {
            let state = SelectionState::seeded(seed);
            let chosen = all.select(&*selector, &state);
            assert_eq!(chosen, all.select(&*selector, &state));
            let other = turned.select(&*selector, &state);
            assert_eq!(all.kept_ids(&chosen), turned.kept_ids(&other));
            let next = all.select(&*selector, &SelectionState::seeded(seed + 1));
            differ += usize::from(all.kept_ids(&chosen) != all.kept_ids(&next));
        }
        assert!(differ > 10, "{differ}");
    }

    #[test]
    fn wrong_settings_are_refused() {
        assert!(refused("ssr", json!({"current_share": 1.5})).contains("0 to 1"));
        assert!(refused("ssr", json!({"alpha": -1.0})).contains("0 or more"));
    }
}
