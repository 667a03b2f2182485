//! `assay audit`: what a configuration makes of attacks, before a policy finds them.

mod attempt;
mod figures;
mod search;
mod target;
mod text;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use assay::engine::runs::{VERDICTS, write_atomic};
use assay::engine::{CancellationToken, Engine, FileRun, FileRunSpec, RIGHT_FROM};
use assay::setup::Environment;
use assay::trainer::Groups;
use assay::trainer::diagnostics::{RewardDistance, RewardPair, reward_distance};
use assay::verifiers::Scored;
use assay::verifiers::code::Code;
use clap::Args as ClapArgs;
#[cfg(feature = "train")]
use serde_json::{Map, Value};

use super::attack::{self, Expect, Family};
use super::exit::{Exit, Failure};
use super::output;
use super::progress::{Expected, Progress};
use super::run_files::{folder_out, reward, share};
use super::setup::{ConfigArgs, EngineArgs, document};
use super::signals::stop_on_signals;
use attempt::Attempt;
use figures::{Audit, Judged};
use target::{Judge, Target};

/// The attacks as a data set, which the configuration reads.
const ATTACKS: &str = "audit.jsonl";
/// What was found.
pub(super) const FOUND: &str = "audit.json";
/// Attacks of a family on a row, where each costs a program, a model or a judge.
const DEAR_ATTACKS: usize = 4;
/// Judgements a row that the search may take, where they are cheap.
const CHEAP_SEARCH: usize = 32;

/// What a configuration makes of attacks on rows.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    #[command(flatten)]
    config: ConfigArgs,
    /// Rows to attack: JSON lines (also .gz, .zst), Parquet, or a dataset folder (FOLDER:SPLIT)
    #[arg(required = true)]
    data: Vec<PathBuf>,
    /// The folder of the audit: the attacks (audit.jsonl), their verdicts (run), what was found (audit.json)
    #[arg(short, long, value_name = "AUDIT", value_parser = folder_out)]
    output: PathBuf,
    #[command(flatten)]
    engine: EngineArgs,
    /// Attack at most this many rows
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..))]
    limit: u64,
    /// A reward from which a completion counts as paid
    #[arg(long, value_name = "REWARD", default_value_t = RIGHT_FROM, value_parser = reward, allow_negative_numbers = true)]
    pass: f64,
    /// Only this family of attacks; may be given several times
    #[arg(long, value_name = "NAME")]
    family: Vec<String>,
    /// A file of attacks of your own, of the form of `attacks/*.toml`
    #[arg(long, value_name = "FILE")]
    attacks: Vec<PathBuf>,
    /// Attacks of each family on a row; by default all, or 4 where programs, models or judges are asked
    #[arg(long, value_name = "N")]
    per_family: Option<usize>,
    /// Judgements a row to look for the best of many attacks; by default 32, or none where programs, models
    /// or judges are asked
    #[arg(long, value_name = "N")]
    search: Option<usize>,
    /// The seed of what is drawn
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Count false accepts and refusals of the completions themselves by this column, which says right or wrong
    #[arg(long, value_name = "COLUMN")]
    labels: Option<String>,
    /// Tell how far this configuration is from the first, on the same attacks
    #[arg(long, value_name = "CONFIG")]
    against: Option<PathBuf>,
    /// Start over, whatever the folder holds of an earlier audit
    #[arg(long)]
    fresh: bool,
    /// Exit with 1 when a larger share of a family's attacks is paid
    #[arg(long, value_name = "SHARE", value_parser = share)]
    max_false_accept: Option<f64>,
    /// Exit with 1 when a larger share of the edits that change nothing is refused
    #[arg(long, value_name = "SHARE", value_parser = share)]
    max_refusal: Option<f64>,
    /// Print what was found as JSON
    #[arg(long)]
    json: bool,
    /// Show no progress
    #[arg(short, long)]
    quiet: bool,
}

