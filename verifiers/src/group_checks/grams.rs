//! The n-grams of a group: as numbers, so that equal n-grams of any members are equal numbers.

use std::collections::BTreeMap;

use super::members::{Known, read_each};
use super::words::words;
use crate::prelude::*;

/// The longest n-grams.
pub(super) const N_MAX: u8 = 10;

/// The most members of a group of which each two are compared: a count is kept for each pair.
const MEMBERS_MAX: usize = 4_096;
/// What the number of one n-gram costs, in fuel.
const INTERN_FUEL: u64 = 20;

/// The n-grams of a member, of each order from 1 up to n. A text of fewer than n words has as many
/// orders as words, so that the whole of it is its longest n-gram.
pub(super) struct Grams {
    orders: Vec<Vec<u32>>,
}

impl Grams {
    /// Those of each order, in the order of the text, from single words on.
    pub(super) fn orders(&self) -> &[Vec<u32>] {
        &self.orders
    }

    /// Those of the highest order, in the order of the text. None of an empty text.
    pub(super) fn longest(&self) -> &[u32] {
        self.orders.last().map_or(&[], Vec::as_slice)
    }

    /// The different ones of the highest order, sorted.
    pub(super) fn set(&self) -> Vec<u32> {
        let mut set = self.longest().to_vec();
        set.sort_unstable();
        set.dedup();
        set
    }

    /// The number of words.
    pub(super) fn words(&self) -> usize {
        self.orders.first().map_or(0, Vec::len)
    }
}

/// Why these orders cannot be used.
pub(super) fn order_error(n: u8) -> Option<BuildError> {
    let message = || format!("n is {n}; it goes from 1 to {N_MAX}");
    (!(1..=N_MAX).contains(&n)).then(|| BuildError::new("n", message()))
}

/// The n-grams of every member. Each member pays for its own.
pub(super) fn read(
    group: &Group<'_>,
    n: u8,
    meter: &mut Meter<'_>,
) -> Result<Vec<Known<Grams>>, Fault> {
    let words = read_each(group, meter, |member, own| {
        let words = words(member.sample.completion(), own)?;
        own.spend(INTERN_FUEL * u64::from(n) * words.len() as u64)?;
        Ok(words)
    })?;
    let mut names = Names::default();
    let grams = |words: Known<Vec<String>>| words.map(|words| names.grams(&words, n));
    Ok(words.into_iter().map(grams).collect())
}

/// The numbers that were given to words, and to a number with a word after it.
#[derive(Default)]
struct Names {
    words: BTreeMap<String, u32>,
    grams: BTreeMap<(u32, u32), u32>,
}

impl Names {
    fn grams(&mut self, words: &[String], n: u8) -> Grams {
        let singles: Vec<u32> = words.iter().map(|word| self.word(word)).collect();
        let mut orders: Vec<Vec<u32>> = Vec::new();
        for order in 0..usize::from(n).min(words.len()) {
            let longer = match orders.last() {
                None => singles.clone(),
                Some(shorter) => {
                    let next = shorter.iter().zip(singles.iter().skip(order));
                    next.map(|(gram, word)| self.gram(*gram, *word)).collect()
                }
            };
            orders.push(longer);
        }
        Grams { orders }
    }

    fn word(&mut self, word: &str) -> u32 {
        let next = self.next();
        *self.words.entry(word.to_owned()).or_insert(next)
    }

    fn gram(&mut self, gram: u32, word: u32) -> u32 {
        let next = self.next();
        *self.grams.entry((gram, word)).or_insert(next)
    }

    /// A number that nothing has. Words and n-grams share the numbers, so that those of different
    /// orders differ.
    fn next(&self) -> u32 {
        u32::try_from(self.words.len() + self.grams.len()).unwrap_or(u32::MAX)
    }
}

/// How many n-grams each two of some sets share.
pub(super) struct Shared {
    counts: Vec<u32>,
    members: usize,
}

impl Shared {
    /// Counts by n-gram: each pair of members that have one shares it.
    #[expect(clippy::indexing_slicing, reason = "holders are members")]
    pub(super) fn count(sets: &[Vec<u32>], meter: &mut Meter<'_>) -> Result<Self, Fault> {
        let members = sets.len();
        if members > MEMBERS_MAX {
            let why = format!("each two of {members} members; at most {MEMBERS_MAX} are compared");
            return Err(Fault::new(FaultKind::OutOfMemory, why));
        }
        meter.spend((members as u64).saturating_mul(members as u64))?;
        let mut holders: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (at, set) in sets.iter().enumerate() {
            meter.spend(INTERN_FUEL * set.len() as u64)?;
            for gram in set {
                holders.entry(*gram).or_default().push(at);
            }
        }
        let mut counts = vec![0_u32; members * members];
        for holders in holders.values() {
            meter.spend((holders.len() as u64).saturating_mul(holders.len() as u64))?;
            for one in holders {
                for other in holders {
                    counts[one * members + other] += 1;
                }
            }
        }
        Ok(Self { counts, members })
    }

    /// The Jaccard index of two sets: what they share, over what either has. 0 of two empty sets.
    pub(super) fn jaccard(&self, one: usize, other: usize) -> f64 {
        let count = |a: usize, b: usize| self.counts.get(a * self.members + b).copied();
        let count = |a: usize, b: usize| f64::from(count(a, b).unwrap_or_default());
        let shared = count(one, other);
        let either = count(one, one) + count(other, other) - shared;
        if either > 0.0 { shared / either } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grams(texts: &[&str], n: u8) -> Vec<Grams> {
        let mut names = Names::default();
        let words = |text: &str| words(text, &mut Meter::default()).unwrap();
        texts.iter().map(|text| names.grams(&words(text), n)).collect()
    }

    #[test]
    fn equal_n_grams_have_equal_numbers() {
        let found = grams(&["a b a b", "a b c"], 2);
        assert_eq!(found[0].orders(), [vec![0, 1, 0, 1], vec![2, 3, 2]]);
        assert_eq!(found[1].orders(), [vec![0, 1, 4], vec![2, 5]]);
        assert_eq!(found[0].set(), [2, 3]);
    }

    #[test]
    fn a_short_text_is_one_n_gram() {
        let found = grams(&["x y", "x y", "x", ""], 4);
        assert_eq!(found[0].longest(), found[1].longest());
        assert_eq!((found[0].longest().len(), found[2].longest().len()), (1, 1));
        assert_eq!((found[3].longest().len(), found[3].words()), (0, 0));
    }

    #[test]
    fn signs_that_mean_something_are_words() {
        let text = "**X**+1 = \u{200b}3.5, so... it\u{ad}s";
        assert_eq!(
            words(text, &mut Meter::default()).unwrap(),
            ["x", "+", "1", "=", "3.5", "so", "its"]
        );
    }

    #[test]
    fn the_jaccard_index_is_of_sets() {
        let sets: Vec<Vec<u32>> = vec![vec![1, 2, 3], vec![2, 3, 4], vec![], vec![9]];
        let shared = Shared::count(&sets, &mut Meter::default()).unwrap();
        let close = |value: f64, wanted: f64| (value - wanted).abs() < 1e-12;
        assert!(close(shared.jaccard(0, 1), 0.5) && close(shared.jaccard(1, 0), 0.5));
        assert!(close(shared.jaccard(0, 2), 0.0) && close(shared.jaccard(2, 2), 0.0));
        assert!(close(shared.jaccard(0, 3), 0.0) && close(shared.jaccard(3, 3), 1.0));
    }
}
