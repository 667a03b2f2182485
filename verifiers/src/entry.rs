//! What is known of a verifier before it is built: the entries of the lists of checks.

use crate::prelude::*;
use crate::verifier::Built;

/// A check, as the registry knows it.
#[derive(Clone, Copy)]
pub struct Entry {
    /// What is known of it.
    pub about: VerifierInfo,
    /// Builds it from settings.
    pub build: fn(Value, &dyn Files) -> Result<Built, BuildError>,
}

/// What is known of a verifier without building it.
#[derive(Clone, Copy)]
pub struct VerifierInfo {
    /// The id by which a configuration names the verifier.
    pub id: &'static str,
    /// Raised whenever the same sample may get another verdict.
    pub version: u32,
    /// Its cases, as TOML: `fixtures/checks/<id>.toml`.
    pub fixtures: &'static str,
    /// The JSON Schema of its settings; the `description` is its manual page.
    pub schema: fn() -> schemars::Schema,
}

impl VerifierInfo {
    /// What is known of the check `C`, whose cases are `fixtures`.
    pub const fn of<C: Check>(fixtures: &'static str) -> Self {
        Self::new::<C>(C::ID, C::VERSION, fixtures)
    }

    /// What is known of a verifier with the settings `S`.
    pub const fn new<S: JsonSchema>(
        id: &'static str,
        version: u32,
        fixtures: &'static str,
    ) -> Self {
        Self { id, version, fixtures, schema: || schemars::schema_for!(S) }
    }

    /// What each version but the first changed, as its fixture file says. Sorted.
    pub fn changes(&self) -> Vec<(u32, String)> {
        let Ok(file) = crate::cases::head(self.fixtures) else { return Vec::new() };
        let numbered = |(number, change): (String, String)| Some((number.parse().ok()?, change));
        let mut changes: Vec<(u32, String)> =
            file.versions.into_iter().filter_map(numbered).collect();
        changes.sort();
        changes
    }

    /// Whether the verifier and each of its settings have a doc comment.
    ///
    /// # Errors
    /// What has none.
    pub fn documented(&self) -> Result<(), String> {
        documented(self.id, &(self.schema)())
    }
}

/// Whether what a schema describes and each of its settings have a doc comment.
///
/// # Errors
/// What has none.
pub fn documented(id: &str, schema: &schemars::Schema) -> Result<(), String> {
    let described = |value: &Value| value.get("description").is_some();
    if !described(schema.as_value()) {
        return Err(format!("{id} has no doc comment"));
    }
    let settings = schema.as_value().get("properties").and_then(Value::as_object);
    match settings.into_iter().flatten().find(|(_, setting)| !described(setting)) {
        Some((name, _)) => Err(format!("{id}: setting \"{name}\" has no doc comment")),
        None => Ok(()),
    }
}
