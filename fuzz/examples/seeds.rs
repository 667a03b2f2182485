//! Writes the corpus that fuzzing starts from: the committed seeds, every hostile dataset, and the
//! cases of the checks. Run it from the root of the repository:
//! `cargo run --manifest-path fuzz/Cargo.toml --example seeds`

use std::fs;
use std::path::{Path, PathBuf};

use assay::verifiers::cases::{self, Case};
use assay::verifiers::registry;
use serde_json::Value;

fn main() {
    let corpus = Path::new("fuzz/corpus");
    for (target, _) in assay_fuzz::TARGETS {
        fs::create_dir_all(corpus.join(target)).expect("a disk with room");
    }
    copy(Path::new("fuzz/corpus-seeds"), corpus);
    copy(Path::new("fixtures/hostile"), &corpus.join("jsonl"));
    copy(Path::new("fixtures/hostile"), &corpus.join("parquet"));
    fs::copy("fixtures/init/assay.toml", corpus.join("config/init")).expect("the file is there");
    for entry in registry::ALL {
        let folder = corpus.join(entry.about.id);
        let cases = cases::parse(entry.about.fixtures).expect("fixtures are well-formed").cases;
        for (at, case) in cases.iter().enumerate().filter(|_| folder.is_dir()) {
            fs::write(folder.join(format!("case-{at}")), seed(entry.about.id, case)).expect("room");
        }
    }
}

/// A case as its target reads it.
fn seed(id: &str, case: &Case) -> String {
    let setting = |key: &str| case.config.get(key).cloned().unwrap_or_default();
    let shown = |value: Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let completion = case.sample().completion().to_owned();
    let first = match id {
        "regex" => shown(setting("pattern")),
        "json" => setting("schema").to_string(),
        "rhai" => return shown(setting("script")),
        _ => shown(case.reference.clone().unwrap_or_default()),
    };
    format!("{}\n{completion}", first.replace('\n', " "))
}

/// Copies files, those of folders included. Names need not be kept: only contents matter.
fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("the folder is there") {
        let path: PathBuf = entry.expect("it can be read").path();
        let name = path.file_name().expect("an entry has a name");
        if path.is_dir() {
            fs::create_dir_all(to.join(name)).expect("a disk with room");
            copy(&path, &to.join(name));
        } else {
            fs::copy(&path, to.join(name)).expect("a disk with room");
        }
    }
}
