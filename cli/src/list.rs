//! `assay list`: what a configuration can name, a line each.

use assay::data::Preset;
#[cfg(feature = "rubrics")]
use assay::rubrics::formats::Format;
use assay::setup::Environment;
use assay::verifiers::checks::VerifierInfo;
use assay::verifiers::recipe::{self, Recipe};
use assay::verifiers::registry;
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
    /// What to list; by default every verifier, by families
    #[arg(value_enum)]
    kind: Option<Kind>,
    /// Of recipes, those whose papers or titles hold this text
    #[arg(long, value_name = "TEXT")]
    paper: Option<String>,
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
    /// Lints of `assay validate`
    Lints,
    /// Recipes: rewards of the literature as data
    Recipes,
    /// Public data sets: `[data] preset`
    Presets,
}

#[derive(Serialize)]
struct Listed {
    id: &'static str,
    version: u32,
    family: &'static str,
    summary: String,
}

/// What verifiers are grouped by, in the order of the list.
const FAMILIES: [&str; 5] = ["rules", "groups", "programs", "models", "rubrics and judges"];

pub(super) fn run(args: &Args, environment: &Environment) -> Result<Exit, Failure> {
    let Some(kind) = args.kind else { return by_families(environment, args.json) };
    let listed: Vec<Listed> = match kind {
        Kind::Checks => of(environment, |id| !asks_a_model(id)),
        Kind::Models => of(environment, asks_a_model),
        Kind::Rubrics => return formats(args.json),
        Kind::Shapes => return kinds_of("shape", args.json),
        Kind::Advantages => return kinds_of("advantage", args.json),
        Kind::Losses => return kinds_of("loss", args.json),
        Kind::Selection => return kinds_of("select", args.json),
        Kind::Lints => return lints(args.json),
        Kind::Presets => return presets(args.json),
        Kind::Recipes => return recipes(args.paper.as_deref().unwrap_or_default(), args.json),
    };
    if args.json {
        output::json(&listed)?;
        return Ok(Exit::Ok);
    }
    lines(listed.iter().map(|one| (one.id, one.summary.as_str())));
    #[cfg(feature = "models")]
    if kind == Kind::Models {
        for line in doctor::backends(&environment.models()) {
            output::note(&line);
        }
    }
    if listed.is_empty() {
        output::note("this build brings none");
    }
    Ok(Exit::Ok)
}

/// Every verifier, family by family.
fn by_families(environment: &Environment, json: bool) -> Result<Exit, Failure> {
    let mut listed = of(environment, |_| true);
    let place = |one: &Listed| FAMILIES.iter().position(|family| *family == one.family);
    listed.sort_by_key(place);
    if json {
        output::json(&listed)?;
        return Ok(Exit::Ok);
    }
    let width = listed.iter().map(|one| one.id.len()).max().unwrap_or_default();
    let mut family = "";
    for one in &listed {
        if one.family != family {
            let gap = if family.is_empty() { "" } else { "\n" };
            output::line(&format!("{gap}{}:", one.family));
            family = one.family;
        }
        output::line(&format!("{:width$}  {}", one.id, one.summary));
    }
    output::note("`assay show ID` prints an example, the manual page and the settings of each");
    Ok(Exit::Ok)
}

/// The family of a verifier: what it needs says where it belongs.
fn family(id: &str) -> &'static str {
    if asks_a_model(id) {
        return "models";
    }
    #[cfg(feature = "rubrics")]
    if assay::rubrics::verifiers::ALL.iter().any(|entry| entry.about.id == id)
        || assay::rubrics::verifiers::CHECKS.iter().any(|entry| entry.about.id == id)
    {
        return "rubrics and judges";
    }
    match registry::find(id) {
        Some(_) if registry::is_of_groups(id) => "groups",
        Some(_) => "rules",
        None => "programs",
    }
}

/// The kinds of a table that is not a verifier.
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

/// The codes of lints, with the first sentence of each page.
fn lints(json: bool) -> Result<Exit, Failure> {
    #[derive(Serialize)]
    struct Known {
        code: &'static str,
        summary: String,
    }
    let known = |(code, page): (&'static str, String)| {
        let summary = page.split("\n\n").next().unwrap_or_default().replace('\n', " ");
        Known { code, summary }
    };
    let known: Vec<Known> = super::lints::pages().into_iter().map(known).collect();
    if json {
        output::json(&known)?;
    } else {
        lines(known.iter().map(|one| (one.code, one.summary.as_str())));
    }
    Ok(Exit::Ok)
}

/// The recipes, with their numbers and titles.
fn recipes(text: &str, json: bool) -> Result<Exit, Failure> {
    let text = text.to_lowercase();
    let holds = |recipe: &&Recipe| {
        let texts = recipe.papers.iter().chain([&recipe.title]).chain(&recipe.numbers);
        texts.into_iter().any(|own| own.to_lowercase().contains(&text))
    };
    let known: Vec<&Recipe> = recipe::all().filter(holds).collect();
    if json {
        let row = |own: &&Recipe| {
            serde_json::json!({
                "id": own.id, "numbers": own.numbers, "title": own.title, "papers": own.papers,
                "place": own.place,
            })
        };
        output::json(&known.iter().map(row).collect::<Vec<_>>())?;
    } else {
        let row = |own: &&Recipe| {
            let numbers = own.numbers.join(", ");
            (own.id.clone(), format!("{numbers:6}  {}", own.title))
        };
        let rows: Vec<(String, String)> = known.iter().map(row).collect();
        lines(rows.iter().map(|(id, told)| (id.as_str(), told.as_str())));
    }
    Ok(Exit::Ok)
}

/// The public data sets, with what they are.
fn presets(json: bool) -> Result<Exit, Failure> {
    let about = |name| Some((name, Preset::find(name)?.about));
    let known: Vec<(&str, String)> = Preset::names().filter_map(about).collect();
    if json {
        let row =
            |(name, about): &(&str, String)| serde_json::json!({ "preset": name, "about": about });
        output::json(&known.iter().map(row).collect::<Vec<_>>())?;
    } else {
        lines(known.iter().map(|(name, about)| (*name, about.as_str())));
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
    let summary = schema::first_sentence(&docs);
    Listed { id: about.id, version: about.version, family: family(about.id), summary }
}
