//! `assay view`: runs as pages, on this machine.

use std::fs::File;
use std::io::{BufWriter, Cursor, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assay::data::{DataError, ReadLimits, Source, open_once};
use assay_view::{DataRows, RowText, RunData, ViewError, ViewRun, ViewServer, ViewSpec};
use clap::Args as ClapArgs;
use tempfile::TempDir;

use super::exit::{Exit, Failure};
use super::output;
use super::run_texts::{RunTexts, failure};
use super::shown::Shown;
use super::signals::stop_on_signals;

/// Show runs as pages, on this machine.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// The run folders, folders of trainings, or logs of other tools; two or more can be compared
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// The rows that were scored, in their order; by default the files that the runs name
    #[arg(long, value_name = "DATA")]
    with: Vec<PathBuf>,
    /// The port on 127.0.0.1; 0 takes a free one
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u16,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let mut folders = Vec::new();
    let opened = |path: &PathBuf| opened(path, &args.with, &mut folders);
    let runs = args.runs.iter().map(opened).collect::<Result<_, _>>()?;
    let spec = ViewSpec { runs, port: args.port, token: token()? };
    let server = ViewServer::bind(spec).map_err(failure)?;
    let stop = stop_on_signals()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("assay-view")
        .enable_all()
        .build()?;
    output::line(&server.address());
    output::note("open the address, which holds the token; Ctrl-C ends");
    let ended = runtime.block_on(server.serve(async move { stop.cancelled().await }));
    runtime.shutdown_background();
    ended?;
    Ok(Exit::Ok)
}

/// A run with its data, where they are known.
fn opened(path: &Path, with: &[PathBuf], folders: &mut Vec<TempDir>) -> Result<ViewRun, Failure> {
    let Shown { dir, texts, labels, folder } = Shown::open(path, with)?;
    folders.extend(folder);
    let (data, missing): (Option<Arc<dyn RunData>>, _) = match texts {
        Ok(texts) => (Some(Arc::new(LineData::new(texts)?)), None),
        Err(why) => {
            output::note(&format!(
                "note: no prompts and completions: {why}; --with DATA names them"
            ));
            (None, Some(why))
        }
    };
    Ok(ViewRun { dir, data, missing, labels })
}

/// 128 bits that nobody can guess.
fn token() -> Result<String, Failure> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(assay::verifiers::canonical::hex(&bytes))
}

/// The data of a run as files of lines: those that are none are written as such into a folder that goes with
/// the process.
struct LineData {
    texts: RunTexts,
    files: Vec<PathBuf>,
    _folder: Option<TempDir>,
}

impl LineData {
    fn new(texts: RunTexts) -> Result<Self, Failure> {
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
