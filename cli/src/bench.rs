//! `assay bench`: how fast a configuration judges a dataset, beside a yardstick of the same run; or how
//! fast a daemon does.

mod lines;
#[cfg(feature = "serve")]
mod load;
mod phases;

use std::path::PathBuf;
use std::time::Duration;

use assay::Engine;
use assay::data::Source;
use assay::setup::Environment;
use assay::verifiers::Sample;
use clap::Args as ClapArgs;
use serde::Serialize;

use super::exit::{Exit, Failure};
use super::output::{self, count};
use super::setup::{ConfigArgs, EngineArgs};
use super::spooled::Spooled;
use lines::Lines;
use phases::{Fresh, Phase, Spent};

/// How fast a configuration judges a dataset.
#[derive(Clone, Debug, ClapArgs)]
pub(super) struct Args {
    #[command(flatten)]
    config: ConfigArgs,
    /// JSON lines (also .gz, .zst), Parquet, or a dataset folder (FOLDER:SPLIT)
    #[arg(required = true)]
    data: Vec<PathBuf>,
    /// Threads for checks, at most 1,024; by default one a core
    #[arg(short, long, value_name = "N")]
    jobs: Option<usize>,
    /// Read at most this many rows: they are held in memory
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    limit: u64,
    /// Seconds that each phase runs for, whole passes at a time, or that a daemon is asked for; by
    /// default 2 and 10
    #[arg(long, value_name = "S")]
    seconds: Option<f64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[cfg(feature = "serve")]
    #[command(flatten)]
    load: load::LoadArgs,
}

/// How long each phase takes by default, in seconds.
const PHASE_S: f64 = 2.0;
/// How long a daemon is asked for by default, in seconds.
#[cfg(feature = "serve")]
const LOAD_S: f64 = 10.0;

/// What was measured. The keys are part of the command-line contract.
#[derive(Serialize)]
struct Report {
    assay: &'static str,
    jobs: usize,
    rows: u64,
    /// Verdicts a second, with the samples in memory.
    verdicts_per_s: f64,
    /// `serde_json::Value` from each line, on one thread. Null where the input has no lines.
    yardstick: Option<Phase>,
    /// Reading and parsing alone, on one thread.
    parse: Phase,
    /// The engine alone, with the samples in memory, on all threads.
    engine: Phase,
    /// From the input to verdict lines in memory, on all threads.
    end_to_end: Phase,
    /// Rows a second over those of the yardstick.
    parse_to_yardstick: Option<f64>,
    end_to_end_to_yardstick: Option<f64>,
    verifiers: Vec<Measured>,
}

/// One reward.
#[derive(Serialize)]
struct Measured {
    name: String,
    verifier: String,
    verdicts: u64,
    mean_us: f64,
    p50_us: f64,
    p99_us: f64,
}

pub(super) fn run(args: &Args, environment: &Environment) -> Result<Exit, Failure> {
    let data = Spooled::new(&args.data)?;
    let args = &Args { data: data.paths.clone(), ..args.clone() };
    #[cfg(feature = "serve")]
    if args.load.serve.is_some() {
        return load(args, environment);
    }
    let document = args.config.document(environment)?;
    // Verdicts from a cache would measure the cache.
    let uncached = EngineArgs { jobs: args.jobs, ..EngineArgs::plain() };
    let fresh = || uncached.engine(args.config.builder(environment, document.clone()));
    let engine = fresh()?;
    let seconds = seconds(args, PHASE_S)?;
    let samples = samples(args, &engine)?;
    if samples.is_empty() {
        return Err(Failure::usage("the data have no rows that can be read"));
    }
    let report = measure(args, (&engine, &fresh), &samples, seconds)?;
    if args.json {
        output::json(&report)?;
    } else {
        output::text(&text(&report));
    }
    Ok(Exit::Ok)
}

/// The rows that can be read, held in memory.
fn samples(args: &Args, engine: &Engine) -> Result<Vec<Sample>, Failure> {
    let config = &engine.plan().config;
    let mut samples = Vec::new();
    let mut rows = 0;
    for block in Source::open(&args.data, &config.limits.data())? {
        for row in block?.rows(&config.data) {
            if rows == args.limit {
                return Ok(samples);
            }
            rows += 1;
            samples.extend(row.sample.ok());
        }
    }
    Ok(samples)
}

/// How long to measure.
fn seconds(args: &Args, default: f64) -> Result<f64, Failure> {
    let seconds = args.seconds.unwrap_or(default);
    if Duration::try_from_secs_f64(seconds).is_err() {
        return Err(Failure::usage(format!("--seconds {seconds}: not a time")));
    }
    Ok(seconds)
}

