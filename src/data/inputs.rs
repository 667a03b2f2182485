//! The files after the paths that were given: files, dataset folders, standard input.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assay_verifiers::code::Code;

use super::error::{DataError, escape_whole};
use super::near::nearest;
use super::regular::is_stream;

/// How deep folders are searched.
const DEPTH_MAX: usize = 12;

/// How many files beside one that is not there are looked at.
const BESIDE_MAX: usize = 1000;
/// The most names of files that a message lists.
const NAMES_MAX: usize = 8;

/// How many files a folder may hold.
const FILES_MAX: usize = 100_000;

/// The names that Hugging Face gives to splits where a file name does not count its shards.
const SPLITS: [&str; 7] = ["train", "validation", "valid", "val", "dev", "test", "eval"];

/// Files that are in dataset folders and hold no rows.
const NO_DATA: [&str; 6] = assay_verifiers::words::list(
    "dataset_info.json dataset_infos.json dataset_dict.json state.json config.json metadata.json",
);

/// Endings of files that may hold rows and are not read.
const OTHER_KINDS: [&str; 10] =
    ["csv", "tsv", "arrow", "feather", "xlsx", "xls", "bz2", "xz", "zip", "gz"];

/// One file to read, a pipe, or standard input.
pub(super) struct Input {
    /// `None` is standard input.
    pub(super) path: Option<PathBuf>,
    /// What messages call it.
    pub(super) name: Arc<str>,
    /// It can be read only once.
    pub(super) is_stream: bool,
}

/// Finds the files to read. A folder that holds several splits wants one named: `FOLDER:split`.
pub(super) fn expand(paths: &[PathBuf]) -> Result<Vec<Input>, DataError> {
    let (mut inputs, mut seen) = (Vec::new(), BTreeSet::new());
    for path in paths {
        if !seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone())) {
            let what = "given twice: its rows would be judged twice; name it once".to_owned();
            return Err(DataError::Refused { file: shown(path), code: Code::Usage, what });
        }
        if path.as_os_str() == "-" {
            inputs.push(Input { path: None, name: "stdin".into(), is_stream: true });
        } else if path.is_dir() {
            folder(path, None, &mut inputs)?;
        } else if let Some((path, split)) = named_split(path) {
            folder(&path, Some(&split), &mut inputs)?;
        } else {
            inputs.push(file(path)?);
        }
    }
    Ok(inputs)
}

/// The files of the folders among the paths that are data of a kind that is not read, by their names.
pub fn skipped(paths: &[PathBuf]) -> Vec<String> {
    let mut names = Vec::new();
    for path in paths {
        let root = named_split(path).map_or_else(|| path.clone(), |(folder, _)| folder);
        let entries = fs::read_dir(&root).into_iter().flatten().flatten().take(BESIDE_MAX);
        let skipped = entries.map(|entry| entry.path()).filter(|path| stem(path).is_none());
        let is_data = |path: &PathBuf| {
            let extension = path.extension().and_then(|extension| extension.to_str());
            extension.is_some_and(|own| OTHER_KINDS.contains(&own)) && path.is_file()
        };
        names.extend(skipped.filter(is_data).map(|path| shown(&path)));
    }
    names.sort();
    names
}

fn shown(path: &Path) -> String {
    escape_whole(path.to_string_lossy().chars())
}

fn file(path: &Path) -> Result<Input, DataError> {
    let name = shown(path);
    let read = |source| DataError::Read { file: name.clone(), source };
    let is_stream = is_stream(path).map_err(|error| read(with_near(path, error)))?;
    // A pipe that a shell made has no telling name; it is read as lines.
    if !is_stream {
        if stem(path).is_none() {
            return Err(DataError::Unknown { file: name });
        }
        fs::File::open(path).map_err(read)?;
    }
    Ok(Input { path: Some(path.to_owned()), name: name.into(), is_stream })
}

/// The error with the data file beside it that was most likely meant.
fn with_near(path: &Path, error: std::io::Error) -> std::io::Error {
    let (Some(wanted), std::io::ErrorKind::NotFound) = (path.file_name(), error.kind()) else {
        return error;
    };
    if let Some(why) = elsewhere(path) {
        return std::io::Error::new(std::io::ErrorKind::NotFound, why);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let beside = fs::read_dir(folder.unwrap_or(Path::new("."))).into_iter().flatten().flatten();
    let names: Vec<String> = beside
        .take(BESIDE_MAX)
        .map(|entry| entry.path())
        .filter(|path| stem(path).is_some())
        .filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()))
        .collect();
    let Some((_, near)) = nearest(&wanted.to_string_lossy(), names.iter().map(String::as_str))
    else {
        return error;
    };
    let near = shown(&path.with_file_name(near));
    let why = format!("no such file or folder; did you mean \"{near}\"?");
    std::io::Error::new(std::io::ErrorKind::NotFound, why)
}

