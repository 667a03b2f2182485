//! What Python says of characters and strings, where it says something else than Rust.

use std::sync::LazyLock;

use regex_syntax::hir::{self, HirKind};

/// `string.punctuation`.
pub(crate) fn is_punctuation(c: char) -> bool {
    c.is_ascii_punctuation()
}

/// `str.isspace`, which is also `\s`: white space and the four separators of ASCII.
pub(crate) fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\x1c'..='\x1f').contains(&c)
}

pub(crate) fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

pub(crate) fn strip_end(text: &str) -> &str {
    text.trim_end_matches(is_space)
}

/// `str.split()`.
pub(crate) fn words(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    text.split(is_space).filter(|word| !word.is_empty())
}

/// `str.strip(string.punctuation + " ")`.
pub(crate) fn bare(word: &str) -> &str {
    word.trim_matches(is_mark_or_blank)
}

pub(crate) fn is_mark_or_blank(c: char) -> bool {
    c == ' ' || is_punctuation(c)
}

/// The text without `string.punctuation`.
pub(crate) fn without_punctuation(text: &str) -> String {
    text.chars().filter(|&c| !is_punctuation(c)).collect()
}

/// Characters of some classes, as bits.
pub(crate) struct Class(Vec<u64>);

impl Class {
    /// The class that a regular expression names; `None` where it names none.
    pub(crate) fn read(pattern: &str) -> Option<Class> {
        let mut bits = vec![0; 0x11_0000 / 64];
        let kind = regex_syntax::parse(pattern).ok()?.into_kind();
        let HirKind::Class(hir::Class::Unicode(class)) = kind else { return None };
        for range in class.ranges() {
            for code in u32::from(range.start())..=u32::from(range.end()) {
                if let Some(word) = bits.get_mut(code as usize / 64) {
                    *word |= 1_u64 << (code % 64);
                }
            }
        }
        Some(Class(bits))
    }

    fn of(pattern: &str) -> Class {
        Class::read(pattern).unwrap_or_else(|| Class(Vec::new()))
    }

    pub(crate) fn has(&self, c: char) -> bool {
        let code = u32::from(c);
        self.0.get(code as usize / 64).is_some_and(|word| word >> (code % 64) & 1 == 1)
    }
}

static WORD: LazyLock<Class> = LazyLock::new(|| Class::of(r"[\p{L}\p{N}_]"));
static ALPHABETIC: LazyLock<Class> = LazyLock::new(|| Class::of(r"[\p{L}]"));
static DIGIT: LazyLock<Class> = LazyLock::new(|| Class::of(r"[\p{Nd}]"));

/// `\w`: letters and numbers, but no marks, which Rust counts as alphabetic.
pub(crate) fn is_word(c: char) -> bool {
    if c.is_ascii() { c == '_' || c.is_ascii_alphanumeric() } else { WORD.has(c) }
}

/// `\d`.
pub(crate) fn is_digit(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_digit() } else { DIGIT.has(c) }
}

/// `[^\W\d]`.
pub(crate) fn is_letter(c: char) -> bool {
    is_word(c) && !is_digit(c)
}

/// `\p{L}`: `str.isalpha`.
pub(crate) fn is_alphabetic(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_alphabetic() } else { ALPHABETIC.has(c) }
}

/// How many runs of `\w` a text has.
pub(crate) fn count_words(text: &str) -> usize {
    let mut within = false;
    let mut count = 0;
    if text.is_ascii() {
        for byte in text.bytes() {
            let is_word = byte == b'_' || byte.is_ascii_alphanumeric();
            count += usize::from(is_word && !within);
            within = is_word;
        }
        return count;
    }
    for c in text.chars() {
        let is_word = is_word(c);
        count += usize::from(is_word && !within);
        within = is_word;
    }
    count
}

/// The runs of `\w`.
pub(crate) fn word_runs(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c| !is_word(c)).filter(|word| !word.is_empty())
}

/// How many runs of `\d` a text has.
pub(crate) fn digit_runs(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c| !is_digit(c)).filter(|digits| !digits.is_empty())
}

/// Letters of title case, such as `ǅ`.
fn is_title(c: char) -> bool {
    matches!(c, 'ǅ' | 'ǈ' | 'ǋ' | 'ǲ' | '\u{1fbc}' | '\u{1fcc}' | '\u{1ffc}')
        || ('\u{1f88}'..='\u{1faf}').contains(&c) && u32::from(c) & 8 == 8
}

/// `str.isupper`: some cased character, and none of lower case.
pub(crate) fn is_upper(text: &str) -> bool {
    let mut cased = false;
    for c in text.chars() {
        if c.is_lowercase() || is_title(c) {
            return false;
        }
        cased |= c.is_uppercase();
    }
    cased
}

/// `str.islower`.
pub(crate) fn is_lower(text: &str) -> bool {
    let mut cased = false;
    for c in text.chars() {
        if c.is_uppercase() || is_title(c) {
            return false;
        }
        cased |= c.is_lowercase();
    }
    cased
}

/// A character as `re.IGNORECASE` compares it: its simple lower case, and one of each group of
/// lower-case letters that have one upper case.
fn folded(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    let mut lower = c.to_lowercase();
    let first = match (lower.next(), lower.next()) {
        (Some(only), None) => only,
        _ if c == 'İ' => 'i',
        _ => c,
    };
    match first {
        'ı' => 'i',
        'ſ' => 's',
        'µ' => 'μ',
        '\u{345}' | '\u{1fbe}' => 'ι',
        'ϐ' => 'β',
        'ϵ' => 'ε',
        'ϑ' => 'θ',
        'ϰ' => 'κ',
        'ϖ' => 'π',
        'ϱ' => 'ρ',
        'ς' => 'σ',
        'ϕ' => 'φ',
        'ẛ' => 'ṡ',
        other => other,
    }
}

/// A text as `re.IGNORECASE` compares it.
pub(crate) fn fold(text: &str) -> String {
    if text.is_ascii() { text.to_ascii_lowercase() } else { text.chars().map(folded).collect() }
}

/// Whether a border of words is at an offset: `\b`.
pub(crate) fn is_border(text: &str, at: usize) -> bool {
    let before = text[..at].chars().next_back().is_some_and(is_word);
    let after = text[at..].chars().next().is_some_and(is_word);
    before != after
}

/// Whether a text has a word between borders: `\bword\b`.
pub(crate) fn has_word(text: &str, word: &str) -> bool {
    let mut from = 0;
    let find = |rest| memchr::memmem::find(rest, word.as_bytes());
    while let Some(found) = text.as_bytes().get(from..).and_then(find) {
        let start = from + found;
        let end = start + word.len();
        if is_border(text, start) && is_border(text, end) {
            return true;
        }
        from = start + text[start..].chars().next().map_or(1, char::len_utf8);
    }
    false
}

/// How often a text has a word between borders, up to `most`.
pub(crate) fn count_word(text: &str, word: &str, most: usize) -> usize {
    let found = text.match_indices(word).map(|(at, _)| at);
    found.filter(|&at| is_border(text, at) && is_border(text, at + word.len())).take(most).count()
}
