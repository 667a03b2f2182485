//! `assay init --recipe`: a configuration that uses a recipe, and rows of its cases; for a formula that
//! scores no rows, rows of which it is computed.

use std::collections::BTreeSet;

use assay::trainer::selection;
use assay::verifiers::recipe::settings::SettingKind;
use assay::verifiers::recipe::{self, Recipe, RecipeCase, RecipePlace};
use serde_json::{Map, Value, json};

use crate::exit::Failure;
use crate::text::quoted;

/// So many rows are written at least.
const ROWS_MIN: usize = 5;

/// A start with a recipe.
pub(super) struct Start {
    /// The configuration, where the recipe has a place in one.
    pub(super) config: Option<String>,
    pub(super) rows: String,
    pub(super) id: String,
    /// What follows the rows in the line that computes it, where there is no configuration.
    pub(super) words: String,
}

/// The files of a recipe.
pub(super) fn start(name: &str) -> Result<Start, Failure> {
    let unknown = || {
        let why = format!("no recipe is called \"{name}\"; `assay list recipes` names them");
        Failure::usage(why)
    };
    let recipe = recipe::find(name).ok_or_else(unknown)?;
    let case = recipe.cases.iter().find(|case| case.refused.is_none());
    let case = case.cloned().unwrap_or_default();
    let id = recipe.id.clone();
    let lines = |rows: Vec<Map<String, Value>>| -> String {
        rows.into_iter().map(|row| Value::Object(row).to_string() + "\n").collect()
    };
    let Some(config) = recipe.config.clone().or_else(|| configuration(recipe, &case)) else {
        return Ok(Start { config: None, rows: lines(inputs(&case)), id, words: words(&case) });
    };
    let text = toml::to_string(&config).map_err(anyhow::Error::from)?;
    let head = format!("# {}\n# `assay show recipe {id}` has its page.\n", recipe.title);
    let warns = recipe.warns.iter().flat_map(|text| text.lines());
    let head = warns.fold(head, |head, line| head + "# " + line + "\n");
    let rows = if recipe.config.is_some() { judged(recipe) } else { rows(&case) };
    let config = Some(format!("#:schema assay.schema.json\n{head}{text}"));
    Ok(Start { config, rows: lines(rows), id, words: String::new() })
}

/// A configuration whose rewards are columns of the rows; none where its formula reads what no run has.
fn configuration(recipe: &Recipe, case: &RecipeCase) -> Option<Map<String, Value>> {
    let mut settings = case.settings.clone();
    let is_measured = case.inputs.contains_key("length")
        && matches!(recipe.place, RecipePlace::Reward | RecipePlace::Shape);
    if is_measured {
        settings.insert("unit".to_owned(), "words".into());
    }
    let column = |name: &str, weight: f64| {
        let config = json!({ "formula": format!("meta[\"{name}\"]") });
        json!({ "name": name, "verifier": "formula", "weight": weight, "config": config })
    };
    let is_combined = recipe.place == RecipePlace::Combine;
    let weight = if is_combined { 1.0 } else { 0.0 };
    let mut rewards: Vec<Value> =
        others(recipe, case).iter().map(|name| column(name, weight)).collect();
    let by_id = || Map::from_iter([("recipe".to_owned(), recipe.id.clone().into())]);
    let mut table = recipe.kind.clone().unwrap_or_else(by_id);
    table.extend(settings.clone());
    let mut config = Map::from_iter([("version".to_owned(), json!(1))]);
    let meta = json!({ "formula": "meta.r" });
    match recipe.place {
        RecipePlace::Reward => {
            let own = json!({ "recipe": recipe.id, "settings": settings });
            rewards.push(json!({ "name": "reward", "verifier": "formula", "config": own }));
        }
        RecipePlace::Shape => {
            let own =
                json!({ "name": "r", "verifier": "formula", "config": meta, "shape": [table] });
            rewards.push(own);
        }
        RecipePlace::Combine => {
            let own = json!({ "how": "formula", "recipe": recipe.id, "settings": settings });
            config.insert("combine".to_owned(), own);
        }
        place @ (RecipePlace::Advantage | RecipePlace::Select) => {
            if place == RecipePlace::Select && selection::build(table.clone()).is_err() {
                return None;
            }
            rewards.push(json!({ "name": "r", "verifier": "formula", "config": meta }));
            config.insert(place.word().to_owned(), Value::Object(table));
        }
        _ => return None,
    }
    config.insert("reward".to_owned(), Value::Array(rewards));
    Some(config)
}

