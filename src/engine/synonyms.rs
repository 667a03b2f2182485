//! What others call the keys and the verifiers of a configuration. The words are data.

use serde::Deserialize;

use crate::built_in;

#[derive(Deserialize)]
struct Synonyms {
    word: Vec<Synonym>,
}

#[derive(Deserialize)]
struct Synonym {
    own: String,
    theirs: String,
}

/// The known word that others call `word`. Read when there is an error, not before.
pub(super) fn of<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let all: Synonyms = built_in::table(include_str!("synonyms.toml"));
    let word = word.to_ascii_lowercase();
    let is_meant = |one: &&Synonym| one.theirs.split_whitespace().any(|theirs| theirs == word);
    let mut meant = all.word.iter().filter(is_meant);
    meant.find_map(|one| known.iter().find(|own| **own == one.own).copied())
}
