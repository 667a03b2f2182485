//! What fuzzing starts from, and what it found, through the fuzz targets.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::default_trait_access,
    reason = "a test stops at what it does not expect"
)]

use std::fs;
use std::path::{Path, PathBuf};

#[path = "../fuzz/src/lib.rs"]
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

fn replay(folder: &Path, run: fn(&[u8])) -> usize {
    let files = files(folder);
    for file in &files {
        // The name tells which one a failure came from.
        let guard = Named(file);
        run(&fs::read(file).unwrap());
        drop(guard);
    }
    files.len()
}

struct Named<'a>(&'a Path);

impl Drop for Named<'_> {
    #[expect(clippy::print_stderr, reason = "the test fails")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("with {}", self.0.display());
        }
    }
}

#[test]
fn every_target_has_seeds_and_takes_them() {
    for (name, run) in TARGETS {
        assert!(replay(&Path::new("fuzz/corpus-seeds").join(name), run) > 0, "{name}: no seeds");
    }
}

#[test]
fn every_target_takes_every_hostile_dataset() {
    for (_, run) in TARGETS {
        assert!(replay(Path::new("fixtures/hostile"), run) >= 60);
    }
}
