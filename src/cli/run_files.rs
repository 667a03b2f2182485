//! The JSON files of a run folder that is only read.

use std::fs;
use std::path::Path;

use serde::de::DeserializeOwned;

use super::exit::Failure;

/// Reads a file of the run in `dir`.
pub(super) fn json<T: DeserializeOwned>(dir: &Path, name: &str) -> Result<T, Failure> {
    let path = dir.join(name);
    let shown = path.display();
    let bytes = fs::read(&path)
        .map_err(|error| Failure::usage(format!("{shown}: {error}; it is no run folder")))?;
    serde_json::from_slice(&bytes)
        .map_err(|error| Failure::Other(anyhow::anyhow!("{shown} is damaged: {error}")))
}
