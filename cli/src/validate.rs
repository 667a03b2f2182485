//! `assay validate`: whether the configuration pays for right answers and for nothing else, or
//! whether a model folder is what its manifest says.

mod advice;
mod broken;
mod columns;
mod combination;
mod display;
mod faults;
mod finding;
mod gold;
mod hacks;
mod idle;
mod lint;
mod members;
#[cfg(feature = "models")]
mod model;
mod names;
mod near_misses;
mod paths;
mod probe;
mod problem;
mod programs;
mod read;
mod report;
mod rewrites;
mod scripts;
mod settings;
mod slips;
mod sources;
mod spelling;
mod steps;
mod suites;
mod tally;
mod totals;
mod trial;
mod unpaid;
mod unread;
mod words;

use std::path::PathBuf;

use assay::engine::{ConfigFolder, Document, Planned};
use assay::setup::Environment;
use assay::verifiers::Lane;
use assay::{Engine, Plan, Registry};
use clap::Args as ClapArgs;
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};

use super::exit::{Exit, Failure};
use super::output;
use super::setup::{ConfigArgs, EngineArgs, TrainingArgs};
use faults::{Faults, Found};
use finding::{Finding, list};
use lint::Lint;
use names::{Columns, Names};
use probe::Probe;
use problem::Problem;
use read::{DataReport, ProbedRows};
use report::{Report, RewardOnData, RewardReport};
use sources::{Role, Source};
use steps::Steps;
use tally::RowsTally;
use trial::Trial;

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
    let builder = args.config.builder(environment, document.clone());
    let engine = EngineArgs::many().engine(builder)?;
    let rows = match args.data.as_slice() {
        [] => None,
        data => Some(read::rows(data, &engine.plan().config, args.limit)?),
    };
    if let Some(note) = skipped_note(&args.data) {
        output::note(&note);
    }
    let files = ConfigFolder::beside(&args.config.config, args.config.allow_path.clone());
    let sources = sources::sources(engine.plan(), &files);
    let steps = Steps::start();
    let training = args.training.read()?;
    let trial = trial::run(&engine, read::all(rows.as_ref()), args.deep, training, &steps);
    let whole = Whole {
        args,
        engine: &engine,
        document: &document,
        sources: &sources,
        rows: rows.as_ref(),
        trial: &trial,
        steps: &steps,
    };
    let registry = environment.registry();
    let report = engine.install(|| whole.report(&registry));
    drop(steps);
    if args.json {
        output::json(&report)?;
    } else {
        output::text(&display::text(&report));
    }
    Ok(if report.ok { Exit::Ok } else { Exit::Threshold })
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
        && let Ok(rows) = read::rows(data, &plan.config, ROWS_MAX)
    {
        let slips = slips::find(&rows.rows, plan, step).into_iter();
        let slips = slips.chain(broken::find(&rows.rows, plan));
        notes.extend(slips.map(|slip| format!("note: {}; {}", slip.message, slip.help)));
    }
    notes
}

/// Files that lie beside the data and are not read.
fn skipped_note(data: &[PathBuf]) -> Option<String> {
    /// The most files that are named.
    const NAMED_MAX: usize = 5;
    let skipped = assay::data::skipped(data);
    let named = skipped.iter().take(NAMED_MAX).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = skipped.len().saturating_sub(NAMED_MAX);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!skipped.is_empty())
        .then(|| format!("note: not read, as they are of another kind: {named}{more}"))
}

/// All that a configuration is judged by.
struct Whole<'a> {
    args: &'a Args,
    engine: &'a Engine,
    document: &'a Document,
    sources: &'a [Source],
    rows: Option<&'a ProbedRows>,
    trial: &'a Trial<'a>,
    steps: &'a Steps,
}

