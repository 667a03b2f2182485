//! chrF and chrF++ (Popović 2015, 2017) as sacrebleu 2.6 has them.

use std::borrow::Cow;

use crate::grams::Grams;
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

/// References, read once for all texts that are compared with them.
pub struct ChrfReferences {
    rules: ChrfRules,
    each: Vec<Reference>,
}

/// N-grams of characters and of words, and how many there are of the shortest.
struct Reference {
    letters: Letters,
    by_letters: (CharacterGrams, usize),
    words: Vocabulary,
    by_words: (Grams, usize),
}

/// N-grams of characters of a reference.
enum CharacterGrams {
    /// Where it has few letters: windows of [`ORDERS`] of them, each in so many bits, in order; and the
    /// number of all other letters.
    Sorted {
        windows: Vec<u64>,
        bits: u32,
        beyond: u32,
    },
    Many(Grams),
}

impl ChrfReferences {
    /// Reads one or several references. Linear.
    pub fn new(references: &[&str], rules: &ChrfRules) -> Self {
        let each = references.iter().map(|text| {
            let text = cased(text, rules);
            let (mut letters, mut words) = (Letters::default(), Vocabulary::default());
            let ids = letters.text(dense(&text));
            let by_letters = (CharacterGrams::of(&ids, letters.count()), ids.len());
            let ids = if rules.words > 0 { words.text(apart(&text)) } else { Vec::new() };
            let grams = Grams::of(std::slice::from_ref(&ids), words.len() + 1, rules.words);
            Reference { letters, by_letters, words, by_words: (grams, ids.len()) }
        });
        Self { rules: *rules, each: each.collect() }
    }

    /// The score against the best reference, from 0 to 100; 0 where there is none. Linear in the text times
    /// the references.
    pub fn score(&self, text: &str) -> f64 {
        let text = cased(text, &self.rules);
        let one = |reference: &Reference| {
            let mut sums = Sums::default();
            let ids: Vec<u32> = dense(&text).map(|letter| reference.letters.find(letter)).collect();
            let (grams, wanted) = &reference.by_letters;
            sums.add_all(grams.matches(&ids), [ids.len(), *wanted]);
            if self.rules.words > 0 {
                let id = |word: &str| reference.words.find(word.as_bytes());
                let (ids, (grams, wanted)) =
                    (apart(&text).map(id).collect::<Vec<_>>(), &reference.by_words);
                sums.add_all(grams.matches(&ids), [ids.len(), *wanted]);
            }
            sums.score(self.rules.beta)
        };
        self.each.iter().map(one).fold(0.0, f64::max)
    }
}

fn cased<'t>(text: &'t str, rules: &ChrfRules) -> Cow<'t, str> {
    if rules.ignore_case { lowered(text) } else { text.into() }
}

/// The characters of a text but for white space.
fn dense(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|letter| !is_space(*letter))
}

/// Precision and recall over the orders that both texts are long enough for.
#[derive(Default)]
struct Sums {
    precision: f64,
    recall: f64,
    orders: f64,
}

impl Sums {
    fn add_all(&mut self, matches: Vec<usize>, tokens: [usize; 2]) {
        for (order, matches) in (1..).zip(matches) {
            self.add(matches, tokens.map(|tokens| (tokens + 1).saturating_sub(order)));
        }
    }

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

impl CharacterGrams {
    /// Those of letters that are numbered from 1 to `count`.
    fn of(ids: &[u32], count: u32) -> Self {
        let bits = u32::BITS - (count + 1).leading_zeros();
        if bits * number(ORDERS) < u64::BITS {
            Self::Sorted { windows: windows(ids, bits, 0), bits, beyond: count + 1 }
        } else {
            Self::Many(Grams::of(&[ids.to_vec()], count as usize + 1, ORDERS))
        }
    }

