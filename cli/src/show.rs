//! `assay show`: the manual page of a verifier, after an example.

use std::collections::BTreeMap;

use assay::engine::did_you_mean;
use assay::setup::Environment;
use assay::trainer::config::TrainConfig;
use assay::verifiers::cases::{self, Case, ExampleConfig};
use assay::verifiers::checks::VerifierInfo;
use assay::verifiers::recipe;
use assay::{Config, Registry};
use clap::Args as ClapArgs;
use schemars::{Schema, schema_for};
use serde::Serialize;

use super::exit::{Exit, Failure};
use super::kinds::{self, KindInfo};
use super::schema::{self, Setting};
use super::text::inline;
use super::{lints, output};

/// The manual page of a verifier.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// The id of the verifier; a table and a kind, as in shape.overlong, advantage.grpo, loss.dapo or
    /// select.dynamic; lint:CODE for a lint; `check:` for all checks by task; `train` for the settings of a training; or `config` for the
    /// JSON Schema of the configuration
    id: String,
    /// With `recipe` before it: the id or number of a recipe; without one, the table of all of them
    name: Option<String>,
    /// Print the JSON Schema of its settings
    #[arg(long, conflicts_with_all = ["json", "cases"])]
    schema: bool,
    /// Print its cases too: what it earns on given completions
    #[arg(long)]
    cases: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What is before the tables of `docs/checks.md`.
const CHECKS: &str = "# Checks by task

Which check judges which task, the public scorer that it equals, on how many values that was compared, and where
it differs on purpose. `assay show ID` prints the settings of each. `assay show check:` writes this page; its
rows are in `fixtures/checks/ID.toml`.
";

#[derive(Serialize)]
struct Page {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<u32>,
    /// A complete configuration.
    #[serde(skip_serializing_if = "Option::is_none")]
    example: Option<String>,
    docs: String,
    settings: Vec<Setting>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
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
    match (&*args.id, &args.name) {
        ("recipe", Some(name)) => return of_recipe(name, args.json),
        ("recipe", None) => {
            output::text(&recipe::table());
            return Ok(Exit::Ok);
        }
        _ => {}
    }
    if let Some(name) = &args.name {
        return Err(Failure::usage(format!(
            "one id is shown at a time; {} is another",
            inline(name)
        )));
    }
    if args.id == "check:" {
        output::text(&checks(&environment.registry())?);
        return Ok(Exit::Ok);
    }
    if let Some(code) = args.id.strip_prefix("lint:") {
        return of_lint(code, args.json);
    }
    let (schema, page) = match args.id.split_once('.') {
        Some((table, kind)) => of_kind(table, kind)?,
        None if args.id == "train" => of_training(),
        None => of_verifier(args, &environment.registry())?,
    };
    if args.cases && page.version.is_none() {
        let why = format!("--cases: {} is not a verifier, and has no cases", inline(&args.id));
        return Err(Failure::usage(why));
    }
    if args.schema {
        output::json(&schema)?;
    } else if args.json {
        output::json(&page)?;
    } else {
        output::text(&text(&page));
    }
    Ok(Exit::Ok)
}

/// The page of a recipe.
fn of_recipe(name: &str, json: bool) -> Result<Exit, Failure> {
    let Some(recipe) = recipe::find(name) else {
        let near = did_you_mean(name, recipe::ids());
        let help = near.map(|near| format!("\nhelp: did you mean \"{near}\"?")).unwrap_or_default();
        let why =
            format!("no recipe is called \"{}\"; `assay list recipes` names them", inline(name));
        return Err(Failure::usage(format!("{why}{help}")));
    };
    if json {
        output::json(recipe)?;
        return Ok(Exit::Ok);
    }
    let numbers = recipe.numbers.join(", ");
    let mut text = format!("{} {numbers}\n{}\n\n{}\n", recipe.id, recipe.title, recipe.page());
    if let Some(formula) = &recipe.formula {
        text += &format!("\nformula\n{}\n", indented(formula));
    }
    let lists = [("needs", &recipe.needs), ("external", &recipe.external)];
    for (title, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
        text += &format!("\n{title}\n{}\n", indented(&list.join("\n")));
    }
    output::text(&text);
    let settings = schema::settings(recipe.schema().as_value());
    output::text(&settings_text(&settings));
    Ok(Exit::Ok)
}