impl Whole<'_> {
    fn report(&self, registry: &Registry) -> Report {
        let plan = self.engine.plan();
        let tried = !read::all(self.rows).is_empty();
        let reward = |(at, planned): (usize, &Planned)| {
            let probe = Probe::new(self.engine, at, planned).after(self.trial);
            RewardReport {
                name: planned.name.clone(),
                verifier: planned.built.spec.id.to_string(),
                rows: tried.then(|| tally::of_reward(plan, self.trial, at)),
                cases: hacks::fixture(&probe, registry, read::all(self.rows)),
                data: self.rows.and_then(|rows| self.on_data(&probe, rows)),
            }
        };
        let rewards: Vec<RewardReport> = plan.rewards.iter().enumerate().map(reward).collect();
        let combined = tried.then(|| tally::of_combination(plan, self.trial));
        let Found { errors, warnings, .. } = self.problems(&rewards, combined.as_ref(), registry);
        let data = self.rows.map(|rows| rows.report.clone());
        let ok = errors.is_empty()
            && rewards.iter().all(RewardReport::ok)
            && data.as_ref().is_none_or(DataReport::ok);
        let (config_hash, deep) = (plan.config_hash(), self.args.deep);
        Report { ok, config_hash, deep, errors, warnings, data, combined, rewards }
    }

    /// What is wrong with names, and what fails.
    fn problems(
        &self,
        rewards: &[RewardReport],
        combined: Option<&RowsTally>,
        registry: &Registry,
    ) -> Found {
        let (plan, mut found) = (self.engine.plan(), Found::default());
        found.errors.extend(self.rows.and_then(|rows| rows.absent.as_ref()).map(|absent| {
            let (message, help) = absent.message.split_once('\n').unwrap_or((&absent.message, ""));
            let error = self.document.error(&absent.key, message);
            let help = Some(help.trim().to_owned()).filter(|help| !help.is_empty());
            Problem::new(absent.key.clone(), error.help(help))
        }));
        let columns = Columns::of(read::all(self.rows), plan.config.data.optional);
        let names = Names { plan, document: self.document, columns: &columns };
        let mut misnamed: Vec<Role> = Vec::new();
        for source in self.sources {
            let problems = names.problems(source);
            if !problems.is_empty() {
                misnamed.push(source.role);
            }
            found.errors.extend(problems);
        }
        found.warnings.extend(scripts::warnings(&names, self.sources, self.trial));
        let faults = Faults {
            engine: self.engine,
            document: self.document,
            sources: self.sources,
            trial: self.trial,
            config: &self.args.config.config,
            data: &self.args.data,
            is_partial: self.rows.is_some_and(|rows| rows.report.partial),
            registry,
        };
        for (own, reward) in plan.rewards.iter().enumerate().zip(rewards) {
            if let Some(tally) = &reward.rows {
                faults.of_reward(own, tally, &misnamed, &mut found);
            }
        }
        let (rows, step) = (read::all(self.rows), self.trial.training.step);
        let (document, sources) = (self.document, self.sources);
        Lint { plan, document, rows, sources, step }.find(&mut found);
        faults.of_hacks(rewards, &mut found);
        faults.of_weights(rewards, &mut found);
        if let Some(tally) = combined {
            faults.of_combination(tally, &misnamed, &mut found);
            faults.of_directions(rewards, &mut found);
            faults.of_totals(rewards, &mut found);
            faults.of_rows(&mut found);
        }
        found
    }

    /// `None` for verifiers that run elsewhere: a model or a judge is not asked by the thousand.
    fn on_data(&self, probe: &Probe<'_>, rows: &ProbedRows) -> Option<RewardOnData> {
        let Lane::Compute(verifier) = &probe.planned.built.lane else { return None };
        let (plan, step, steps) = (self.engine.plan(), self.trial.training.step, self.steps);
        let applies = |row: &&read::Row| trial::applies(plan, probe.at, &row.sample, step);
        let rows: Vec<&read::Row> = rows.rows.iter().filter(applies).collect();
        let name = &probe.planned.name;
        let (suites, rows) = suites::verify(probe, &**verifier, &rows, steps);
        let answers = hacks::answers(probe, &rows);
        steps.begin(format!("right answers and cheats for {name}, rows"), rows.len());
        let one = |row: &&read::Row| {
            let gold = gold::verify(probe, row);
            let uses_reference = gold.as_ref().is_some_and(|gold| gold.uses_reference);
            let (hacks_tried, paid) = hacks::verify(probe, row, &answers);
            steps.did(1);
            RowFound { uses_reference, gold, hacks_tried, paid }
        };
        // The order of the rows survives, so the report does not depend on the number of threads.
        let found: Vec<RowFound> = rows.par_iter().map(one).collect();
        Some(RewardOnData { suites, probes_exhausted: probe.exhausted(), ..sum(found) })
    }
}

fn sum(found: Vec<RowFound>) -> RewardOnData {
    let (mut sum, tried) = (RewardOnData::default(), found.len() as u64);
    for row in found {
        sum.uses_reference |= row.uses_reference;
        if let Some(judged) = row.gold.and_then(|gold| gold.judged) {
            sum.gold_rows += 1;
            match judged {
                Ok(()) => sum.gold_accepted += 1,
                Err(finding) => list(&mut sum.gold_rejected, finding),
            }
        }
        sum.hacks_tried += row.hacks_tried;
        for finding in row.paid {
            sum.hacks_paid += 1;
            list(&mut sum.paid, finding);
        }
    }
    sum.without_chance(tried);
    sum
}
