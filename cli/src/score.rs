//! `assay score`: a dataset into a run folder.

mod repeat;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use assay::engine::runs::{RunStart, VerdictForm};
use assay::engine::{
    Agreement, BadRows, CancellationToken, Engine, EngineBuilder, FileRun, FileRunSpec,
    GroupCounts, Report, Shard, Summary,
};
use assay::setup::Environment;
use assay::verifiers::code::Code;
use clap::{Args as ClapArgs, ValueEnum};

use super::exit::{Exit, Failure};
use super::output::{self, count, percent};
use super::progress::{Expected, Progress};
use super::run_files::{folder_out, reward, share};
use super::setup::{ConfigArgs, EngineArgs, TrainingArgs};
use super::signals::stop_on_signals;
use super::{summary, validate};

/// Score a dataset into a run folder.
#[derive(Debug, ClapArgs)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(super) struct Args {
    #[command(flatten)]
    config: ConfigArgs,
    /// JSON lines (also .gz, .zst), Parquet, a dataset folder (FOLDER:SPLIT), or - for stdin
    #[arg(required = true)]
    data: Vec<PathBuf>,
    /// The run folder
    #[arg(short, long, value_name = "RUN", required_unless_present = "dry_run", value_parser = folder_out)]
    output: Option<PathBuf>,
    /// Ask no judge and write no run: estimate the calls and tokens that judges would take
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    engine: EngineArgs,
    /// Start over, whatever the folder holds of an earlier run
    #[arg(long)]
    fresh: bool,
    /// Read at most this many rows; a group whose members rewards compare is read to its end
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    limit: Option<u64>,
    /// Score one of N parts, counted from 0, into a folder of its own inside RUN
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    #[command(flatten)]
    training: TrainingArgs,
    /// Judge rows with a fault again
    #[arg(long)]
    retry_faults: bool,
    /// What becomes of rows that cannot be read
    #[arg(long, value_enum, default_value_t = BadRowsArg::Stop)]
    bad_rows: BadRowsArg,
    /// Compare rewards with this column, which says right or wrong
    #[arg(long, value_name = "COLUMN")]
    labels: Option<String>,
    /// Exit with 3 when a larger share of rows failed
    #[arg(long, value_name = "SHARE", default_value_t = 1.0, value_parser = share)]
    max_fault_rate: f64,
    /// Exit with 1 when the mean reward is lower
    #[arg(long, value_name = "REWARD", value_parser = reward, allow_negative_numbers = true)]
    min_mean: Option<f64>,
    /// Exit with 1 when a smaller share of labelled rows agrees
    #[arg(long, value_name = "SHARE", requires = "labels", value_parser = share)]
    min_agreement: Option<f64>,
    /// Score the data so many times in all, without the cache, and exit with 1 where a row is not judged
    /// alike each time
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=100))]
    #[arg(conflicts_with_all = ["shard", "dry_run"])]
    repeat: Option<u32>,
    /// The form of the verdict rows
    #[arg(long, value_enum, default_value_t = Format::Jsonl)]
    format: Format,
    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
    /// Show no progress
    #[arg(short, long)]
    quiet: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum BadRowsArg {
    Stop,
    Skip,
    Fault,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    Jsonl,
    Parquet,
}

impl From<BadRowsArg> for BadRows {
    fn from(arg: BadRowsArg) -> Self {
        match arg {
            BadRowsArg::Stop => Self::Stop,
            BadRowsArg::Skip => Self::Skip,
            BadRowsArg::Fault => Self::Fault,
        }
    }
}

impl From<Format> for VerdictForm {
    fn from(format: Format) -> Self {
        match format {
            Format::Jsonl => Self::Jsonl,
            Format::Parquet => Self::Parquet,
        }
    }
}

