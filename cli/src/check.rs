//! `assay check`: one verifier on one completion.

use std::path::{Path, PathBuf};
use std::slice;

use assay::engine::Document;
use assay::engine::runs::write_atomic;
use assay::setup::Environment;
use assay::verifiers::code::Code;
use assay::verifiers::{Component, Outcome, Sample, Verdict};
use assay::{ConfigError, Engine};
use clap::Args as ClapArgs;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::completion::CompletionArgs;
use super::exit::{Exit, Failure};
use super::output;
use super::setup::{EngineArgs, assignment};
use super::text::{Cut, Marks, excerpt};
use super::verdict;

/// One verifier on one completion.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// The id of the verifier: `assay list` names them
    id: String,
    #[command(flatten)]
    completion: CompletionArgs,
    /// What a right completion comes to, as text
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true)]
    reference: Option<String>,
    /// The same as JSON: a list of answers, a number, an object
    #[arg(long, value_name = "JSON", allow_hyphen_values = true, conflicts_with = "reference")]
    reference_json: Option<String>,
    /// What was asked
    #[arg(short, long, value_name = "TEXT", allow_hyphen_values = true)]
    prompt: Option<String>,
    /// The other columns of the row, as a JSON object
    #[arg(long, value_name = "JSON")]
    meta: Option<String>,
    /// A setting of the verifier: `assay show ID` names them
    #[arg(long = "set", value_name = "KEY=VALUE", allow_hyphen_values = true)]
    sets: Vec<String>,
    /// Let settings name files below this folder too
    #[arg(long, value_name = "DIR")]
    allow_path: Vec<PathBuf>,
    /// Print the verdict as JSON
    #[arg(long)]
    json: bool,
    /// Write the reward as a task of Harbor or Terminal-Bench does: a number, or JSON where FILE ends in
    /// .json. Without a reward nothing is written, what FILE held is removed, and the exit code is that
    /// of a fault
    #[arg(long, value_name = "FILE")]
    reward_file: Option<PathBuf>,
}

pub(super) fn run(args: &Args, environment: &Environment) -> Result<Exit, Failure> {
    let engine = engine(args, environment)?;
    let sample = sample(args)?;
    let scored = engine.score([sample.clone()]);
    let verdicts = scored.first().map_or(&[][..], |scored| scored.verdicts.as_slice());
    let [verdict] = verdicts else {
        return Err(anyhow::anyhow!("internal: the engine gave no verdict").into());
    };
    tell(args, &sample, verdict)?;
    let mut failed = matches!(verdict.outcome, Outcome::Failed(_));
    if let Some(file) = &args.reward_file {
        failed |= verdict.outcome.reward().is_none();
        write_reward(file, verdict).map_err(Failure::io(file))?;
    }
    Ok(if failed { Exit::Fault } else { Exit::Ok })
}

/// Writes the reward and those of the parts as `reward.json` or `reward.txt`. A file that an earlier
/// check left would pass for this one's reward.
fn write_reward(file: &Path, verdict: &Verdict) -> std::io::Result<()> {
    let Some(reward) = verdict.outcome.reward() else {
        let removed = std::fs::remove_file(file);
        return removed.or_else(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        });
    };
    let text = if file.extension().is_some_and(|end| end == "json") {
        let part = |component: &Component| Some(component.outcome.reward()?.get());
        let parts = verdict.components.iter();
        let parts = parts.filter_map(|(name, own)| Some((name.to_owned(), part(own)?.into())));
        let mut told: Map<String, Value> = parts.collect();
        told.insert("reward".to_owned(), reward.get().into());
        Value::Object(told).to_string()
    } else {
        reward.get().to_string()
    };
    write_atomic(file, format!("{text}\n").as_bytes())
}

/// The engine of a configuration whose only reward is the verifier.
fn engine(args: &Args, environment: &Environment) -> Result<Engine, Failure> {
    let text = json!({
        "version": 1,
        "reward": [{"name": "check", "verifier": args.id, "config": {}}],
    });
    let mut document = Document::parse("check", &text.to_string()).map_err(|e| plain(&e, args))?;
    for set in &args.sets {
        let (key, value) = assignment(set)?;
        let path = format!("reward.0.config.{key}");
        document.set(&path, value).map_err(|error| plain(&error, args))?;
    }
    let builder = environment.builder(Path::new("check"), document, args.allow_path.clone());
    EngineArgs::plain().engine(builder).map_err(|failure| match failure {
        Failure::Config(error) => plain(&error, args),
        other => other,
    })
}

/// The error without the text that it points into: the user has not written any.
fn plain(error: &ConfigError, args: &Args) -> Failure {
    let mut help = error.help.as_ref().map(|help| format!("\nhelp: {help}")).unwrap_or_default();
    let fields = error.fields();
    if error.code == Code::WrongType && fields.expected.iter().any(|own| own == "a string") {
        let key = fields.key.unwrap_or_default();
        let mut own = args.sets.iter().filter_map(|set| set.split_once('='));
        if let Some((key, value)) = own.find(|(own, _)| key.ends_with(own.trim())) {
            help = format!(
                "\nhelp: a text is quoted, for the shell too: --set '{key}=\"{value}\"'{help}"
            );
        }
    }
    Failure::refused(error.code, format!("{}{help}", error.message))
}

fn sample(args: &Args) -> Result<Sample, Failure> {
    let mut builder = Sample::builder(args.completion.text()?);
    if let Some(prompt) = &args.prompt {
        builder = builder.prompt(prompt.as_str());
    }
    if let Some(reference) = &args.reference {
        builder = builder.reference(reference.as_str());
    }
    if let Some(reference) = &args.reference_json {
        builder = builder.reference(parsed::<Value>("--reference-json", reference)?);
    }
    if let Some(meta) = &args.meta {
        builder = builder.meta(parsed::<Map<String, Value>>("--meta", meta)?);
    }
    Ok(builder.build())
}

fn parsed<T: serde::de::DeserializeOwned>(flag: &str, text: &str) -> Result<T, Failure> {
    serde_json::from_str(text).map_err(|error| Failure::usage(format!("{flag}: {error}")))
}

#[derive(Serialize)]
struct Told<'a> {
    verifier: &'a str,
    #[serde(flatten)]
    verdict: &'a Verdict,
}

fn tell(args: &Args, sample: &Sample, verdict: &Verdict) -> Result<(), Failure> {
    if args.json {
        return Ok(output::json(&Told { verifier: &args.id, verdict })?);
    }
    let mut notes = vec![("outcome".to_owned(), verdict::outcome(&verdict.outcome))];
    notes.extend(verdict::notes(verdict, sample.completion()));
    output::text(&verdict::columns(&notes, ""));
    if let Some(span) = verdict::span(&verdict.evidence) {
        let shown =
            excerpt(sample.completion(), slice::from_ref(&span), Marks::of_stdout(), Cut::Long);
        output::marked(&format!("completion\n{shown}"));
    }
    Ok(())
}
