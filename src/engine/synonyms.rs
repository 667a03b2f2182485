//! What others call the keys and the verifiers of a configuration. The words are data.

use serde::Deserialize;

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
    let all: Synonyms = toml::from_str(include_str!("synonyms.toml")).ok()?;
    let word = word.to_ascii_lowercase();
    let is_meant = |one: &&Synonym| one.theirs.split_whitespace().any(|theirs| theirs == word);
    let mut meant = all.word.iter().filter(is_meant);
    meant.find_map(|one| known.iter().find(|own| **own == one.own).copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_others_are_known_where_ours_is_taken() {
        assert_eq!(of("Ground_Truth", &["prompt", "reference"]), Some("reference"));
        assert_eq!(of("timeout", &["deadline_ms"]), Some("deadline_ms"));
        assert_eq!(of("timeout", &["pattern"]), None);
    }
}
