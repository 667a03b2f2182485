//! `assay validate`: whether the configuration pays for right answers and for nothing else, or
//! whether a model folder is what its manifest says.

mod display;
mod finding;
mod gold;
mod hacks;
#[cfg(feature = "models")]
mod model;
mod probe;
mod read;
mod report;
mod suites;

use std::path::PathBuf;

use assay::engine::Planned;
use assay::setup::Environment;
use assay::verifiers::script::{push_sample, shared_engine};
use assay::verifiers::{Lane, Meter, Sample};
use assay::{Engine, Registry};
use clap::Args as ClapArgs;
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};
use rhai::Scope;

use super::exit::{Exit, Failure};
use super::output;
use super::setup::{ConfigArgs, EngineArgs};
use finding::{Finding, list};
use probe::Probe;
use read::{DataReport, Rows};
use report::{Report, RewardOnData, RewardReport};

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
    #[arg(long, value_name = "N", default_value_t = 1000)]
    limit: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// One row of one reward.
struct RowFound {
    uses_reference: bool,
    gold: Option<gold::Gold>,
    hacks_tried: u64,
    paid: Vec<Finding>,
}

pub(super) fn run(args: &Args, environment: &Environment) -> Result<Exit, Failure> {
    #[cfg(feature = "models")]
    if let folders = model::folders(&args.config.config)?
        && !folders.is_empty()
    {
        return model::run(&folders, args.json, environment);
    }
    let document = args.config.document(environment)?;
    let engine = EngineArgs::many().engine(args.config.builder(environment, document))?;
    let rows = match args.data.as_slice() {
        [] => None,
        data => Some(read::rows(data, &engine.plan().config, args.limit)?),
    };
    let registry = environment.registry();
    let report = engine.install(|| report(&engine, rows.as_ref(), &registry));
    if args.json {
        output::json(&report)?;
    } else {
        output::text(&display::text(&report));
    }
    Ok(if report.ok { Exit::Ok } else { Exit::Threshold })
}

fn report(engine: &Engine, rows: Option<&Rows>, registry: &Registry) -> Report {
    let plan = engine.plan();
    let reward = |(at, planned): (usize, &Planned)| {
        let probe = Probe { engine, at, planned };
        RewardReport {
            name: planned.name.clone(),
            verifier: planned.built.spec.id.to_string(),
            cases: hacks::fixture(&probe, registry),
            data: rows.and_then(|rows| on_data(&probe, rows)),
        }
    };
    let rewards: Vec<RewardReport> = plan.rewards.iter().enumerate().map(reward).collect();
    let data = rows.map(|rows| rows.report.clone());
    let ok = rewards.iter().all(RewardReport::ok) && data.as_ref().is_none_or(DataReport::ok);
    Report { ok, config_hash: plan.config_hash(), data, rewards }
}

/// `None` for verifiers that run elsewhere: a model or a judge is not asked by the thousand.
fn on_data(probe: &Probe<'_>, rows: &Rows) -> Option<RewardOnData> {
    let Lane::Compute(verifier) = &probe.planned.built.lane else { return None };
    let rows: Vec<&read::Row> =
        rows.rows.iter().filter(|row| applies(probe.planned, &row.sample)).collect();
    let (suites, rows) = suites::verify(probe, &**verifier, &rows);
    let answers = hacks::answers(&rows);
    let one = |row: &&read::Row| {
        let gold = gold::verify(probe, row);
        let uses_reference = gold.as_ref().is_some_and(|gold| gold.uses_reference);
        let (hacks_tried, paid) = hacks::verify(probe, row, &answers);
        RowFound { uses_reference, gold, hacks_tried, paid }
    };
    // The order of the rows survives, so the report does not depend on the number of threads.
    let found: Vec<RowFound> = rows.par_iter().map(one).collect();
    Some(RewardOnData { suites, ..sum(found) })
}

fn sum(found: Vec<RowFound>) -> RewardOnData {
    let mut sum = RewardOnData::default();
    for row in found {
        sum.uses_reference |= row.uses_reference;
        if let Some(gold) = row.gold {
            sum.gold_rows += 1;
            match gold.rejected {
                None => sum.gold_accepted += 1,
                Some(finding) => list(&mut sum.gold_rejected, finding),
            }
        }
        sum.hacks_tried += row.hacks_tried;
        for finding in row.paid {
            sum.hacks_paid += 1;
            list(&mut sum.paid, finding);
        }
    }
    sum
}

/// Whether `when` holds, as far as the sample alone decides it.
fn applies(planned: &Planned, sample: &Sample) -> bool {
    let Some(when) = &planned.when else { return true };
    if when.mentions("rewards") || when.mentions("verdicts") {
        return true;
    }
    let mut scope = Scope::new();
    push_sample(&mut scope, when, sample);
    let value = when.run(&shared_engine(), &mut scope, &mut Meter::default());
    // A `when` that fails is found by scoring; here it must not hide the reward.
    value.ok().and_then(|value| value.as_bool().ok()).unwrap_or(true)
}
