//! chrF and chrF++ (Popović 2015, 2017) as sacrebleu 2.6 has them.

use std::borrow::Cow;

use crate::grams::Grams;
use crate::intern::{Letters, Vocabulary, number};
use crate::score::ratio;
use crate::tokens::{has_wide_space, is_space, lowered, words};

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
            let ids = letters.text(&dense(&text));
            let by_letters = (CharacterGrams::of(&ids, letters.count()), ids.len());
            let ids = if rules.words > 0 { words.text(apart(&text)) } else { Vec::new() };
            let count = ids.len();
            let by_words = (Grams::of(vec![ids], words.len() + 1, rules.words), count);
            Reference { letters, by_letters, words, by_words }
        });
        Self { rules: *rules, each: each.collect() }
    }

    /// The score against the best reference, from 0 to 100; 0 where there is none. Linear in the text times
    /// the references.
    pub fn score(&self, text: &str) -> f64 {
        let text = cased(text, &self.rules);
        let dense = dense(&text);
        let one = |reference: &Reference| {
            let mut sums = Sums::default();
            let ids = reference.letters.known(&dense);
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
#[expect(clippy::indexing_slicing, reason = "no more is kept than is read")]
fn dense(text: &str) -> String {
    if has_wide_space(text) {
        return text.chars().filter(|letter| !is_space(*letter)).collect();
    }
    // Without a branch: where words end is hard to guess.
    let (mut dense, mut count) = (vec![0; text.len()], 0);
    for byte in text.bytes() {
        dense[count] = byte;
        count += KEPT[usize::from(byte)];
    }
    dense.truncate(count);
    String::from_utf8(dense).unwrap_or_default()
}

/// For each byte 1 but for white space.
const KEPT: [usize; 256] = kept();

#[expect(clippy::indexing_slicing, reason = "a loop over the table, in a constant")]
const fn kept() -> [usize; 256] {
    let mut out = [1; 256];
    let mut byte = 0;
    while byte < 256 {
        if matches!(byte, 9..=13 | 0x1c..=0x20) {
            out[byte] = 0;
        }
        byte += 1;
    }
    out
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
            Self::Many(Grams::of(vec![ids.to_vec()], count as usize + 1, ORDERS))
        }
    }

    /// How many of a text are in the reference, for each order. Linear but for a sort.
    fn matches(&self, ids: &[u32]) -> Vec<usize> {
        match self {
            Self::Sorted { windows: wanted, bits, beyond } => {
                let given = windows(ids, *bits, *beyond);
                shared([&given, wanted], *bits)
            }
            Self::Many(grams) => grams.matches(ids),
        }
    }
}

/// The letters of a text from each on, in order, and then the greatest number. For 0, and after the end, stands
/// `beyond`.
fn windows(ids: &[u32], bits: u32, beyond: u32) -> Vec<u64> {
    let used = bits * number(ORDERS);
    let mut window = 0_u64;
    let mut next = |id: u32| {
        let id = if id == 0 { beyond } else { id };
        window = ((window << bits) | u64::from(id)) & ((1 << used) - 1);
        window
    };
    let (first, rest) = ids.split_at(ids.len().min(ORDERS - 1));
    for id in first {
        next(*id);
    }
    let mut out = Vec::with_capacity(ids.len() + 1);
    out.extend(rest.iter().map(|id| next(*id)));
    out.extend((0..ORDERS - 1).map(|_| next(0)).skip(ORDERS - 1 - first.len()));
    sort(&mut out, used);
    out.push(u64::MAX);
    out
}

/// The bits of the widest digit by which windows are sorted, and the number of windows from which on that pays.
const DIGIT: u32 = 11;
const MANY: usize = 100;

fn sort(windows: &mut Vec<u64>, used: u32) {
    match used.div_ceil(DIGIT) {
        _ if windows.len() < MANY => windows.sort_unstable(),
        ..4 => sort_by_digits::<3>(windows, used.div_ceil(3)),
        4 => sort_by_digits::<4>(windows, used.div_ceil(4)),
        _ => sort_by_digits::<6>(windows, used.div_ceil(6)),
    }
}

/// By digits of so many bits, from the last.
#[expect(
    clippy::indexing_slicing,
    reason = "digits are below the size of the table, places below the length"
)]
fn sort_by_digits<const DIGITS: usize>(windows: &mut Vec<u64>, width: u32) {
    let size = 1_usize << width;
    let digit = |rest: u64| usize::try_from(rest).unwrap_or(usize::MAX) & (size - 1);
    let places = || (0..DIGITS).zip((0_u32..).step_by(width as usize));
    let mut starts = vec![[0_u32; DIGITS]; size];
    for window in &*windows {
        for (place, shift) in places() {
            starts[digit(window >> shift)][place] += 1;
        }
    }
    let mut sums = [0; DIGITS];
    for starts in &mut starts {
        for (start, sum) in starts.iter_mut().zip(&mut sums) {
            *sum += std::mem::replace(start, *sum);
        }
    }
    let mut out = vec![0; windows.len()];
    for (place, shift) in places() {
        for window in &*windows {
            let start = &mut starts[digit(window >> shift)][place];
            out[*start as usize] = *window;
            *start += 1;
        }
        std::mem::swap(windows, &mut out);
    }
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
        while order < ORDERS + 2 {
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
    reason = "windows share at most as many letters as they have, and the last is the greatest number"
)]
fn shared([given, wanted]: [&[u64]; 2], bits: u32) -> Vec<usize> {
    let unused = u64::BITS - bits * number(ORDERS);
    // To multiply is faster than to divide, and exact for so few bits.
    let reciprocal = (1_u32 << 16).div_ceil(bits);
    // By how many windows a side has more, in all and where the current group of each order began, and the sums
    // of what sides have more of groups.
    let mut more = 0;
    let [mut starts, mut alone]: [ByOrder; 2] = [[0; ORDERS + 2]; 2];
    let (mut one, mut two, mut before) = (0, 0, u64::MAX);
    loop {
        let (left, right) = (given[one], wanted[two]);
        let window = left.min(right);
        let same = (window ^ before).leading_zeros().saturating_sub(unused);
        let begins = LONGER[((same * reciprocal) >> 16) as usize];
        for ((start, alone), begins) in starts.iter_mut().zip(&mut alone).zip(begins) {
            let group = more - *start;
            *alone += group.abs() & begins;
            *start += group & begins;
        }
        if window == u64::MAX {
            break;
        }
        before = window;
        let (is_left, is_right) = (left <= right, right < left);
        more += i32::from(is_left) - i32::from(is_right);
        (one, two) = (one + usize::from(is_left), two + usize::from(is_right));
    }
    // All of them, so that they stay in whole registers.
    let both = |alone: &i32| (one + two - alone.unsigned_abs() as usize) / 2;
    let mut matches: Vec<usize> = alone.iter().map(both).collect();
    matches.truncate(ORDERS);
    matches
}
