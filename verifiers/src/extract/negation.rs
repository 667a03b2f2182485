//! Negations in the languages in which models answer.

use super::qualify;
use super::words::is_one_of;
use crate::language::deny;

/// Whether a text has a negation.
pub(super) fn has_negation(text: &str) -> bool {
    let is = |word: &str| is_one_of(deny::NEGATIONS, word);
    let words = text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '\'' | '’')));
    let unspaced = |negation: &&&str| negation.starts_with(qualify::is_unspaced);
    words.into_iter().any(is)
        || !text.is_ascii()
            && deny::NEGATIONS.iter().filter(unspaced).any(|negation| text.contains(negation))
}
