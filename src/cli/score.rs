//! `assay score`: a dataset into a run folder.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use assay::data::{ReadLimits, Source};
use assay::engine::runs::{
    DiskStore, InputFile, RunFolder, RunStart, VERDICTS_PARQUET, hash_file, write_parquet,
};
use assay::engine::{
    Agreement, BadRows, CancellationToken, Engine, EngineBuilder, Report, RunSession, Summary,
    Tally,
};
use assay::setup::Environment;
use clap::{Args as ClapArgs, ValueEnum};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::exit::{Exit, Failure};
use super::output::{self, count, percent};
use super::progress::Progress;
use super::setup::{ConfigArgs, EngineArgs};

/// Disagreements that are shown; the summary lists them all.
const SHOWN_MAX: usize = 20;

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
    #[arg(short, long, value_name = "RUN", required_unless_present = "dry_run")]
    output: Option<PathBuf>,
    /// Ask no judge and write no run: estimate the calls and tokens that judges would take
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    engine: EngineArgs,
    /// Start over, whatever the folder holds of an earlier run
    #[arg(long)]
    fresh: bool,
    /// Read at most this many rows; a group that this would cut is read to its end
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
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
    #[arg(long, value_name = "SHARE", default_value_t = 1.0)]
    max_fault_rate: f64,
    /// Exit with 1 when the mean reward is lower
    #[arg(long, value_name = "REWARD")]
    min_mean: Option<f64>,
    /// Exit with 1 when a smaller share of labelled rows agrees
    #[arg(long, value_name = "SHARE", requires = "labels")]
    min_agreement: Option<f64>,
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
enum Format {
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

pub(super) fn run(args: &Args, environment: &Environment) -> Result<Exit, Failure> {
    let mut document = args.config.document(environment)?;
    if let Some(column) = &args.labels {
        document.set("data.label", &toml::Value::from(column.as_str()).to_string())?;
    }
    let stop = stop_on_signals()?;
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
    let (report, seconds) = score(args, output, &engine, &stop)?;
    tell(args, &report, &engine)?;
    if !args.quiet {
        output::note(&closing(output, &report, seconds));
    }
    engine.replies_kept().map_err(|why| anyhow::anyhow!("{why}"))?;
    if spent.load(Ordering::Relaxed) && !report.complete {
        output::note("the budget of a judge is spent: raise it, and the same command goes on");
        return Ok(Exit::Threshold);
    }
    Ok(exit(args, &report, stop.is_cancelled()))
}

/// Scores into a run folder. The seconds that it took come back too.
fn score(
    args: &Args,
    output: &Path,
    engine: &Engine,
    stop: &CancellationToken,
) -> Result<(Report, f64), Failure> {
    let limits = engine.plan().config.limits.data();
    let mut session = session(args, output, engine, &limits)?;
    let total = session.inputs.iter().map(|input| input.bytes).sum();
    let mut progress = Progress::start(total, args.quiet);
    let read = progress.bytes_read();
    let open = || Ok(Source::open(&args.data, &limits)?.count_into(Arc::clone(&read)));
    let report = session.run(&open, stop, &mut |summary, batch| progress.update(summary, batch));
    progress.finish();
    let report = report?;
    if report.complete {
        match args.format {
            Format::Jsonl => session.remove(VERDICTS_PARQUET)?,
            Format::Parquet => write_parquet(output, &engine.plan().names)?,
        }
    }
    Ok((report, progress.seconds()))
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

fn session<'a>(
    args: &Args,
    output: &Path,
    engine: &'a Engine,
    limits: &ReadLimits,
) -> Result<RunSession<'a>, Failure> {
    Ok(RunSession {
        engine,
        inputs: inputs(&args.data, limits)?,
        folder: RunFolder::open(output, std::process::id())?,
        store: Box::new(DiskStore::new(output)?),
        bad_rows: args.bad_rows.into(),
        limit: args.limit,
        fresh: args.fresh,
        retry_faults: args.retry_faults,
    })
}

/// The input file by file, with its digests.
fn inputs(data: &[PathBuf], limits: &ReadLimits) -> Result<Vec<InputFile>, Failure> {
    let source = Source::open(data, limits)?;
    let describe = |path: Option<&Path>| match path {
        None => Ok(InputFile { path: "-".to_owned(), bytes: 0, sha256: None }),
        Some(path) => {
            let shown = path.display().to_string();
            let (sha256, bytes) =
                hash_file(path).map_err(|error| anyhow::anyhow!("{shown}: {error}"))?;
            Ok(InputFile { path: shown, bytes, sha256: Some(sha256) })
        }
    };
    source.paths().map(describe).collect()
}

