//! `assay recipe`: computes recipes: their cases, or rows of one's own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use assay::engine::Document;
use assay::recipes;
use assay::setup::Environment;
use assay::verifiers::recipe::{self, Recipe, RecipeCase, case};
use clap::{Args as ClapArgs, Subcommand};
use serde_json::{Map, Value, json};

use super::exit::{Exit, Failure};
use super::output;
use super::setup::assignment;

#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// Compute the cases of recipes, and compare them with what they expect
    Test(TestArgs),
    /// Compute the formula of a recipe from the columns of rows, whatever its place
    Run(RunArgs),
}

#[derive(Debug, ClapArgs)]
pub(super) struct RunArgs {
    /// The id or the number of a recipe, or its file
    recipe: PathBuf,
    /// JSON lines. The names of the formula are their keys, `rewards.x` a member of a member: numbers,
    /// truth values, texts that the formula compares, lists over steps
    rows: PathBuf,
    /// Rows of one group have the same value here, and follow each other; by default all are one group
    #[arg(long, value_name = "COLUMN")]
    group: Option<String>,
    /// A setting of the recipe, as in `--set eps=1e-6`; or a name that is one number for all rows
    #[arg(long = "set", value_name = "KEY=VALUE")]
    sets: Vec<String>,
}

#[derive(Debug, ClapArgs)]
pub(super) struct TestArgs {
    /// Files of recipes, or ids; by default every recipe that comes with assay
    recipes: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(verb: &Verb, environment: &Environment) -> Result<Exit, Failure> {
    match verb {
        Verb::Test(args) => args.run(environment),
        Verb::Run(args) => args.run(),
    }
}

impl TestArgs {
    fn run(&self, environment: &Environment) -> Result<Exit, Failure> {
        let args = self;
        let mut tested: Vec<Recipe> = Vec::new();
        for name in &args.recipes {
            tested.push(read(name)?);
        }
        if args.recipes.is_empty() {
            tested.extend(recipe::all().cloned());
        }
        let mut wrong = Vec::new();
        let mut cases = 0;
        for recipe in &tested {
            if recipe.cases.is_empty() {
                wrong.push(json!({ "recipe": recipe.id, "why": "it has no case" }));
            }
            for case in &recipe.cases {
                cases += 1;
                let builder =
                    |document| environment.builder_in(Path::new("."), document, Vec::new());
                if let Err(why) = recipes::check(recipe, case, &builder) {
                    wrong.push(json!({ "recipe": recipe.id, "case": case.name, "why": why }));
                }
            }
        }
        if args.json {
            output::json(&json!({ "recipes": tested.len(), "cases": cases, "wrong": wrong }))?;
        } else {
            for own in &wrong {
                let text =
                    |key: &str| own.get(key).and_then(serde_json::Value::as_str).unwrap_or("");
                output::line(&format!("{}: {}: {}", text("recipe"), text("case"), text("why")));
            }
            let (recipes, wrong) = (tested.len(), wrong.len());
            output::note(&format!("{recipes} recipes, {cases} cases, {wrong} wrong"));
        }
        Ok(if wrong.is_empty() { Exit::Ok } else { Exit::Threshold })
    }
}

impl RunArgs {
    fn run(&self) -> Result<Exit, Failure> {
        let recipe = read(&self.recipe)?;
        let mut case = RecipeCase::default();
        let rows = self.rows()?;
        let mut columns: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
        for (at, row) in rows.iter().enumerate() {
            for (name, value) in row {
                let column = columns.entry(name).or_default();
                column.resize(at, Value::Null);
                column.push(value.clone());
            }
        }
        for (name, mut column) in columns {
            column.resize(rows.len(), Value::Null);
            if column.iter().any(Value::is_array) {
                // A row without steps has none.
                column.iter_mut().filter(|own| own.is_null()).for_each(|own| *own = json!([]));
            }
            case.inputs.insert(name.to_owned(), column.into());
        }
        if let Some(key) = &self.group {
            let chunks = rows.chunk_by(|one, other| one.get(key) == other.get(key));
            case.groups = chunks.map(<[_]>::len).collect();
        }
        for set in &self.sets {
            let (key, value) = assignment(set)?;
            let (key, value) = (key.trim(), Document::value(value.trim()));
            let is_setting = recipe.settings.contains_key(key);
            let into = if is_setting { &mut case.settings } else { &mut case.inputs };
            into.insert(key.to_owned(), value);
        }
        let found = case::computed(&recipe, &case).map_err(|error| {
            let at = if error.setting.is_empty() { &recipe.id } else { &*error.setting };
            Failure::refused(error.code, format!("{at}: {error}"))
        })?;
        output::json(&Value::Object(found))?;
        Ok(Exit::Ok)
    }

    /// The rows by the names of a formula: members of members with dots.
    fn rows(&self) -> Result<Vec<Map<String, Value>>, Failure> {
        let shown = self.rows.display();
        let text = std::fs::read_to_string(&self.rows)
            .map_err(|error| Failure::usage(format!("{shown}: {error}")))?;
        let mut rows = Vec::new();
        for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let row: Map<String, Value> = serde_json::from_str(line)
                .map_err(|error| Failure::usage(format!("{shown}, line {}: {error}", at + 1)))?;
            let mut named = Map::new();
            for (name, value) in row {
                match value {
                    Value::Object(members) => named.extend(
                        members.into_iter().map(|(own, value)| (format!("{name}.{own}"), value)),
                    ),
                    value => drop(named.insert(name, value)),
                }
            }
            rows.push(named);
        }
        Ok(rows)
    }
}

/// A recipe by its file, its id or its number.
fn read(name: &Path) -> Result<Recipe, Failure> {
    if let Some(own) = name.to_str().and_then(recipe::find) {
        return Ok(own.clone());
    }
    let shown = name.display();
    let text = std::fs::read_to_string(name)
        .map_err(|error| Failure::usage(format!("{shown}: {error}")))?;
    Recipe::parse(&text).map_err(|why| Failure::usage(format!("{shown}: {why}")))
}
