//! `assay init --recipe`: a configuration that uses a recipe, and rows of its first case.

use std::collections::BTreeSet;

use assay::verifiers::recipe::settings::SettingKind;
use assay::verifiers::recipe::{self, Recipe, RecipeCase, RecipePlace};
use serde_json::{Map, Value, json};

use crate::exit::Failure;

/// Names that a formula has of itself: no columns of rows are made of them.
const OWN: [&str; 5] = ["r", "length", "correct", "truncated", "value"];

/// So many rows are written at least.
const ROWS_MIN: usize = 5;

/// The configuration and the rows.
pub(super) fn files(name: &str) -> Result<(String, String), Failure> {
    let unknown = || {
        let why = format!("no recipe is called \"{name}\"; `assay list recipes` names them");
        Failure::usage(why)
    };
    let recipe = recipe::find(name).ok_or_else(unknown)?;
    let case = recipe.cases.iter().find(|case| case.refused.is_none());
    let case = case.cloned().unwrap_or_default();
    let config = match (&recipe.config, recipe.place) {
        (Some(config), _) => config.clone(),
        (
            None,
            RecipePlace::Reward
            | RecipePlace::Shape
            | RecipePlace::Combine
            | RecipePlace::Advantage
            | RecipePlace::Select,
        ) => configuration(recipe, &case),
        (None, place) => {
            let why = format!(
                "recipe \"{}\" is one of `{}`, which scores no rows",
                recipe.id,
                place.word()
            );
            return Err(Failure::usage(why));
        }
    };
    let text = toml::to_string(&config).map_err(anyhow::Error::from)?;
    let head = format!("# {}\n# `assay show recipe {}` has its page.\n", recipe.title, recipe.id);
    let rows = if case.rows.is_empty() { rows(&case) } else { case.rows.clone() };
    let lines: Vec<String> = rows.into_iter().map(|row| Value::Object(row).to_string()).collect();
    Ok((format!("#:schema assay.schema.json\n{head}{text}"), format!("{}\n", lines.join("\n"))))
}

/// A configuration whose rewards are columns of the rows.
fn configuration(recipe: &Recipe, case: &RecipeCase) -> Map<String, Value> {
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
    let mut table = settings.clone();
    table.insert("recipe".to_owned(), recipe.id.clone().into());
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
        place => {
            rewards.push(json!({ "name": "r", "verifier": "formula", "config": meta }));
            config.insert(place.word().to_owned(), Value::Object(table));
        }
    }
    config.insert("reward".to_owned(), Value::Array(rewards));
    config
}

/// The other rewards that the recipe reads.
fn others(recipe: &Recipe, case: &RecipeCase) -> BTreeSet<String> {
    let plain = |name: &&String| {
        !name.contains('.') && !OWN.contains(&name.as_str()) && recipe.place != RecipePlace::Reward
    };
    let inputs = case.inputs.keys();
    let named = inputs.clone().filter_map(|name| name.strip_prefix("rewards.").map(str::to_owned));
    let settings = recipe.settings.iter().filter(|(_, spec)| spec.kind == SettingKind::Reward);
    let given = settings.filter_map(|(name, spec)| {
        case.settings.get(name).or(spec.default.as_ref())?.as_str().map(str::to_owned)
    });
    named.chain(inputs.filter(plain).cloned()).chain(given).collect()
}

/// Rows with the inputs of a case as columns.
fn rows(case: &RecipeCase) -> Vec<Map<String, Value>> {
    let lists = || case.inputs.iter().filter_map(|(name, value)| Some((name, value.as_array()?)));
    let count = lists().map(|(_, list)| list.len()).max().unwrap_or(1).max(1);
    let row = |at: usize| {
        let mut row = Map::new();
        row.insert("group".to_owned(), format!("prompt {}", at / count + 1).into());
        row.insert("prompt".to_owned(), "Say something.".into());
        row.insert("completion".to_owned(), "Something.".into());
        row.insert("r".to_owned(), json!(1.0));
        for (name, list) in lists() {
            let value = list.get(at % count).cloned().unwrap_or(Value::Null);
            if name == "length" {
                let words = value.as_u64().unwrap_or(1).clamp(1, 200);
                row.insert(
                    "completion".to_owned(),
                    "word ".repeat(usize::try_from(words).unwrap_or(1)).trim().into(),
                );
                continue;
            }
            let column = name.split_once('.').map_or(name.as_str(), |(_, own)| own);
            row.insert(column.to_owned(), value);
        }
        row
    };
    (0..count * ROWS_MIN.div_ceil(count)).map(row).collect()
}
