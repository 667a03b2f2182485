//! `assay recipe`: tries the cases of recipes.

use std::path::{Path, PathBuf};

use assay::recipes;
use assay::setup::Environment;
use assay::verifiers::recipe::{self, Recipe};
use clap::{Args as ClapArgs, Subcommand};
use serde_json::json;

use super::exit::{Exit, Failure};
use super::output;

/// Recipes: rewards of the literature as data.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Compute the cases of recipes, and compare them with what they expect
    Test(TestArgs),
}

#[derive(Debug, ClapArgs)]
struct TestArgs {
    /// Files of recipes, or ids; by default every recipe that comes with assay
    recipes: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, environment: &Environment) -> Result<Exit, Failure> {
    let Verb::Test(args) = &args.verb;
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
            let builder = |document| environment.builder_in(Path::new("."), document, Vec::new());
            if let Err(why) = recipes::check(recipe, case, &builder) {
                wrong.push(json!({ "recipe": recipe.id, "case": case.name, "why": why }));
            }
        }
    }
    if args.json {
        output::json(&json!({ "recipes": tested.len(), "cases": cases, "wrong": wrong }))?;
    } else {
        for own in &wrong {
            let text = |key: &str| own.get(key).and_then(serde_json::Value::as_str).unwrap_or("");
            output::line(&format!("{}: {}: {}", text("recipe"), text("case"), text("why")));
        }
        let (recipes, wrong) = (tested.len(), wrong.len());
        output::note(&format!("{recipes} recipes, {cases} cases, {wrong} wrong"));
    }
    Ok(if wrong.is_empty() { Exit::Ok } else { Exit::Threshold })
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
