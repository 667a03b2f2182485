//! `r3l`: tries that are retried after a reflection.

use std::collections::BTreeMap;

use crate::selection::prelude::*;
use crate::selection::rollouts::{Attempt, at};

/// Trains a try and its retry on the tokens behind the point at which they part, and stores what taught
/// the model to retry (R3L: Reflect-then-Retry Reinforcement Learning with Language-Guided Exploration,
/// Pivotal Credit, and Positive Amplification; `alfworld/R3L_workflow.py` of its code).
///
/// The tokens before the pivot are the same in both, and masked. The reflection, and the retry under the
/// prompt without a hint, are stored with a reward of 1 only where the retry is perfect and beats the
/// first try, or both are perfect and the retry takes fewer steps. The reflection on a perfect first try
/// is stored where it judged that try to be perfect. Nothing is stored of tries without a reward.
#[derive(Clone, Debug, Deserialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct PivotalCredit {
    /// The reward from which a try is perfect.
    #[default(1.0)]
    perfect: f64,
}

impl SelectorSettings for PivotalCredit {
    fn check(&self) -> Result<(), TrainerError> {
        within("perfect", self.perfect, ..)
    }
}

impl Selector for PivotalCredit {
    fn select(
        &self,
        batch: &RolloutBatch<'_>,
        state: &SelectionState,
    ) -> Result<Selection, TrainerError> {
        batch.check()?;
        let attempts = batch.need("attempts", batch.attempts)?;
        check_retries(batch, attempts)?;
        let mut fates = Fates::new(batch);
        let mut pivots: BTreeMap<usize, usize> = BTreeMap::new();
        for (row, attempt) in attempts.iter().enumerate() {
            let Some(first) = attempt.retry_of else { continue };
            fates.train_from(row, attempt.pivot);
            // Of several retries, the one that leaves first decides.
            let pivot = pivots.entry(first).or_insert(attempt.pivot_of_first);
            *pivot = (*pivot).min(attempt.pivot_of_first);
        }
        for (first, pivot) in pivots {
            fates.train_from(first, pivot);
        }
        let parts = (0..attempts.len()).flat_map(|row| self.stored(batch, attempts, row));
        let stored = parts.collect();
        let after = SelectionState { steps: state.steps + 1, ..state.next() };
        Ok(Selection { stored, ..fates.selection(after) })
    }
}

impl PivotalCredit {
    /// What of a row is stored.
    fn stored(
        &self,
        batch: &RolloutBatch<'_>,
        attempts: &[Attempt],
        row: usize,
    ) -> Vec<StoredRollout> {
        let attempt = at(attempts, row);
        let part = |part| StoredRollout { row, part, reward: 1.0 };
        let Some(reward) = batch.reward(row).filter(|reward| *reward >= self.perfect) else {
            return Vec::new();
        };
        let Some(first) = attempt.retry_of else {
            return if attempt.judged_perfect {
                vec![part(StoredPart::Reflection)]
            } else {
                Vec::new()
            };
        };
        let steps = |row: usize| batch.step_counts.and_then(|counts| counts.get(row));
        let is_shorter = steps(row).zip(steps(first)).is_some_and(|(retry, first)| retry < first);
        let is_better = batch.reward(first).is_some_and(|before| {
            reward > before || (before >= self.perfect && reward >= before && is_shorter)
        });
        if is_better {
            vec![part(StoredPart::Reflection), part(StoredPart::WithoutHint)]
        } else {
            Vec::new()
        }
    }
}

