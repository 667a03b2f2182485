//! The data of a run as files of lines, of which any row can be read by itself.

use std::fs::File;
use std::io::{BufWriter, Cursor, Read as _, Write as _};
use std::path::{Path, PathBuf};

use assay::data::{DataError, ReadLimits, Source, open_once};
use assay_view::{DataRows, RowText, RunData, ViewError};
use tempfile::TempDir;

use super::exit::Failure;
use super::run_texts::RunTexts;

/// The data of a run as files of lines: those that are none are written as such into a folder that goes with
/// the process.
pub(super) struct LineData {
    texts: RunTexts,
    files: Vec<PathBuf>,
    _folder: Option<TempDir>,
}

impl LineData {
    pub(super) fn new(texts: RunTexts) -> Result<Self, Failure> {
        let limits = ReadLimits::default();
        let source = Source::open(texts.paths(), &limits)?;
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
        Ok(Self { texts, files, _folder: folder })
    }
}

/// Whether a file begins as JSON lines do that are not compressed.
fn is_lines(path: &Path) -> Result<bool, Failure> {
    let mut head = Vec::new();
    open_once(path)?.take(64).read_to_end(&mut head)?;
    Ok(head.trim_ascii_start().starts_with(b"{"))
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
