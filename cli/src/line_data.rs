//! The data of a run as files of lines, of which any row can be read by itself.

use std::fs::File;
use std::io::{BufWriter, Cursor, Write as _};
use std::path::{Path, PathBuf};

use assay::data::{DataError, ReadLimits, Source};
use assay_view::{DataRows, RowText, RunData, ViewError};
use tempfile::TempDir;

use super::exit::Failure;
use super::output;
use super::run_texts::RunTexts;
use super::spooled::is_lines;

/// The data of a run as files of lines: those that are none are written as such into a folder that goes with
/// the process.
pub(super) struct LineData {
    texts: RunTexts,
    files: Vec<PathBuf>,
    _folder: Option<TempDir>,
}

impl LineData {
    /// The inner error says why there are none: data that cannot be read may not be those that were scored.
    pub(super) fn new(texts: RunTexts) -> Result<Result<Self, String>, Failure> {
        match line_files(texts.paths()) {
            Ok((files, folder)) => Ok(Ok(Self { texts, files, _folder: folder })),
            Err(error) => texts.check().map_or_else(|why| Ok(Err(why)), |()| Err(error)),
        }
    }
}

/// The files, where they are JSON lines, else as what they are written to.
fn line_files(paths: &[PathBuf]) -> Result<(Vec<PathBuf>, Option<TempDir>), Failure> {
    let limits = ReadLimits::default();
    let source = Source::open(paths, &limits)?;
    let paths: Vec<PathBuf> = source.paths().flatten().map(Path::to_owned).collect();
    let (mut files, mut folder) = (Vec::new(), None);
    for path in paths {
        let first = Source::open(std::slice::from_ref(&path), &limits)?.next().transpose()?;
        if is_lines(&path)? && first.is_none_or(|block| block.log().is_none()) {
            files.push(path);
            continue;
        }
        let folder = match &mut folder {
            Some(folder) => folder,
            none => none.insert(tempfile::tempdir()?),
        };
        let file = folder.path().join(format!("{}.jsonl", files.len()));
        write_lines(path, &file)?;
        files.push(file);
    }
    Ok((files, folder))
}

/// Says why a page has no texts.
pub(super) fn note_missing(why: &str) {
    output::note(&format!("note: no prompts and completions: {why}; --with DATA names them"));
}

/// Writes the rows of a file, a line each.
fn write_lines(from: PathBuf, to: &Path) -> Result<(), Failure> {
    let mut out = BufWriter::new(File::create(to)?);
    for block in Source::open(&[from], &ReadLimits::default())? {
        for text in block?.objects() {
            // Within JSON a line end is white space.
            let text = text.unwrap_or_else(|| "null".to_owned()).replace(['\n', '\r'], " ");
            out.write_all(text.as_bytes())?;
            out.write_all(b"\n")?;
        }
    }
    out.flush()?;
    Ok(())
}

impl RunData for LineData {
    fn check(&self) -> Result<(), String> {
        self.texts.check().inspect_err(|why| note_missing(why))
    }

    fn rows(&self) -> Result<DataRows<'_>, ViewError> {
        self.texts.rows().map_err(|error: DataError| ViewError::Data(Box::new(error)))
    }

    fn row(&self, line: &[u8]) -> Option<RowText> {
        let line = Cursor::new(line.to_vec());
        let mut blocks = Source::stream("row", line, &ReadLimits::default()).ok()?;
        self.texts.of_block(&blocks.next()?.ok()?).into_iter().next()
    }

    fn files(&self) -> &[PathBuf] {
        &self.files
    }
}
