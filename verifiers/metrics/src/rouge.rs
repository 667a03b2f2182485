//! ROUGE (Lin 2004) as rouge-score 0.1.2 has it, with its tokens: runs of ASCII letters and digits.

use std::cell::Cell;

use crate::bits::{self, Masks};
use crate::grams::Grams;
use crate::intern::{Key, Vocabulary};
use crate::porter;
use crate::scan::{self, Tokens};
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
    stem: bool,
    words: Vocabulary,
    wanted: Vec<u32>,
    /// Where each line ends.
    ends: Vec<usize>,
    grams: Option<Grams>,
}

impl RougeReference {
    /// Reads a reference. With `stem` words of more than three letters are compared by their stems. Linear.
    pub fn new(reference: &str, kind: RougeKind, stem: bool) -> Self {
        let mut words = Vocabulary::for_text(reference.len());
        let (wanted, ends) = read(reference, kind, stem, |tokens| words.ids(tokens));
        let grams = match kind {
            RougeKind::Grams(length) => {
                let longest = length.min(wanted.len());
                Some(Grams::of(vec![wanted.clone()], words.len() + 1, longest))
            }
            _ => None,
        };
        Self { kind, stem, words, wanted, ends, grams }
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
        let (given, ends) = read(text, self.kind, self.stem, |tokens| self.words.known(tokens));
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
                let known: Vec<u32> = given.iter().copied().filter(|id| *id != 0).collect();
                bits::common(wanted, &known, self.words.len() + 1)
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
        let mut union = Union::new(self.words.len() + 1);
        let mut left = vec![0_usize; self.words.len() + 1];
        for word in given {
            if let Some(left) = left.get_mut(*word as usize) {
                *left += 1;
            }
        }
        let mut line_ends = Vec::with_capacity(given.len());
        for end in ends {
            line_ends.resize(*end, *end);
        }
        let (mut hits, mut start) = (0, 0);
        for end in &self.ends {
            let wanted = &self.wanted[start..*end];
            start = *end;
            pay(8 * bits::steps(wanted.len(), given.len()) + 2 * given.len() as u64)?;
            let union = union.of(wanted, given, &line_ends);
            for (row, word) in wanted.iter().enumerate() {
                if union[row / 64] >> (row % 64) & 1 == 0 {
                    continue;
                }
                if let Some(left) = left.get_mut(*word as usize).filter(|left| **left > 0) {
                    *left -= 1;
                    hits += 1;
                }
            }
        }
        Ok(hits)
    }
}

/// The numbers of the tokens of a text, or of their stems; of [`RougeKind::Lines`] also how many of them come
/// before the end of each line. Linear.
fn read(
    text: &str,
    kind: RougeKind,
    stem: bool,
    ids: impl FnOnce(&Tokens) -> Vec<u32>,
) -> (Vec<u32>, Vec<usize>) {
    let (mut tokens, mut stems) = ROOM.take();
    // The two letters beyond ASCII that are written with one of ASCII in lower case.
    if !text.is_ascii() && text.contains(['\u{130}', '\u{212a}']) {
        tokens.clear(&text.to_lowercase());
    } else {
        tokens.clear(text).make_ascii_lowercase();
    }
    let is_token = |byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9');
    let mut ends = Vec::new();
    if kind == RougeKind::Lines {
        // A line break is a token, and then goes.
        tokens.read(|_, _, block| {
            let lines = scan::bits(block, |byte| byte == b'\n');
            (!scan::bits(block, is_token) & !lines, lines)
        });
        let (line, mut count) = (scan::short(b"\n"), 0);
        tokens.keys.retain(|key| {
            let is_token = Some(*key) != line;
            if !is_token {
                ends.push(count);
            }
            count += usize::from(is_token);
            is_token
        });
        ends.push(count);
    } else {
        tokens.read(|_, _, block| (!scan::bits(block, is_token), 0));
    }
    if stem {
        stems.replace(&mut tokens);
    }
    let ids = ids(&tokens);
    ROOM.set((tokens.room(), stems));
    (ids, ends)
}

thread_local! {
    /// Room for the tokens of a text, kept for the next, and stems.
    static ROOM: Cell<(Tokens, Stems)> = Cell::default();
}

/// Short words and their stems as keys, each at the only place where it may stand.
#[derive(Default)]
struct Stems(Vec<(u128, u128)>);

/// The bits of a place.
const PLACE: u32 = 13;

