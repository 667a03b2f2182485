//! `assay report`: what came of a run, as one page that needs nothing else.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use assay::engine::runs::OutputFile;
use clap::Args as ClapArgs;

use super::exit::{Exit, Failure};
use super::output;
use super::run_files::file_out;
use super::run_texts::failure;
use super::shown::Shown;

/// Write what came of a run as one page.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// The run folder; or the folder of a training, or a log of another tool, by the scores that it has
    run: PathBuf,
    /// The rows that were scored, in their order; by default the files that the run names
    #[arg(long, value_name = "DATA")]
    with: Vec<PathBuf>,
    /// The file to write, as in report.html; by default standard output
    #[arg(short, long, value_name = "FILE", value_parser = file_out)]
    output: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    if let Some(path) = &args.output {
        refuse_inputs(path, args)?;
    }
    let Shown { run, folder: _folder } = Shown::open(&args.run, &args.with)?;
    let page = assay_view::report_html(run).map_err(failure)?;
    let Some(path) = &args.output else {
        output::data(&page);
        return Ok(Exit::Ok);
    };
    let failed = Failure::io(path);
    let mut out = OutputFile::create(path).map_err(&failed)?;
    out.write_all(page.as_bytes()).map_err(&failed)?;
    out.commit().map_err(failed)?;
    output::note(&format!("{}: {} kB", path.display(), page.len().div_ceil(1000)));
    Ok(Exit::Ok)
}

/// Refuses to write over what is read: the data, and what a run folder holds but for pages.
fn refuse_inputs(path: &Path, args: &Args) -> Result<(), Failure> {
    let Ok(real) = path.canonicalize() else { return Ok(()) };
    let is_read = |path: &PathBuf| path.canonicalize().is_ok_and(|own| own == real);
    let in_run = args.run.canonicalize().is_ok_and(|run| real.starts_with(run));
    let is_page = real.extension().is_some_and(|extension| extension == "html");
    if (in_run && !is_page) || args.with.iter().any(is_read) {
        let shown = real.display();
        return Err(Failure::usage(format!("-o: {shown} is read: write to another file")));
    }
    Ok(())
}
