//! Translation edit rate (Snover et al. 2006) as sacrebleu 2.6 has it, with the search of Tercom: which
//! shifts are tried, in what order, and within what band edits are counted.

use crate::intern::Vocabulary;
use crate::score::{float, ratio};
use crate::tokens::{WordSplit, is_space, lowered, words};

/// The longest run of words that is shifted, and how far.
const SHIFT_SIZE: usize = 10;
const SHIFT_DISTANCE: usize = 50;
/// How far from the diagonal edits are counted.
const BEAM: usize = 25;
/// The most shifts that are tried.
const CANDIDATES: usize = 1000;
/// Above every number of edits.
const NEVER: u32 = 1 << 30;

/// How texts are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TerRules {
    /// Case counts.
    pub case_counts: bool,
    /// Punctuation stands alone, as in 13a.
    pub normalised: bool,
    /// Leave out the marks `. , ? : ; ! " ( )`.
    pub without_marks: bool,
}

/// The least edits, shifts included, for each word of the references, in percent: 0 is equal, and it can
/// be above 100. Of several references the mean length counts. Pays for every row of 50 words that is
/// computed.
///
/// # Errors
/// What `pay` refuses.
pub fn ter<E>(
    text: &str,
    references: &[&str],
    rules: TerRules,
    pay: &mut dyn FnMut(u64) -> Result<(), E>,
) -> Result<f64, E> {
    let text = rules.prepared(text);
    // sacrebleu prepares references twice, and what splits an `'s` may stand there only then.
    let twice = |text: &&str| rules.prepared(&rules.prepared(text));
    let texts: Vec<String> = references.iter().map(twice).collect();
    let mut vocabulary = Vocabulary::default();
    let given = vocabulary.text(words(&text));
    let (mut least, mut lengths) = (usize::MAX, 0);
    for text in &texts {
        let wanted = vocabulary.text(words(text));
        least = least.min(Search::new(&given, &wanted).edits(pay)?);
        lengths += wanted.len();
    }
    if lengths == 0 {
        return Ok(if least > 0 && !texts.is_empty() { 100.0 } else { 0.0 });
    }
    Ok(100.0 * (float(least) / ratio(lengths, texts.len())))
}

impl TerRules {
    fn prepared(self, text: &str) -> String {
        let text = text.trim_end_matches(is_space);
        let mut text = if self.case_counts { text.into() } else { lowered(text) }.into_owned();
        if self.normalised {
            text = apart(&text);
        }
        if self.without_marks {
            text.retain(|letter| {
                !matches!(letter, '.' | ',' | '?' | ':' | ';' | '!' | '"' | '(' | ')')
            });
        }
        text
    }
}

/// With blanks around punctuation, and before the `'s` of a possessive.
fn apart(text: &str) -> String {
    let mut text = text.replace("\n-", "").replace('\n', " ");
    for (from, to) in [("&quot;", "\""), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")] {
        text = text.replace(from, to);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find("'s") {
        let (before, after) = rest.split_at(at);
        let (own, after) = after.split_at(2);
        let ends = after.chars().next().is_none_or(|next| {
            next == ' ' || (next.is_ascii_punctuation() && !matches!(next, '\'' | ',' | '-' | '.'))
        });
        out.push_str(before);
        out.push_str(if ends { " " } else { "" });
        out.push_str(own);
        rest = after;
    }
    out.push_str(rest);
    let mut tokens = Vec::new();
    WordSplit::Mteval13a.split(&out, |token| tokens.push(token));
    String::from_utf8_lossy(&tokens.join(&b' ')).into_owned()
}

/// How a word of the text or of the reference comes about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Edit {
    Keep,
    Change,
    /// A word of the text has none in the reference.
    Drop,
    /// A word of the reference has none in the text.
    Add,
    /// Outside of the band.
    Never,
}

/// The band of a row: its first column, and its edits from there.
#[derive(Default)]
struct Row {
    from: usize,
    edits: Vec<u32>,
}

impl Row {
    fn at(&self, column: usize) -> u32 {
        let place = column.checked_sub(self.from);
        place.and_then(|place| self.edits.get(place)).copied().unwrap_or(NEVER)
    }
}

struct Search<'w> {
    given: Vec<u32>,
    wanted: &'w [u32],
    /// Words of the reference for each of the text.
    slope: f64,
    beam: usize,
    /// The table of the text as it is shifted so far: row 0 is before its first word.
    rows: Vec<Row>,
}

