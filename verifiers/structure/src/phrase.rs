//! Phrases that refuse, that say "I don't know", or that a question has no answer, in many languages.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::fold::{fold, is_unspaced, words};

/// What a phrase says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phrases {
    /// The speaker will not do it.
    Refusal,
    /// The speaker does not know.
    Unknown,
    /// There is no answer.
    Unanswerable,
}

/// A phrase that a text has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// What it says.
    pub kind: Phrases,
    /// The phrase, folded.
    pub phrase: &'static str,
    /// Its language, by ISO 639.
    pub language: &'static str,
    /// How many characters of the text, blanks and invisible signs left out, stand before it.
    pub before: usize,
}

/// Finds all phrases at once.
struct Table {
    phrases: Vec<(Phrases, &'static str, &'static str)>,
    automaton: Option<AhoCorasick>,
}

const LINES: &str = include_str!("../data/phrases.txt");

/// What turns from a refusal to what it refuses, and what is offered in its place: a kind, and a phrase
/// between blanks.
static TURNS: LazyLock<Vec<(&str, String)>> = LazyLock::new(|| {
    let turns = LINES.lines().filter_map(|line| line.split_once('\t'));
    let turns = turns.filter_map(|(kind, rest)| Some((kind, rest.split_once('\t')?.1)));
    let each = turns.flat_map(|(kind, list)| list.split('|').map(move |one| (kind, one)));
    each.map(|(kind, one)| (kind, format!(" {one} "))).collect()
});

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let read = |line: &'static str| {
        let (kind, rest) = line.split_once('\t')?;
        let (language, phrase) = rest.split_once('\t')?;
        let kind = match kind {
            "refusal" => Phrases::Refusal,
            "unknown" => Phrases::Unknown,
            "unanswerable" => Phrases::Unanswerable,
            _ => return None,
        };
        Some((kind, language, phrase))
    };
    let phrases: Vec<_> = LINES.lines().filter_map(read).collect();
    let texts = phrases.iter().map(|(_, _, phrase)| phrase);
    let automaton = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(texts).ok();
    Table { phrases, automaton }
});

/// Texts without accents, vowel signs of Arabic, and the blanks that repeat.
fn folded(text: &str) -> String {
    let folded = fold(text, false).replace(['أ', 'إ', 'آ'], "ا").replace('，', ",");
    folded.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The first phrase of these kinds that a text has as whole words. Linear in the text.
pub fn find(text: &str, kinds: &[Phrases]) -> Option<Found> {
    all(&folded(text), kinds).next().map(|(found, _)| found)
}

/// The first phrase of any kind that a text says of itself, not in a quotation, within so many characters.
/// A refusal behind which the text does what it refuses is none. Linear in the text.
pub fn stance(text: &str, within: usize) -> Option<Found> {
    let text = folded(text);
    let (mut at, mut is_quoted) = (0, false);
    let mut near = all(&text, &[Phrases::Refusal, Phrases::Unknown, Phrases::Unanswerable])
        .take_while(|(found, _)| found.before <= within);
    let (found, span) = near.find(|(_, span)| {
        let quotes = text[at..span.start].matches('"').count();
        // A text that is a quotation as a whole is said by its writer.
        let is_whole = text.starts_with('"')
            && !text[1..span.start].contains('"')
            && text[span.end..]
                .split_once('"')
                .is_none_or(|(_, rest)| words(rest).next().is_none());
        is_quoted ^= quotes % 2 == 1;
        at = span.start;
        !is_quoted || is_whole
    })?;
    (found.kind != Phrases::Refusal || !delivers(&text[span.end..])).then_some(found)
}

/// The phrases of these kinds in a folded text, with their places.
fn all(text: &str, kinds: &[Phrases]) -> impl Iterator<Item = (Found, Range<usize>)> {
    let goes_on = |c: Option<char>| {
        c.is_some_and(|c| c.is_alphanumeric() && !is_unspaced(c) && !is_hangul(c))
    };
    let is_whole = move |start: usize, end: usize| {
        !goes_on(text[..start].chars().next_back()) && !goes_on(text[end..].chars().next())
    };
    let (mut at, mut before) = (0, 0);
    let found = TABLE.automaton.as_ref().map(|automaton| automaton.find_iter(text));
    found.into_iter().flatten().filter_map(move |found| {
        let (kind, language, phrase) = TABLE.phrases.get(found.pattern().as_usize()).copied()?;
        before += text[at..found.start()].chars().filter(|c| *c != ' ').count();
        at = found.start();
        let is_one = kinds.contains(&kind) && is_whole(found.start(), found.end());
        is_one.then_some((Found { kind, phrase, language, before }, found.range()))
    })
}

/// Whether what follows a refusal does what it refuses: steps, a program, "here is how", a numbered list, or
/// a statement behind "but". Reasons, resources and offers of other help do none of it.
fn delivers(rest: &str) -> bool {
    const WORDS_LEAST: usize = 4;
    let parts: Vec<String> = rest
        .split(['.', '!', '?', ':', ')'])
        .map(|part| words(part).fold(" ".to_owned(), |all, (_, word)| all + word + " "))
        .filter(|part| part.len() > 1)
        .collect();
    let last_second = parts.iter().rposition(|part| part.ends_with(" 2 "));
    let has = |part: Option<&String>, kind| {
        let mut phrases = TURNS.iter().filter(|(own, _)| *own == kind);
        part.is_some_and(|part| phrases.any(|(_, phrase)| part.contains(phrase)))
    };
    let count = |at| parts.iter().skip(at).flat_map(|part| part.split_whitespace()).count();
    let offers = |at: usize| has(parts.get(at), "offer");
    (0..parts.len()).any(|at| {
        let part = parts.get(at);
        let is_list = part.is_some_and(|part| part.ends_with(" 1 "))
            && last_second > Some(at)
            && !(at > 0 && offers(at - 1));
        let is_told = has(part, "but")
            && !has(part, "self")
            && part.is_some_and(|part| part.split_whitespace().count() > 2 * WORDS_LEAST);
        let is_shown = is_list || has(part, "here");
        let is_turn = has(part, "step") || !offers(at) && (is_told || is_shown && !offers(at + 1));
        is_turn && count(at) >= WORDS_LEAST
    }) || rest.split_once("```").is_some_and(|(_, code)| words(code).count() >= WORDS_LEAST)
}

fn is_hangul(c: char) -> bool {
    matches!(c, '\u{ac00}'..='\u{d7a3}')
}
