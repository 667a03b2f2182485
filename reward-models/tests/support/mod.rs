//! What the tests of models share.

#![allow(dead_code, reason = "no test uses all of it")]

use std::path::{Path, PathBuf};

use assay_reward_models::backend::library::LibraryPath;
use assay_reward_models::{Models, OrtDiscovery};
use assay_verifiers::Files;

/// The repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A copy of the folder of a model, to be changed.
pub(crate) fn copy(name: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(root().join("fixtures/models").join(name)).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
    }
    folder
}

/// The library that `make assets` fetched.
pub(crate) fn libraries() -> Vec<LibraryPath> {
    let path = root().join("target/assets/onnxruntime");
    vec![LibraryPath { origin: "assets", path, demanded: true }]
}

/// Models on that library.
pub(crate) fn models() -> Models {
    let libraries = libraries();
    Models::new(OrtDiscovery { libraries, cores: 2, ..OrtDiscovery::default() })
}

/// The models among the fixtures, by their names.
pub(crate) struct Fixtures;

impl Files for Fixtures {
    fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        Err(format!("file \"{name}\": fixtures name models alone"))
    }

    fn folder(&self, name: &str) -> Result<PathBuf, String> {
        Ok(root().join("fixtures/models").join(name))
    }
}

/// Whether rten runs the graph of a folder: it has no type for bf16.
pub(crate) fn is_run_by_rten(folder: &Path) -> bool {
    let manifest = std::fs::read_to_string(folder.join("model.toml")).unwrap_or_default();
    let is_of = |precision: &str| manifest.contains(&format!("precision = \"{precision}\""));
    !["bf16", "int8_blocks", "int4_blocks"].into_iter().any(is_of)
}

/// Every model folder below the fixtures, or below `ASSAY_TEST_MODELS`.
pub(crate) fn folders() -> Vec<PathBuf> {
    let named = std::env::var_os("ASSAY_TEST_MODELS").map(PathBuf::from);
    let within = named.unwrap_or_else(|| root().join("fixtures/models"));
    let mut folders: Vec<PathBuf> = std::fs::read_dir(within)
        .map(|entries| entries.filter_map(|entry| Some(entry.ok()?.path())).collect())
        .unwrap_or_default();
    folders.retain(|path| path.join("model.toml").is_file());
    folders.sort();
    folders
}
