//! What a linear model says of an answer, beside the rules: it weighs which classes of words and values its
//! sentence and those around it have, together and in a row.
//!
//! The weights are data, `language/weights.txt`. They know classes and no words, so that they hold for all
//! languages.

use std::ops::Range;
use std::sync::LazyLock;

use super::cues::{Cues, Parts};
use super::sentences::{self, is_unspaced};
use super::values::Value;

/// The classes of words, [`cues::Role`] by its bit, those of values, and where a clause begins.
const UNITS: usize = 40;
const OWN: usize = 35;
const OTHER: usize = 36;
const VALUE: usize = 37;
const ANSWER: usize = 38;
const BORDER: usize = 39;

/// Rows of weights: what a sentence has; that by how many other words it has; its signs; what a clause has
/// together; what stands in a row.
const BY_LENGTH: usize = 1;
const SIGNS: usize = 6;
const TOGETHER: usize = 7;
const IN_A_ROW: usize = TOGETHER + UNITS;
const ROWS: usize = IN_A_ROW + UNITS;

/// So many weights there are.
#[doc(hidden)]
pub const WEIGHTS_MANY: usize = 3 * ROWS * UNITS;

/// Where a sentence stands: before that of the answer, the answer in it, behind it.
const BEFORE: usize = 0;
const WITHIN: usize = 1;
const BEHIND: usize = 2;

/// What ends a clause.
const BORDERS: &[char] =
    &[',', ';', '，', '；', '：', '、', '،', '؛', '—', '–', '…', '!', '！', ':'];
/// In a script without spaces, so many characters count as a word.
const WORD_CHARS: usize = 3;
/// So many bytes before an answer and behind it are read, in so many sentences.
const LEAD_MAX: usize = 600;
const TAIL_MAX: usize = 1500;
const SENTENCES_MAX: usize = 16;

/// From this sum of weights on, an answer is doubtful.
const DOUBTFUL: i32 = 100;
/// Below this one, it stands whatever the rules say.
const INNOCENT: i32 = -125;

static WEIGHTS: LazyLock<Vec<i32>> = LazyLock::new(|| {
    let lines = include_str!("../../language/weights.txt").lines();
    let numbers = lines.filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace);
    numbers.filter_map(|number| number.parse().ok()).collect()
});

/// What the model says of an answer.
pub(super) enum Vote {
    /// It is doubtful by this sentence.
    Doubtful(Range<usize>),
    Undecided,
    Innocent,
}

/// A sentence, and the places of its weights, in their order.
struct Seen {
    range: Range<usize>,
    place: usize,
    found: Vec<usize>,
}

impl Seen {
    fn weight(&self) -> i32 {
        sum(&self.found)
    }
}

fn sum(found: &[usize]) -> i32 {
    found.iter().filter_map(|at| WEIGHTS.get(*at)).sum()
}

/// What the model says. A sentence behind the answer is weighed with the next one alone, so that others do
/// not outvote it.
pub(super) fn vote(parts: &Parts<'_>, own: &[Value], span: &Range<usize>) -> Vote {
    let seen = sentences(parts, own, span);
    let (behind, near): (Vec<&Seen>, Vec<&Seen>) = seen.iter().partition(|one| one.place == BEHIND);
    let lead: i32 = near.iter().map(|one| one.weight()).sum();
    let with_next = behind.iter().enumerate().map(|(at, one)| {
        let next = behind.get(at + 1).map_or(&[][..], |next| &next.found);
        let fresh = next.iter().filter(|at| one.found.binary_search(at).is_err());
        let next: i32 = fresh.filter_map(|at| WEIGHTS.get(*at)).sum();
        (lead + one.weight() + next, Some(*one))
    });
    let alone = behind.is_empty().then_some((lead, None));
    let most = with_next.chain(alone).max_by_key(|(weight, _)| *weight);
    match most {
        Some((weight, one)) if weight > DOUBTFUL => {
            let said = one.or(near.last().copied());
            Vote::Doubtful(said.map_or(span.clone(), |said| said.range.clone()))
        }
        Some((weight, _)) if weight < INNOCENT => Vote::Innocent,
        _ => Vote::Undecided,
    }
}

