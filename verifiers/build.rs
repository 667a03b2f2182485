//! Merges `language/*.toml` into one Rust file: a module per table, a list of words per key.
//!
//! Reads the part of TOML that these files use: tables, lists of strings, comments. A comment above a
//! table or a key becomes its documentation.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// A table or a key.
struct Entry<T> {
    name: String,
    docs: Vec<String>,
    items: Vec<T>,
}

type Table = Entry<Entry<String>>;

/// What the tables are called whose lists are kept apart by language.
const CUE: &str = "cue";
/// These tables: phrases, and the words that statements are composed of.
const CUES: [&str; 2] = [CUE, "clause"];

#[expect(clippy::disallowed_methods, reason = "nobody reads the file before cargo goes on")]
fn main() -> Result<(), Box<dyn Error>> {
    writeln!(io::stdout(), "cargo::rerun-if-changed=language")?;
    let files: Result<Vec<PathBuf>, _> =
        fs::read_dir("language")?.map(|entry| entry.map(|entry| entry.path())).collect();
    let mut files = files?;
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    // English comes first, the other languages by name.
    files.sort_by_key(|path| (path.file_stem() != Some("en".as_ref()), path.clone()));
    let mut tables: Vec<Table> = Vec::new();
    for path in &files {
        let language = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        read(&fs::read_to_string(path)?, language, &mut tables)
            .map_err(|(line, why)| format!("{}:{line}: {why}", path.display()))?;
    }
    for list in tables.iter_mut().flat_map(|table| &mut table.items) {
        let mut seen = BTreeSet::new();
        list.items.retain(|word| seen.insert(word.clone()));
    }
    let out = env::var_os("OUT_DIR").ok_or("cargo names no folder for the output")?;
    let mut rust = written(&tables, Path::new(&out))?;
    writeln!(rust, "#[cfg(test)]\npub(super) const FILES: &[&str] = &[")?;
    for path in &files {
        writeln!(rust, "include_str!(r#\"{}\"#),", fs::canonicalize(path)?.display())?;
    }
    writeln!(rust, "];")?;
    fs::write(Path::new(&out).join("recipes.rs"), recipes()?)?;
    Ok(fs::write(Path::new(&out).join("language.rs"), rust)?)
}

/// The list of the files of `recipes/`, by name.
fn recipes() -> Result<String, Box<dyn Error>> {
    writeln!(io::stdout(), "cargo::rerun-if-changed=../recipes")?;
    let mut files: Vec<PathBuf> = fs::read_dir("../recipes")?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort_by_key(|path| path.file_stem().map(ToOwned::to_owned));
    let mut rust = format!("static ALL: [Entry; {}] = [\n", files.len());
    for path in &files {
        let id = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let file = fs::canonicalize(path)?;
        writeln!(rust, "Entry::new({id:?}, include_str!({:?})),", file.display().to_string())?;
    }
    writeln!(rust, "];")?;
    Ok(rust)
}

/// Adds the words of a file. An error has the number of its line. The table `cue` is one of its own for
/// each language.
fn read(text: &str, language: &str, tables: &mut Vec<Table>) -> Result<(), (usize, String)> {
    let (mut table, mut key, mut docs) = (None, None, Vec::new());
    for (number, line) in text.lines().map(str::trim).enumerate() {
        let fail = |why: &str| (number + 1, why.to_owned());
        let mut rest = line;
        if key.is_none() {
            if let Some(comment) = line.strip_prefix('#') {
                docs.push(comment.trim().to_owned());
                continue;
            }
            let said = std::mem::take(&mut docs);
            if line.is_empty() {
                continue;
            }
            if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                let own = if CUES.contains(&name) {
                    format!("{CUE} {language}")
                } else {
                    name.to_owned()
                };
                table = Some(place(tables, &own, said));
                continue;
            }
            let (name, list) = line.split_once(" = [").ok_or_else(|| fail("expected a list"))?;
            let table = table.and_then(|at: usize| tables.get_mut(at));
            let table = table.ok_or_else(|| fail("expected a table"))?;
            key = Some(place(&mut table.items, name, said));
            rest = list;
        }
        let list =
            table.zip(key).and_then(|(table, key)| tables.get_mut(table)?.items.get_mut(key));
        let list = list.ok_or_else(|| fail("expected a key"))?;
        if strings(rest, &mut list.items).ok_or_else(|| fail("expected strings"))? {
            key = None;
        }
    }
    Ok(())
}

/// Where the entry of this name is, which is added if it is new.
fn place<T>(entries: &mut Vec<Entry<T>>, name: &str, docs: Vec<String>) -> usize {
    let at = entries.iter().position(|entry| entry.name == name).unwrap_or(entries.len());
    if at == entries.len() {
        entries.push(Entry { name: name.to_owned(), docs, items: Vec::new() });
    }
    at
}