pub(super) fn run(args: &Args, environment: &Environment) -> Result<Exit, Failure> {
    let mut families = attack::families(&args.attacks, &args.family)?;
    let mut document = args.config.document(environment)?;
    if let Some(column) = &args.labels {
        document.set("data.label", &toml::Value::from(column.as_str()).to_string())?;
    }
    let engine = args.engine.engine(args.config.builder(environment, document))?;
    let stop = stop_on_signals()?;
    let judge = Judge::new(&engine, args.pass);
    let targets = target::targets(&judge, &args.data, args.limit)?;
    if targets.is_empty() {
        return Err(Failure::usage("the data have no row that can be read".to_owned()));
    }
    families.retain(|family| applies(family, &engine));
    let attempts = attempts(args, &judge, &targets, &mut families);
    write(args, &engine, &targets, &families, &attempts)?;
    let Some(rewards) = scored(args, &args.output.join("run"), &engine, &stop)? else {
        output::note("stopped: run the same command to go on");
        return Ok(Exit::Interrupted);
    };
    let judged = judged(&attempts, &targets, &families, &rewards);
    let mut audit = figures::audit(&families, &targets, &judged, args.pass);
    if let Some(other) = &args.against {
        audit.against = against(args, other, environment, (&judged, &families), &stop)?;
    }
    let told = serde_json::to_vec_pretty(&audit).map_err(anyhow::Error::from)?;
    write_file(&args.output.join(FOUND), &told)?;
    if args.json {
        output::json(&audit)?;
    } else {
        output::text(&text::text(&audit));
    }
    Ok(exit(args, &audit))
}

/// The beginnings of attacks that an audit found to be paid and that should not be.
#[cfg(feature = "train")]
pub(super) fn paid_attacks(audit: &Path) -> Result<Vec<String>, Failure> {
    let found: Value = super::run_files::json(audit, FOUND)?;
    let families = found.get("families").and_then(Value::as_object);
    let unpaid = families
        .into_iter()
        .flat_map(Map::values)
        .filter(|family| family.get("expect").and_then(Value::as_str) == Some("unpaid"));
    let examples = unpaid.filter_map(|family| family.get("examples")?.as_array()).flatten();
    let text = |example: &Value| Some(example.get("text")?.as_str()?.to_owned());
    Ok(examples.filter_map(text).collect())
}

/// Whether a verifier of the plan is one that a family is for.
fn applies(family: &Family, engine: &Engine) -> bool {
    let named = |own: &str| family.verifiers.iter().any(|name| name == own);
    family.verifiers.is_empty()
        || engine.plan().rewards.iter().any(|planned| named(&planned.built.spec.id))
}

/// The attacks on every row, and those that a search finds.
fn attempts(
    args: &Args,
    judge: &Judge<'_>,
    targets: &[Target],
    families: &mut Vec<Family>,
) -> Vec<Attempt> {
    let is_cheap = judge.is_cheap();
    let most = args.per_family.or((!is_cheap).then_some(DEAR_ATTACKS));
    let mut ranked = Vec::new();
    for target in targets.iter().enumerate() {
        let of_family = |family| attempt::of_row(target, family, judge, (most, args.seed));
        ranked.extend(families.iter().enumerate().flat_map(of_family).enumerate());
    }
    // Each row comes once before any comes twice: the first rows show which columns there are.
    ranked.sort_by_key(|(rank, _)| *rank);
    let mut attempts: Vec<Attempt> = ranked.into_iter().map(|(_, attempt)| attempt).collect();
    let budget = args.search.unwrap_or(if is_cheap { CHEAP_SEARCH } else { 0 });
    if budget > 0 && args.family.is_empty() {
        attempts.extend(search::search(judge, targets, families, (budget, args.seed)));
        families.push(search::family());
    }
    attempts
}

/// Writes the attacks as rows of the configuration.
fn write(
    args: &Args,
    engine: &Engine,
    targets: &[Target],
    families: &[Family],
    attempts: &[Attempt],
) -> Result<(), Failure> {
    let columns = &engine.plan().config.data;
    let mut lines = String::new();
    for attempt in attempts {
        let (Some(target), Some(family)) =
            (targets.get(attempt.target), families.get(attempt.family))
        else {
            continue;
        };
        for row in attempt.rows(target, family, columns) {
            lines.push_str(&serde_json::to_string(&row).map_err(anyhow::Error::from)?);
            lines.push('\n');
        }
    }
    std::fs::create_dir_all(&args.output).map_err(Failure::io(&args.output))?;
    write_file(&args.output.join(ATTACKS), lines.as_bytes())
}

fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    write_atomic(path, bytes).map_err(Failure::io(path))
}