/// The other rewards that the recipe reads.
fn others(recipe: &Recipe, case: &RecipeCase) -> BTreeSet<String> {
    let inputs = case.inputs.keys();
    let named = inputs.filter_map(|name| name.strip_prefix("rewards.").map(str::to_owned));
    let settings = recipe.settings.iter().filter(|(_, spec)| spec.kind == SettingKind::Reward);
    let given = settings.filter_map(|(name, spec)| {
        case.settings.get(name).or(spec.default.as_ref())?.as_str().map(str::to_owned)
    });
    named.chain(given).collect()
}

/// The rows of all cases of a configuration as it stands, of each kind that its `when` tells apart.
fn judged(recipe: &Recipe) -> Vec<Map<String, Value>> {
    let is_plain = |case: &&RecipeCase| case.settings.is_empty() && case.refused.is_none();
    let plain = recipe.cases.iter().filter(is_plain).count();
    let first = recipe.cases.iter().take(usize::from(plain == 0));
    let cases = recipe.cases.iter().filter(is_plain).chain(first);
    let rows =
        cases.flat_map(|case| case.rows.iter().zip(case.expect.as_array().into_iter().flatten()));
    rows.filter(|(_, earned)| !earned.is_null()).map(|(row, _)| row.clone()).collect()
}

/// Rows with the inputs of a case as columns.
fn rows(case: &RecipeCase) -> Vec<Map<String, Value>> {
    let count = count(case);
    let row = |at: usize| {
        let mut row = Map::new();
        row.insert("group".to_owned(), format!("prompt {}", at / count + 1).into());
        row.insert("prompt".to_owned(), "Say something.".into());
        row.insert("completion".to_owned(), "Something.".into());
        row.insert("r".to_owned(), json!(1.0));
        for (name, list) in lists(case) {
            let value = list.get(at % count).cloned().unwrap_or(Value::Null);
            if name == "length" || name == "lengths" {
                let words = value.as_u64().unwrap_or(1).clamp(1, 200);
                row.insert(
                    "completion".to_owned(),
                    "word ".repeat(usize::try_from(words).unwrap_or(1)).trim().into(),
                );
                continue;
            }
            let column = name.split_once('.').map_or(name.as_str(), |(_, own)| own);
            let column = if column == "rewards" { "r" } else { column };
            row.insert(column.to_owned(), value);
        }
        row
    };
    (0..count * ROWS_MIN.div_ceil(count)).map(row).collect()
}

/// Rows with the inputs of a case by the names that its formula has for them.
fn inputs(case: &RecipeCase) -> Vec<Map<String, Value>> {
    let groups = case.groups.iter().enumerate();
    let mut groups = groups.flat_map(|(at, rows)| std::iter::repeat_n(at + 1, *rows));
    let row = |at: usize| {
        let mut row = Map::new();
        row.extend(groups.next().map(|group| ("group".to_owned(), group.into())));
        for (name, list) in lists(case) {
            let value = list.get(at).cloned().unwrap_or(Value::Null);
            match name.split_once('.') {
                None => drop(row.insert(name.clone(), value)),
                Some((table, own)) => {
                    let table = row.entry(table).or_insert_with(|| json!({}));
                    if let Some(members) = table.as_object_mut() {
                        members.insert(own.to_owned(), value);
                    }
                }
            }
        }
        row
    };
    (0..count(case)).map(row).collect()
}

/// What else `assay recipe run` is to be told of a case.
fn words(case: &RecipeCase) -> String {
    let group = (!case.groups.is_empty()).then(|| " --group group".to_owned());
    let numbers = case.inputs.iter().filter(|(_, own)| !own.is_array() && !own.is_null());
    let sets = case.settings.iter().chain(numbers).map(|(name, value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        format!(" --set {}", quoted(&format!("{name}={value}")))
    });
    group.into_iter().chain(sets).collect()
}

fn lists(case: &RecipeCase) -> impl Iterator<Item = (&String, &Vec<Value>)> {
    case.inputs.iter().filter_map(|(name, value)| Some((name, value.as_array()?)))
}

fn count(case: &RecipeCase) -> usize {
    lists(case).map(|(_, list)| list.len()).max().unwrap_or(1).max(1)
}
