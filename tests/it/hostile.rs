//! Every hostile dataset is read to its end: good rows come through, bad rows are named, damage is
//! told after the whole rows before it, and nothing crashes.
//! `hostile_memory.rs` reads them all again in a process of its own.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use assay::data::{Columns, ReadLimits, Row, Source};
use serde::Deserialize;

const FOLDER: &str = "../fixtures/hostile/";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Index {
    file: Vec<Case>,
}

/// What is expected of one path.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    /// Relative to the folder; of a folder, with its split.
    file: String,
    /// How many rows are read well.
    #[serde(default)]
    rows: usize,
    /// The messages of those that are not.
    #[serde(default)]
    errors: Vec<String>,
    /// The message with which reading ends before the end.
    fails: Option<String>,
}

/// Everything that a source says, with the folder cut from its messages.
struct Seen {
    rows: Vec<Row>,
    fails: Option<String>,
}

fn read(paths: &[PathBuf], columns: &Columns, limits: &ReadLimits) -> Seen {
    let mut seen = Seen { rows: Vec::new(), fails: None };
    let source = match Source::open(paths, limits) {
        Ok(source) => source,
        Err(error) => return Seen { fails: Some(error.to_string()), ..seen },
    };
    for block in source {
        match block {
            Ok(block) => {
                let rows = block.rows(columns);
                assert_eq!(rows.len(), block.len());
                seen.rows.extend(rows);
            }
            Err(error) => seen.fails = Some(error.to_string()),
        }
    }
    seen
}

fn case_of(file: &str) -> Case {
    let seen = read(&[Path::new(FOLDER).join(file)], &Columns::default(), &ReadLimits::default());
    for (at, row) in seen.rows.iter().enumerate() {
        assert_eq!(row.index, at as u64, "{file}: rows are numbered without a gap");
    }
    let short = |text: String| text.replace(FOLDER, "");
    let errors = seen.rows.iter().filter_map(|row| row.sample.as_ref().err());
    Case {
        file: file.to_owned(),
        rows: seen.rows.iter().filter(|row| row.sample.is_ok()).count(),
        errors: errors.map(|error| short(error.to_string())).collect(),
        fails: seen.fails.map(short),
    }
}

fn index() -> Vec<Case> {
    let text = fs::read_to_string(format!("{FOLDER}index.toml")).unwrap();
    toml::from_str::<Index>(&text).unwrap().file
}