    /// How many of a text are in the reference, for each order. Linear but for a sort.
    fn matches(&self, ids: &[u32]) -> Vec<usize> {
        match self {
            Self::Sorted { windows: wanted, bits, beyond } => {
                shared([&windows(ids, *bits, *beyond), wanted], *bits)
            }
            Self::Many(grams) => grams.matches(ids),
        }
    }
}

/// The bits of a digit by which windows are sorted, and the number of windows from which on that pays.
const DIGIT: u32 = 10;
const MANY: usize = 400;

/// The letters of a text from each on, in order. For 0, and after the end, stands `beyond`.
fn windows(ids: &[u32], bits: u32, beyond: u32) -> Vec<u64> {
    let used = bits * number(ORDERS);
    let (mut window, mut out) = (0_u64, Vec::with_capacity(ids.len()));
    for (place, id) in ids.iter().chain(&[0; ORDERS - 1]).enumerate() {
        let id = if *id == 0 { beyond } else { *id };
        window = ((window << bits) | u64::from(id)) & ((1 << used) - 1);
        if place + 1 >= ORDERS {
            out.push(window);
        }
    }
    sort(&mut out, used);
    out
}

/// Counts by orders; two more than there are make whole registers.
type ByOrder = [i32; ORDERS + 2];

/// For each number of equal letters the orders of which another group begins, as masks.
const LONGER: [ByOrder; ORDERS + 1] = longer();

#[expect(clippy::indexing_slicing, reason = "loops over the table, in a constant")]
const fn longer() -> [ByOrder; ORDERS + 1] {
    let mut out = [[0; ORDERS + 2]; ORDERS + 1];
    let mut equal = 0;
    while equal <= ORDERS {
        let mut order = equal;
        while order < ORDERS {
            out[equal][order] = -1;
            order += 1;
        }
        equal += 1;
    }
    out
}

/// The n-grams of each order that both sides have: equal ones stand beside each other once both are merged.
#[expect(
    clippy::indexing_slicing,
    reason = "windows share at most as many letters as they have, and orders are below their number"
)]
fn shared([given, wanted]: [&[u64]; 2], bits: u32) -> Vec<usize> {
    let unused = u64::BITS - bits * number(ORDERS);
    // To multiply is faster than to divide, and exact for so few bits.
    let reciprocal = (1_u32 << 16).div_ceil(bits);
    let mut matches: ByOrder = [0; ORDERS + 2];
    // For each order how many windows of either side come before the current group.
    let [mut left_starts, mut right_starts] = [matches; 2];
    let (mut one, mut two, mut before) = (0, 0, u64::MAX);
    loop {
        // Windows are below the greatest number.
        let next = |side: &[u64], at: usize| side.get(at).copied().unwrap_or(u64::MAX);
        let (left, right) = (next(given, one), next(wanted, two));
        let window = left.min(right);
        let same = (window ^ before).leading_zeros().saturating_sub(unused);
        let equal = (same * reciprocal) >> 16;
        let seen = [one, two].map(|at| i32::try_from(at).unwrap_or(i32::MAX));
        let starts = left_starts.iter_mut().zip(&mut right_starts);
        let by_order = matches.iter_mut().zip(starts).zip(&LONGER[equal as usize]);
        for ((matches, starts), begins) in by_order {
            let group = [seen[0] - *starts.0, seen[1] - *starts.1];
            *matches += group[0].min(group[1]) & begins;
            *starts.0 += group[0] & begins;
            *starts.1 += group[1] & begins;
        }
        if window == u64::MAX {
            return matches[..ORDERS].iter().map(|count| count.unsigned_abs() as usize).collect();
        }
        before = window;
        (one, two) = (one + usize::from(left <= right), two + usize::from(right < left));
    }
}

/// By digits, from the last.
#[expect(
    clippy::indexing_slicing,
    reason = "digits are below the size of the table, places below the length"
)]
fn sort(windows: &mut Vec<u64>, bits: u32) {
    if windows.len() < MANY {
        return windows.sort_unstable();
    }
    let mut out = vec![0; windows.len()];
    for shift in (0..bits).step_by(DIGIT as usize) {
        let mut starts = [0_u32; 1 << DIGIT];
        let digit = |window: u64| ((window >> shift) & ((1 << DIGIT) - 1)) as usize;
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
