//! What a table of a configuration can name beside verifiers: shapes, advantages, losses, selections.

use assay::trainer::{advantages, losses, selection};
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
    let described =
        |kind, schema: Schema| KindInfo { kind, docs: schema::docs(schema.as_value()), schema };
    match table {
        "shape" => shaping::all()
            .iter()
            .map(|entry| described(entry.kind, entry.schema(&mut SchemaGenerator::default())))
            .collect(),
        "advantage" => {
            advantages::ALL.iter().map(|entry| described(entry.kind, (entry.schema)())).collect()
        }
        "select" => {
            selection::ALL.iter().map(|entry| described(entry.kind, (entry.schema)())).collect()
        }
        "loss" => losses::kinds::ALL
            .iter()
            .map(|entry| described(entry.kind, losses::config::schema(entry)))
            .collect(),
        _ => Vec::new(),
    }
}