/// The places of all weights of an answer, to learn them.
#[doc(hidden)]
pub fn features(text: &str, span: Range<usize>) -> Vec<usize> {
    let own = Value::own(&text[span.clone()]);
    let seen = sentences(&Parts::of(text), &own, &span);
    let mut found: Vec<usize> = seen.into_iter().flat_map(|one| one.found).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// The sentence of an answer, the one before it, and those behind it.
fn sentences(parts: &Parts<'_>, own: &[Value], span: &Range<usize>) -> Vec<Seen> {
    let text = parts.text;
    let from = text.ceil_char_boundary(span.start.saturating_sub(LEAD_MAX));
    let lead = &text[from..span.start];
    let start = from + sentences::last_start(lead);
    let tail = &text[span.end..text.floor_char_boundary(span.end + TAIL_MAX)];
    let mut ends = sentences::ends(tail).take(SENTENCES_MAX).chain([tail.len()]);
    let end = span.end + ends.next().unwrap_or(tail.len());
    let mut ranges = Vec::new();
    let earlier = text[from..start].trim_end();
    if !earlier.is_empty() {
        let inner = sentences::ends(earlier).rfind(|at| *at < earlier.len()).unwrap_or(0);
        ranges.push((from + inner..start, BEFORE));
    }
    ranges.push((start..end, WITHIN));
    let mut last = end;
    for next in ends.map(|end| span.end + end) {
        if !text[last..next].trim().is_empty() {
            ranges.push((last..next, BEHIND));
        }
        last = next;
    }
    let seen = ranges.into_iter().map(|(range, place)| {
        let answer =
            span.start.max(range.start) - range.start..span.end.max(range.start) - range.start;
        let answer = (place == WITHIN).then_some(answer);
        let cues = parts.cues(range.clone());
        let found = found(&text[range.clone()], place, answer, own, &cues);
        Seen { range, place, found }
    });
    seen.collect()
}

/// The places of the weights of a sentence.
fn found(
    text: &str,
    place: usize,
    answer: Option<Range<usize>>,
    own: &[Value],
    cues: &Cues,
) -> Vec<usize> {
    let mut found = Vec::new();
    let mut add = |row: usize, unit: usize| found.push((place * ROWS + row) * UNITS + unit);
    let (mut end, mut strangers, mut last) = (0, 0, None);
    let (mut all, mut clauses) = (0, vec![0]);
    for (range, units) in items(text, answer, own, cues) {
        let gap = &text[end.min(range.start)..range.start];
        strangers += strange(gap);
        if gap.contains(BORDERS) && clauses.last() != Some(&0) {
            clauses.push(0);
        }
        for unit in bits(units) {
            if clauses.last() == Some(&0) {
                add(IN_A_ROW + BORDER, unit);
            }
            last.into_iter().flat_map(bits).for_each(|before| add(IN_A_ROW + before, unit));
        }
        if let Some(clause) = clauses.last_mut() {
            *clause |= units;
        }
        all |= units;
        last = Some(units);
        end = end.max(range.end);
    }
    strangers += strange(&text[end..]);
    let length = BY_LENGTH + strangers.div_ceil(2).min(SIGNS - BY_LENGTH - 1);
    add(length, BORDER);
    for unit in bits(all) {
        add(0, unit);
        add(length, unit);
    }
    for clause in clauses {
        for one in bits(clause) {
            bits(clause).filter(|unit| one < *unit).for_each(|unit| add(TOGETHER + one, unit));
        }
    }
    let said = text.trim_end();
    let signs = [
        said.ends_with(['?', '？', '؟']),
        said.ends_with(['!', '！']),
        text.contains('…') || text.contains("..."),
        text.contains(['✅', '✓']),
        text.contains(['❌', '✗', '✘']),
        place == WITHIN,
    ];
    signs.into_iter().enumerate().filter(|(_, has)| *has).for_each(|(at, _)| add(SIGNS, at));
    found.sort_unstable();
    found.dedup();
    found
}

/// The words and values of a sentence, with their classes as bits.
fn items(
    text: &str,
    answer: Option<Range<usize>>,
    own: &[Value],
    cues: &Cues,
) -> Vec<(Range<usize>, u64)> {
    // The words of an answer say nothing of it: "no real solutions".
    let is_of_answer = |place: &Range<usize>| {
        answer.as_ref().is_some_and(|own| place.start < own.end && own.start < place.end)
    };
    let words = cues.phrases.iter().chain(&cues.words);
    let words = words.map(|cue| (cue.span.clone(), cue.roles()));
    let mut items: Vec<(Range<usize>, u64)> =
        words.filter(|(place, _)| !is_of_answer(place)).collect();
    for (value, place) in Value::places(text) {
        let unit = if own.contains(&value) {
            OWN
        } else if value.is_other(own) {
            OTHER
        } else {
            VALUE
        };
        if !is_of_answer(&place) {
            items.push((place, 1 << unit));
        }
    }
    items.extend(answer.map(|answer| (answer, 1 << ANSWER)));
    items.sort_by_key(|(place, units)| (place.start, place.end, *units));
    items
}

/// How many words a text has.
fn strange(text: &str) -> usize {
    let words = text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    let length = |word: &str| word.chars().filter(|c| is_unspaced(*c)).count().div_ceil(WORD_CHARS);
    words.map(|word| length(word).max(1)).sum()
}

fn bits(mut units: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lowest = units.trailing_zeros() as usize;
        units &= units.checked_sub(1)?;
        Some(lowest)
    })
}
