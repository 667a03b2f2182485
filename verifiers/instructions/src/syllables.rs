//! Syllables of English words, as the Python package `syllapy` 0.8.0 counts them.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::py;

/// Words whose count is not that of the rule.
static KNOWN: LazyLock<HashMap<&str, usize>> = LazyLock::new(|| {
    let line = |line: &'static str| {
        let (count, words) = line.split_once(' ')?;
        let count = count.parse().ok()?;
        Some(words.split(' ').map(move |word| (word, count)))
    };
    include_str!("../data/syllables.txt").lines().filter_map(line).flatten().collect()
});

/// The syllables of a word in lower case without punctuation; none where it has digits.
pub(crate) fn count(word: &str) -> usize {
    if word.is_empty() || word.chars().any(py::is_digit) {
        return 0;
    }
    if let Some(count) = KNOWN.get(word) {
        return *count;
    }
    let is_vowel = |c: &char| "aeiouy".contains(*c);
    let (mut count, mut last) = (0_usize, 'b');
    for c in word.chars() {
        count += usize::from(is_vowel(&c) && !is_vowel(&last));
        last = c;
    }
    if let Some(stem) = word.strip_suffix('e') {
        count = count.saturating_sub(1);
        let before = stem.strip_suffix('l').and_then(|stem| stem.chars().next_back());
        count += usize::from(before.is_some_and(|c| !is_vowel(&c)));
    }
    count.max(1)
}
