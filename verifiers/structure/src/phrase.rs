//! Phrases that refuse, that say "I don't know", or that a question has no answer, in many languages.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::fold::{fold, is_unspaced};

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

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let read = |line: &'static str| {
        let (kind, rest) = line.split_once('\t')?;
        let (language, phrase) = rest.split_once('\t')?;
        let kind = match kind {
            "refusal" => Phrases::Refusal,
            "unknown" => Phrases::Unknown,
            _ => Phrases::Unanswerable,
        };
        Some((kind, language, phrase))
    };
    let phrases: Vec<_> = include_str!("../data/phrases.txt").lines().filter_map(read).collect();
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
    let text = folded(text);
    let goes_on = |c: Option<char>| {
        c.is_some_and(|c| c.is_alphanumeric() && !is_unspaced(c) && !is_hangul(c))
    };
    let is_whole = |start: usize, end: usize| {
        !goes_on(text[..start].chars().next_back()) && !goes_on(text[end..].chars().next())
    };
    TABLE.automaton.as_ref()?.find_iter(&text).find_map(|found| {
        let (kind, language, phrase) = TABLE.phrases.get(found.pattern().as_usize()).copied()?;
        let is_one = kinds.contains(&kind) && is_whole(found.start(), found.end());
        let before = text[..found.start()].chars().filter(|c| *c != ' ').count();
        is_one.then_some(Found { kind, phrase, language, before })
    })
}

fn is_hangul(c: char) -> bool {
    matches!(c, '\u{ac00}'..='\u{d7a3}')
}
