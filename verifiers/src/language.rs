//! Words of the languages in which models answer, from `language/*.toml`.
//!
//! A module per role (what announces an answer, what takes it back, and so on), a list per key. A list
//! has the words of all languages, those of English first. The comments in `en.toml` document both.

pub(crate) mod cues;
pub(crate) mod guess;
pub(crate) mod remarks;
pub(crate) mod sentences;
pub mod standing;

include!(concat!(env!("OUT_DIR"), "/language.rs"));

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::PathBuf;

    use super::{ALL, CUES, FREQUENT};

    type Tables = BTreeMap<String, BTreeMap<String, Vec<String>>>;

    /// The build script reads a part of TOML, and merges the files as documented.
    #[test]
    fn lists_are_those_of_the_files() {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("language");
        let paths = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
        let mut paths: Vec<_> = paths.filter(|path| path.extension().unwrap() == "toml").collect();
        paths.sort_by_key(|path| (!path.ends_with("en.toml"), path.clone()));
        let mut merged = Tables::new();
        for path in paths {
            let mut tables: Tables =
                toml::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
            let stem = path.file_stem().unwrap().to_str().unwrap().trim_end_matches("-cue");
            for (key, words) in tables.remove("cue").into_iter().flatten() {
                let list = CUES.iter().chain(FREQUENT);
                let mut list = list.filter(|(language, of, _)| (*language, *of) == (stem, &key));
                let (_, _, built) = list.next().unwrap();
                let plain = words.iter().filter(|word| !word.contains('{'));
                assert!(plain.clone().all(|word| built.contains(&word.as_str())), "{stem} {key}");
                assert!(built.len() >= plain.count());
            }
            for (table, keys) in tables {
                for (key, words) in keys {
                    let list = merged.entry(table.clone()).or_default().entry(key).or_default();
                    list.extend(words);
                }
            }
        }
        let mut built = Tables::new();
        for (table, key, words) in ALL {
            let words = words.iter().map(|word| (*word).to_owned()).collect();
            built.entry((*table).to_owned()).or_default().insert((*key).to_owned(), words);
        }
        for words in merged.values_mut().flat_map(BTreeMap::values_mut) {
            let mut seen = std::collections::BTreeSet::new();
            words.retain(|word| seen.insert(word.clone()));
        }
        assert_eq!(built, merged);
    }
}
