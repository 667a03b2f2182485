//! `assay merge`: the shards of a run become the run.

use std::ops::ControlFlow;
use std::path::PathBuf;

use assay::engine::runs::MergeSpec;
use clap::Args as ClapArgs;

use super::exit::{Exit, Failure};
use super::output::{self, count};
use super::run_files::folder_out;
use super::score::Format;
use super::summary;

/// Make one run of its shards.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// The folders of the shards, or the folder that holds them
    #[arg(required = true, value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// The run folder; it may be the one that holds the shards
    #[arg(short, long, value_name = "OUT", value_parser = folder_out)]
    output: PathBuf,
    /// Start over, whatever OUT holds of another run
    #[arg(long)]
    fresh: bool,
    /// The form of the verdict rows
    #[arg(long, value_enum, default_value_t = Format::Jsonl)]
    format: Format,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
    /// Say nothing but the summary
    #[arg(short, long)]
    quiet: bool,
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let spec = MergeSpec {
        runs: args.runs.clone(),
        output: args.output.clone(),
        pid: std::process::id(),
        fresh: args.fresh,
        form: args.format.into(),
    };
    let report = spec.merge(&mut |_| ControlFlow::Continue(()))?;
    if args.json {
        output::json(&report.summary)?;
    } else {
        summary::show(&report.summary, &[]);
    }
    if !args.quiet {
        let (out, rows) = (args.output.display(), count(report.summary.rows));
        output::note(&format!("{out}: {rows} rows of {} shards", report.shards));
    }
    Ok(Exit::Ok)
}
