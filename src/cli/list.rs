//! `assay list`: what a configuration can name, a line each.

use assay::setup::Environment;
use assay::verifiers::checks::VerifierInfo;
use clap::{Args as ClapArgs, ValueEnum};
use serde::Serialize;

#[cfg(feature = "models")]
use super::doctor;
use super::exit::{Exit, Failure};
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
    /// Verifiers by rules and by programs
    Checks,
    /// Verifiers by criteria
    Rubrics,
    /// Verifiers by models
    Models,
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
        Kind::Rubrics => Vec::new(),
    };
    if args.json {
        output::json(&listed)?;
        return Ok(Exit::Ok);
    }
    let width = listed.iter().map(|one| one.id.len()).max().unwrap_or_default();
    for one in &listed {
        output::line(&format!("{:width$}  {}", one.id, one.summary));
    }
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
