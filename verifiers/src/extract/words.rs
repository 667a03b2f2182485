//! Word lists for sentences around answers.

pub(crate) use crate::language::sentences::is_unspaced;
use crate::language::{deny, hedge};

/// Whether a word is a negated verb: "isn't".
pub(crate) fn is_negated(word: &str) -> bool {
    deny::CONTRACTIONS.iter().any(|ending| word.ends_with(ending))
}

/// Whether a word is one of a list, without regard to ASCII case.
pub(crate) fn is_one_of(words: &[&str], word: &str) -> bool {
    words.iter().any(|have| have.eq_ignore_ascii_case(word))
}

/// The words of a text.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Whether the words between two values offer the second one as well: "or maybe", "but it could be",
/// in the languages in which models answer.
pub(crate) fn offers<'a>(words: impl Iterator<Item = &'a str>) -> bool {
    let mut is_offered = false;
    for word in words {
        let offers = is_one_of(hedge::OFFERING, word) || offers_unspaced(word);
        if !offers && !is_one_of(hedge::BESIDE, word) {
            return false;
        }
        is_offered |= offers;
    }
    is_offered
}

/// Whether a run of a script without blanks has one of these words and is short.
fn offers_unspaced(run: &str) -> bool {
    const RUN_MAX: usize = 8;
    run.starts_with(is_unspaced)
        && run.chars().count() <= RUN_MAX
        && hedge::OFFERING.iter().any(|word| {
            word.starts_with(is_unspaced) && word.chars().nth(1).is_some() && run.contains(word)
                || hedge::UNSPACED_ENDS.contains(word) && run.ends_with(word)
        })
}