/// Fails where a retry is not one of a first try of its own group.
fn check_retries(batch: &RolloutBatch<'_>, attempts: &[Attempt]) -> Result<(), TrainerError> {
    let mut homes = vec![0; batch.rows()];
    for (group, members) in batch.groups.iter().enumerate() {
        for row in members.rows() {
            if let Some(home) = homes.get_mut(row) {
                *home = group;
            }
        }
    }
    for (row, attempt) in attempts.iter().enumerate() {
        let Some(first) = attempt.retry_of else { continue };
        let is_first = attempts.get(first).is_some_and(|first| first.retry_of.is_none());
        if !is_first || homes.get(first) != homes.get(row) {
            let have = format!("row {row} is a retry of row {first}");
            return Err(TrainerError::input("attempts", have, "a first try of the same group"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::groups::Groups;
    use crate::selection::testing::{built, check_fates};

    fn retry(of: usize, pivot: usize, pivot_of_first: usize) -> Attempt {
        Attempt { retry_of: Some(of), pivot, pivot_of_first, judged_perfect: false }
    }

    const FIRST: Attempt =
        Attempt { retry_of: None, pivot: 0, pivot_of_first: 0, judged_perfect: false };

    #[test]
    fn only_what_differs_is_trained_on() {
        let groups = Groups::of_size(4, 4).unwrap();
        let mut batch = RolloutBatch::new(&groups, &[0.0, 1.0, 0.5, f64::NAN]).unwrap();
        let attempts = [FIRST, retry(0, 12, 9), retry(0, 5, 5), FIRST];
        batch.attempts = Some(&attempts);
        let chosen = built("r3l", json!({})).select(&batch, &SelectionState::default()).unwrap();
        check_fates(&batch, &chosen);
        let tokens: Vec<usize> = chosen.kept.iter().map(|kept| kept.from_token).collect();
        assert_eq!(tokens, [5, 12, 5]);
    }

    #[test]
    fn what_taught_to_retry_is_stored() {
        let both = vec![StoredPart::Reflection, StoredPart::WithoutHint];
        let judged = Attempt { judged_perfect: true, ..FIRST };
        for (first, rewards, steps, expected) in [
            (FIRST, [0.0, 1.0], [9, 9], both.clone()),
            (FIRST, [0.0, 0.9], [9, 1], vec![]),
            (FIRST, [1.0, 1.0], [9, 8], both.clone()),
            (FIRST, [1.0, 1.0], [9, 9], vec![]),
            (FIRST, [f64::NAN, 1.0], [9, 1], vec![]),
            (judged, [1.0, 0.0], [9, 1], vec![StoredPart::Reflection]),
            (judged, [0.5, 0.0], [9, 1], vec![]),
        ] {
            let groups = Groups::of_size(2, 2).unwrap();
            let mut batch = RolloutBatch::new(&groups, &rewards).unwrap();
            let attempts = [first, retry(0, 3, 3)];
            batch.attempts = Some(&attempts);
            batch.step_counts = Some(&steps);
            let chosen = built("r3l", json!({})).select(&batch, &SelectionState::default());
            let stored = chosen.unwrap().stored;
            let parts: Vec<StoredPart> = stored.iter().map(|stored| stored.part).collect();
            assert_eq!(parts, expected, "{rewards:?} {steps:?}");
            assert!(stored.iter().all(|stored| (stored.reward - 1.0).abs() < 1e-15));
        }
    }

    #[test]
    fn a_retry_belongs_to_a_first_try_of_its_group() {
        let groups = Groups::of_size(4, 2).unwrap();
        for (attempts, named) in [
            ([FIRST, FIRST, retry(0, 1, 1), FIRST], "row 2 is a retry of row 0"),
            ([FIRST, retry(7, 1, 1), FIRST, FIRST], "row 1 is a retry of row 7"),
            ([retry(1, 1, 1), retry(0, 1, 1), FIRST, FIRST], "row 0 is a retry of row 1"),
        ] {
            let mut batch = RolloutBatch::new(&groups, &[0.0; 4]).unwrap();
            batch.attempts = Some(&attempts);
            let error = built("r3l", json!({})).select(&batch, &SelectionState::default());
            assert!(error.unwrap_err().to_string().contains(named), "{named}");
        }
    }
}
