//! `assay show`: the manual page of a verifier.

use assay::engine::did_you_mean;
use assay::setup::Environment;
use assay::verifiers::cases::{self, Case};
use assay::verifiers::checks::VerifierInfo;
use assay::{Config, Registry};
use clap::Args as ClapArgs;
use serde::Serialize;

use super::exit::{Exit, Failure};
use super::output;
use super::schema::{self, Setting};
use super::text::inline;

/// The manual page of a verifier.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// The id of the verifier, or `config` for the JSON Schema of the configuration
    id: String,
    /// Print the JSON Schema of its settings
    #[arg(long, conflicts_with = "json")]
    schema: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Page {
    id: &'static str,
    version: u32,
    docs: String,
    settings: Vec<Setting>,
    cases: Vec<Shown>,
}

/// A case, in a line.
#[derive(Serialize)]
struct Shown {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hack: Option<String>,
    expected: String,
}

pub(super) fn run(args: &Args, environment: &Environment) -> Result<Exit, Failure> {
    if args.id == "config" {
        output::json(&Config::json_schema())?;
        return Ok(Exit::Ok);
    }
    let registry = environment.registry();
    let entry = registry.about(&args.id).ok_or_else(|| unknown(&args.id, &registry))?;
    if args.schema {
        output::json(&(entry.schema)())?;
    } else if args.json {
        output::json(&page(entry)?)?;
    } else {
        output::text(&text(&page(entry)?));
    }
    Ok(Exit::Ok)
}

fn unknown(id: &str, registry: &Registry) -> Failure {
    let known = || registry.infos().map(|about| about.id);
    let help = did_you_mean(id, known()).map(|near| format!("\nhelp: did you mean \"{near}\"?"));
    let known = known().collect::<Vec<_>>().join(", ");
    let unknown = registry.unknown(&inline(id));
    let help = help.unwrap_or_default();
    Failure::usage(format!("{unknown}; known: {known}{help}"))
}

fn page(entry: &'static VerifierInfo) -> Result<Page, Failure> {
    let schema = (entry.schema)();
    let file = cases::parse(entry.fixtures)
        .map_err(|why| anyhow::anyhow!("internal: cases of {}: {why}", entry.id))?;
    Ok(Page {
        id: entry.id,
        version: entry.version,
        docs: schema::docs(schema.as_value()),
        settings: schema::settings(schema.as_value()),
        cases: file.cases.iter().map(shown).collect(),
    })
}

fn shown(case: &Case) -> Shown {
    let expected = match (case.reward, case.fault) {
        (Some(reward), _) => reward.to_string(),
        (None, Some(fault)) => fault.to_string(),
        (None, None) if case.is_abstained() => "abstained".to_owned(),
        (None, None) => "failed".to_owned(),
    };
    Shown { name: case.name.clone(), hack: case.hack.clone(), expected }
}

fn text(page: &Page) -> String {
    let mut text = format!("{} v{}\n\n{}\n", page.id, page.version, page.docs);
    text.push_str("\nsettings\n");
    if page.settings.is_empty() {
        text.push_str("  none\n");
    }
    for setting in &page.settings {
        let default = match &setting.default {
            _ if setting.required => "required".to_owned(),
            Some(default) if !default.is_null() => format!("default {default}"),
            _ => "optional".to_owned(),
        };
        text.push_str(&format!("  {}  ({}; {default})\n", setting.name, setting.kind));
        if !setting.docs.is_empty() {
            text.push_str(&format!("      {}\n", setting.docs));
        }
    }
    text.push_str("\ncases\n");
    let width = page.cases.iter().map(|case| case.expected.len()).max().unwrap_or_default();
    for case in &page.cases {
        let hack = case.hack.as_ref().map(|hack| format!("  [hack: {hack}]")).unwrap_or_default();
        text.push_str(&format!("  {:width$}  {}{hack}\n", case.expected, case.name));
    }
    text
}
