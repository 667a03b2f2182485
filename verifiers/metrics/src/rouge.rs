//! ROUGE (Lin 2004) as rouge-score 0.1.2 has it, with its tokens: runs of ASCII letters and digits.

use crate::bits::{self, Masks};
use crate::grams::Grams;
use crate::intern::{BYTES_A_TOKEN, Vocabulary};
use crate::porter;
use crate::score::Overlap;

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

/// A reference, read once for all texts that are compared with it.
pub struct RougeReference {
    kind: RougeKind,
    words: Words,
    wanted: Vec<u32>,
    /// Where each line ends.
    ends: Vec<usize>,
    grams: Option<Grams>,
}

impl RougeReference {
    /// Reads a reference. With `stem` words of more than three letters are compared by their stems. Linear.
    pub fn new(reference: &str, kind: RougeKind, stem: bool) -> Self {
        let mut words = Words::for_text(reference.len(), stem);
        let (mut wanted, mut ends) =
            (Vec::with_capacity(reference.len() / BYTES_A_TOKEN), Vec::new());
        tokens(reference, |token| match token {
            Some(token) => wanted.push(words.id(token)),
            None => ends.push(wanted.len()),
        });
        let grams = match kind {
            RougeKind::Grams(length) => {
                let longest = length.min(wanted.len());
                Some(Grams::of(std::slice::from_ref(&wanted), words.kinds(), longest))
            }
            _ => None,
        };
        Self { kind, words, wanted, ends, grams }
    }

    /// How much of a text is in the reference and the other way round. Pays for [`RougeKind::Longest`] and
    /// [`RougeKind::Lines`] the length of the reference in blocks of 64 times that of the text; all else is
    /// linear.
    ///
    /// # Errors
    /// What `pay` refuses.
    pub fn score<E>(
        &self,
        text: &str,
        pay: &mut dyn FnMut(u64) -> Result<(), E>,
    ) -> Result<Overlap, E> {
        let (mut given, mut ends) = (Vec::with_capacity(text.len() / BYTES_A_TOKEN), Vec::new());
        tokens(text, |token| match token {
            Some(token) => given.push(self.words.find(token)),
            None => ends.push(given.len()),
        });
        let wanted = &self.wanted;
        let common = match (self.kind, &self.grams) {
            (RougeKind::Grams(length), Some(grams)) => {
                let sizes =
                    [given.len(), wanted.len()].map(|tokens| (tokens + 1).saturating_sub(length));
                let matches = grams.matches(&given);
                let common = length.checked_sub(1).and_then(|at| matches.get(at)).copied();
                return Ok(Overlap::of(common.unwrap_or(0), sizes[0], sizes[1]));
            }
            (RougeKind::Longest, _) => {
                pay(2 * bits::steps(wanted.len(), given.len()))?;
                bits::common(wanted, &given, self.words.kinds())
            }
            _ => self.lines_in_common(&given, &ends, pay)?,
        };
        Ok(Overlap::of(common, given.len(), wanted.len()))
    }

    /// The tokens of lines of the reference that are in the longest common subsequence with some
    /// line of the text, each token as often as the text has it.
    #[expect(clippy::indexing_slicing, reason = "ends of lines grow, up to the length")]
    fn lines_in_common<E>(
        &self,
        given: &[u32],
        ends: &[usize],
        pay: &mut dyn FnMut(u64) -> Result<(), E>,
    ) -> Result<usize, E> {
        let mut masks = Masks::new(self.words.kinds());
        let mut left = vec![0_usize; self.words.kinds()];
        for word in given {
            if let Some(left) = left.get_mut(*word as usize) {
                *left += 1;
            }
        }
        let (mut hits, mut start) = (0, 0);
        for end in &self.ends {
            let wanted = &self.wanted[start..*end];
            start = *end;
            pay(8 * bits::steps(wanted.len(), given.len()) + 2 * given.len() as u64)?;
            for (word, _) in wanted
                .iter()
                .zip(union(wanted, given, ends, &mut masks))
                .filter(|(_, taken)| *taken)
            {
                if let Some(left) = left.get_mut(*word as usize).filter(|left| **left > 0) {
                    *left -= 1;
                    hits += 1;
                }
            }
        }
        Ok(hits)
    }
}

