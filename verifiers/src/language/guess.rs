//! The languages that a text is most likely written in, by its most frequent words.

use std::cell::OnceCell;
use std::sync::LazyLock;

use super::FREQUENT;

/// So many bytes at the end of a text are read.
const READ_MAX: usize = 400;
/// The longest frequent word, in bytes.
const WORD_MAX: usize = 12;

/// The frequent words, sorted, and the languages that have each, as bits by their places in [`FREQUENT`].
static WORDS: LazyLock<Vec<(&'static [u8], u32)>> = LazyLock::new(|| {
    let listed = FREQUENT.iter().enumerate().flat_map(|(at, (_, frequent))| {
        frequent.iter().map(move |word| (word.as_bytes(), 1 << at))
    });
    let mut words: Vec<(&[u8], u32)> = listed.collect();
    words.sort_unstable();
    words.dedup_by(|(word, languages), (before, all)| {
        let is_same = word == before;
        *all |= if is_same { *languages } else { 0 };
        is_same
    });
    words
});

/// The languages of Latin script that a text may be in, found when they are asked for. Languages of other
/// scripts are known by their letters.
pub(crate) struct Languages<'a> {
    text: &'a str,
    /// As bits by their places in [`FREQUENT`].
    likely: OnceCell<u32>,
}

impl<'a> Languages<'a> {
    pub(crate) fn of(text: &'a str) -> Self {
        Self { text, likely: OnceCell::new() }
    }

    /// Whether the text may be in the language at a place of [`FREQUENT`].
    pub(crate) fn may_be(&self, language: u8) -> bool {
        self.bits().checked_shr(language.into()).is_some_and(|bits| bits & 1 == 1)
    }

    /// The first of the likely languages, in the order of their files.
    pub(crate) fn first(&self) -> Option<&'static str> {
        FREQUENT.get(self.bits().trailing_zeros() as usize).map(|(language, _)| *language)
    }

    fn bits(&self) -> u32 {
        *self.likely.get_or_init(|| likely(self.text))
    }
}

fn likely(text: &str) -> u32 {
    let near = &text[text.ceil_char_boundary(text.len().saturating_sub(READ_MAX))..];
    let mut counts = [0_u32; u32::BITS as usize];
    let mut lower = [0; WORD_MAX];
    let is_inner = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'\'' || !byte.is_ascii();
    let words = near.as_bytes().split(|byte| !is_inner(byte));
    for word in words.filter(|word| (1..=WORD_MAX).contains(&word.len())) {
        let Some(lower) = lower.get_mut(..word.len()) else { continue };
        lower.copy_from_slice(word);
        lower.make_ascii_lowercase();
        let found = WORDS.binary_search_by_key(&&*lower, |(word, _)| *word);
        let languages = found.ok().and_then(|at| WORDS.get(at)).map_or(0, |(_, bits)| *bits);
        for (at, count) in counts.iter_mut().enumerate().take(FREQUENT.len()) {
            *count += languages >> at & 1;
        }
    }
    let most = counts.iter().copied().max().unwrap_or_default();
    let is_likely = |count: u32| most > 0 && 2 * count > most;
    let places = counts.iter().enumerate().filter(|(_, count)| is_likely(**count));
    places.fold(0, |bits, (at, _)| bits | 1 << at)
}
