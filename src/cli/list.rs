//! `assay list`: what a configuration can name, a line each.

#[cfg(feature = "rubrics")]
use assay::rubrics::formats::Format;
use assay::setup::Environment;
use assay::verifiers::checks::VerifierInfo;
use clap::{Args as ClapArgs, ValueEnum};
use serde::Serialize;

#[cfg(feature = "models")]
use super::doctor;
use super::exit::{Exit, Failure};
use super::kinds::{self, KindInfo};
use super::{output, schema};

/// What a configuration can name.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// What to list
    #[arg(value_enum, default_value_t = Kind::Checks)]
    kind: Kind,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Verifiers by rules, by programs and by criteria
    Checks,
    /// Formats of rubrics
    Rubrics,
    /// Verifiers by models
    Models,
    /// Kinds of shaping: `shape` of a reward
    Shapes,
    /// Estimators of advantages: `[advantage]`
    Advantages,
    /// Losses: `[loss]`
    Losses,
    /// Kinds of selection: `[select]`
    Selection,
}

#[derive(Serialize)]
struct Listed {
    id: &'static str,
    version: u32,
    summary: String,
}

pub(super) fn run(args: &Args, environment: &Environment) -> Result<Exit, Failure> {
    let listed: Vec<Listed> = match args.kind {
        Kind::Checks => of(environment, |id| !asks_a_model(id)),
        Kind::Models => of(environment, asks_a_model),
        Kind::Rubrics => return formats(args.json),
        Kind::Shapes => return kinds_of("shape", args.json),
        Kind::Advantages => return kinds_of("advantage", args.json),
        Kind::Losses => return kinds_of("loss", args.json),
        Kind::Selection => return kinds_of("select", args.json),
    };
    if args.json {
        output::json(&listed)?;
        return Ok(Exit::Ok);
    }
    lines(listed.iter().map(|one| (one.id, one.summary.as_str())));
    #[cfg(feature = "models")]
    if args.kind == Kind::Models {
        for line in doctor::backends(&environment.models()) {
            output::note(&line);
        }
    }
    if listed.is_empty() {
        output::note("this build brings none");
    }
    Ok(Exit::Ok)
}

/// The kinds of a table that is no verifier.
fn kinds_of(table: &str, json: bool) -> Result<Exit, Failure> {
    #[derive(Serialize)]
    struct Known {
        kind: &'static str,
        summary: String,
    }
    let known =
        |info: KindInfo| Known { kind: info.kind, summary: schema::first_sentence(&info.docs) };
    let known: Vec<Known> = kinds::of(table).into_iter().map(known).collect();
    if json {
        output::json(&known)?;
    } else {
        lines(known.iter().map(|one| (one.kind, one.summary.as_str())));
    }
    Ok(Exit::Ok)
}

/// The formats of rubrics that are read.
#[cfg(feature = "rubrics")]
fn formats(json: bool) -> Result<Exit, Failure> {
    #[derive(Serialize)]
    struct Known {
        format: &'static str,
        shape: &'static str,
    }
    let known = |format: &Format| Known { format: format.name(), shape: format.shape() };
    let known: Vec<Known> = Format::ALL.iter().map(known).collect();
    if json {
        output::json(&known)?;
    } else {
        lines(known.iter().map(|one| (one.format, one.shape)));
    }
    Ok(Exit::Ok)
}

/// In place of rubrics, which this build is without.
#[cfg(not(feature = "rubrics"))]
fn formats(_: bool) -> Result<Exit, Failure> {
    Err(Failure::usage("this build reads no rubrics"))
}

/// Names and what is said of them, in two columns.
fn lines<'a>(told: impl Iterator<Item = (&'a str, &'a str)> + Clone) {
    let width = told.clone().map(|(name, _)| name.len()).max().unwrap_or_default();
    for (name, words) in told {
        output::line(&format!("{name:width$}  {words}"));
    }
}

fn of(environment: &Environment, wanted: impl Fn(&str) -> bool) -> Vec<Listed> {
    let registry = environment.registry();
    registry.infos().filter(|about| wanted(about.id)).map(listed).collect()
}

#[cfg(not(feature = "models"))]
fn asks_a_model(_: &str) -> bool {
    false
}

#[cfg(feature = "models")]
fn asks_a_model(id: &str) -> bool {
    assay::reward_models::verifiers::ALL.iter().any(|entry| entry.about.id == id)
}

fn listed(about: &VerifierInfo) -> Listed {
    let docs = schema::docs((about.schema)().as_value());
    Listed { id: about.id, version: about.version, summary: schema::first_sentence(&docs) }
}
