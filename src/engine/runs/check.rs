//! Whether a complete run still is what its manifest says.

use std::io::{self, BufRead as _, BufReader};
use std::path::Path;

use assay_verifiers::canonical;
use sha2::{Digest as _, Sha256};

use super::folder::RunError;
use super::manifest::RunManifest;
use super::{SUMMARY, TIMINGS, VERDICTS, VERDICTS_PARQUET};
use crate::data::{open_regular, read_regular};
use crate::engine::summary::Summary;

/// Holds the verdicts of the complete run in `dir` against its manifest, where they are lines: their number,
/// and their digest.
///
/// # Errors
/// That they were cut, changed or deleted.
pub fn check_verdicts(dir: &Path, manifest: &RunManifest) -> Result<(), RunError> {
    let is_there = |name: &str| dir.join(name).symlink_metadata().is_ok();
    if is_there(VERDICTS_PARQUET) && !is_there(VERDICTS) {
        return Ok(());
    }
    check_verdict_lines(dir, manifest)
}

/// Holds the lines of the complete run in `dir` against its manifest: their number, and their digest.
///
/// # Errors
/// Which file was cut, changed or deleted.
pub fn check_lines(dir: &Path, manifest: &RunManifest) -> Result<(), RunError> {
    check_verdict_lines(dir, manifest)?;
    let rows = manifest.rows.unwrap_or_default();
    match counted(dir, TIMINGS)? {
        // Rows that were judged again have a second line.
        Some((lines, _)) if lines >= rows => Ok(()),
        Some((lines, _)) => {
            let why = format!("{TIMINGS} has {lines} whole lines, the run had {rows}");
            Err(damaged(dir, why))
        }
        None => Err(damaged(dir, format!("{TIMINGS} is missing"))),
    }
}

fn check_verdict_lines(dir: &Path, manifest: &RunManifest) -> Result<(), RunError> {
    let rows = manifest.rows.unwrap_or_default();
    let Some((lines, sha256)) = counted(dir, VERDICTS)? else {
        return Err(damaged(dir, format!("{VERDICTS} is missing")));
    };
    if lines != rows {
        let why = format!("{VERDICTS} has {lines} whole lines, the run had {rows}");
        return Err(damaged(dir, why));
    }
    if Some(&sha256) != manifest.verdicts_sha256.as_ref() {
        let why = format!("{VERDICTS} was changed: its SHA-256 is not that of the manifest");
        return Err(damaged(dir, why));
    }
    Ok(())
}

/// What of the complete run in `dir` has to be made again, in words; `None` where nothing has.
///
/// # Errors
/// What cannot be made again without losing something.
pub(crate) fn to_mend(dir: &Path, manifest: &RunManifest) -> Result<Option<String>, RunError> {
    let is_there = |name: &str| dir.join(name).symlink_metadata().is_ok();
    if !is_there(VERDICTS) && !is_there(VERDICTS_PARQUET) {
        return Ok(Some(format!("{VERDICTS} is missing: all rows are judged again")));
    }
    if !is_there(VERDICTS) {
        let why = format!("{VERDICTS} is missing, and {VERDICTS_PARQUET} is the only copy of it");
        return Err(damaged(dir, why));
    }
    check_lines(dir, manifest)?;
    let summary = match read_regular(&dir.join(SUMMARY)) {
        Ok(bytes) => serde_json::from_slice::<Summary>(&bytes).ok(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Some(format!("{SUMMARY} is missing: it is made again of the rows")));
        }
        Err(error) => return Err(failed(dir, SUMMARY, error)),
    };
    let digest = summary.filter(|summary| manifest.rows == Some(summary.rows));
    let digest = digest.map(|summary| summary.digest());
    let is_same = match &manifest.summary_sha256 {
        Some(sha256) => digest.as_ref() == Some(sha256),
        // A run of an earlier build has none.
        None => digest.is_some(),
    };
    Ok((!is_same).then(|| format!("{SUMMARY} was changed: it is made again of the rows")))
}

/// How many whole lines a file has, and its digest; `None` where it is not there.
fn counted(dir: &Path, name: &str) -> Result<Option<(u64, String)>, RunError> {
    let file = match open_regular(&dir.join(name)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(dir, name, error)),
    };
    let mut reader = BufReader::with_capacity(1 << 20, file);
    let (mut lines, mut sha256) = (0, Sha256::new());
    loop {
        let buffer = match reader.fill_buf() {
            Ok([]) => return Ok(Some((lines, canonical::hex(&sha256.finalize())))),
            Ok(buffer) => buffer,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(failed(dir, name, error)),
        };
        lines += memchr::memchr_iter(b'\n', buffer).count() as u64;
        sha256.update(buffer);
        let read = buffer.len();
        reader.consume(read);
    }
}

fn damaged(dir: &Path, why: String) -> RunError {
    RunError::Foreign { dir: dir.display().to_string(), why }
}

fn failed(dir: &Path, name: &str, source: io::Error) -> RunError {
    RunError::Io { file: dir.join(name).display().to_string(), source }
}
