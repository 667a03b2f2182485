//! What a table of a configuration can name beside verifiers: shapes, advantages, losses, selections.

use std::collections::BTreeMap;

use assay::trainer::{advantages, losses, selection};
use assay::verifiers::recipe::{self, Recipe, RecipePlace};
use assay::verifiers::shaping;
use schemars::{Schema, SchemaGenerator};

use super::schema;

/// A kind, with the JSON Schema of its settings.
pub(super) struct KindInfo {
    pub(super) kind: &'static str,
    /// Its manual page.
    pub(super) docs: String,
    pub(super) schema: Schema,
}

/// The tables whose kinds are listed, as a configuration calls them.
pub(super) const TABLES: [&str; 4] = ["shape", "advantage", "loss", "select"];

/// The kinds of a table; none of one that is not known.
pub(super) fn of(table: &str) -> Vec<KindInfo> {
    match table {
        "shape" => shaping::all()
            .iter()
            .map(|entry| described(entry.kind, entry.schema(&mut SchemaGenerator::default())))
            .collect(),
        "advantage" => {
            let own = advantages::ALL.iter().map(|entry| (entry.kind, entry.schema));
            with_recipes(own, RecipePlace::Advantage, advantages::recipe_schema)
        }
        "select" => {
            let own = selection::ALL.iter().map(|entry| (entry.kind, entry.schema));
            with_recipes(own, RecipePlace::Select, Recipe::schema)
        }
        "loss" => losses::kinds::ALL
            .iter()
            .map(|entry| described(entry.kind, losses::config::schema(entry)))
            .collect(),
        _ => Vec::new(),
    }
}

/// Kinds in Rust, and the formulas beside them, by name.
fn with_recipes(
    kinds: impl Iterator<Item = (&'static str, fn() -> Schema)>,
    place: RecipePlace,
    schema: impl Fn(&Recipe) -> Schema,
) -> Vec<KindInfo> {
    let recipes = recipe::of(place).filter(|recipe| recipe.formula.is_some());
    let mut all: BTreeMap<&str, Schema> =
        recipes.map(|recipe| (recipe.id.as_str(), schema(recipe))).collect();
    all.extend(kinds.map(|(kind, schema)| (kind, schema())));
    all.into_iter().map(|(kind, schema)| described(kind, schema)).collect()
}

fn described(kind: &'static str, schema: Schema) -> KindInfo {
    KindInfo { kind, docs: schema::docs(schema.as_value()), schema }
}
