//! The languages that a text is most likely written in, by its most frequent words.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::LazyLock;

use super::FREQUENT;

/// So many bytes at the end of a text are read.
const READ_MAX: usize = 600;
/// The longest frequent word, in bytes.
const WORD_MAX: usize = 12;

/// The languages that have a word, as bits by their places in [`FREQUENT`].
static WORDS: LazyLock<HashMap<&'static str, u32>> = LazyLock::new(|| {
    let mut words = HashMap::new();
    for (at, (_, frequent)) in FREQUENT.iter().enumerate() {
        for word in *frequent {
            *words.entry(*word).or_default() |= 1 << at;
        }
    }
    words
});

/// The languages of Latin script that a text may be in, found when they are asked for. Languages of other
/// scripts are known by their letters.
pub(crate) struct Languages<'a> {
    text: &'a str,
    likely: OnceCell<Vec<&'static str>>,
}

impl<'a> Languages<'a> {
    pub(crate) fn of(text: &'a str) -> Self {
        Self { text, likely: OnceCell::new() }
    }

    /// Whether the text may be in a language.
    pub(crate) fn may_be(&self, name: &str) -> bool {
        self.likely().contains(&name)
    }

    /// The likely languages, in the order of their files.
    pub(crate) fn likely(&self) -> &[&'static str] {
        self.likely.get_or_init(|| likely(self.text))
    }
}

fn likely(text: &str) -> Vec<&'static str> {
    let near = text.get(text.ceil_char_boundary(text.len().saturating_sub(READ_MAX))..);
    let mut counts = vec![0_u32; FREQUENT.len()];
    let mut lower = String::with_capacity(WORD_MAX);
    let words = near.unwrap_or_default().split(|c: char| !c.is_alphabetic() && c != '\'');
    for word in words.filter(|word| (1..=WORD_MAX).contains(&word.len())) {
        lower.clear();
        lower.extend(word.chars().flat_map(char::to_lowercase));
        let Some(languages) = WORDS.get(lower.as_str()) else { continue };
        for (at, count) in counts.iter_mut().enumerate() {
            *count += (languages >> at) & 1;
        }
    }
    let most = counts.iter().copied().max().unwrap_or_default();
    let likely = counts.iter().zip(FREQUENT).filter(|(count, _)| most > 0 && 2 * **count > most);
    likely.map(|(_, (language, _))| *language).collect()
}
