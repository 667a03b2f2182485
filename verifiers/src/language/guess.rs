//! The languages that a text is most likely written in, by its most frequent words.

use std::cell::OnceCell;
use std::sync::LazyLock;

use super::FREQUENT;

/// So many bytes at the end of a text are read.
const READ_MAX: usize = 400;
/// The longest frequent word, in bytes: that of a key.
const WORD_MAX: usize = size_of::<u128>();

/// The frequent words as keys, by their first bytes, and the languages that have each, as bits by their
/// places in [`FREQUENT`].
#[expect(clippy::indexing_slicing, reason = "there is a list for every byte")]
static WORDS: LazyLock<[Vec<(u128, u32)>; 256]> = LazyLock::new(|| {
    let mut words = [const { Vec::new() }; 256];
    for (at, (_, frequent)) in FREQUENT.iter().enumerate() {
        for key in frequent.iter().filter_map(|word| key(word.as_bytes())) {
            let beside = &mut words[first(key)];
            match beside.iter_mut().find(|(word, _)| *word == key) {
                Some((_, languages)) => *languages |= 1 << at,
                None => beside.push((key, 1 << at)),
            }
        }
    }
    words
});

/// The first byte of a key.
fn first(key: u128) -> usize {
    usize::from(key.to_be_bytes()[0])
}

/// A word of at most [`WORD_MAX`] bytes as one number, the case of ASCII letters aside.
fn key(word: &[u8]) -> Option<u128> {
    let mut key = [0; WORD_MAX];
    key.get_mut(..word.len())?.copy_from_slice(word);
    key.make_ascii_lowercase();
    Some(u128::from_be_bytes(key))
}

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

#[expect(clippy::indexing_slicing, reason = "there is a list for every byte")]
fn likely(text: &str) -> u32 {
    let near = &text[text.ceil_char_boundary(text.len().saturating_sub(READ_MAX))..];
    let mut counts = [0_u32; u32::BITS as usize];
    let is_inner = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'\'' || !byte.is_ascii();
    let words = near.as_bytes().split(|byte| !is_inner(byte)).filter(|word| !word.is_empty());
    for key in words.filter_map(key) {
        let found = WORDS[first(key)].iter().find(|(word, _)| *word == key);
        let Some((_, languages)) = found else { continue };
        for (at, count) in counts.iter_mut().enumerate().take(FREQUENT.len()) {
            *count += languages >> at & 1;
        }
    }
    let most = counts.iter().copied().max().unwrap_or_default();
    let is_likely = |count: u32| most > 0 && 2 * count > most;
    let places = counts.iter().enumerate().filter(|(_, count)| is_likely(**count));
    places.fold(0, |bits, (at, _)| bits | 1 << at)
}