#[test]
fn every_hostile_dataset_is_read_as_expected() {
    let index = index();
    assert!(index.len() >= 60, "{} cases", index.len());
    let mut wrong = String::new();
    for expected in &index {
        let seen = case_of(&expected.file);
        if seen != *expected {
            writeln!(wrong, "expected {expected:#?}\nseen {seen:#?}").unwrap();
        }
        for message in seen.errors.iter().chain(&seen.fails) {
            assert!(!message.contains(char::is_control), "{}: {message:?}", expected.file);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn every_file_has_a_case() {
    let named: BTreeSet<String> = index().into_iter().map(|case| case.file).collect();
    for entry in fs::read_dir(FOLDER).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let no_data =
            [".gitattributes", "make.py", "index.toml", "README.md"].contains(&name.as_str());
        if entry.path().is_file() && !no_data {
            assert!(named.contains(&name), "{name} has no case");
        }
    }
}

#[test]
fn one_dataset_is_the_same_in_every_form() {
    let columns = Columns {
        group: Some("prompt_id".to_owned()),
        label: Some("label".to_owned()),
        ..Columns::default()
    };
    let folder = Path::new(FOLDER).join("same");
    let mut files: Vec<PathBuf> =
        fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert_eq!(files.len(), 9);
    let samples = |path: &Path| {
        let seen = read(&[path.to_owned()], &columns, &ReadLimits::default());
        assert_eq!(seen.fails, None);
        let sample = |row: &Row| {
            let sample = row.sample.as_ref().unwrap_or_else(|error| panic!("{error}"));
            let canonical = String::from_utf8(sample.canonical()).unwrap();
            (sample.id().to_owned(), canonical, sample.digest(), row.label.clone(), row.index)
        };
        seen.rows.iter().map(sample).collect::<Vec<_>>()
    };
    let expected = samples(&folder.join("rows.jsonl"));
    assert_eq!(expected.len(), 600);
    for path in files {
        for (seen, expected) in samples(&path).iter().zip(&expected) {
            assert_eq!(seen, expected, "{}", path.display());
        }
        assert_eq!(samples(&path).len(), 600, "{}", path.display());
    }
}

#[test]
fn damage_anywhere_in_a_file_is_an_error_and_not_a_crash() {
    let folder = tempfile::tempdir().unwrap();
    for name in
        ["good.parquet", "map-duplicate.parquet", "gzip-members.jsonl.gz", "zstd-frames.jsonl.zst"]
    {
        let whole = fs::read(Path::new(FOLDER).join(name)).unwrap();
        for at in 0..whole.len() {
            for flip in [0x01, 0xff] {
                let mut bytes = whole.clone();
                bytes[at] ^= flip;
                let seen = read_bytes(folder.path(), name, &bytes);
                assert!(seen.rows.len() <= 3, "{name}, byte {at}: {} rows", seen.rows.len());
            }
            let seen = read_bytes(folder.path(), name, &whole[..at]);
            assert!(seen.rows.len() <= 3, "{name}, cut at {at}");
        }
    }
}

fn read_bytes(folder: &Path, name: &str, bytes: &[u8]) -> Seen {
    let path = folder.join(name);
    fs::File::create(&path).unwrap().write_all(bytes).unwrap();
    read(&[path], &Columns::default(), &ReadLimits::default())
}

#[test]
fn a_gzip_bomb_is_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bomb.jsonl.gz");
    let file = fs::File::create(&path).unwrap();
    let mut packer = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    packer.write_all(b"{\"completion\":\"fine\"}\n").unwrap();
    let zeros = vec![b' '; 1 << 20];
    for _ in 0..300 {
        packer.write_all(&zeros).unwrap();
    }
    packer.finish().unwrap();
    let limits = ReadLimits { inflate_ratio_max: 50, ..ReadLimits::default() };
    let seen = read(&[path], &Columns::default(), &limits);
    assert_eq!(seen.rows.len(), 1);
    assert!(seen.fails.unwrap().contains("gzip bomb: 26"));
}

#[cfg(unix)]
#[test]
fn links_to_files_are_followed_and_links_to_folders_are_not() {
    use std::os::unix::fs::symlink;

    let folder = tempfile::tempdir().unwrap();
    let blob = folder.path().join("blob");
    fs::File::create(&blob).unwrap().write_all(b"{\"completion\":\"a\"}\n").unwrap();
    let snapshot = folder.path().join("snapshot");
    fs::create_dir(&snapshot).unwrap();
    symlink(&blob, snapshot.join("train.jsonl")).unwrap();
    symlink(&snapshot, snapshot.join("again")).unwrap();
    let seen = read(&[snapshot], &Columns::default(), &ReadLimits::default());
    assert_eq!((seen.rows.len(), seen.fails), (1, None));
}

#[test]
fn names_of_files_are_escaped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a\u{1b}[2J\u{202e}.jsonl");
    fs::File::create(&path).unwrap().write_all(b"3\n").unwrap();
    let seen = read(&[path], &Columns::default(), &ReadLimits::default());
    let message = seen.rows[0].sample.as_ref().unwrap_err().to_string();
    assert!(
        message
            .ends_with("/a\\u{1b}[2J\\u{202e}.jsonl:1: expected an object, found number at byte 1")
    );
}

#[test]
fn paths_are_read_one_after_the_other_and_rows_count_on() {
    let paths = ["crlf.jsonl", "good.parquet", "no-rows.parquet", "bom.jsonl"];
    let paths = paths.map(|name| Path::new(FOLDER).join(name));
    let source = Source::open(&paths, &ReadLimits::default()).unwrap();
    assert_eq!(source.paths().flatten().collect::<Vec<_>>(), paths);
    let seen = read(&paths, &Columns::default(), &ReadLimits::default());
    let places: Vec<String> = seen
        .rows
        .iter()
        .map(|row| format!("{} {}", row.index, row.place).replace(FOLDER, ""))
        .collect();
    assert_eq!(
        places,
        [
            "0 crlf.jsonl:1",
            "1 crlf.jsonl:2",
            "2 good.parquet:1",
            "3 good.parquet:2",
            "4 good.parquet:3",
            "5 bom.jsonl:1",
        ]
    );
}

#[test]
fn a_stream_is_read_like_a_file() {
    for name in ["same/rows.jsonl", "same/escaped.jsonl.gz", "same/rows.jsonl.zst"] {
        let file = fs::File::open(Path::new(FOLDER).join(name)).unwrap();
        let source = Source::stream("stdin", file, &ReadLimits::default()).unwrap();
        let rows: usize = source.map(|block| block.unwrap().rows(&Columns::default()).len()).sum();
        assert_eq!(rows, 600, "{name}");
    }
}

#[test]
fn small_limits_hold_and_reading_goes_on() {
    let limits = ReadLimits { row_bytes_max: 300, ..ReadLimits::default() };
    let path = Path::new(FOLDER).join("same/rows.jsonl");
    let all = read(std::slice::from_ref(&path), &Columns::default(), &ReadLimits::default());
    let seen = read(&[path], &Columns::default(), &limits);
    assert_eq!(seen.rows.len(), all.rows.len());
    let lines = fs::read_to_string(Path::new(FOLDER).join("same/rows.jsonl")).unwrap();
    for (row, line) in seen.rows.iter().zip(lines.split('\n')) {
        assert_eq!(row.sample.is_ok(), line.len() <= 300, "{}", row.place);
        assert_eq!(row.place.row, row.index + 1);
    }
}
