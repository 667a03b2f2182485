//! `assay view`: runs as pages, on this machine.

use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;

use assay_view::ViewServer;
use clap::Args as ClapArgs;

use super::exit::{Exit, Failure};
use super::output;
use super::run_texts::failure;
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
    let open = |path: &PathBuf| Shown::open(path, &args.with);
    let shown = args.runs.iter().map(open).collect::<Result<Vec<_>, _>>()?;
    let (runs, _folders): (_, Vec<_>) = shown.into_iter().map(|one| (one.run, one.folder)).unzip();
    let server = ViewServer::bind(runs, args.port, token()?).map_err(failure)?;
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

/// 128 bits that nobody can guess.
fn token() -> Result<String, Failure> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(assay::verifiers::canonical::hex(&bytes))
}
