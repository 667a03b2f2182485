//! `assay validate`: whether the configuration pays for right answers and for nothing else, or
//! whether a model folder is what its manifest says.

#[cfg(feature = "models")]
mod model;
mod report;

use std::path::PathBuf;

use assay::Plan;
use assay::engine::ConfigFolder;
use assay::setup::Environment;
use clap::Args as ClapArgs;

use super::exit::{Exit, Failure};
use super::lints;
use super::lints::look::{Look, Tested, listed};
use super::output;
use super::setup::{ConfigArgs, EngineArgs, TrainingArgs};
use super::trial;
use super::trial::read;
use super::trial::rewards::{self, RewardReport};
use super::trial::steps::Steps;
use super::trial::tally;
use report::Report;

/// Whether the configuration pays for right answers and for nothing else. With a model folder, or a
/// folder of them, in place of the configuration: whether each backend gives what the manifest
/// promises.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    #[command(flatten)]
    config: ConfigArgs,
    /// JSON lines (also .gz, .zst), Parquet, a dataset folder (FOLDER:SPLIT), or - for stdin
    data: Vec<PathBuf>,
    /// Read at most this many rows
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..))]
    limit: u64,
    /// Ask models and judges too, on 5 rows each
    #[arg(long)]
    deep: bool,
    #[command(flatten)]
    training: TrainingArgs,
    /// Leave out a lint, by its code; may be given several times
    #[arg(long, value_name = "CODE")]
    allow: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, environment: &Environment) -> Result<Exit, Failure> {
    #[cfg(feature = "models")]
    if let folders = model::folders(&args.config.config)?
        && !folders.is_empty()
    {
        return model::run(&folders, args.json, environment);
    }
    let document = args.config.document(environment)?;
    let builder = args.config.builder(environment, document.clone());
    let engine = EngineArgs::many().engine(builder)?;
    let plan = engine.plan();
    let allow = lints::allowed(&document, &plan.config.lint.allow, &args.allow)?;
    let read = match args.data.as_slice() {
        [] => None,
        data => Some(read::rows(data, plan, args.limit)?),
    };
    if let Some(note) = skipped_note(&args.data) {
        output::note(&note);
    }
    let files = ConfigFolder::beside(&args.config.config, args.config.allow_path.clone());
    let scripts = lints::script::scripts(plan, &files, environment);
    let steps = Steps::start();
    let rows = read.as_ref().map_or(&[][..], |read| &read.rows);
    let trial = trial::run(&engine, rows, args.deep, args.training.read()?, &steps);
    let registry = environment.registry();
    let report = engine.install(|| {
        let own = read.as_ref().map(|_| rows);
        let rewards = rewards::of_plan(&engine, &registry, &trial, own, &steps);
        let combined = (!rows.is_empty()).then(|| tally::of_combination(plan, &trial));
        let look = Look { plan, rows, step: trial.training.step };
        let tested = Tested {
            look,
            engine: &engine,
            registry: &registry,
            trial: &trial,
            rewards: &rewards,
            combined: combined.as_ref(),
            scripts: &scripts,
            is_partial: read.as_ref().is_some_and(|read| read.report.partial),
            explain: &explain(args),
        };
        let (mut errors, warnings) = lints::problems(tested, &document, &allow);
        let absent = read.as_ref().and_then(|read| read.absent.as_ref());
        errors.extend(absent.and_then(|error| lints::absent_column(&document, error)));
        let data = read.as_ref().map(|read| read.report.clone());
        let ok = errors.is_empty()
            && rewards.iter().all(RewardReport::ok)
            && data.as_ref().is_none_or(|data| data.unreadable == 0);
        let (config_hash, deep) = (plan.config_hash(), args.deep);
        Report { ok, config_hash, deep, errors, warnings, data, combined, rewards }
    });
    drop(steps);
    if args.json {
        output::json(&report)?;
    } else {
        output::text(&report.text()?);
    }
    Ok(if report.ok { Exit::Ok } else { Exit::Threshold })
}

/// The command that shows a row, up to its number.
fn explain(args: &Args) -> String {
    let data = args.data.iter().filter(|path| path.as_os_str() != "-");
    let data: Vec<String> = data.map(|path| path.display().to_string()).collect();
    let data = if data.is_empty() { "DATA".to_owned() } else { data.join(" ") };
    format!("assay explain {} {data}", args.config.config.display())
}

/// What `assay score` tells of the first rows of data that can be read again, a line each.
pub(super) fn data_notes(data: &[PathBuf], plan: &Plan, step: u64) -> Vec<String> {
    /// So many rows are looked at.
    const ROWS_MAX: u64 = 1000;
    let is_stream = |path: &PathBuf| {
        path.as_os_str() == "-" || assay::data::is_stream(path).unwrap_or_default()
    };
    let mut notes: Vec<String> = skipped_note(data).into_iter().collect();
    if !data.iter().any(is_stream)
        && let Ok(rows) = read::rows(data, plan, ROWS_MAX)
    {
        notes.extend(lints::notes(Look { plan, rows: &rows.rows, step }, &plan.config.lint.allow));
    }
    notes
}

/// Files that are beside the data and are not read.
fn skipped_note(data: &[PathBuf]) -> Option<String> {
    let skipped = assay::data::skipped(data);
    let named = listed(skipped.iter().map(String::as_str));
    (!skipped.is_empty()).then(|| format!("note: not read, as they are of another kind: {named}"))
}
