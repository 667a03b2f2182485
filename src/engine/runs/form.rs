//! The verdict rows of a run: lines, and the Parquet that is made of them for other tools. The lines
//! stay, so the Parquet is never the only copy.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader};
use std::path::Path;

use assay_verifiers::Scored;
use tempfile::NamedTempFile;

use super::folder::RunError;
use super::{VERDICTS, VERDICTS_PARQUET};
use crate::data::{ParquetWriter, open_regular};
use crate::engine::lines;
use crate::engine::temporary::temporary_in;

/// The rows of a run, in order.
pub type VerdictRows = Box<dyn Iterator<Item = Result<Scored, RunError>>>;

/// Reads the verdict rows of the run in `dir`.
///
/// # Errors
/// A file that cannot be opened. One that is damaged is an error of the iterator.
pub fn verdict_rows(dir: &Path) -> Result<VerdictRows, RunError> {
    let folder = dir.to_owned();
    let file = open_regular(&dir.join(VERDICTS));
    let file = file.map_err(|source| io_error(dir, VERDICTS, source))?;
    let lines = BufReader::with_capacity(1 << 18, file).split(b'\n').enumerate();
    Ok(Box::new(lines.map(move |(at, line)| {
        let line = line.map_err(|source| io_error(&folder, VERDICTS, source))?;
        lines::parse(&line).map_err(|why| {
            foreign(&folder, format!("{VERDICTS}:{}: not a verdict row ({why})", at + 1))
        })
    })))
}

/// The form of the verdict rows of a complete run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VerdictForm {
    /// Lines alone.
    #[default]
    Jsonl,
    /// Lines, and Parquet beside them.
    Parquet,
}

/// Gives the verdict rows of the complete run in `dir` their form. `names` are those of its rewards.
///
/// # Errors
/// A file that cannot be read or written.
pub fn write_form(dir: &Path, form: VerdictForm, names: &[String]) -> Result<(), RunError> {
    match form {
        VerdictForm::Parquet => write_parquet(dir, names),
        VerdictForm::Jsonl => match fs::remove_file(dir.join(VERDICTS_PARQUET)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(io_error(dir, VERDICTS_PARQUET, error))
            }
            _ => Ok(()),
        },
    }
}

fn write_parquet(dir: &Path, names: &[String]) -> Result<(), RunError> {
    let failed = |source| io_error(dir, VERDICTS_PARQUET, source);
    let mut writer = ParquetWriter::new(temporary_in(dir).map_err(failed)?, names)?;
    for row in verdict_rows(dir)? {
        writer.write(row?)?;
    }
    commit(dir, writer.finish()?, VERDICTS_PARQUET).map_err(failed)
}

fn commit(dir: &Path, file: NamedTempFile, name: &str) -> io::Result<()> {
    file.as_file().sync_all()?;
    file.persist(dir.join(name))?;
    File::open(dir)?.sync_all()
}

fn io_error(dir: &Path, name: &str, source: io::Error) -> RunError {
    RunError::Io { file: dir.join(name).display().to_string(), source }
}

fn foreign(dir: &Path, why: String) -> RunError {
    RunError::Foreign { dir: dir.display().to_string(), why }
}
