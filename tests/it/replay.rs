//! What fuzzing starts from, and what it found, through the fuzz targets.

#![allow(
    clippy::default_trait_access,
    clippy::print_stdout,
    clippy::type_complexity,
    unreachable_pub,
    reason = "a test stops at what it does not expect"
)]

use std::fs;
use std::path::{Path, PathBuf};

#[path = "../../fuzz/src/lib.rs"]
mod targets;

use targets::TARGETS;

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

/// Runs every file of a folder; what is printed is shown where one fails.
fn replay(folder: &Path, run: fn(&[u8])) -> usize {
    let files = files(folder);
    for file in &files {
        println!("{}", file.display());
        run(&fs::read(file).unwrap());
    }
    files.len()
}

#[test]
fn every_target_has_seeds_and_takes_them() {
    for (name, run) in TARGETS {
        assert!(replay(&Path::new("../fuzz/corpus-seeds").join(name), run) > 0, "{name}: no seeds");
    }
}

#[test]
fn every_target_takes_every_hostile_dataset() {
    for (_, run) in TARGETS {
        assert!(replay(Path::new("../fixtures/hostile"), run) >= 60);
    }
}
