//! Words of the languages in which models answer, from `language/*.toml`.
//!
//! A module per role (what announces an answer, what takes it back, and so on), a list per key. A list
//! has the words of all languages, those of English first. The comments in `en.toml` document both.

mod clause;
pub(crate) mod cues;
pub(crate) mod guess;
pub(crate) mod letter;
pub(crate) mod remarks;
pub(crate) mod sentences;
pub mod standing;
mod statement;
mod values;

mod words {
    #![allow(
        clippy::unreadable_literal,
        rustdoc::broken_intra_doc_links,
        rustdoc::invalid_html_tags,
        clippy::large_const_arrays,
        clippy::unicode_not_nfc,
        reason = "the build script wrote it"
    )]
    include!(concat!(env!("OUT_DIR"), "/language.rs"));
}
pub use words::*;

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::words::{ALL, FILES};

    type Tables = BTreeMap<String, BTreeMap<String, Vec<String>>>;

    /// The build script reads TOML as `toml` does, and merges the files in order.
    #[test]
    fn lists_are_those_of_the_files() {
        let mut merged = Tables::new();
        for file in FILES {
            for (table, keys) in toml::from_str::<Tables>(file).unwrap() {
                for (key, words) in keys {
                    merged.entry(table.clone()).or_default().entry(key).or_default().extend(words);
                }
            }
        }
        // Cues are patterns, and are kept apart by language.
        merged.retain(|table, _| !["cue", "clause"].contains(&table.as_str()));
        for words in merged.values_mut().flat_map(BTreeMap::values_mut) {
            let mut seen = BTreeSet::new();
            words.retain(|word| seen.insert(word.clone()));
        }
        let mut built = Tables::new();
        for (table, key, words) in ALL {
            let words = words.iter().map(|word| (*word).to_owned()).collect();
            built.entry((*table).to_owned()).or_default().insert((*key).to_owned(), words);
        }
        assert_eq!(built, merged);
    }
}