/// Calls `each` with every token of a text, and with none at the end of a line. Linear.
fn tokens(text: &str, mut each: impl FnMut(Option<&[u8]>)) {
    // The two letters beyond ASCII that are written with one of ASCII in lower case.
    let text = if !text.is_ascii() && text.contains(['\u{130}', '\u{212a}']) {
        text.to_lowercase()
    } else {
        text.to_ascii_lowercase()
    };
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let length = rest.iter().position(|byte| !is_token(*byte)).unwrap_or(rest.len());
        let (token, behind) = rest.split_at(length);
        if token.is_empty() {
            rest = after;
            if *first == b'\n' {
                each(None);
            }
        } else {
            rest = behind;
            each(Some(token));
        }
    }
    each(None);
}

/// Whether a byte is a letter of ASCII in lower case, or a digit.
fn is_token(byte: u8) -> bool {
    matches!(byte, b'a'..=b'z' | b'0'..=b'9')
}

/// Words by the numbers of their stems.
struct Words {
    stems: Vocabulary,
    /// Those of more than three letters as they are written, and their stems.
    written: Option<(Vocabulary, Vec<u32>)>,
}

impl Words {
    fn for_text(bytes: usize, stem: bool) -> Self {
        let written = stem.then(|| (Vocabulary::for_text(bytes), Vec::new()));
        Self { stems: Vocabulary::for_text(bytes), written }
    }

    /// Numbers are below it; the greatest is that of words that the reference does not have.
    fn kinds(&self) -> usize {
        self.stems.len() + 1
    }

    fn id(&mut self, word: &[u8]) -> u32 {
        match &mut self.written {
            Some((written, ids)) if word.len() > 3 => {
                let place = written.id(word) as usize;
                if place == ids.len() {
                    ids.push(self.stems.id(&porter::stem(word)));
                }
                ids.get(place).copied().unwrap_or(0)
            }
            _ => self.stems.id(word),
        }
    }

    fn find(&self, word: &[u8]) -> u32 {
        match &self.written {
            Some((written, ids)) if word.len() > 3 => {
                let known = ids.get(written.find(word) as usize).copied();
                known.unwrap_or_else(|| self.stems.find(&porter::stem(word)))
            }
            _ => self.stems.find(word),
        }
    }
}

/// Which tokens of `wanted` are in its longest common subsequence with some line of `given`: of several
/// subsequences the one to which the table of lengths leads back from its end, from the reference first.
#[expect(clippy::indexing_slicing, reason = "the table has a word for each block and token")]
fn union(wanted: &[u32], given: &[u32], ends: &[usize], masks: &mut Masks) -> Vec<bool> {
    let mut carries = vec![false; given.len()];
    let mut table = Vec::with_capacity(wanted.len().div_ceil(64) * given.len());
    for block in wanted.chunks(64) {
        masks.set(block);
        let mut start = 0;
        for end in ends {
            let mut rows = u64::MAX;
            for (word, carry) in given[start..*end].iter().zip(&mut carries[start..*end]) {
                (rows, *carry) = bits::column(rows, masks.get(*word), *carry);
                table.push(rows);
            }
            start = *end;
        }
        masks.clear(block);
    }
    let mut union = vec![false; wanted.len()];
    let mut start = 0;
    for end in ends {
        let (mut row, mut column) = (wanted.len(), *end);
        while row > 0 && column > start {
            let (above, before) = (row - 1, column - 1);
            let rows = table[above / 64 * given.len() + before];
            // Nothing in common is left.
            if above < 64 && rows.trailing_ones() as usize >= row {
                break;
            }
            if wanted[above] == given[before] {
                union[above] = true;
                (row, column) = (above, before);
            } else if (rows >> (above % 64)) & 1 == 0 {
                // The length grows from the row above: it is that of the column before.
                column = before;
            } else {
                row = above;
            }
        }
        start = *end;
    }
    union
}