/// Adds the strings of a line; whether the list ends there. None where it is malformed.
fn strings(line: &str, words: &mut Vec<String>) -> Option<bool> {
    let mut chars = line.chars();
    while let Some(quote) = chars.next() {
        match quote {
            ']' => return Some(true),
            '#' => break,
            ',' | ' ' => continue,
            '"' | '\'' => {}
            _ => return None,
        }
        let mut word = String::new();
        loop {
            match chars.next()? {
                c if c == quote => break,
                '\\' if quote == '"' => word.push(chars.next().filter(|c| "\\\"".contains(*c))?),
                c => word.push(c),
            }
        }
        let is_pattern = word.contains('{');
        for word in expanded(&word)? {
            let word = if is_pattern { word.replace("  ", " ").trim().to_owned() } else { word };
            words.push(word);
        }
    }
    Some(false)
}

/// What a word with alternatives in braces stands for: "{that/this} is wrong". None where it is malformed.
fn expanded(word: &str) -> Option<Vec<String>> {
    let Some((before, rest)) = word.split_once('{') else { return Some(vec![word.to_owned()]) };
    let (inner, after) = rest.split_once('}')?;
    let after = expanded(after)?;
    let both = |one| after.iter().map(move |after| format!("{before}{one}{after}"));
    Some(inner.split('/').flat_map(both).collect())
}

/// What a phrase does, by language: a bit for each of [`ROLES`], and those that it does at the beginning of
/// a word too.
type Meaning = BTreeMap<String, (u64, u64)>;

/// The phrases around answers, sorted, so that the library looks them up without building anything.
#[derive(Default)]
struct Cues {
    phrases: BTreeMap<String, Meaning>,
}

/// The roles of phrases, from the lowest bit on.
const ROLES: &str = "retract reaffirm past offer not_offer suppose deny report conclude remark \
     verify result contrast it det noun i is not wrong right slip undo stop instead if would who \
     say may fixed guess other sure doubt also halt";

impl Cues {
    fn add(&mut self, language: &str, role: &str, phrases: &[String]) -> std::fmt::Result {
        let bit = ROLES.split(' ').position(|one| one == role).ok_or(std::fmt::Error)?;
        for phrase in phrases {
            let plain = phrase.to_lowercase();
            let (plain, stem) = plain.strip_suffix('*').map_or((&*plain, 0), |stem| (stem, 1));
            for written in [plain.replace('\'', "’"), plain.to_owned()] {
                let languages = self.phrases.entry(written).or_default();
                let roles = languages.entry(language.to_owned()).or_default();
                roles.0 |= 1 << bit;
                roles.1 |= stem << bit;
            }
        }
        Ok(())
    }

    /// Writes where those begin that have the same first three bytes.
    fn write_keys(&self, out: &mut String) -> std::fmt::Result {
        let (mut keys, mut firsts) = (Vec::new(), Vec::new());
        for (at, phrase) in self.phrases.keys().enumerate() {
            let mut bytes = phrase.bytes().chain([0, 0]);
            let mut next = || u32::from(bytes.next().unwrap_or(0));
            let key = next() << 16 | next() << 8 | next();
            if keys.last() != Some(&key) {
                keys.push(key);
                firsts.push(at);
            }
        }
        firsts.push(self.phrases.len());
        writeln!(out, "/// The first three bytes of cues, in order.")?;
        writeln!(out, "pub(crate) static CUE_KEYS: &[u32] = &{keys:?};")?;
        writeln!(out, "/// The first cue of each of them, and how many there are.")?;
        writeln!(out, "pub(crate) static CUE_FIRSTS: &[u32] = &{firsts:?};")
    }

    /// Writes which three bytes a cue may begin with.
    fn write_beginnings(&self, out: &mut String) -> std::fmt::Result {
        let mut beginnings = vec![0_u64; 1024];
        for bytes in self.phrases.keys().map(String::as_bytes) {
            let (one, two) = (bytes.first().copied().unwrap_or(0), bytes.get(1).copied());
            let (two, three) = (two.map_or(0..=255, |two| two..=two), bytes.get(2).copied());
            for two in two {
                for three in three.map_or(0..=255, |three| three..=three) {
                    let bit = (usize::from(one) * 961 + usize::from(two) * 31 + usize::from(three))
                        % 65_536;
                    if let Some(bits) = beginnings.get_mut(bit / 64) {
                        *bits |= 1 << (bit % 64);
                    }
                }
            }
        }
        writeln!(out, "/// A bit for each hash of the three bytes with which a cue may begin.")?;
        writeln!(out, "pub(crate) static CUE_BEGINNINGS: [u64; 1024] = {beginnings:?};")
    }

