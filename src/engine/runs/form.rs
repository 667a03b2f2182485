//! The two forms of verdict rows: lines, and Parquet. Either gives back the other, byte for byte.
//!
//! A run is written as lines; a complete one may be turned into Parquet. Where both files are
//! there, a process was stopped between renaming one and removing the other: the lines count.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, BufWriter, Write};
use std::path::Path;

use assay_verifiers::Scored;
use tempfile::NamedTempFile;

use super::folder::RunError;
use super::manifest::{Manifest, hash_file};
use super::store::temporary_in;
use super::{MANIFEST, VERDICTS, VERDICTS_PARQUET};
use crate::data::{Limits, ParquetWriter, VerdictReader};
use crate::engine::lines;

/// The rows of a run, in order, from whichever file it has.
pub type Rows = Box<dyn Iterator<Item = Result<Scored, RunError>>>;

/// Reads the verdict rows of the run in `dir`.
///
/// # Errors
/// A file that cannot be opened. One that is damaged is an error of the iterator.
pub fn verdict_rows(dir: &Path) -> Result<Rows, RunError> {
    let folder = dir.to_owned();
    match File::open(dir.join(VERDICTS)) {
        Ok(file) => {
            let lines = BufReader::with_capacity(1 << 18, file).split(b'\n').enumerate();
            Ok(Box::new(lines.map(move |(at, line)| {
                let line = line.map_err(|source| io_error(&folder, VERDICTS, source))?;
                lines::parse(&line).map_err(|why| {
                    foreign(&folder, format!("{VERDICTS}:{}: not a verdict row ({why})", at + 1))
                })
            })))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let file = File::open(dir.join(VERDICTS_PARQUET))
                .map_err(|source| io_error(dir, VERDICTS, source))?;
            let name = dir.join(VERDICTS_PARQUET).display().to_string();
            let rows = VerdictReader::open(file, &name, &Limits::default())?;
            Ok(Box::new(rows.map(|row| Ok(row?))))
        }
        Err(error) => Err(io_error(dir, VERDICTS, error)),
    }
}

/// Turns the lines of a complete run into Parquet. `names` are those of its rewards.
///
/// # Errors
/// A file that cannot be read or written; the lines stay then.
pub fn to_parquet(dir: &Path, names: &[String]) -> Result<(), RunError> {
    if !dir.join(VERDICTS).exists() {
        return Ok(());
    }
    let failed = |source| io_error(dir, VERDICTS_PARQUET, source);
    let mut writer = ParquetWriter::new(temporary_in(dir).map_err(failed)?, names)?;
    for row in verdict_rows(dir)? {
        writer.write(row?)?;
    }
    commit(dir, writer.finish()?, VERDICTS_PARQUET).map_err(failed)?;
    remove(dir, VERDICTS)
}

/// Turns Parquet back into the lines that it was made of, so that the run can go on.
///
/// # Errors
/// A file that cannot be read or written, or does not give back what it was made of.
pub fn to_lines(dir: &Path) -> Result<(), RunError> {
    if !dir.join(VERDICTS_PARQUET).exists() {
        return Ok(());
    }
    if !dir.join(VERDICTS).exists() {
        let failed = |source| io_error(dir, VERDICTS, source);
        let mut out = BufWriter::new(temporary_in(dir).map_err(failed)?);
        let mut line = Vec::new();
        for row in verdict_rows(dir)? {
            line.clear();
            lines::verdict_line(&mut line, &row?);
            out.write_all(&line).map_err(failed)?;
        }
        let file = out.into_inner().map_err(|error| failed(error.into_error()))?;
        if digest(dir)?
            .is_some_and(|wanted| hash_file(file.path()).map_or(true, |(found, _)| found != wanted))
        {
            let why = format!("{VERDICTS_PARQUET} does not give back the lines of the run");
            return Err(foreign(dir, why));
        }
        commit(dir, file, VERDICTS).map_err(failed)?;
    }
    remove(dir, VERDICTS_PARQUET)
}

/// The digest of the lines of a complete run.
fn digest(dir: &Path) -> Result<Option<String>, RunError> {
    let bytes = fs::read(dir.join(MANIFEST)).map_err(|error| io_error(dir, MANIFEST, error))?;
    let manifest: Manifest = serde_json::from_slice(&bytes)
        .map_err(|error| foreign(dir, format!("{MANIFEST} is damaged: {error}")))?;
    Ok(manifest.verdicts_sha256)
}

fn commit(dir: &Path, file: NamedTempFile, name: &str) -> io::Result<()> {
    file.as_file().sync_all()?;
    file.persist(dir.join(name))?;
    File::open(dir)?.sync_all()
}

fn remove(dir: &Path, name: &str) -> Result<(), RunError> {
    match fs::remove_file(dir.join(name)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(io_error(dir, name, error)),
        _ => Ok(()),
    }
}

fn io_error(dir: &Path, name: &str, source: io::Error) -> RunError {
    RunError::Io { file: dir.join(name).display().to_string(), source }
}

fn foreign(dir: &Path, why: String) -> RunError {
    RunError::Foreign { dir: dir.display().to_string(), why }
}
