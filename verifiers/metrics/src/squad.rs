//! Exact match and F1 of tokens, as the evaluation scripts of `SQuAD` 1.1 and 2.0 have them.

use crate::grams::Grams;
use crate::intern::Vocabulary;
use crate::score::Overlap;
use crate::tokens::words;

/// An answer as it is compared: in lower case, without ASCII punctuation, without a, an and the, with
/// single blanks. Linear.
pub fn normalised(answer: &str) -> String {
    let kept: String =
        answer.to_lowercase().chars().filter(|letter| !letter.is_ascii_punctuation()).collect();
    let mut out = String::with_capacity(kept.len());
    let mut rest = kept.as_str();
    while let Some(first) = rest.chars().next() {
        let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
        let end =
            if is_word(first) { rest.find(|letter| !is_word(letter)) } else { rest.find(is_word) };
        let (part, after) = rest.split_at(end.unwrap_or(rest.len()));
        out.push_str(if matches!(part, "a" | "an" | "the") { " " } else { part });
        rest = after;
    }
    words(&out).collect::<Vec<_>>().join(" ")
}

/// What an answer earns against one right answer: whether it is the same, and the F1 of tokens. Both
/// are [`normalised`]; where one has no tokens, both must have none. Linear.
pub fn compare(answer: &str, right: &str) -> (bool, f64) {
    let is_same = answer == right;
    let mut vocabulary = Vocabulary::default();
    let given = vocabulary.text(words(answer));
    let wanted = vec![vocabulary.text(words(right))];
    let counts = (given.len(), wanted.iter().map(Vec::len).sum::<usize>());
    if counts.0 == 0 || counts.1 == 0 {
        return (is_same, f64::from(u8::from(is_same)));
    }
    let common = Grams::of(wanted, vocabulary.len() + 1, 1).matches(&given).into_iter().sum();
    (is_same, Overlap::of(common, counts.0, counts.1).f1())
}
