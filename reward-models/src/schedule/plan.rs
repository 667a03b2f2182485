//! Which texts run together.

use std::collections::HashMap;

use crate::compatibility::{BatchCompatibility, Compatibility};

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
    /// What it goes on from, and the tokens of that: it runs with texts that go on from the same.
    pub behind: Option<(usize, usize)>,
    /// Batches that were taken before it since it came.
    pub passed_over: u32,
    /// The [`Window`] that it came into.
    pub window: u64,
}

/// Texts that are planned together: all that waited when the window before was empty but for one batch.
///
/// Whoever fills the queue up while its longest texts are taken has it full of texts without neighbours in
/// length: planned anew over everything that waits, batches of 8,192 tokens are padded to 1.7 times.
#[derive(Debug, Default)]
pub struct Window {
    /// Texts of windows before this one are planned.
    end: u64,
}

impl Window {
    /// The window of a text that comes now.
    pub fn arrival(&self) -> u64 {
        self.end
    }

    /// The batch to run now, as places in the queue.
    pub fn next(&mut self, waiting: Vec<Waiting>, rules: &BatchRules) -> Option<Vec<usize>> {
        let end = self.end;
        let own: Vec<Waiting> = waiting.iter().filter(|one| one.window < end).copied().collect();
        let is_all = own.len() == waiting.len();
        let plan = BatchPlan::of(own, rules);
        if is_all || plan.batches.len() > 1 {
            return plan.first();
        }
        self.end += 1;
        BatchPlan::of(waiting, rules).first()
    }
}

/// What batches may be like.
#[derive(Clone, Copy, Debug)]
pub struct BatchRules {
    /// The most tokens, padding included.
    pub budget: usize,
    /// The most tokens of what the texts of a batch go on from: each has a copy of it.
    pub copied: usize,
    /// What a text may share a batch with.
    pub compatibility: Compatibility,
}

impl BatchRules {
    /// Whether a text that is at most as long as those of a batch joins them: the first is the longest, and all
    /// others are padded to it.
    fn join(&self, batch: &[Waiting], one: &Waiting) -> bool {
        let Some(longest) = batch.first() else { return false };
        let (kind, before) = match one.behind {
            Some((_, before)) => (self.compatibility.behind, before),
            None => (self.compatibility.whole, 0),
        };
        let bears = match kind {
            BatchCompatibility::Any => true,
            BatchCompatibility::SameLength => longest.length == one.length,
            BatchCompatibility::None => false,
        };
        let tokens = longest.length * batch.len();
        // A full batch of texts unlike in length computes more than two that are not full.
        let is_unlike = tokens >= self.budget / 4 && 4 * one.length < 3 * longest.length;
        let fits = tokens + longest.length <= self.budget;
        let fits = fits && before * (batch.len() + 1) <= self.copied;
        bears && !longest.alone && !one.alone && fits && !is_unlike
    }
}

/// Batches, each a run of neighbours in the order of length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchPlan {
    batches: Vec<Vec<Waiting>>,
}

