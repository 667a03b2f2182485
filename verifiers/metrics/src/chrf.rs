//! chrF and chrF++ (Popović 2015, 2017) as sacrebleu 2.6 has them.

use std::iter::repeat;
use std::ops::BitXor;

use crate::grams::shared;
use crate::intern::{Letters, Vocabulary};
use crate::score::ratio;
use crate::tokens::{is_space, lowered, words};

/// The longest n-grams of characters.
const ORDERS: usize = 6;

/// How chrF is computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChrfRules {
    /// The longest n-grams of words: 0 for chrF, 2 for chrF++.
    pub words: usize,
    /// How much more recall weighs than precision: 2 by default.
    pub beta: f64,
    /// Case does not count.
    pub ignore_case: bool,
}

/// The score against the best of several references, from 0 to 100; 0 where there is none. Linear in the
/// texts but for a sort.
pub fn chrf(text: &str, references: &[&str], rules: &ChrfRules) -> f64 {
    let text = if rules.ignore_case { lowered(text) } else { text.into() };
    let scores = references.iter().map(|reference| {
        let reference = if rules.ignore_case { lowered(reference) } else { (*reference).into() };
        one(&text, &reference, rules)
    });
    scores.fold(0.0, f64::max)
}

fn one(text: &str, reference: &str, rules: &ChrfRules) -> f64 {
    let mut letters = Letters::new();
    let mut read = |text: &str| letters.text(text.chars().filter(|letter| !is_space(*letter)));
    let (given, wanted) = (read(text), read(reference));
    // Windows of six letters, each in as few bits as there are letters; the last bit is the side.
    let beyond = letters.count() + 1;
    let bits = u32::BITS - beyond.leading_zeros();
    let sides = [(given.as_slice(), 0), (wanted.as_slice(), beyond)];
    let matches = if bits <= 10 {
        shared_windows::<u64>(sides, bits)
    } else {
        shared_windows::<u128>(sides, bits)
    };
    let mut sums = Sums::default();
    for (order, count) in (1..).zip(matches) {
        sums.add(count, [&given, &wanted].map(|ids| (ids.len() + 1).saturating_sub(order)));
    }
    if rules.words > 0 {
        let mut vocabulary = Vocabulary::default();
        let mut read = |text| vocabulary.text(apart(text));
        let (given, wanted) = (read(text), [read(reference)]);
        let lengths = [given.len(), wanted.iter().map(Vec::len).sum()];
        let matches = shared(&wanted, &given, vocabulary.len(), rules.words);
        for (order, count) in (1..).zip(matches) {
            sums.add(count, lengths.map(|tokens| (tokens + 1).saturating_sub(order)));
        }
    }
    sums.score(rules.beta)
}

/// Precision and recall over the orders that both texts are long enough for.
#[derive(Default)]
struct Sums {
    precision: f64,
    recall: f64,
    orders: f64,
}

impl Sums {
    fn add(&mut self, matches: usize, [given, wanted]: [usize; 2]) {
        if given > 0 && wanted > 0 {
            self.precision += ratio(matches, given);
            self.recall += ratio(matches, wanted);
            self.orders += 1.0;
        }
    }

    fn score(self, beta: f64) -> f64 {
        if self.orders <= 0.0 || self.precision + self.recall <= 0.0 {
            return 0.0;
        }
        let (precision, recall) = (self.precision / self.orders, self.recall / self.orders);
        let weight = beta * beta;
        100.0 * ((1.0 + weight) * precision * recall / (weight * precision + recall))
    }
}

/// Words with one character of ASCII punctuation taken off at the end, or else at the start.
fn apart(text: &str) -> impl Iterator<Item = &str> {
    words(text).flat_map(|word| {
        let is_mark = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_punctuation());
        let cut = if is_mark(word.bytes().last()) {
            word.len() - 1
        } else if is_mark(word.bytes().next()) {
            1
        } else {
            word.len()
        };
        let (start, end) = word.split_at(cut);
        [start, end].into_iter().filter(|part| !part.is_empty())
    })
}

/// A number that holds a window.
trait Window: Copy + Ord + BitXor<Output = Self> {
    /// Appends so many bits.
    fn append(self, bits: u32, value: u32) -> Self;
    fn zeros(self) -> u32;
    fn is_odd(self) -> bool;
    fn none() -> Self;
}

impl Window for u64 {
    fn append(self, bits: u32, value: u32) -> Self {
        (self << bits) | Self::from(value)
    }
    fn zeros(self) -> u32 {
        self.leading_zeros()
    }
    fn is_odd(self) -> bool {
        self & 1 == 1
    }
    fn none() -> Self {
        0
    }
}

impl Window for u128 {
    fn append(self, bits: u32, value: u32) -> Self {
        (self << bits) | Self::from(value)
    }
    fn zeros(self) -> u32 {
        self.leading_zeros()
    }
    fn is_odd(self) -> bool {
        self & 1 == 1
    }
    fn none() -> Self {
        0
    }
}

/// The n-grams of each order that both have: windows of both texts are sorted together, so that equal
/// n-grams of every order stand beside each other. Behind the end of a text stands a number that the
/// other text has nowhere.
fn shared_windows<W: Window>(sides: [(&[u32], u32); 2], bits: u32) -> [usize; ORDERS] {
    let mut all: Vec<W> = Vec::with_capacity(sides.iter().map(|(ids, _)| ids.len()).sum());
    for (side, (ids, beyond)) in (0..).zip(sides) {
        for start in 0..ids.len() {
            let ids = ids.iter().skip(start).copied().chain(repeat(beyond)).take(ORDERS);
            let window = ids.fold(W::none(), |window, id| window.append(bits, id));
            all.push(window.append(1, side));
        }
    }
    all.sort_unstable();
    let unused = W::none().append(1, 1).zeros() + 1 - (6 * bits + 1);
    let mut matches = [0_usize; ORDERS];
    // For each order the n-grams of the current group, of both sides.
    let mut counts = [[0_usize; 2]; ORDERS];
    let mut before = None;
    for window in all.iter().copied().map(Some).chain([None]) {
        // How many letters the window shares with the one before.
        let equal = match (window, before) {
            (Some(window), Some(before)) => {
                let differ: W = window ^ before;
                ((differ.zeros() - unused) / bits) as usize
            }
            _ => 0,
        };
        for (matches, counts) in matches.iter_mut().zip(&mut counts).skip(equal) {
            let [one, two] = std::mem::take(counts);
            *matches += one.min(two);
        }
        if let Some(window) = window {
            let side = usize::from(window.is_odd());
            for counts in &mut counts {
                if let Some(count) = counts.get_mut(side) {
                    *count += 1;
                }
            }
        }
        before = window;
    }
    matches
}