    /// Writes them for a library that guesses `languages` by their words.
    fn write(
        &self,
        languages: &[&str],
        folder: &Path,
        out: &mut String,
    ) -> Result<(), Box<dyn Error>> {
        let (mut text, mut ends, mut prefixes) = (String::new(), Vec::new(), Vec::new());
        let (mut meanings, mut which): (Vec<&Meaning>, Vec<usize>) = Default::default();
        let mut known: BTreeMap<&Meaning, usize> = BTreeMap::new();
        // The phrases of which the last one begins with each, the shortest first.
        let mut open: Vec<(usize, &str)> = Vec::new();
        for (at, (phrase, meaning)) in self.phrases.iter().enumerate() {
            open.retain(|(_, before)| phrase.starts_with(before));
            prefixes.push(open.last().map_or(0, |(before, _)| before + 1));
            open.push((at, phrase));
            text.push_str(phrase);
            ends.push(text.len());
            which.push(*known.entry(meaning).or_insert_with(|| {
                meanings.push(meaning);
                meanings.len() - 1
            }));
        }
        let place = |name: &str| languages.iter().position(|one| *one == name);
        let listed = |one: &&Meaning| {
            let of_no_guess = usize::from(u8::MAX);
            let roles = one.iter().map(|(name, roles)| (place(name).unwrap_or(of_no_guess), roles));
            format!("&{:?}", roles.collect::<Vec<_>>())
        };
        let meanings: Vec<String> = meanings.iter().map(listed).collect();
        writeln!(out, "/// The cues of all languages, in order, one behind the other.")?;
        writeln!(
            out,
            "pub(crate) static CUES: &str = include_str!({:?});",
            saved(folder, "cues", &text)?
        )?;
        for (name, numbers, docs) in [
            ("ends", ends, "Where each ends."),
            (
                "prefixes",
                prefixes,
                "One more than the place of the longest other cue with which it begins; 0 for none.",
            ),
            ("meanings", which, "What it does: a place in [`MEANINGS`]."),
        ] {
            let mut bytes = Vec::new();
            for number in numbers {
                let [one, two, three, 0] = u32::try_from(number)?.to_le_bytes() else {
                    return Err("a number of cues has more than three bytes".into());
                };
                bytes.extend([one, two, three]);
            }
            let (file, name) = (saved(folder, name, bytes)?, name.to_uppercase());
            writeln!(out, "/// {docs}\npub(crate) static CUE_{name}: &[[u8; 3]] =")?;
            writeln!(out, "include_bytes!({file:?}).as_chunks().0;")?;
        }
        self.write_keys(out)?;
        self.write_beginnings(out)?;
        writeln!(
            out,
            "/// By language, which is its place in [`FREQUENT`], a bit for each role, and for those of beginnings of words."
        )?;
        writeln!(
            out,
            "pub(crate) static MEANINGS: &[&[(u8, (u64, u64))]] = &[{}];",
            meanings.join(",")
        )?;
        Ok(())
    }
}

/// Writes a file that the library includes, for the compiler takes 40 seconds for as many literals; its path.
#[expect(clippy::disallowed_methods, reason = "nobody reads the file before cargo goes on")]
fn saved(folder: &Path, name: &str, bytes: impl AsRef<[u8]>) -> io::Result<String> {
    let file = folder.join(name).with_extension("bin");
    fs::write(&file, bytes)?;
    Ok(file.display().to_string())
}

/// The Rust file, and those that it includes.
fn written(tables: &[Table], folder: &Path) -> Result<String, Box<dyn Error>> {
    let (mut out, mut all) = (String::new(), String::new());
    let (mut cues, mut frequent) = (Cues::default(), String::new());
    let mut guessed = Vec::new();
    for Table { name, docs, items } in tables {
        if let Some(language) = name.strip_prefix(CUE) {
            let language = language.trim();
            for Entry { name: key, items, .. } in items {
                if key == "frequent" {
                    guessed.push(language);
                    writeln!(frequent, "(\"{language}\", &{items:?}),")?;
                } else {
                    cues.add(language, key, items)?;
                }
            }
            continue;
        }
        document(&mut out, docs)?;
        writeln!(out, "pub mod {name} {{")?;
        for Entry { name: key, docs, items } in items {
            document(&mut out, docs)?;
            let constant = key.to_uppercase();
            writeln!(out, "pub const {constant}: &[&str] = &{items:?};")?;
            writeln!(all, "(\"{name}\", \"{key}\", {name}::{constant}),")?;
        }
        writeln!(out, "}}")?;
    }
    cues.write(&guessed, folder, &mut out)?;
    writeln!(out, "/// The most frequent words of each language.")?;
    writeln!(out, "pub(crate) const FREQUENT: &[(&str, &[&str])] = &[\n{frequent}];")?;
    writeln!(out, "#[cfg(test)]\npub(super) const ALL: &[(&str, &str, &[&str])] = &[\n{all}];")?;
    Ok(out)
}

fn document(out: &mut String, docs: &[String]) -> std::fmt::Result {
    docs.iter().try_for_each(|line| writeln!(out, "/// {line}"))
}