pub(super) fn run(args: &Args, environment: &Environment) -> Result<Exit, Failure> {
    let mut document = args.config.document(environment)?;
    if let Some(column) = &args.labels {
        document.set("data.label", &toml::Value::from(column.as_str()).to_string())?;
    }
    let stop = stop_on_signals()?;
    let again = args.repeat.map(|times| (times, document.clone()));
    let builder = args.config.builder(environment, document);
    let Some(output) = args.output.as_ref().filter(|_| !args.dry_run) else {
        return dry_run(args, builder, &stop);
    };
    let spent = Arc::new(AtomicBool::new(false));
    #[cfg(feature = "rubrics")]
    let builder = {
        let (stop, spent) = (stop.clone(), Arc::clone(&spent));
        builder.on_budget_spent(move || {
            spent.store(true, Ordering::Relaxed);
            stop.cancel();
        })
    };
    let engine = args.engine.engine(builder)?;
    let scored = score(args, output, &engine, &stop)?;
    let report = scored.report;
    for mended in &report.mended {
        output::note(&format!("{}: {mended}", scored.folder.display()));
    }
    tell(args, &report.summary, &engine, scored.step)?;
    if !args.quiet {
        output::note(&closing(&scored.folder, &report, scored.seconds, scored.can_go_on));
    }
    engine.replies_kept().map_err(|why| Failure::outside(Code::Unwritable, why))?;
    if spent.load(Ordering::Relaxed) && !report.complete {
        output::note("the budget of a judge is spent: raise it, and the same command goes on");
        return Ok(Exit::Threshold);
    }
    let exit = exit(args, &report, stop.is_cancelled());
    match again {
        Some((times, document)) if report.complete && exit == Exit::Ok => {
            let (spec, run) = (spec(args, output)?, scored.folder.as_path());
            let again = repeat::Repeat { spec, engine: &args.engine, run, times, stop: &stop };
            again.compare(|| args.config.builder(environment, document.clone()))
        }
        _ => Ok(exit),
    }
}

/// What came of scoring.
struct Done {
    report: Report,
    folder: PathBuf,
    seconds: f64,
    /// Whether the same command goes on where this one was stopped.
    can_go_on: bool,
    /// The step of the training at which it began.
    step: u64,
}

/// What is scored into a folder.
fn spec(args: &Args, output: &Path) -> Result<FileRunSpec, Failure> {
    Ok(FileRunSpec {
        data: args.data.clone(),
        output: output.to_owned(),
        shard: args.shard,
        bad_rows: args.bad_rows.into(),
        limit: args.limit,
        training: args.training.read()?,
        fresh: args.fresh,
        retry_faults: args.retry_faults,
        form: args.format.into(),
        derived: false,
    })
}

/// Scores into a run folder.
fn score(
    args: &Args,
    output: &Path,
    engine: &Engine,
    stop: &CancellationToken,
) -> Result<Done, Failure> {
    let spec = spec(args, output)?;
    let at_step = spec.training.step;
    let mut run = FileRun::open(spec, engine, std::process::id())?;
    let expected = Expected {
        bytes: run.bytes_total(),
        limit: args.limit,
        shards: args.shard.map_or(1, Shard::of),
    };
    let mut progress = Progress::start(expected, engine.activity(), stop, args.quiet);
    let report = run.run(stop, &mut |now| progress.update(now));
    progress.finish(&engine.plan().names);
    let (report, seconds) = (report?, progress.seconds());
    let can_go_on = run.can_go_on();
    Ok(Done { report, folder: run.folder().to_owned(), seconds, can_go_on, step: at_step })
}

/// Scores into a folder that is dropped, asks no judge, and tells what judges would be asked.
#[cfg(feature = "rubrics")]
fn dry_run(args: &Args, builder: EngineBuilder, stop: &CancellationToken) -> Result<Exit, Failure> {
    let engine = args.engine.engine(builder.dry_judges())?;
    let folder = tempfile::tempdir()?;
    score(args, folder.path(), &engine, stop)?;
    let report = engine.plan().judges.report();
    if args.json {
        output::json(&report)?;
        return Ok(Exit::Ok);
    }
    let mut rows = Vec::new();
    for (judge, counts) in &report.judges {
        rows.push([judge.clone(), count(counts.total.calls), count(counts.total.tokens)]);
        for (subject, counts) in &counts.subjects {
            let subject = format!("  {}", assay::data::escape(subject));
            rows.push([subject, count(counts.calls), count(counts.tokens)]);
        }
    }
    output::line(&output::table(["judge", "calls", "tokens (estimated)"], &rows));
    Ok(Exit::Ok)
}

