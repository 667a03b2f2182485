//! `assay explain`: one row, from its text to its reward.

mod find;
mod report;

use std::path::PathBuf;

use assay::setup::Environment;
use assay::verifiers::Sample;
use assay::{Engine, ScoreOptions};
use clap::Args as ClapArgs;

use super::exit::{Exit, Failure};
use super::output;
use super::setup::{ConfigArgs, EngineArgs, TrainingArgs};
use super::text::{Cut, inline};
use find::{Found, Search, Wanted};
use report::Explained;

/// One row, from its text to its reward.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    #[command(flatten)]
    config: ConfigArgs,
    /// JSON lines (also .gz, .zst), Parquet, a dataset folder (FOLDER:SPLIT), or - for stdin
    #[arg(required = true)]
    data: Vec<PathBuf>,
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    engine: EngineArgs,
    #[command(flatten)]
    training: TrainingArgs,
    /// Leave nothing out of long texts
    #[arg(long)]
    full: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, ClapArgs)]
#[group(required = true, multiple = false)]
struct Which {
    /// The id of the sample
    #[arg(long, allow_hyphen_values = true)]
    id: Option<String>,
    /// The row over all data, from 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    row: Option<u64>,
}

pub(super) fn run(args: &Args, environment: &Environment) -> Result<Exit, Failure> {
    let document = args.config.document(environment)?;
    let engine = args.engine.engine(args.config.builder(environment, document))?;
    let plan = engine.plan();
    let wanted = match (&args.which.id, args.which.row) {
        (Some(id), _) => Wanted::Id(id.clone()),
        (None, Some(row)) => Wanted::Row(row - 1),
        (None, None) => return Err(Failure::usage("name a row with --id or --row")),
    };
    let found = Search::new(wanted, plan.needs_groups()).run(&args.data, &plan.config)?;
    let sample = match &found.row.sample {
        Ok(sample) => sample.clone(),
        Err(error) => {
            output::note(&format!("row {} cannot be read: {error}", found.row.index + 1));
            return Ok(Exit::Fault);
        }
    };
    let kept = kept(&engine, &sample);
    let Found { group, at, .. } = &found;
    let options = ScoreOptions::at(args.training.read()?);
    let step = options.step;
    let scored = engine.score_with(group.clone(), options);
    let Some(scored) = scored.into_iter().nth(*at) else {
        return Err(anyhow::anyhow!("internal: the engine gave no verdict").into());
    };
    let explained = Explained {
        plan: engine.plan(),
        sample: &sample,
        scored: &scored,
        kept: &kept,
        found: &found,
        step,
    };
    if args.json {
        output::json(&explained.json())?;
    } else {
        output::text(&explained.text(if args.full { Cut::Never } else { Cut::Long }));
    }
    if found.shared > 1 {
        let (id, shared) = (inline(sample.id()), found.shared);
        output::note(&format!("{shared} rows have id {id}; this is row {}", found.row.index + 1));
    }
    Ok(Exit::Ok)
}

/// For each reward, what the cache knows before the sample is judged.
fn kept(engine: &Engine, sample: &Sample) -> Vec<&'static str> {
    let known = |at| match engine.is_kept(at, sample) {
        Some(true) => "hit",
        Some(false) => "miss",
        None => "off",
    };
    (0..engine.plan().rewards.len()).map(known).collect()
}