fn indented(text: &str) -> String {
    text.trim().lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

/// `docs/checks.md`: the verifiers with a task, by its family.
fn checks(registry: &Registry) -> Result<String, Failure> {
    let mut families: BTreeMap<String, String> = BTreeMap::new();
    for about in registry.infos() {
        let file = cases::head(about.fixtures).map_err(|why| anyhow::anyhow!("{why}"))?;
        let Some(task) = file.task else { continue };
        let docs = schema::docs((about.schema)().as_value());
        let summary = docs.split("\n\n").next().unwrap_or_default().replace('\n', " ");
        let cell = |own: Option<String>| own.unwrap_or_default().replace('|', "\\|");
        *families.entry(task.family).or_default() += &format!(
            "| `{}` | {} | {} | {} | {} |\n",
            about.id,
            summary.replace('|', "\\|"),
            cell(task.equals),
            cell(task.compared),
            cell(task.differs)
        );
    }
    let head = "| id | judges | equals | compared on | differs |\n|---|---|---|---|---|\n";
    let section = |(family, rows)| format!("\n## {family}\n\n{head}{rows}");
    Ok([CHECKS.to_owned()].into_iter().chain(families.iter().map(section)).collect())
}

/// The page of a lint.
fn of_lint(code: &str, json: bool) -> Result<Exit, Failure> {
    let pages = lints::pages();
    if code.is_empty() {
        output::text(&lints::all_pages());
        return Ok(Exit::Ok);
    }
    let Some((code, page)) = pages.iter().find(|(own, _)| *own == code) else {
        let near = did_you_mean(code, pages.iter().map(|(own, _)| *own));
        let help = near.map(|near| format!("\nhelp: did you mean \"lint:{near}\"?"));
        let why = format!(
            "no lint is called \"{}\"; `assay list lints` names them{}",
            inline(code),
            help.unwrap_or_default()
        );
        return Err(Failure::usage(why));
    };
    if json {
        output::json(&serde_json::json!({"code": code, "docs": page}))?;
    } else {
        output::line(&format!("{code}\n\n{page}"));
    }
    Ok(Exit::Ok)
}

fn of_verifier(args: &Args, registry: &Registry) -> Result<(Schema, Page), Failure> {
    let entry = registry.about(&args.id).ok_or_else(|| unknown(&args.id, registry))?;
    Ok(((entry.schema)(), page(entry, args.cases)?))
}

/// The page of the table `[train]`, with the settings of the tables in it.
fn of_training() -> (Schema, Page) {
    let schema = schema_for!(TrainConfig);
    let docs = schema::docs(schema.as_value());
    let settings = schema::settings_within(schema.as_value());
    (schema, bare("train".to_owned(), docs, settings))
}

/// The page of what is not a verifier.
fn bare(id: String, docs: String, settings: Vec<Setting>) -> Page {
    Page { id, version: None, example: None, docs, settings, cases: Vec::new() }
}

/// The page of a kind of a table that is not a verifier.
fn of_kind(table: &str, kind: &str) -> Result<(Schema, Page), Failure> {
    if !kinds::TABLES.contains(&table) {
        let tables = kinds::TABLES.join(", ");
        let why = format!("no table is called \"{}\"; there are: {tables}", inline(table));
        return Err(Failure::usage(why));
    }
    let known = kinds::of(table);
    let names: Vec<&str> = known.iter().map(|info| info.kind).collect();
    let near = did_you_mean(kind, names.iter().copied());
    let help =
        near.map(|near| format!("\nhelp: did you mean \"{table}.{near}\"?")).unwrap_or_default();
    let why =
        format!("no {table} is called \"{}\"; known: {}{help}", inline(kind), names.join(", "));
    let found = known.into_iter().find(|info| info.kind == kind);
    let KindInfo { kind, docs, schema } = found.ok_or_else(|| Failure::usage(why))?;
    let settings = schema::settings(schema.as_value());
    let id = format!("{table}.{kind}");
    Ok((schema, bare(id, docs, settings)))
}

fn unknown(id: &str, registry: &Registry) -> Failure {
    let known = || registry.infos().map(|about| about.id);
    let help = did_you_mean(id, known()).map(|near| format!("\nhelp: did you mean \"{near}\"?"));
    let known = known().collect::<Vec<_>>().join(", ");
    let unknown = registry.unknown(&inline(id));
    let help = help.unwrap_or_default();
    Failure::usage(format!("{unknown}; known: {known}{help}"))
}

fn page(entry: &'static VerifierInfo, has_cases: bool) -> Result<Page, Failure> {
    let schema = (entry.schema)();
    let read = if has_cases { cases::parse } else { cases::head };
    let file = read(entry.fixtures)
        .map_err(|why| anyhow::anyhow!("internal: cases of {}: {why}", entry.id))?;
    Ok(Page {
        id: entry.id.to_owned(),
        version: Some(entry.version),
        example: file.example.as_ref().map(|example| configuration(entry.id, example)),
        docs: schema::docs(schema.as_value()),
        settings: schema::settings(schema.as_value()),
        cases: file.cases.iter().map(shown).collect(),
    })
}

/// A complete configuration for a verifier.
fn configuration(id: &str, example: &ExampleConfig) -> String {
    let ExampleConfig { name, row, before, config } = example;
    let before = if before.is_empty() { String::new() } else { format!("{before}\n\n") };
    let config =
        if config.is_empty() { String::new() } else { format!("config = {{ {config} }}\n") };
    format!(
        "# {row}\nversion = 1\n\n{before}[[reward]]\nname = \"{name}\"\nverifier = \"{id}\"\n{config}"
    )
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

fn settings_text(settings: &[Setting]) -> String {
    let mut text = "\nsettings\n".to_owned();
    if settings.is_empty() {
        text.push_str("  none\n");
    }
    for setting in settings {
        write_setting(&mut text, setting, "  ");
    }
    text
}

fn text(page: &Page) -> String {
    let version = page.version.map(|version| format!(" v{version}")).unwrap_or_default();
    let mut text = format!("{}{version}\n", page.id);
    if let Some(example) = &page.example {
        text.push_str("\nexample\n");
        for line in example.lines() {
            text.push_str(format!("  {line}").trim_end());
            text.push('\n');
        }
    }
    text.push_str(&format!("\n{}\n{}", page.docs, settings_text(&page.settings)));
    if !page.cases.is_empty() {
        text.push_str("\ncases\n");
    }
    let width = page.cases.iter().map(|case| case.expected.len()).max().unwrap_or_default();
    for case in &page.cases {
        let hack = case.hack.as_ref().map(|hack| format!("  [hack: {hack}]")).unwrap_or_default();
        text.push_str(&format!("  {:width$}  {}{hack}\n", case.expected, case.name));
    }
    text
}

/// A setting, its values where they are few, and the settings within it.
fn write_setting(text: &mut String, setting: &Setting, indent: &str) {
    let default = match &setting.default {
        _ if setting.required => "required".to_owned(),
        // The settings within tell theirs.
        Some(default) if default.is_object() && !setting.within.is_empty() => "a table".to_owned(),
        Some(default) if !default.is_null() => format!("default {default}"),
        _ => "optional".to_owned(),
    };
    text.push_str(&format!("{indent}{}  ({}; {default})\n", setting.name, setting.kind));
    if !setting.docs.is_empty() {
        text.push_str(&format!("{indent}    {}\n", setting.docs));
    }
    for value in &setting.values {
        text.push_str(&format!("{indent}    {}: {}\n", value.value, value.docs));
    }
    for inner in &setting.within {
        write_setting(text, inner, &format!("{indent}  "));
    }
}
