//! `assay validate`: whether the configuration pays for right answers and for nothing else, or
//! whether a model folder is what its manifest says.

mod gold;
mod hacks;
#[cfg(feature = "models")]
mod model;
mod read;
mod suites;
mod tell;

use std::path::PathBuf;

use assay::engine::Planned;
use assay::setup::Environment;
use assay::verifiers::script::{push_sample, shared_engine};
use assay::verifiers::{Lane, Meter, Outcome, Sample, Verdict};
use assay::{Engine, Registry};
use clap::Args as ClapArgs;
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};
use rhai::Scope;
use serde::Serialize;
use serde_json::Value;

use super::exit::{Exit, Failure};
use super::output;
use super::setup::{ConfigArgs, EngineArgs};
use hacks::FixtureReport;
use read::{DataReport, Rows};
use suites::SuitesReport;

/// From here on a reward is full.
const FULL: f64 = 1.0 - 1e-9;
/// Rows that are listed for one finding; the rest are counted.
const LISTED_MAX: usize = 100;

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

/// What was found. The keys are part of the command-line contract.
#[derive(Serialize)]
struct Report {
    ok: bool,
    config_hash: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<DataReport>,
    rewards: Vec<RewardReport>,
}

/// What was found of one reward.
#[derive(Serialize)]
struct RewardReport {
    name: String,
    verifier: String,
    /// The hack cases of its fixture file.
    #[serde(skip_serializing_if = "Option::is_none")]
    cases: Option<FixtureReport>,
    /// Its own right answers, and cheats made of them; none without data.
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<RewardOnData>,
}

#[derive(Default, Serialize)]
struct RewardOnData {
    /// Whether taking the reference away changes any verdict. Where it does not, the reward
    /// judges form, and neither gold answers nor cheats say anything about it.
    uses_reference: bool,
    /// Rows with a reference to which the verifier applies.
    gold_rows: u64,
    /// Those of them whose reference earned full reward.
    gold_accepted: u64,
    gold_rejected: Vec<Finding>,
    /// Cheats that were tried.
    hacks_tried: u64,
    /// Those that earned full reward.
    hacks_paid: u64,
    paid: Vec<Finding>,
    /// Where the reference is tests: whether they test anything. Gold answers and cheats cannot be
    /// made of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    suites: Option<SuitesReport>,
}

/// One row that says something.
#[derive(Clone, Serialize)]
struct Finding {
    id: String,
    row: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    hack: Option<&'static str>,
    completion: String,
    verdict: String,
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
        output::text(&tell::text(&report));
    }
    Ok(if report.ok { Exit::Ok } else { Exit::Threshold })
}

fn report(engine: &Engine, rows: Option<&Rows>, registry: &Registry) -> Report {
    let plan = engine.plan();
    let reward = |(at, planned): (usize, &Planned)| {
        let judge = Judge { engine, at, planned };
        RewardReport {
            name: planned.name.clone(),
            verifier: planned.built.spec.id.to_string(),
            cases: hacks::fixture(&judge, registry),
            data: rows.and_then(|rows| on_data(&judge, rows)),
        }
    };
    let rewards: Vec<RewardReport> = plan.rewards.iter().enumerate().map(reward).collect();
    let data = rows.map(|rows| rows.report.clone());
    let ok = rewards.iter().all(RewardReport::ok) && data.as_ref().is_none_or(DataReport::ok);
    Report { ok, config_hash: plan.config_hash(), data, rewards }
}

impl RewardReport {
    fn ok(&self) -> bool {
        let cases = self.cases.as_ref().is_none_or(|cases| cases.failed.is_empty());
        let data = self.data.as_ref().is_none_or(|data| {
            let right = data.hacks_paid == 0 && data.gold_accepted == data.gold_rows;
            let broken = data.suites.as_ref().map_or(0, |suites| suites.broken);
            (!data.uses_reference || right) && broken == 0
        });
        cases && data
    }
}

/// `None` for verifiers that run elsewhere: a model or a judge is not asked by the thousand.
fn on_data(judge: &Judge<'_>, rows: &Rows) -> Option<RewardOnData> {
    let Lane::Compute(verifier) = &judge.planned.built.lane else { return None };
    let rows: Vec<&read::Row> =
        rows.rows.iter().filter(|row| applies(judge.planned, &row.sample)).collect();
    let (suites, rows) = suites::judge(judge, &**verifier, &rows);
    let answers = hacks::answers(&rows);
    let one = |row: &&read::Row| {
        let gold = gold::judge(judge, row);
        let uses_reference = gold.as_ref().is_some_and(|gold| gold.uses_reference);
        let (hacks_tried, paid) = hacks::judge(judge, row, &answers);
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

fn list(findings: &mut Vec<Finding>, finding: Finding) {
    if findings.len() < LISTED_MAX {
        findings.push(finding);
    }
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

/// A verifier on variants of samples, as the engine runs it.
struct Judge<'a> {
    engine: &'a Engine,
    /// The place of its reward.
    at: usize,
    planned: &'a Planned,
}

impl Judge<'_> {
    fn verdict(&self, sample: &Sample, completion: &str, reference: Option<&Value>) -> Verdict {
        let variant = Sample::builder(completion)
            .id(sample.id())
            .prompt(sample.prompt_content().clone())
            .meta(sample.meta().clone())
            .reference(reference.cloned().unwrap_or_default())
            .build();
        self.alone(&variant)
    }

    fn alone(&self, sample: &Sample) -> Verdict {
        let missing = || Verdict::abstained("the verifier judges whole groups");
        self.engine.judge_alone(self.at, sample).unwrap_or_else(missing)
    }
}

fn full(verdict: &Verdict) -> bool {
    matches!(&verdict.outcome, Outcome::Scored(reward) if reward.get() >= FULL)
}
