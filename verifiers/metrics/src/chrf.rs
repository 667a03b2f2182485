//! chrF and chrF++ (Popović 2015, 2017) as sacrebleu 2.6 has them.

use std::ops::{BitAnd, BitXor};

use crate::grams::shared;
use crate::intern::{Letters, Vocabulary, number};
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
trait Window: Copy + Default + Ord + BitXor<Output = Self> + BitAnd<Output = Self> {
    /// Appends so many bits.
    fn append(self, bits: u32, value: u32) -> Self;
    fn zeros(self) -> u32;
    fn is_odd(self) -> bool;
    fn sort(windows: &mut Vec<Self>, bits: u32);
}

/// The bits of a digit by which windows are sorted, and the number from which on that pays.
const DIGIT: u32 = 10;
const MANY: usize = 400;

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
    /// By digits, from the last.
    #[expect(
        clippy::indexing_slicing,
        reason = "digits are below the size of the table, places below the length"
    )]
    fn sort(windows: &mut Vec<Self>, bits: u32) {
        if windows.len() < MANY {
            return windows.sort_unstable();
        }
        let mut out = vec![0; windows.len()];
        for shift in (0..bits).step_by(DIGIT as usize) {
            let mut starts = [0_u32; 1 << DIGIT];
            let digit = |window: Self| ((window >> shift) & ((1 << DIGIT) - 1)) as usize;
            for window in windows.iter() {
                starts[digit(*window)] += 1;
            }
            let mut sum = 0;
            for start in &mut starts {
                sum += std::mem::replace(start, sum);
            }
            for window in windows.iter() {
                let start = &mut starts[digit(*window)];
                out[*start as usize] = *window;
                *start += 1;
            }
            std::mem::swap(windows, &mut out);
        }
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
    fn sort(windows: &mut Vec<Self>, _: u32) {
        windows.sort_unstable();
    }
}

/// The n-grams of each order that both have: windows of both texts are sorted together, so that equal
/// n-grams of every order stand beside each other. Behind the end of a text stands a number that the
/// other text has nowhere.
fn shared_windows<W: Window>(sides: [(&[u32], u32); 2], bits: u32) -> [usize; ORDERS] {
    let mut all: Vec<W> = Vec::with_capacity(sides.iter().map(|(ids, _)| ids.len()).sum());
    let ones = (0..ORDERS).fold(W::default(), |window, _| window.append(bits, (1 << bits) - 1));
    for (side, (ids, beyond)) in (0..).zip(sides) {
        let mut window = W::default();
        for (place, id) in ids.iter().copied().chain([beyond; ORDERS - 1]).enumerate() {
            window = window.append(bits, id) & ones;
            if place + 1 >= ORDERS {
                all.push(window.append(1, side));
            }
        }
    }
    let used = bits * number(ORDERS) + 1;
    W::sort(&mut all, used);
    let unused = W::default().zeros() - used;
    // How many letters two windows share, by the zeros that their difference begins with.
    let equal_letters: Vec<usize> =
        (0..=used).map(|zeros| (zeros / bits.max(1)) as usize).collect();
    let mut matches = [0_usize; ORDERS];
    // For each order how many windows of each side come before the current group.
    let mut starts = [[0_usize; 2]; ORDERS];
    let mut seen = [0_usize; 2];
    let mut before = None;
    for window in all.iter().copied().map(Some).chain([None]) {
        // How many letters the window shares with the one before.
        let equal = match (window, before) {
            (Some(window), Some(before)) => {
                let differ: W = window ^ before;
                equal_letters.get((differ.zeros() - unused) as usize).copied().unwrap_or(ORDERS)
            }
            _ => 0,
        };
        for (matches, start) in matches.iter_mut().zip(&mut starts).skip(equal) {
            *matches += (seen[0] - start[0]).min(seen[1] - start[1]);
            *start = seen;
        }
        if let Some(window) = window {
            let side = usize::from(window.is_odd());
            seen = [seen[0] + 1 - side, seen[1] + side];
        }
        before = window;
    }
    matches
}
