//! ROUGE (Lin 2004) as rouge-score 0.1.2 has it, with its tokens: runs of ASCII letters and digits.

use crate::bits::{self, Masks};
use crate::grams::shared;
use crate::intern::Vocabulary;
use crate::porter;
use crate::score::Overlap;
use crate::tokens::lowered;

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RougeKind {
    /// N-grams of this length, from 1.
    Grams(usize),
    /// The longest common subsequence of the texts.
    Longest,
    /// That of their lines, put together for each line of the reference.
    Lines,
}

/// How much of a text is in a reference and the other way round. With `stem` words of more than three
/// letters are compared by their stems. Pays for [`RougeKind::Longest`] and [`RougeKind::Lines`] the length of the
/// reference in blocks of 64 times that of the text; all else is linear.
///
/// # Errors
/// What `pay` refuses.
pub fn rouge<E>(
    text: &str,
    reference: &str,
    kind: RougeKind,
    stem: bool,
    pay: &mut dyn FnMut(u64) -> Result<(), E>,
) -> Result<Overlap, E> {
    let (text, reference) = (lowered(text), lowered(reference));
    let mut vocabulary = Vocabulary::default();
    let given = lines(&text, &mut vocabulary);
    let wanted = lines(&reference, &mut vocabulary);
    let mut words = Words { given, wanted, kinds: vocabulary.len() };
    if stem {
        words.stem(&vocabulary);
    }
    let (given, wanted) = (words.given.concat(), words.wanted.concat());
    let common = match kind {
        RougeKind::Grams(0) => 0,
        RougeKind::Grams(length) => {
            let lengths =
                [given.len(), wanted.len()].map(|tokens| (tokens + 1).saturating_sub(length));
            let longest = length.min(given.len());
            let matches = shared(&[wanted], &given, words.kinds, longest);
            let common = if longest < length { 0 } else { matches.last().copied().unwrap_or(0) };
            return Ok(Overlap::of(common, lengths[0], lengths[1]));
        }
        RougeKind::Longest => {
            pay(2 * bits::steps(wanted.len(), given.len()))?;
            bits::common(&wanted, &given, words.kinds)
        }
        RougeKind::Lines => words.lines_in_common(pay)?,
    };
    Ok(Overlap::of(common, given.len(), wanted.len()))
}

/// The tokens of both texts, by lines.
struct Words {
    given: Vec<Vec<u32>>,
    wanted: Vec<Vec<u32>>,
    /// Tokens are below it.
    kinds: usize,
}

fn lines<'t>(text: &'t str, vocabulary: &mut Vocabulary<'t>) -> Vec<Vec<u32>> {
    let is_token = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let mut line = |line: &'t str| {
        let mut out = Vec::new();
        let mut start = None;
        for (at, byte) in line.bytes().enumerate() {
            match start {
                None if is_token(&byte) => start = Some(at),
                Some(from) if !is_token(&byte) => {
                    out.push(vocabulary.id(&line[from..at]));
                    start = None;
                }
                _ => {}
            }
        }
        if let Some(from) = start {
            out.push(vocabulary.id(&line[from..]));
        }
        out
    };
    text.split('\n').map(&mut line).collect()
}

#[expect(
    clippy::indexing_slicing,
    reason = "tokens are below their kinds; rows of bits are one a token"
)]
impl Words {
    /// Words of more than three letters by their stems.
    fn stem(&mut self, vocabulary: &Vocabulary<'_>) {
        let stems: Vec<String> = vocabulary
            .tokens()
            .iter()
            .map(|word| if word.len() > 3 { porter::stem(word) } else { (*word).to_owned() })
            .collect();
        let mut merged = Vocabulary::default();
        let ids = merged.text(stems.iter().map(String::as_str));
        for line in self.given.iter_mut().chain(&mut self.wanted) {
            for word in line.iter_mut() {
                *word = ids[*word as usize];
            }
        }
    }

    /// The tokens of lines of the reference that stand in the longest common subsequence with some
    /// line of the text, each token as often as the text has it.
    fn lines_in_common<E>(&self, pay: &mut dyn FnMut(u64) -> Result<(), E>) -> Result<usize, E> {
        let mut left = vec![0_usize; self.kinds];
        for word in self.given.iter().flatten() {
            left[*word as usize] += 1;
        }
        let mut masks = Masks::new(self.kinds);
        let mut hits = 0;
        for wanted in &self.wanted {
            let mut union = vec![false; wanted.len()];
            for given in self.given.iter().filter(|given| !given.is_empty()) {
                pay(8 * bits::steps(wanted.len(), given.len()) + 2 * given.len() as u64)?;
                mark(wanted, given, &mut masks, &mut union);
            }
            for (word, _) in wanted.iter().zip(&union).filter(|(_, taken)| **taken) {
                let left = &mut left[*word as usize];
                hits += usize::from(*left > 0);
                *left = left.saturating_sub(1);
            }
        }
        Ok(hits)
    }
}

/// Marks the tokens of `wanted` in its longest common subsequence with `given`: of several, the one to
/// which the table of lengths leads back from its end, from the reference first.
#[expect(clippy::indexing_slicing, reason = "the table has a word for each block and token")]
fn mark(wanted: &[u32], given: &[u32], masks: &mut Masks, union: &mut [bool]) {
    let mut carries = vec![false; given.len()];
    let mut table = Vec::with_capacity(wanted.len().div_ceil(64) * given.len());
    for block in wanted.chunks(64) {
        masks.set(block);
        let mut rows = u64::MAX;
        for (word, carry) in given.iter().zip(&mut carries) {
            (rows, *carry) = bits::column(rows, masks.get(*word), *carry);
            table.push(rows);
        }
        masks.clear(block);
    }
    let (mut row, mut column) = (wanted.len(), given.len());
    while row > 0 && column > 0 {
        let (above, before) = (row - 1, column - 1);
        if wanted[above] == given[before] {
            union[above] = true;
            (row, column) = (above, before);
        } else if (table[above / 64 * given.len() + before] >> (above % 64)) & 1 == 0 {
            // The length grows from the row above: it is that of the column before.
            column = before;
        } else {
            row = above;
        }
    }
}