/// What is said of a name of something that is on no disk.
fn elsewhere(path: &Path) -> Option<String> {
    let name = path.to_str()?;
    if name.contains("://") {
        return Some("an address; files are read from disk: download it first".to_owned());
    }
    let (owner, dataset) = name.split_once('/')?;
    let is_plain = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.contains('/');
    (is_plain(owner) && is_plain(dataset) && stem(path).is_none() && !Path::new(owner).exists()).then(|| {
        let name = shown(path);
        format!(
            "no such file or folder; a dataset of the Hugging Face Hub is downloaded first: `hf download \
             --repo-type dataset {name} --local-dir DATA`"
        )
    })
}

/// What a folder without data has.
fn without_data(root: &Path) -> String {
    let mut names: Vec<String> = fs::read_dir(root)
        .into_iter()
        .flatten()
        .flatten()
        .take(BESIDE_MAX)
        .filter_map(|entry| entry.file_name().to_str().map(str::to_owned))
        .filter(|name| !name.starts_with('.'))
        .collect();
    names.sort();
    let is_saved =
        ["dataset_dict.json", "state.json"].iter().any(|own| names.iter().any(|name| name == own));
    let help = if is_saved {
        "; `datasets.load_from_disk(FOLDER)[\"train\"].to_json(\"rows.jsonl\")` writes rows that are read"
    } else {
        ""
    };
    let more = if names.len() > NAMES_MAX { ", …" } else { "" };
    let has: Vec<String> =
        names.iter().take(NAMES_MAX).map(|name| shown(Path::new(name))).collect();
    let has = if has.is_empty() { "nothing".to_owned() } else { has.join(", ") };
    format!("no data files; it has: {has}{more}; accepted: {}{help}", super::error::ACCEPTED)
}

/// `FOLDER:split`, where the folder exists.
fn named_split(path: &Path) -> Option<(PathBuf, String)> {
    if path.exists() {
        return None;
    }
    let (folder, split) = path.to_str()?.rsplit_once(':')?;
    let folder = PathBuf::from(folder);
    folder.is_dir().then(|| (folder, split.to_owned()))
}

/// The name of a data file without its extensions; `None` for any other file.
fn stem(path: &Path) -> Option<&str> {
    let name = path.file_name()?.to_str()?;
    if let Some(stem) = name.strip_suffix(".parquet") {
        return Some(stem);
    }
    let name = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(name);
    [".jsonl", ".ndjson", ".json", ".eval"]
        .into_iter()
        .find_map(|extension| name.strip_suffix(extension))
}

fn folder(root: &Path, split: Option<&str>, inputs: &mut Vec<Input>) -> Result<(), DataError> {
    let mut files = Vec::new();
    let fail = |why: String| DataError::Folder { folder: shown(root), why };
    if ["verdicts.jsonl", "manifest.json"].iter().all(|name| root.join(name).is_file()) {
        return Err(fail(
            "a run folder, which holds no rows: name the data that it was made of".to_owned(),
        ));
    }
    walk(root, DEPTH_MAX, &mut files)?;
    if files.is_empty() {
        return Err(fail(without_data(root)));
    }
    files.sort();
    let mut splits = by_split(root, files);
    let names = splits.keys().map(|name| shown(Path::new(name))).collect::<Vec<_>>().join(", ");
    let chosen = match split {
        None if splits.len() == 1 => splits.pop_first().map(|(_, files)| files),
        None => {
            let root = shown(root);
            return Err(fail(format!("several splits: {names}; name one, as in \"{root}:SPLIT\"")));
        }
        Some(split) => choose(&mut splits, split),
    };
    let chosen = chosen.ok_or_else(|| {
        fail(format!(
            "no single split \"{}\"; has: {names}",
            shown(Path::new(split.unwrap_or_default()))
        ))
    })?;
    for path in chosen {
        let found = file(&path)?;
        if found.is_stream {
            let source = std::io::Error::other("a pipe; expected a regular file");
            return Err(DataError::Read { file: shown(&path), source });
        }
        inputs.push(found);
    }
    Ok(())
}

