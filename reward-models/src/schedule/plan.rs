//! Which texts run together.

use crate::compatibility::BatchCompatibility;

/// Batches that may be taken before a text must be in the next one.
const PASSED_OVER_MAX: u32 = 64;

/// A text that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Its place in the queue.
    pub at: usize,
    /// Its tokens.
    pub length: usize,
    /// It runs in no batch with others.
    pub alone: bool,
    /// Batches that were taken before it since it came.
    pub passed_over: u32,
}

/// Batches, each a run of neighbours in the order of length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchPlan {
    batches: Vec<Vec<Waiting>>,
}

impl BatchPlan {
    /// Plans texts under a budget of tokens a batch, padding included. A text that is longer than
    /// the budget runs alone.
    pub fn of(mut waiting: Vec<Waiting>, budget: usize, compatibility: BatchCompatibility) -> Self {
        waiting.sort_unstable_by(|a, b| b.length.cmp(&a.length).then(a.at.cmp(&b.at)));
        let mut batches: Vec<Vec<Waiting>> = Vec::new();
        for one in waiting {
            // The first of a batch is its longest, and all others are padded to it.
            let fits = |batch: &&mut Vec<Waiting>| {
                let joins = |longest: &Waiting| {
                    let bears = match compatibility {
                        BatchCompatibility::Any => true,
                        BatchCompatibility::SameLength => longest.length == one.length,
                        BatchCompatibility::None => false,
                    };
                    bears && !longest.alone && longest.length * (batch.len() + 1) <= budget
                };
                !one.alone && batch.first().is_some_and(joins)
            };
            match batches.last_mut().filter(fits) {
                Some(batch) => batch.push(one),
                None => batches.push(vec![one]),
            }
        }
        Self { batches }
    }

    /// The batch to run now, as places in the queue: the dearest, so that short ones fill up the
    /// end; but a text that was passed over too often comes first.
    pub fn first(self) -> Option<Vec<usize>> {
        let late = |batch: &Vec<Waiting>| batch.iter().map(|one| one.passed_over).max();
        let (at, oldest) = self
            .batches
            .iter()
            .enumerate()
            .filter_map(|(at, batch)| Some((at, late(batch)?)))
            .max_by_key(|(at, passed)| (*passed, std::cmp::Reverse(*at)))?;
        let at = if oldest >= PASSED_OVER_MAX { at } else { 0 };
        let batch = self.batches.into_iter().nth(at)?;
        Some(batch.into_iter().map(|one| one.at).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn waiting(lengths: &[usize]) -> Vec<Waiting> {
        let one = |(at, length): (usize, &usize)| Waiting {
            at,
            length: *length,
            alone: false,
            passed_over: 0,
        };
        lengths.iter().enumerate().map(one).collect()
    }

    #[test]
    fn neighbours_in_length_run_together() {
        let plan = BatchPlan::of(waiting(&[10, 100, 12, 90, 600]), 200, BatchCompatibility::Any);
        let lengths: Vec<Vec<usize>> =
            plan.batches.iter().map(|batch| batch.iter().map(|one| one.length).collect()).collect();
        assert_eq!(lengths, [vec![600], vec![100, 90], vec![12, 10]]);
    }

    #[test]
    fn where_padding_moves_scores_nothing_is_padded() {
        let lengths = |compatibility| -> Vec<usize> {
            let plan = BatchPlan::of(waiting(&[10, 12, 10, 12, 9]), 200, compatibility);
            plan.batches.iter().map(Vec::len).collect()
        };
        assert_eq!(lengths(BatchCompatibility::SameLength), [2, 2, 1]);
        assert_eq!(lengths(BatchCompatibility::None), [1, 1, 1, 1, 1]);
    }

    #[test]
    fn a_text_is_not_passed_over_for_ever() {
        let mut texts = waiting(&[10, 500]);
        texts[0].passed_over = PASSED_OVER_MAX;
        assert_eq!(BatchPlan::of(texts, 512, BatchCompatibility::Any).first(), Some(vec![0]));
    }

    proptest! {
        #[test]
        fn every_text_is_in_one_batch_within_the_budget(
            lengths in prop::collection::vec(1_usize..700, 0..80), budget in 1_usize..1_000,
        ) {
            let plan = BatchPlan::of(waiting(&lengths), budget, BatchCompatibility::Any);
            let mut seen: Vec<usize> = plan.batches.iter().flatten().map(|one| one.at).collect();
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..lengths.len()).collect::<Vec<_>>());
            for batch in &plan.batches {
                let longest = batch.iter().map(|one| one.length).max().unwrap_or(0);
                prop_assert!(batch.len() == 1 || longest * batch.len() <= budget);
            }
        }
    }
}