impl Stems {
    /// Puts the stems of words of more than three letters in their place.
    fn replace(&mut self, tokens: &mut Tokens) {
        self.0.resize(1 << PLACE, (0, 0));
        let mut keys = std::mem::take(&mut tokens.keys);
        for key in &mut keys {
            let place = usize::try_from(key.hash() >> (u64::BITS - PLACE)).unwrap_or(0);
            match self.0.get_mut(place) {
                Some((word, stem)) if word == key => *key = *stem,
                known => {
                    let word = tokens.bytes(*key);
                    let stem = if word.len() > 3 { porter::stem(&word) } else { word };
                    let stem = tokens.key(&stem);
                    if let Some(known) = known
                        && !scan::is_long(*key)
                    {
                        *known = (*key, stem);
                    }
                    *key = stem;
                }
            }
        }
        tokens.keys = keys;
    }
}

/// The rows of a column, 64 to a block: those where the length of the common subsequence grows, and those of the
/// token of the column.
type Rows = (u64, u64);

/// Which tokens of a line of the reference are in its longest common subsequence with some line of a text: of
/// several subsequences the one to which the table of lengths leads back from its end, from the reference first.
struct Union {
    masks: Masks,
    /// For each token the last line that has it, counted from 1, and how many lines there were.
    seen: Vec<u32>,
    lines: u32,
    /// The tokens of the text that the line has, and where they are.
    columns: Vec<(u32, usize)>,
    carries: Vec<bool>,
    table: Vec<Rows>,
}

#[expect(clippy::indexing_slicing, reason = "the table has rows for each block and column")]
impl Union {
    fn new(kinds: usize) -> Self {
        let (masks, seen) = (Masks::new(kinds), vec![0; kinds]);
        Self { masks, seen, lines: 0, columns: Vec::new(), carries: Vec::new(), table: Vec::new() }
    }

    /// The tokens of the line as bits of blocks. `ends` has for each token of the text the end of its line.
    fn of(&mut self, wanted: &[u32], given: &[u32], ends: &[usize]) -> Vec<u64> {
        self.lines += 1;
        for word in wanted {
            self.seen[*word as usize] = self.lines;
        }
        // Without a branch: which tokens both have is hard to guess.
        self.columns.resize(given.len() + 1, (0, 0));
        let mut count = 0;
        for (place, word) in given.iter().enumerate() {
            self.columns[count] = (*word, place);
            count += usize::from(self.seen[*word as usize] == self.lines);
        }
        self.columns.truncate(count);
        self.fill(wanted, ends);
        self.lead_back(wanted.len(), ends)
    }

    fn fill(&mut self, wanted: &[u32], ends: &[usize]) {
        self.table.clear();
        self.carries.clear();
        self.carries.resize(self.columns.len(), false);
        for block in wanted.chunks(64) {
            self.masks.set(block);
            let (mut rows, mut end) = (u64::MAX, 0);
            for ((word, place), carry) in self.columns.iter().zip(&mut self.carries) {
                if ends[*place] != end {
                    (rows, end) = (u64::MAX, ends[*place]);
                }
                let equal = self.masks.get(*word);
                (rows, *carry) = bits::column(rows, equal, *carry);
                self.table.push((!rows, equal));
            }
            self.masks.clear(block);
        }
    }

    fn lead_back(&self, rows: usize, ends: &[usize]) -> Vec<u64> {
        let mut union = vec![0; rows.div_ceil(64)];
        let (mut above, mut after, mut end) = (0, 0, usize::MAX);
        for (column, (_, place)) in self.columns.iter().enumerate().rev() {
            if ends[*place] != end {
                end = ends[*place];
                (above, after) = (rows, end);
            }
            // The last row above of those that `of` takes of some block, and 0 without.
            let last = |above: usize, of: fn(&Rows) -> u64| {
                let found = (0..above.div_ceil(64)).rev().find_map(|block| {
                    let rows = of(&self.table[block * self.columns.len() + column]);
                    let found = rows & (u64::MAX >> 64_usize.saturating_sub(above - block * 64));
                    (found != 0).then(|| block * 64 + 64 - found.leading_zeros() as usize)
                });
                found.unwrap_or(0)
            };
            // In columns of other tokens it goes up to where the length grows.
            if place + 1 != after {
                above = last(above, |rows| rows.0);
            }
            after = *place;
            above = last(above, |rows| rows.0 | rows.1);
            // Where the token is another, the length is that of the column before.
            if let Some(row) = above.checked_sub(1) {
                let (_, equal) = self.table[row / 64 * self.columns.len() + column];
                let equal = equal & (1 << (row % 64));
                union[row / 64] |= equal;
                above -= usize::from(equal != 0);
            }
        }
        union
    }
}
