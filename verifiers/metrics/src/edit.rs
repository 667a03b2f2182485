//! Edit distances: word and character error rates as jiwer 4.0 has them, and the normalised distance of
//! rapidfuzz.

use crate::bits;
use crate::intern::{Letters, Vocabulary};
use crate::score::float;
use crate::tokens::is_space;

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditUnit {
    /// Words between spaces. A single tab or line break is part of a word, as in jiwer.
    Words,
    /// Characters, without space at both ends.
    Characters,
}

/// Edits that lead from one text to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edits {
    /// How many insertions, deletions and substitutions.
    pub count: usize,
    /// The units of the text that is judged.
    pub given: usize,
    /// The units of the reference.
    pub wanted: usize,
}

impl Edits {
    /// The error rate: edits for each unit of the reference, which can be above 1. Of an empty
    /// reference it is the number of edits.
    pub fn rate(self) -> f64 {
        float(self.count) / float(self.wanted.max(1))
    }

    /// 1 less the edits for each unit of the longer text; 1 of two empty texts.
    pub fn similarity(self) -> f64 {
        1.0 - float(self.count) / float(self.given.max(self.wanted).max(1))
    }
}

/// The error rate of a text: [`Edits::rate`] as jiwer counts.
///
/// # Errors
/// What `pay` refuses: it is paid for the length of one text in blocks of 64 times that of the other.
pub fn errors<E>(
    text: &str,
    reference: &str,
    unit: EditUnit,
    pay: &mut dyn FnMut(u64) -> Result<(), E>,
) -> Result<Edits, E> {
    match unit {
        EditUnit::Characters => {
            characters(text.trim_matches(is_space), reference.trim_matches(is_space), pay)
        }
        EditUnit::Words => {
            let (text, reference) = (words(text), words(reference));
            let mut vocabulary = Vocabulary::default();
            let given = vocabulary.text(text.split(' ').filter(|word| !word.is_empty()));
            let wanted = vocabulary.text(reference.split(' ').filter(|word| !word.is_empty()));
            compare(&given, &wanted, vocabulary.len() + 1, pay)
        }
    }
}

/// Edits between the characters of two texts.
///
/// # Errors
/// See [`errors`].
pub fn characters<E>(
    text: &str,
    reference: &str,
    pay: &mut dyn FnMut(u64) -> Result<(), E>,
) -> Result<Edits, E> {
    let mut letters = Letters::default();
    let (given, wanted) = (letters.text(text), letters.text(reference));
    compare(&given, &wanted, letters.count() as usize + 1, pay)
}

/// Twice the longest common subsequence of characters over the sum of the lengths, which is `fuzz.ratio`
/// of rapidfuzz over 100; 1 of two empty texts.
///
/// # Errors
/// See [`errors`].
pub fn fuzzy_ratio<E>(
    text: &str,
    reference: &str,
    pay: &mut dyn FnMut(u64) -> Result<(), E>,
) -> Result<f64, E> {
    let mut letters = Letters::default();
    let (given, wanted) = (letters.text(text), letters.text(reference));
    pay(2 * bits::steps(wanted.len(), given.len()))?;
    let common = bits::common(&wanted, &given, letters.count() as usize + 1);
    let lengths = given.len() + wanted.len();
    Ok(if lengths == 0 { 1.0 } else { 2.0 * float(common) / float(lengths) })
}

fn compare<E>(
    given: &[u32],
    wanted: &[u32],
    kinds: usize,
    pay: &mut dyn FnMut(u64) -> Result<(), E>,
) -> Result<Edits, E> {
    pay(2 * bits::steps(wanted.len(), given.len()))?;
    let count = bits::distance(wanted, given, kinds);
    Ok(Edits { count, given: given.len(), wanted: wanted.len() })
}

/// Runs of white space as one blank, and none at both ends.
fn words(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(from) = rest.find(is_space) {
        let (before, space) = rest.split_at(from);
        let after = space.trim_start_matches(is_space);
        let (run, _) = space.split_at(space.len() - after.len());
        out.push_str(before);
        // One character of space stays what it is.
        out.push_str(if run.chars().nth(1).is_some() { " " } else { run });
        rest = after;
    }
    out.push_str(rest);
    out.trim_matches(is_space).to_owned()
}
