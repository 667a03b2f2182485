//! What is sought in a text: words, and patterns that a data set gives unescaped.

use memchr::memmem;
use regex::{Regex, RegexBuilder};

use crate::passage::Passage;
use crate::py;

/// How large a compiled pattern may be, in bytes.
const SIZE_MAX: usize = 1 << 20;

/// A pattern without case.
pub(crate) enum Needle {
    Word(String),
    Pattern(Regex),
}

impl Needle {
    /// A pattern in the syntax of Python. One without special characters is a word.
    pub(crate) fn pattern(pattern: &str) -> Result<Needle, String> {
        if is_literal(pattern) {
            Ok(Needle::word(pattern))
        } else {
            regex(pattern, true).map(Needle::Pattern)
        }
    }

    /// The pattern between borders of words.
    pub(crate) fn between_borders(pattern: &str) -> Result<Needle, String> {
        if is_literal(pattern) {
            Ok(Needle::word(pattern))
        } else {
            regex(&format!(r"\b{pattern}\b"), true).map(Needle::Pattern)
        }
    }

    pub(crate) fn word(word: &str) -> Needle {
        Needle::Word(py::fold(word))
    }

    pub(crate) fn is_in(&self, passage: &Passage<'_>) -> bool {
        match self {
            Needle::Word(word) => {
                memmem::find(passage.folded().as_bytes(), word.as_bytes()).is_some()
            }
            Needle::Pattern(pattern) => pattern.is_match(passage.text()),
        }
    }

    /// Whether it occurs between borders of words. A pattern has its own.
    pub(crate) fn is_word_in(&self, passage: &Passage<'_>) -> bool {
        match self {
            Needle::Word(word) => py::has_word(passage.folded(), word),
            Needle::Pattern(pattern) => pattern.is_match(passage.text()),
        }
    }

    /// The same of a text that nothing is known of.
    pub(crate) fn is_word_of(&self, text: &str) -> bool {
        match self {
            Needle::Word(word) => py::has_word(&py::fold(text), word),
            Needle::Pattern(pattern) => pattern.is_match(text),
        }
    }

    /// How often it occurs, up to `most`.
    pub(crate) fn count(&self, passage: &Passage<'_>, most: usize) -> usize {
        match self {
            Needle::Word(word) => {
                memmem::find_iter(passage.folded().as_bytes(), word).take(most).count()
            }
            Needle::Pattern(pattern) => pattern.find_iter(passage.text()).take(most).count(),
        }
    }
}

/// Whether a pattern means itself.
pub(crate) fn is_literal(pattern: &str) -> bool {
    !pattern.contains(['.', '^', '$', '*', '+', '?', '{', '}', '[', ']', '\\', '|', '(', ')'])
}

/// A pattern of Python. One that only Python has is refused.
pub(crate) fn regex(pattern: &str, any_case: bool) -> Result<Regex, String> {
    let built = RegexBuilder::new(pattern).case_insensitive(any_case).size_limit(SIZE_MAX).build();
    built.map_err(|_| format!("the pattern {pattern:?} is none that can be judged"))
}