/// In place of rubrics, which this build is without: there is nobody to ask.
#[cfg(not(feature = "rubrics"))]
fn dry_run(_: &Args, _: EngineBuilder, _: &CancellationToken) -> Result<Exit, Failure> {
    Err(Failure::usage("--dry-run: this build asks no judges"))
}

fn tell(args: &Args, summary: &Summary, engine: &Engine, step: u64) -> Result<(), Failure> {
    if args.json {
        output::json(summary)?;
    } else {
        let rewards = engine.plan().rewards.iter();
        let verifiers: Vec<&str> = rewards.map(|planned| planned.built.spec.id.as_ref()).collect();
        summary::show(summary, &verifiers);
        for note in validate::data_notes(&args.data, engine.plan(), step) {
            output::line(&note);
        }
        if engine.plan().needs_groups() && summary.groups.is_none() && summary.rows > 1 {
            let why = "note: no two adjacent rows share a group or a prompt: rewards that \
                       compare a group have nobody to compare with, or all rows as one group";
            output::line(why);
        }
        let is_at_limit = args.limit.is_some_and(|most| summary.rows + summary.skipped >= most);
        let is_uneven = |own: &GroupCounts| own.smallest < own.largest || own.rows < summary.rows;
        if is_at_limit
            && !engine.plan().needs_groups()
            && summary.groups.as_ref().is_some_and(is_uneven)
        {
            let why = "note: groups are of several sizes, and --limit may have cut the last: pass@k \
                       and advantages take what there is of it for all of it";
            output::line(why);
        }
    }
    Ok(())
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a rate for people"
)]
fn closing(run: &Path, report: &Report, seconds: f64, can_go_on: bool) -> String {
    let run = run.display();
    if report.scored == 0 && report.start == RunStart::Done {
        return format!("{run}: complete already");
    }
    let earlier = report.summary.rows.saturating_sub(report.scored);
    let rate = report.scored as f64 / seconds.max(1e-9);
    let mut text = format!(
        "{run}: {} rows in {seconds:.2} s, {} rows/s",
        count(report.scored),
        count(rate as u64)
    );
    if earlier > 0 {
        text.push_str(&format!("; {} rows were there already", count(earlier)));
    }
    if !report.complete {
        text.push_str(if can_go_on {
            "; stopped: run the same command to go on"
        } else {
            "; stopped: a stream cannot be read again, so the run cannot go on"
        });
    }
    text
}

fn exit(args: &Args, report: &Report, stopped: bool) -> Exit {
    let summary = &report.summary;
    if stopped && !report.complete {
        return Exit::Interrupted;
    }
    if summary.rows == 0 && summary.skipped > 0 {
        output::note("every row was skipped");
        return Exit::Fault;
    }
    let all_failed = summary.rows > 0 && summary.total.failed == summary.rows;
    if all_failed || summary.fault_rate() > args.max_fault_rate {
        let (rate, most) = (percent(summary.fault_rate()), percent(args.max_fault_rate));
        let why =
            if all_failed { String::new() } else { format!(", above --max-fault-rate, {most}") };
        output::note(&format!("{rate} of rows failed{why}"));
        return Exit::Fault;
    }
    let mean = summary.total.mean.unwrap_or(f64::NEG_INFINITY);
    let agreement = summary.labels.as_ref().map_or(1.0, Agreement::accuracy);
    let low = [
        ("the mean", mean, "--min-mean", args.min_mean),
        ("the agreement", agreement, "--min-agreement", args.min_agreement),
    ];
    let low = low.into_iter().filter_map(|(what, found, flag, least)| {
        least.filter(|least| found < *least).map(|least| (what, found, flag, least))
    });
    let mut exit = Exit::Ok;
    for (what, found, flag, least) in low {
        let found = if found.is_finite() { format!("{found:.4}") } else { "of no row".to_owned() };
        output::note(&format!("{what}, {found}, is below {flag} {least}"));
        exit = Exit::Threshold;
    }
    exit
}
