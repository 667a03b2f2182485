//! `assay eval judge`: how far a judge agrees with the labels of people, and with itself.

mod cases;
mod data;
mod kind;
mod statistics;

use std::path::PathBuf;

use assay::engine::Plan;
use assay::rubrics::agreement::Bootstrap;
use assay::setup::Environment;
use assay::verifiers::code::Code;
use clap::Args as ClapArgs;
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::output;
use crate::setup::{ConfigArgs, EngineArgs};
use crate::spooled::Spooled;
use cases::{Cases, Counts};
use data::Labelled;
use kind::LabelKind;
use statistics::Measured;

/// How far a judge agrees with the labels of people, and with itself.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    #[command(flatten)]
    config: ConfigArgs,
    /// JSON lines (also .gz, .zst), Parquet, a dataset folder (FOLDER:SPLIT)
    #[arg(required = true)]
    data: Vec<PathBuf>,
    /// The reward that is measured; by default the only one that asks a judge
    #[arg(long, value_name = "NAME")]
    reward: Option<String>,
    /// The column of the labels of people; by default `label`
    #[arg(long, value_name = "COLUMN")]
    label: Option<String>,
    /// What the labels are; by default the data tell
    #[arg(long, value_enum)]
    kind: Option<LabelKind>,
    /// At least this share is a yes, where labels are right and wrong
    #[arg(long, value_name = "SHARE", default_value_t = 0.5)]
    threshold: f64,
    /// How often the rows are drawn again for the intervals
    #[arg(long, value_name = "N", default_value_t = 1000)]
    resamples: usize,
    /// Draws them
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// The bins of the calibration
    #[arg(long, value_name = "N", default_value_t = 10)]
    bins: usize,
    /// Read at most this many rows
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    #[command(flatten)]
    engine: EngineArgs,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, environment: &Environment) -> Result<Exit, Failure> {
    let document = args.config.document(environment)?;
    let engine = args.engine.engine(args.config.builder(environment, document))?;
    let plan = engine.plan();
    let reward = reward(args, plan)?;
    let limits = plan.config.limits.data();
    // The first row is looked at before all of them are read.
    let spooled = Spooled::new(&args.data)?;
    let asked = data::Asked {
        files: &spooled.paths,
        columns: &plan.config.data,
        label: args.label.as_deref().unwrap_or("label"),
        label_given: args.label.is_some(),
        kind: args.kind,
        limit: args.limit.unwrap_or(usize::MAX),
    };
    let Labelled { kind, samples, labels, unlabelled } = asked.read(&limits)?;
    if labels.is_empty() {
        let column = asked.label;
        let why = format!("no row has a label in its column \"{column}\"; --label names another");
        return Err(Failure::usage(why));
    }
    output::note(&format!("{} labelled rows ({kind:?})", labels.len()).to_lowercase());
    let scored = engine.score(samples);
    let verdicts: Vec<_> = scored.iter().map(|one| one.verdict(&reward)).collect();
    let cases = Cases::of(kind, &labels, &verdicts, args.threshold);
    let how = Bootstrap { resamples: args.resamples, seed: args.seed, ..Bootstrap::default() };
    let measured = cases.measured(how, args.bins);
    let counts = Counts { unlabelled, ..cases.counts };
    engine.replies_kept().map_err(|why| Failure::outside(Code::Unwritable, why))?;
    if args.json {
        let found = json!({
            "reward": reward,
            "kind": kind,
            "counts": counts,
            "statistics": measured.statistics,
            "calibration": measured.calibration,
            "judges": engine.judge_report().unwrap_or(Value::Null),
        });
        output::json(&found)?;
    } else {
        tell(&counts, &measured);
    }
    Ok(if counts.faults.is_empty() { Exit::Ok } else { Exit::Fault })
}

/// The reward that is measured.
fn reward(args: &Args, plan: &Plan) -> Result<String, Failure> {
    if let Some(name) = &args.reward {
        let known = plan.names.iter().any(|own| own == name);
        let why = || format!("--reward: no reward is called \"{name}\"");
        return known.then(|| name.clone()).ok_or_else(|| Failure::usage(why()));
    }
    let asks = |spec: &assay::verifiers::Spec| spec.files.iter().any(|(name, _)| name == "judge");
    let mut judged = plan.rewards.iter().filter(|reward| asks(&reward.built.spec));
    match (judged.next(), judged.next()) {
        (Some(only), None) => Ok(only.name.clone()),
        (None, _) => Err(Failure::usage("no reward asks a judge; name one with --reward")),
        _ => Err(Failure::usage("several rewards ask a judge; name one with --reward")),
    }
}

fn tell(counts: &Counts, measured: &Measured) {
    let number = |value: f64| format!("{value:.3}");
    let rows: Vec<[String; 4]> = measured
        .statistics
        .iter()
        .map(|(name, found)| {
            let name = name.replace('_', " ");
            match found {
                Some(found) => [name, number(found.value), number(found.low), number(found.high)],
                None => [name, "-".to_owned(), "-".to_owned(), "-".to_owned()],
            }
        })
        .collect();
    output::line(&output::table(["", "value", "low", "high"], &rows));
    let Counts { rows, judged, abstained, unlabelled, .. } = counts;
    let unlabelled = match unlabelled {
        0 => String::new(),
        unlabelled => format!("; {unlabelled} rows without a label were left out"),
    };
    output::line(&format!("\n{rows} rows, {judged} judged, {abstained} abstained{unlabelled}"));
    for (fault, count) in &counts.faults {
        output::line(&format!("  {fault}: {count}"));
    }
    let Some(diagram) = &measured.calibration else { return };
    let share = |share: Option<f64>| share.map_or_else(|| "-".to_owned(), number);
    let bins: Vec<[String; 4]> = diagram
        .bins
        .iter()
        .filter(|bin| bin.count > 0)
        .map(|bin| {
            let range = format!("{:.2} to {:.2}", bin.from, bin.to);
            [range, bin.count.to_string(), share(bin.mean_predicted), share(bin.share_right)]
        })
        .collect();
    output::line(&format!("\n{}", output::table(["reward", "rows", "mean", "right"], &bins)));
}
