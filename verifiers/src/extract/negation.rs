//! Negations in the languages in which models answer.

use super::qualify;
use super::words::is_one_of;

/// Words that negate what stands behind them, or before.
#[rustfmt::skip]
const NEGATIONS: &[&str] = &[
    "not", "isn't", "isn’t", "aren't", "cannot", "can't", "never", "neither", "wasn't", "不", "非", "没", "未",
    "не", "ні", "nicht", "kein", "n'est", "n’est", "pas", "no", "não", "nao", "non", "niet", "geen", "nie", "není", "inte", "ikke",
    "nu", "δεν", "ليس", "ليست", "لا", "אינה", "לא", "नहीं", "không", "bukan", "tidak", "hindi", "ไม่", "değil",
];

/// Whether a text has a negation.
pub(super) fn has_negation(text: &str) -> bool {
    let is = |word: &str| is_one_of(NEGATIONS, word);
    let words = text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '\'' | '’')));
    let unspaced = |negation: &&&str| negation.starts_with(qualify::is_unspaced);
    words.into_iter().any(is)
        || !text.is_ascii()
            && NEGATIONS.iter().filter(unspaced).any(|negation| text.contains(negation))
}