/// The files of `split`, which is named in full (`main/train`) or by its last part.
fn choose(splits: &mut BTreeMap<String, Vec<PathBuf>>, split: &str) -> Option<Vec<PathBuf>> {
    if let Some(files) = splits.remove(split) {
        return Some(files);
    }
    let suffix = format!("/{split}");
    let mut matching = splits.iter().filter(|(name, _)| name.ends_with(&suffix));
    match (matching.next(), matching.next()) {
        (Some((_, files)), None) => Some(files.clone()),
        _ => None,
    }
}

fn walk(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), DataError> {
    let read = |source| DataError::Read { file: shown(folder), source };
    for entry in fs::read_dir(folder).map_err(read)? {
        let entry = entry.map_err(read)?;
        let name = entry.file_name();
        let hidden = name.to_string_lossy().starts_with('.');
        let path = entry.path();
        if hidden || NO_DATA.iter().any(|no_data| name == *no_data) {
            continue;
        }
        // Downloads are folders of links to files, so those are followed; a link to a folder may
        // lead round in a circle.
        if entry.file_type().map_err(read)?.is_dir() {
            if depth > 0 {
                walk(&path, depth - 1, files)?;
            }
        } else if stem(&path).is_some() && !path.is_dir() {
            files.push(path);
        }
        if files.len() > FILES_MAX {
            let why = format!("more than {FILES_MAX} files");
            return Err(DataError::Folder { folder: shown(folder), why });
        }
    }
    Ok(())
}

/// Sorts files by split, as their names and folders give it; without any, all are one split.
fn by_split(root: &Path, files: Vec<PathBuf>) -> BTreeMap<String, Vec<PathBuf>> {
    let mut splits: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    let told = files.iter().any(|path| split_name(root, path).0);
    for path in files {
        let name = if told { split_name(root, &path).1 } else { String::new() };
        splits.entry(name).or_default().push(path);
    }
    splits
}

/// Whether the name gives a split, and the split with the folders that lead to it.
fn split_name(root: &Path, path: &Path) -> (bool, String) {
    let inner = path.strip_prefix(root).unwrap_or(path);
    let folders = inner.parent().into_iter().flat_map(Path::iter);
    let mut parts: Vec<String> = folders
        .map(|part| part.to_string_lossy().into_owned())
        .filter(|part| part != "data")
        .collect();
    let stem = stem(path).unwrap_or_default();
    let sharded = shards_of(stem);
    if let Some(split) = sharded.or_else(|| split_word(stem)) {
        parts.push(split.to_owned());
        return (true, parts.join("/"));
    }
    if parts.iter().any(|part| SPLITS.contains(&part.as_str())) {
        return (true, parts.join("/"));
    }
    parts.push(stem.to_owned());
    (false, parts.join("/"))
}

/// `train` of `train-00000-of-00005`.
fn shards_of(stem: &str) -> Option<&str> {
    let digits = |text: &str| text.len() == 5 && text.bytes().all(|byte| byte.is_ascii_digit());
    let (front, count) = stem.split_once("-of-")?;
    let (split, shard) = front.rsplit_once('-')?;
    let count = count.split('-').next().unwrap_or_default();
    (digits(shard) && digits(count) && !split.is_empty()).then_some(split)
}

/// The word for a split that is by itself in a name: `train` of `gsm8k_train.v2`.
fn split_word(stem: &str) -> Option<&str> {
    stem.split(|char: char| !char.is_ascii_alphabetic()).find(|word| SPLITS.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(path: &str) -> (bool, String) {
        split_name(Path::new("/d"), &Path::new("/d").join(path))
    }

    #[test]
    fn splits_are_told_by_names_and_folders() {
        assert_eq!(split("data/train-00000-of-00005.parquet"), (true, "train".into()));
        assert_eq!(split("data/web-00000-of-00005-ab12.parquet"), (true, "web".into()));
        assert_eq!(split("main/test-00000-of-00001.parquet"), (true, "main/test".into()));
        assert_eq!(split("gsm8k_train.jsonl.gz"), (true, "train".into()));
        assert_eq!(split("validation/0001.jsonl"), (true, "validation".into()));
        assert_eq!(split("trained.jsonl"), (false, "trained".into()));
    }

    #[test]
    fn only_data_files_have_a_stem() {
        assert_eq!(stem(Path::new("a/b.jsonl.zst")), Some("b"));
        assert_eq!(stem(Path::new("a/b.parquet.gz")), None);
        assert_eq!(stem(Path::new("README.md")), None);
    }
}