impl BatchPlan {
    /// Plans texts under the rules. A text that is longer than the budget runs alone.
    pub fn of(mut waiting: Vec<Waiting>, rules: &BatchRules) -> Self {
        waiting.sort_unstable_by(|a, b| b.length.cmp(&a.length).then(a.at.cmp(&b.at)));
        let mut batches: Vec<Vec<Waiting>> = Vec::new();
        // The batch that is open for what goes on from the same.
        let mut open: HashMap<Option<(usize, usize)>, usize> = HashMap::new();
        for one in waiting {
            let last = open.get(&one.behind).and_then(|at| batches.get_mut(*at));
            if let Some(batch) = last.filter(|batch| rules.join(batch, &one)) {
                batch.push(one);
            } else {
                open.insert(one.behind, batches.len());
                batches.push(vec![one]);
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
    use std::collections::BTreeSet;

    use super::*;
    use proptest::prelude::*;

    fn waiting(lengths: &[usize]) -> Vec<Waiting> {
        let one = |(at, length): (usize, &usize)| Waiting {
            at,
            length: *length,
            alone: false,
            behind: None,
            passed_over: 0,
            window: 0,
        };
        lengths.iter().enumerate().map(one).collect()
    }

    fn rules(budget: usize, compatibility: BatchCompatibility) -> BatchRules {
        let compatibility = Compatibility { whole: compatibility, behind: compatibility };
        BatchRules { budget, copied: 1_000, compatibility }
    }

    fn any(budget: usize) -> BatchRules {
        rules(budget, BatchCompatibility::Any)
    }

    fn lengths(plan: &BatchPlan) -> Vec<Vec<usize>> {
        let of = |batch: &Vec<Waiting>| batch.iter().map(|one| one.length).collect();
        plan.batches.iter().map(of).collect()
    }

    #[test]
    fn neighbours_in_length_run_together() {
        let plan = BatchPlan::of(waiting(&[10, 100, 12, 90, 600]), &any(200));
        assert_eq!(lengths(&plan), [vec![600], vec![100, 90], vec![12, 10]]);
    }

    #[test]
    fn texts_run_with_those_that_go_on_from_the_same() {
        let mut texts = waiting(&[30, 29, 28, 27, 26, 25]);
        for (one, behind) in texts.iter_mut().zip([Some(7), Some(8), Some(7), None, None, Some(7)])
        {
            one.behind = behind.map(|prefix| (prefix, 400));
        }
        let plan = BatchPlan::of(texts.clone(), &any(200));
        assert_eq!(lengths(&plan), [vec![30, 28], vec![29], vec![27, 26], vec![25]]);
        let behind = BatchCompatibility::None;
        let compatibility = Compatibility { behind, ..Compatibility::default() };
        let plan = BatchPlan::of(texts, &BatchRules { compatibility, ..any(200) });
        assert_eq!(lengths(&plan), [vec![30], vec![29], vec![28], vec![27, 26], vec![25]]);
    }

    #[test]
    fn where_padding_moves_scores_nothing_is_padded() {
        let lengths = |compatibility| -> Vec<usize> {
            let plan = BatchPlan::of(waiting(&[10, 12, 10, 12, 9]), &rules(200, compatibility));
            plan.batches.iter().map(Vec::len).collect()
        };
        assert_eq!(lengths(BatchCompatibility::SameLength), [2, 2, 1]);
        assert_eq!(lengths(BatchCompatibility::None), [1, 1, 1, 1, 1]);
    }

    #[test]
    fn a_text_is_not_passed_over_for_ever() {
        let mut texts = waiting(&[10, 500]);
        texts[0].passed_over = PASSED_OVER_MAX;
        assert_eq!(BatchPlan::of(texts, &any(512)).first(), Some(vec![0]));
    }

    /// Tokens that are computed for each token of the texts, where `in_flight` texts wait at a time.
    fn padding(lengths: &[usize], in_flight: usize, budget: usize) -> f64 {
        let mut window = Window::default();
        let mut queue: Vec<Waiting> = Vec::new();
        let mut coming = lengths.iter().copied();
        let (mut computed, mut own) = (0, 0);
        loop {
            let room = in_flight - queue.len();
            let arrival = window.arrival();
            queue.extend(coming.by_ref().take(room).map(|length| Waiting {
                at: 0,
                length,
                alone: false,
                behind: None,
                passed_over: 0,
                window: arrival,
            }));
            for (at, one) in queue.iter_mut().enumerate() {
                one.at = at;
            }
            let chosen = window.next(queue.clone(), &any(budget));
            let Some(chosen) = chosen else { break };
            let batch: Vec<usize> = chosen.iter().map(|at| queue[*at].length).collect();
            let longest = batch.iter().max().copied().unwrap_or_default();
            assert!(batch.len() == 1 || longest * batch.len() <= budget);
            computed += longest * batch.len();
            own += batch.iter().sum::<usize>();
            let chosen: BTreeSet<usize> = chosen.into_iter().collect();
            queue.retain(|one| !chosen.contains(&one.at));
            for one in &mut queue {
                one.passed_over += 1;
            }
        }
        assert_eq!(own, lengths.iter().sum::<usize>());
        f64::from(u32::try_from(computed).unwrap()) / f64::from(u32::try_from(own).unwrap())
    }

    /// Lengths whose quantiles are these, in no order.
    fn drawn(quantiles: &[usize], count: usize) -> Vec<usize> {
        let parts = quantiles.len() - 1;
        let one = |at: usize| {
            let place = (at * 2_731 + 17) % count * parts;
            let (part, rest) = (place / count, place % count);
            quantiles[part] + (quantiles[part + 1] - quantiles[part]) * rest / count
        };
        (0..count).map(one).collect()
    }

    /// Quantiles of lengths: of the bench, and of the rows of `fixtures/datasets`, four bytes a token.
    const LENGTHS: [(&str, [usize; 17]); 5] = [
        (
            "log-uniform",
            [16, 19, 24, 30, 38, 47, 58, 72, 90, 112, 139, 173, 215, 267, 331, 412, 512],
        ),
        (
            "gsm8k",
            [46, 81, 92, 101, 108, 115, 122, 128, 135, 143, 151, 161, 172, 186, 203, 233, 451],
        ),
        (
            "mmlu-pro",
            [40, 77, 92, 102, 114, 124, 133, 148, 162, 177, 194, 211, 236, 266, 301, 396, 3_036],
        ),
        ("mbpp", [56, 77, 83, 86, 92, 102, 106, 109, 116, 122, 123, 140, 147, 159, 172, 236, 241]),
        // All that waits is two batches of 8,192 tokens.
        ("hardverify", [8, 8, 8, 8, 9, 9, 10, 11, 12, 13, 15, 16, 19, 22, 28, 35, 103]),
    ];

    /// Texts come while batches run, 1,024 at a time, as an engine keeps them in flight.
    #[test]
    fn padding_stays_small_where_texts_come_all_the_time() {
        for (name, quantiles) in LENGTHS {
            let lengths = drawn(&quantiles, 4_096);
            for budget in [2_048, 8_192] {
                let found = padding(&lengths, 1_024, budget);
                let most = if name == "hardverify" { 1.2 } else { 1.05 };
                assert!(found <= most, "{name} at {budget} tokens a batch: {found}");
            }
        }
    }

    #[test]
    fn what_comes_later_waits_for_the_next_window() {
        let mut window = Window::default();
        let mut texts = waiting(&[10, 20, 500, 600]);
        let any = any(512);
        assert_eq!(window.next(texts.clone(), &any), Some(vec![3]));
        texts.pop();
        let late = Waiting { at: 3, length: 700, window: window.arrival(), ..texts[0] };
        texts.push(late);
        assert_eq!(window.next(texts.clone(), &any), Some(vec![2]));
        // The short texts are one batch: they join what came since.
        texts.remove(2);
        assert_eq!(window.next(texts, &any), Some(vec![3]));
    }

    proptest! {
        #[test]
        fn every_text_is_in_one_batch_within_the_budget(
            lengths in prop::collection::vec(1_usize..700, 0..80), budget in 1_usize..1_000,
        ) {
            let plan = BatchPlan::of(waiting(&lengths), &any(budget));
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