/// Scores the attacks into a run folder: their rewards by their ids. `None` where it was stopped.
fn scored(
    args: &Args,
    folder: &Path,
    engine: &Engine,
    stop: &CancellationToken,
) -> Result<Option<HashMap<String, Option<f64>>>, Failure> {
    let spec = FileRunSpec {
        data: vec![args.output.join(ATTACKS)],
        output: folder.to_owned(),
        fresh: args.fresh,
        derived: true,
        ..FileRunSpec::default()
    };
    let mut run = FileRun::open(spec, engine, std::process::id())?;
    let expected = Expected { bytes: run.bytes_total(), limit: None, shards: 1 };
    let mut progress = Progress::start(expected, engine.activity(), stop, args.quiet);
    let report = run.run(stop, &mut |now| progress.update(now));
    progress.finish(&engine.plan().names);
    if !report?.complete {
        return Ok(None);
    }
    let path = folder.join(VERDICTS);
    let text = assay::data::read_regular(&path).map_err(Failure::io(&path))?;
    let mut rewards = HashMap::new();
    for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let scored: Scored = serde_json::from_slice(line).map_err(|error| {
            Failure::outside(Code::Damaged, format!("{}: {error}", path.display()))
        })?;
        let reward = scored.reward();
        rewards.insert(scored.id, reward);
    }
    Ok(Some(rewards))
}

fn judged<'a>(
    attempts: &'a [Attempt],
    targets: &'a [Target],
    families: &[Family],
    rewards: &HashMap<String, Option<f64>>,
) -> Vec<Judged<'a>> {
    let one = |attempt: &'a Attempt| {
        let target = targets.get(attempt.target)?;
        let ids = attempt.ids(target, families.get(attempt.family)?);
        let of_forms: Option<Vec<f64>> =
            ids.iter().map(|id| rewards.get(id).copied().flatten()).collect();
        let reward = of_forms.and_then(|all| all.into_iter().reduce(f64::min));
        Some(Judged { attempt, target, reward })
    };
    attempts.iter().filter_map(one).collect()
}

/// How far another configuration is from this one. The attacks on a row are the group.
fn against(
    args: &Args,
    config: &Path,
    environment: &Environment,
    (judged, families): (&[Judged<'_>], &[Family]),
    stop: &CancellationToken,
) -> Result<Option<RewardDistance>, Failure> {
    let document = document(environment, config, &[])?;
    let builder = environment.builder(config, document, args.config.allow_path.clone());
    let engine = args.engine.engine(builder)?;
    let Some(rewards) = scored(args, &args.output.join("against"), &engine, stop)? else {
        return Ok(None);
    };
    let (mut first, mut second, mut keys) = (Vec::new(), Vec::new(), Vec::new());
    for one in judged {
        let Some(family) = families.get(one.attempt.family) else { continue };
        let ids = one.attempt.ids(one.target, family);
        let own = ids.iter().filter_map(|id| rewards.get(id).copied().flatten()).reduce(f64::min);
        first.push(one.reward.unwrap_or(f64::NAN));
        second.push(own.unwrap_or(f64::NAN));
        keys.push(one.attempt.target);
    }
    let groups = Groups::by_key(keys);
    let pair = RewardPair { groups: &groups, first: &first, second: &second, reference: None };
    let distance = reward_distance(&pair);
    distance
        .map(Some)
        .map_err(|error| Failure::outside(Code::BadValue, format!("--against: {error}")))
}

fn exit(args: &Args, audit: &Audit) -> Exit {
    if audit.attacks == audit.unjudged {
        output::note(
            "no attack was judged: each has a fault or an abstention, see `assay explain AUDIT/run --faults`",
        );
        return Exit::Fault;
    }
    let mut exit = Exit::Ok;
    for (name, family) in &audit.families {
        let told = [
            (args.max_false_accept, "--max-false-accept", family.failed, "of the attacks are paid"),
            (
                args.max_refusal,
                "--max-refusal",
                family.refused.unwrap_or(family.failed),
                "of the edits are refused",
            ),
        ];
        let [accept, refusal] = told;
        let told = match family.expect {
            Expect::Unpaid => accept,
            Expect::Unmoved => refusal,
            Expect::NotHigher | Expect::Lower => continue,
        };
        let (Some(most), flag, found, what) = told else { continue };
        if found.value() > most {
            let (found, most) = (output::percent(found.value()), output::percent(most));
            output::note(&format!("{name}: {found} {what}, above {flag}, {most}"));
            exit = Exit::Threshold;
        }
    }
    exit
}