/// A shift: what it saves, its length, and then what is preferred if low: its start and its target.
type Shift = (i64, usize, std::cmp::Reverse<usize>, std::cmp::Reverse<usize>);

#[expect(clippy::indexing_slicing, reason = "rows are one a word; places come from the alignment")]
impl<'w> Search<'w> {
    fn new(given: &[u32], wanted: &'w [u32]) -> Self {
        let slope = if given.is_empty() { 1.0 } else { ratio(wanted.len(), given.len()) };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a length, half of it"
        )]
        let half = (slope / 2.0 + float(BEAM)).ceil() as usize;
        let beam = if float(BEAM) < slope / 2.0 { half } else { BEAM };
        Self { given: given.to_vec(), wanted, slope, beam, rows: Vec::new() }
    }

    fn edits<E>(mut self, pay: &mut dyn FnMut(u64) -> Result<(), E>) -> Result<usize, E> {
        if self.wanted.is_empty() {
            return Ok(self.given.len());
        }
        let (mut shifts, mut tried) = (0, 0);
        loop {
            pay(4 * self.cost(0))?;
            self.fill();
            let best = self.best_shift(&mut tried, pay)?;
            match best {
                Some(((saved, ..), words)) if saved > 0 && tried < CANDIDATES => {
                    shifts += 1;
                    self.given = words;
                }
                _ => break,
            }
        }
        Ok(shifts + self.total() as usize)
    }

    /// The cells from a row on.
    fn cost(&self, from: usize) -> u64 {
        let rows = self.given.len().saturating_sub(from) as u64;
        (2 * self.beam as u64).saturating_mul(rows) + self.wanted.len() as u64
    }

    fn total(&self) -> u32 {
        self.rows.last().map_or(NEVER, |row| row.at(self.wanted.len()))
    }

    /// The columns of a row.
    fn band(&self, row: usize) -> (usize, usize) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a length")]
        let middle = (float(row) * self.slope).floor() as usize;
        let all = self.wanted.len() + 1;
        let to = if row == self.given.len() { all } else { all.min(middle + self.beam) };
        (middle.saturating_sub(self.beam), to)
    }

    /// Computes a row from the one above.
    fn step(&self, row: usize, word: u32, above: &Row, out: &mut Row) {
        let (from, to) = self.band(row);
        out.from = from;
        out.edits.clear();
        let (mut left, mut corner) = (NEVER, NEVER);
        let mut column = from;
        if column == 0 {
            corner = above.at(0);
            left = (corner + 1).min(NEVER);
            out.edits.push(left);
            column = 1;
        } else {
            corner = corner.min(above.at(column - 1));
        }
        let (_, ups) = above.edits.split_at((column - above.from).min(above.edits.len()));
        let known = ups.len().min(to.saturating_sub(column));
        let mut cell = |up: u32, wanted: u32| {
            left = (left + 1).min(up + 1).min(corner + u32::from(wanted != word)).min(NEVER);
            corner = up;
            left
        };
        let (near, far) = self.wanted[column - 1..to - 1].split_at(known);
        out.edits.extend(ups.iter().zip(near).map(|(up, wanted)| cell(*up, *wanted)));
        out.edits.extend(far.iter().map(|wanted| cell(NEVER, *wanted)));
    }

    /// How a cell comes about: of equal ways the first of keep or change, drop, add.
    fn way(&self, row: usize, column: usize) -> Edit {
        let (Some(above), here) = (row.checked_sub(1), &self.rows[row]) else {
            return if column > 0 { Edit::Add } else { Edit::Never };
        };
        let (above, edits) = (&self.rows[above], here.at(column));
        let Some(before) = column.checked_sub(1) else { return Edit::Drop };
        let is_equal = self.wanted[before] == self.given[row - 1];
        if edits >= NEVER {
            Edit::Never
        } else if edits == above.at(before) + u32::from(!is_equal) {
            if is_equal { Edit::Keep } else { Edit::Change }
        } else if edits == above.at(column) + 1 {
            Edit::Drop
        } else {
            Edit::Add
        }
    }

    /// Computes the whole table.
    fn fill(&mut self) {
        let first = (0..=self.wanted.len()).map(crate::intern::number).collect();
        self.rows = vec![Row { from: 0, edits: first }];
        for (row, word) in (1..).zip(self.given.clone()) {
            let mut out = Row::default();
            if let Some(above) = self.rows.last() {
                self.step(row, word, above, &mut out);
            }
            self.rows.push(out);
        }
    }

    /// For each word of the reference where in the text it stands, counted from 1, so that 0 is before
    /// the text; and which words of the text and of the reference are wrong, as running sums.
    fn alignment(&self) -> (Vec<usize>, Vec<usize>, Vec<usize>) {
        let (mut row, mut column) = (self.given.len(), self.wanted.len());
        let mut places = vec![0; self.wanted.len()];
        let (mut given, mut wanted) = (vec![0; row + 1], vec![0; column + 1]);
        while row > 0 || column > 0 {
            match self.way(row, column) {
                way @ (Edit::Keep | Edit::Change) => {
                    places[column - 1] = row;
                    given[row] = usize::from(way == Edit::Change);
                    wanted[column] = usize::from(way == Edit::Change);
                    (row, column) = (row - 1, column - 1);
                }
                Edit::Drop => {
                    given[row] = 1;
                    row -= 1;
                }
                Edit::Add => {
                    places[column - 1] = row;
                    wanted[column] = 1;
                    column -= 1;
                }
                Edit::Never => break,
            }
        }
        for sums in [&mut given, &mut wanted] {
            for place in 1..sums.len() {
                sums[place] += sums[place - 1];
            }
        }
        (places, given, wanted)
    }

    /// The shift that saves most, and the words as it leaves them.
    fn best_shift<E>(
        &self,
        tried: &mut usize,
        pay: &mut dyn FnMut(u64) -> Result<(), E>,
    ) -> Result<Option<(Shift, Vec<u32>)>, E> {
        let (places, wrong_given, wrong_wanted) = self.alignment();
        let mut best: Option<(Shift, Vec<u32>)> = None;
        let mut rows = [Row::default(), Row::default()];
        for start in 0..self.given.len() {
            pay(8 * SHIFT_DISTANCE as u64)?;
            let near = start.saturating_sub(SHIFT_DISTANCE);
            for at in near..self.wanted.len().min(start + SHIFT_DISTANCE + 1) {
                let equal = self.given[start..].iter().zip(&self.wanted[at..]).take(SHIFT_SIZE);
                let longest = equal.take_while(|(one, two)| one == two).count();
                for length in 1..=longest {
                    let is_right = wrong_given[start + length] == wrong_given[start]
                        || wrong_wanted[at + length] == wrong_wanted[at];
                    // Places count from 1.
                    if is_right || (start < places[at] && places[at] <= start + length) {
                        continue;
                    }
                    let mut before = usize::MAX;
                    for offset in 0..=length {
                        let target = match (at + offset).checked_sub(1) {
                            None => 0,
                            Some(place) => places[place],
                        };
                        if target == before {
                            continue;
                        }
                        before = target;
                        let (words, first, end) = self.shifted(start, length, target);
                        pay(words.len() as u64 / 4 + 2 * self.cost(first))?;
                        let edits = self.edits_of(&words, first, end, &mut rows);
                        *tried += 1;
                        let saved = i64::from(self.total()) - i64::from(edits);
                        let shift =
                            (saved, length, std::cmp::Reverse(start), std::cmp::Reverse(target));
                        if best.as_ref().is_none_or(|(best, _)| shift > *best) {
                            best = Some((shift, words));
                        }
                    }
                    if *tried >= CANDIDATES {
                        return Ok(best);
                    }
                }
            }
        }
        Ok(best)
    }

    /// The words with a run of them before `target`, and the words between which they change.
    fn shifted(&self, start: usize, length: usize, target: usize) -> (Vec<u32>, usize, usize) {
        let (end, mut words) = (start + length, self.given.clone());
        if target < start {
            words[target..end].rotate_right(length);
            (words, target, end)
        } else {
            let to = if target > end { target } else { (length + target).min(words.len()) };
            words[start..to].rotate_left(length);
            (words, start, to)
        }
    }

    /// The edits of words that are those of the table but from `first` to `end`.
    fn edits_of(&self, words: &[u32], first: usize, end: usize, rows: &mut [Row; 2]) -> u32 {
        let [above, here] = rows;
        above.from = self.rows[first].from;
        above.edits.clone_from(&self.rows[first].edits);
        for (row, word) in (first + 1..).zip(&words[first..]) {
            self.step(row, *word, above, here);
            std::mem::swap(above, here);
            if row >= end && above.edits == self.rows[row].edits {
                return self.total();
            }
        }
        above.at(self.wanted.len())
    }
}