/// Measures a daemon. The configuration says how rows are read, and how many verdicts each has; the
/// verifiers are the daemon's.
#[cfg(feature = "serve")]
fn load(args: &Args, environment: &Environment) -> Result<Exit, Failure> {
    let config = args.config.document(environment)?.config()?;
    let seconds = seconds(args, LOAD_S)?;
    let lines = Lines::read(&args.data, args.limit, &config.limits.data())?;
    let none = || Failure::usage("--serve sends lines as they are: give files of JSON lines");
    let lines = lines.ok_or_else(none)?;
    let report = load::measure(&args.load, &lines, seconds, config.rewards.len())?;
    if args.json {
        output::json(&report)?;
    } else {
        output::text(&load::text(&report));
    }
    Ok(if report.is_answered() { Exit::Ok } else { Exit::Fault })
}

fn measure(
    args: &Args,
    (engine, fresh): (&Engine, Fresh<'_>),
    samples: &[Sample],
    seconds: f64,
) -> Result<Report, Failure> {
    let lines = Lines::read(&args.data, args.limit, &engine.plan().config.limits.data())?;
    let yardstick = lines.as_ref().map(|lines| phases::yardstick(lines, seconds)).transpose()?;
    let input =
        phases::Input { engine, fresh, data: &args.data, lines: lines.as_ref(), limit: args.limit };
    let parse = phases::parse(&input, seconds)?;
    let (judged, spent) = phases::engine(fresh, samples, seconds)?;
    let end_to_end = phases::end_to_end(&input, seconds)?;
    let over = |phase: &Phase| yardstick.as_ref().map(|y| phase.rows_per_s / y.rows_per_s);
    #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
    let verdicts_per_s = judged.rows_per_s * engine.plan().rewards.len() as f64;
    Ok(Report {
        assay: env!("CARGO_PKG_VERSION"),
        jobs: engine.jobs(),
        rows: samples.len() as u64,
        verdicts_per_s,
        parse_to_yardstick: over(&parse),
        end_to_end_to_yardstick: over(&end_to_end),
        yardstick,
        parse,
        engine: judged,
        end_to_end,
        verifiers: engine.plan().rewards.iter().zip(spent).map(measured).collect(),
    })
}

fn measured((planned, mut spent): (&assay::engine::Planned, Spent)) -> Measured {
    Measured {
        name: planned.name.clone(),
        verifier: planned.built.spec.id.to_string(),
        verdicts: spent.count(),
        mean_us: spent.mean_us(),
        p50_us: spent.quantile_us(50),
        p99_us: spent.quantile_us(99),
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate for people")]
fn text(report: &Report) -> String {
    // A sandbox, a model or a judge may take seconds a row.
    let figures = |rate: f64| if rate < 100.0 { format!("{rate:.2}") } else { count(rate as u64) };
    let ratio = |ratio: Option<f64>| ratio.map_or_else(String::new, |ratio| format!("{ratio:.2}"));
    let row = |name: &str, phase: &Phase, over: Option<f64>| {
        let [least, median, most] = phase.rows_per_s_of_passes.map(figures);
        let spread = format!("{least} / {median} / {most}");
        [name.to_owned(), figures(phase.rows_per_s), phase.passes.to_string(), spread, ratio(over)]
    };
    let mut rows: Vec<[String; 5]> = Vec::new();
    if let Some(yardstick) = &report.yardstick {
        rows.push(row("serde_json::Value, 1 thread", yardstick, Some(1.0)));
    }
    rows.push(row("read and parse, 1 thread", &report.parse, report.parse_to_yardstick));
    let jobs = report.jobs;
    rows.push(row(&format!("engine alone, {jobs} threads"), &report.engine, None));
    let whole = format!("end to end, {jobs} threads");
    rows.push(row(&whole, &report.end_to_end, report.end_to_end_to_yardstick));
    let phases = output::table(
        ["phase", "rows/s", "passes", "slowest / median / fastest", "to yardstick"],
        &rows,
    );
    let verifiers: Vec<[String; 5]> = report
        .verifiers
        .iter()
        .map(|one| {
            let [mean, p50, p99] =
                [one.mean_us, one.p50_us, one.p99_us].map(|us| format!("{us:.1}"));
            [format!("{}  ({})", one.name, one.verifier), count(one.verdicts), mean, p50, p99]
        })
        .collect();
    let verifiers =
        output::table(["reward", "verdicts", "mean us", "p50 us", "p99 us"], &verifiers);
    let verdicts = count(report.verdicts_per_s as u64);
    let rows = count(report.rows);
    format!(
        "{rows} rows, {verdicts} verdicts/s\n\n{phases}\n\n{verifiers}\n\nNothing is taken from a cache \
         or from an earlier pass; what repeats within a pass is run once where a verifier remembers it.\n"
    )
}