/// The first signal hands out no more rows; those under way may take half a second more. The second
/// ends the process.
fn stop_on_signals() -> Result<CancellationToken, Failure> {
    let (stop, signalled) = (CancellationToken::new(), Arc::new(AtomicBool::new(false)));
    for signal in [SIGINT, SIGTERM] {
        let code = Exit::Interrupted as i32;
        signal_hook::flag::register_conditional_shutdown(signal, code, Arc::clone(&signalled))?;
        signal_hook::flag::register(signal, Arc::clone(&signalled))?;
    }
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    let token = stop.clone();
    let wait = move || {
        if signals.forever().next().is_some() {
            token.cancel();
        }
    };
    std::thread::Builder::new().name("assay-signals".to_owned()).spawn(wait)?;
    Ok(stop)
}

fn tell(args: &Args, report: &Report, engine: &Engine) -> Result<(), Failure> {
    if args.json {
        output::json(&report.summary)?;
    } else {
        output::line(&summary_table(&report.summary, engine));
        if let Some(labels) = &report.summary.labels {
            output::line(&agreement_text(labels));
        }
        for line in report.summary.judges.iter().flat_map(judge_lines) {
            output::line(&line);
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
fn closing(run: &Path, report: &Report, seconds: f64) -> String {
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
        text.push_str("; stopped: run the same command to go on");
    }
    text
}

fn summary_table(summary: &Summary, engine: &Engine) -> String {
    let row = |name: &str, verifier: &str, tally: &Tally| {
        let mean = tally.mean.map_or_else(|| "-".to_owned(), |mean| format!("{mean:.4}"));
        let counts = [tally.scored, tally.abstained, tally.failed].map(count);
        let [scored, abstained, failed] = counts;
        [format!("{name}  {verifier}").trim_end().to_owned(), scored, abstained, failed, mean]
    };
    let rewards = summary.rewards.iter().zip(&engine.plan().rewards);
    let mut rows: Vec<[String; 5]> = rewards
        .map(|(named, planned)| {
            row(&named.name, &format!("({})", planned.built.spec.id), &named.tally)
        })
        .collect();
    rows.push(row("total", "", &summary.total));
    let mut text = output::table(["reward", "scored", "abstained", "failed", "mean"], &rows);
    for (fault, amount) in &summary.total.faults {
        text.push_str(&format!("\n  {fault}: {}", count(*amount)));
    }
    if summary.skipped > 0 {
        text.push_str(&format!("\n  skipped rows: {}", count(summary.skipped)));
    }
    text
}

/// What each judge was asked, a line a judge.
fn judge_lines(report: &serde_json::Value) -> Vec<String> {
    let judges = report.get("judges").and_then(serde_json::Value::as_object);
    let line = |(name, counts): (&String, &serde_json::Value)| {
        let of =
            |key: &str| count(counts.get(key).and_then(serde_json::Value::as_u64).unwrap_or(0));
        let (name, calls, tokens) = (assay::data::escape(name), of("calls"), of("tokens"));
        let (recorded, retries) = (of("recorded"), of("retries"));
        format!(
            "\njudge {name}: {calls} calls, {tokens} tokens, {retries} retries, {recorded} from the store"
        )
    };
    judges.into_iter().flatten().map(line).collect()
}

fn agreement_text(labels: &Agreement) -> String {
    let mut text = format!(
        "\nlabels in `{}`: {} of {} agree ({})\n  false accepts {}, false rejects {}, unscored {}, \
         unlabelled {}",
        labels.column,
        count(labels.agreed()),
        count(labels.compared() + labels.unscored),
        percent(labels.accuracy()),
        count(labels.false_accepts),
        count(labels.false_rejects),
        count(labels.unscored),
        count(labels.unlabelled),
    );
    for one in labels.disagreements.iter().take(SHOWN_MAX) {
        let label = if one.label { "right" } else { "wrong" };
        let reward = one.reward.map_or_else(|| "none".to_owned(), |reward| reward.to_string());
        let id = assay::data::escape(&one.id);
        text.push_str(&format!("\n  {id}: labelled {label}, reward {reward}"));
    }
    if labels.disagreements.len() > SHOWN_MAX {
        let more = labels.disagreements.len() - SHOWN_MAX;
        text.push_str(&format!("\n  and {more} more: `labels.disagreements` in summary.json"));
    }
    text
}

fn exit(args: &Args, report: &Report, stopped: bool) -> Exit {
    let summary = &report.summary;
    if stopped && !report.complete {
        return Exit::Interrupted;
    }
    if summary.fault_rate() > args.max_fault_rate {
        output::note(&format!("{} of rows failed", percent(summary.fault_rate())));
        return Exit::Fault;
    }
    let mean = summary.total.mean.unwrap_or(f64::NEG_INFINITY);
    let agreement = summary.labels.as_ref().map_or(1.0, Agreement::accuracy);
    let low_mean = args.min_mean.is_some_and(|least| mean < least);
    let low_agreement = args.min_agreement.is_some_and(|least| agreement < least);
    if low_mean || low_agreement { Exit::Threshold } else { Exit::Ok }
}
