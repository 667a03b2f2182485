//! The shards that make one run: all of them, each once, complete, and of one run.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;

use super::folder::RunError;
use super::manifest::RunManifest;
use super::shards::shard_folders;
use super::{MANIFEST, SUMMARY};
use crate::data::read_regular;
use crate::engine::shard::Shard;
use crate::engine::summary::Summary;

/// Shards that a message lists at most.
const LISTED_MAX: usize = 8;

/// One shard.
pub(super) struct Part {
    pub(super) dir: PathBuf,
    pub(super) manifest: RunManifest,
    pub(super) summary: Summary,
}

/// The shards of a run, in their order.
pub(super) struct ShardSet {
    pub(super) parts: Vec<Part>,
    /// The manifest of the first one.
    pub(super) first: RunManifest,
}

impl ShardSet {
    /// Finds the shards in `runs`: folders of shards, and folders that hold those.
    pub(super) fn find(runs: &[PathBuf]) -> Result<Self, RunError> {
        let mut found: BTreeMap<u32, Part> = BTreeMap::new();
        let mut first: Option<(PathBuf, Shard, RunManifest)> = None;
        for dir in expand(runs)? {
            let (shard, manifest) = described(&dir)?;
            let (first_dir, first_shard, first) =
                &*first.get_or_insert_with(|| (dir.clone(), shard, manifest.clone()));
            if let Some(why) = misfit(first, *first_shard, &manifest, shard) {
                let why = format!("{why} of {}", first_dir.display());
                return Err(RunError::shards(&dir, why));
            }
            if !manifest.complete {
                let why = format!("shard {shard} is not complete: run its command again");
                return Err(RunError::shards(&dir, why));
            }
            let Some(summary) = read_json::<Summary>(&dir, SUMMARY)? else {
                return Err(RunError::shards(&dir, format!("{SUMMARY} is missing")));
            };
            if manifest.rows != Some(summary.rows) {
                let why = format!("{SUMMARY} and {MANIFEST} have other numbers of rows");
                return Err(RunError::shards(&dir, why));
            }
            if let Some(other) = found.get(&shard.index()) {
                let why = format!("shard {shard} is there twice: also {}", other.dir.display());
                return Err(RunError::shards(&dir, why));
            }
            found.insert(shard.index(), Part { dir, manifest, summary });
        }
        let Some((dir, shard, first)) = first else {
            let why = "no shards were named".to_owned();
            return Err(RunError::shards(Path::new("."), why));
        };
        if let Some(missing) = missing(shard.of(), &found) {
            return Err(RunError::shards(dir.parent().unwrap_or(&dir), missing));
        }
        Ok(Self { parts: found.into_values().collect(), first })
    }
}

/// The folders of shards among `runs` and inside them.
fn expand(runs: &[PathBuf]) -> Result<Vec<PathBuf>, RunError> {
    let mut dirs = Vec::new();
    for run in runs {
        let inside = shard_folders(run)?;
        if inside.is_empty() {
            dirs.push(run.clone());
        }
        dirs.extend(inside.into_iter().map(|(_, dir)| dir));
    }
    Ok(dirs)
}

/// Which shard a folder holds.
fn described(dir: &Path) -> Result<(Shard, RunManifest), RunError> {
    let refused = |why: &str| Err(RunError::shards(dir, why.to_owned()));
    let Some(manifest) = read_json::<RunManifest>(dir, MANIFEST)? else {
        return refused("no shard: it has no manifest.json, and no folders shard-...-of-... in it");
    };
    match manifest.identity.shard {
        Some(shard) => Ok((shard, manifest)),
        None => refused("a whole run, not a shard of one: there is nothing to merge"),
    }
}

/// What keeps a shard from being of the run of the first one.
fn misfit(
    first: &RunManifest,
    first_shard: Shard,
    other: &RunManifest,
    shard: Shard,
) -> Option<String> {
    let (run, wanted) = (&other.identity, &first.identity);
    if other.format != first.format {
        return Some("the shard has another format than that".to_owned());
    }
    if shard.of() != first_shard.of() {
        return Some(format!("shard {shard} is not of the {} shards", first_shard.of()));
    }
    if run.config_hash != wanted.config_hash {
        return Some(format!("shard {shard} is of another configuration than that"));
    }
    if run.training != wanted.training {
        return Some(format!("shard {shard} is of another training step or state than that"));
    }
    if run.inputs != wanted.inputs {
        return Some(format!("shard {shard} is of other data than those"));
    }
    if other.bad_rows != first.bad_rows {
        let flag = &other.bad_rows;
        return Some(format!("shard {shard} was made with --bad-rows {flag}, other than that"));
    }
    let limited = other.complete && first.complete && other.limit != first.limit;
    limited.then(|| format!("shard {shard} has another --limit than that"))
}

/// The shards that are not there.
fn missing(of: u32, found: &BTreeMap<u32, Part>) -> Option<String> {
    let count = (of as usize).saturating_sub(found.len());
    let absent = (0..of).filter(|index| !found.contains_key(index));
    let listed: Vec<String> =
        absent.take(LISTED_MAX).map(|index| format!("{index}/{of}")).collect();
    let more = count.saturating_sub(listed.len());
    let tail = if more > 0 { format!(" and {more} more") } else { String::new() };
    (count > 0).then(|| format!("shards are missing: {}{tail}", listed.join(", ")))
}

fn read_json<T: DeserializeOwned>(dir: &Path, name: &str) -> Result<Option<T>, RunError> {
    match read_regular(&dir.join(name)) {
        Ok(bytes) => serde_json::from_slice(&bytes)
            .map(Some)
            .map_err(|error| RunError::shards(dir, format!("{name} is damaged: {error}"))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(RunError::Io { file: dir.join(name).display().to_string(), source }),
    }
}
