//! The best of many: attacks that name no answer, put together and changed at random, as far as a budget goes.

use assay::verifiers::stats::SplitMix64;

use super::attempt::{self, Attempt};
use super::target::{Judge, Target};
use crate::attack::{Expect, Family};

/// The name of the family.
pub(super) const SEARCH: &str = "best_of_n";
/// Candidates of a row that are judged before the next are made of the best.
const ROUND: usize = 8;
/// Bytes of a candidate.
const BYTES_MAX: usize = 20_000;

/// The family of what is found.
pub(super) fn family() -> Family {
    Family::none(SEARCH, "The best of attacks that were put together at random.", Expect::Unpaid)
}

/// A row under search.
struct Search {
    pool: Vec<String>,
    random: SplitMix64,
    best: Option<(String, f64)>,
}

/// The best text for each row after `budget` judgements of it. The same seed gives the same texts.
pub(super) fn search(
    judge: &Judge<'_>,
    targets: &[Target],
    families: &[Family],
    (budget, seed): (usize, u64),
) -> Vec<Attempt> {
    let columns = &judge.engine.plan().config.data;
    let mut searches: Vec<Search> =
        targets.iter().map(|target| begin(judge, target, families, seed)).collect();
    let mut left = budget;
    while left > 0 {
        let round = left.min(ROUND);
        left -= round;
        let mut rows = Vec::new();
        let mut texts: Vec<(usize, String)> = Vec::new();
        for (at, (search, target)) in searches.iter_mut().zip(targets).enumerate() {
            for _ in 0..round {
                let Some(text) = search.candidate().filter(|text| !target.is_in(text)) else {
                    continue;
                };
                rows.push(target.with(columns, &text, SEARCH));
                texts.push((at, text));
            }
        }
        for ((at, text), reward) in texts.into_iter().zip(judge.rewards(&rows)) {
            let (Some(search), Some(reward)) = (searches.get_mut(at), reward) else { continue };
            if search.best.as_ref().is_none_or(|(_, best)| reward > *best) {
                search.best = Some((text, reward));
            }
        }
    }
    let found = |(target, search): (usize, Search)| {
        let (text, _) = search.best?;
        Some(Attempt {
            target,
            family: families.len(),
            name: "found".to_owned(),
            texts: vec![text],
        })
    };
    searches.into_iter().enumerate().filter_map(found).collect()
}

fn begin(judge: &Judge<'_>, target: &Target, families: &[Family], seed: u64) -> Search {
    let mut pool = Vec::new();
    for family in
        families.iter().filter(|family| family.expect == Expect::Unpaid && !family.programs)
    {
        let values = attempt::values(judge, target, family.expect);
        for attack in family.attacks.iter().filter(|attack| !attack.names_the_answer()) {
            let texts = attack.texts(&values, seed ^ target.number);
            pool.extend(texts.into_iter().flatten().filter(|text| text.len() <= BYTES_MAX));
        }
    }
    Search { pool, random: SplitMix64::of(&[seed, target.number]), best: None }
}

impl Search {
    /// The next text to try: the best or one of the pool, changed.
    fn candidate(&mut self) -> Option<String> {
        let of_pool = |random: &mut SplitMix64, pool: &[String]| {
            (!pool.is_empty())
                .then(|| random.below(pool.len()))
                .and_then(|at| pool.get(at).cloned())
        };
        let base = match &self.best {
            Some((best, _)) if self.random.below(2) == 0 => best.clone(),
            _ => of_pool(&mut self.random, &self.pool)?,
        };
        let other = of_pool(&mut self.random, &self.pool)?;
        let text = match self.random.below(7) {
            0 => format!("{base}\n\n{other}"),
            1 => format!("{other}\n\n{base}"),
            2 => format!("{base}\n").repeat(4),
            3 => format!("<think>\n{other}\n</think>\n<answer>\n{base}\n</answer>"),
            4 => format!("**{base}**"),
            5 => format!("# Answer\n\n{base}\n\n- {other}"),
            _ => base,
        };
        Some(text).filter(|text| text.len() <= BYTES_MAX)
    }
}
