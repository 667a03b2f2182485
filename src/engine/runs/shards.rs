//! The folders of the shards of a run, which lie inside its own.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::MANIFEST;
use super::folder::RunError;
use crate::engine::shard::Shard;

/// The folder of a shard of the run `run`.
///
/// # Errors
/// The folder of the run holds a whole run, or shards of another number.
pub fn shard_folder(run: &Path, shard: Shard) -> Result<PathBuf, RunError> {
    let others = shard_folders(run)?;
    if let Some((other, _)) = others.iter().find(|(other, _)| other.of() != shard.of()) {
        let why = format!(
            "the folder holds {}, which is of {} shards, not {}; choose another folder",
            other.folder_name(),
            other.of(),
            shard.of()
        );
        return Err(RunError::shards(run, why));
    }
    if others.is_empty() && run.join(MANIFEST).exists() {
        let why = format!("the folder holds a whole run, not shards; {shard} wants another folder");
        return Err(RunError::shards(run, why));
    }
    Ok(run.join(shard.folder_name()))
}

/// The shards whose folders are in `run`, in their order. A folder that is not there has none.
///
/// # Errors
/// A folder that cannot be listed.
pub(super) fn shard_folders(run: &Path) -> Result<Vec<(Shard, PathBuf)>, RunError> {
    let failed = |source| RunError::Io { file: run.display().to_string(), source };
    let entries = match fs::read_dir(run) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut shards = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        if let Some(shard) = entry.file_name().to_str().and_then(Shard::of_folder) {
            shards.push((shard, entry.path()));
        }
    }
    shards.sort_by_key(|(shard, _)| (shard.of(), shard.index()));
    Ok(shards)
}
