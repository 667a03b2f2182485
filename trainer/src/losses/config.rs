//! The table `[loss]` of a configuration.

use assay_verifiers::code::Code;
use schemars::{JsonSchema, Schema, schema_for};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::TrainerError;
use crate::losses::aggregation::LossAggregation;
use crate::losses::correction::CorrectionSettings;
use crate::losses::entropy::EntropySettings;
use crate::losses::kinds::{self, LossEntry};
use crate::losses::kl::KlSettings;
use crate::presets;

/// The settings that losses of every kind have. A kind has settings of its own beside.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LossConfig {
    /// How the terms of the tokens become one number. Its `kind` alone may be given as a string.
    pub aggregation: LossAggregation,
    /// The penalty for the divergence from the reference.
    #[serde(default)]
    pub kl: KlSettings,
    /// What is done about rollouts of another policy.
    #[serde(default)]
    pub correction: CorrectionSettings,
    /// What entropy has to do with the loss.
    #[serde(default)]
    pub entropy: EntropySettings,
}

/// The tables that every kind has.
const SHARED: [&str; 4] = ["aggregation", "kl", "correction", "entropy"];

/// A table that was read: the kind, what all kinds have, and what is its own.
pub struct ReadLoss {
    /// The kind.
    pub entry: &'static LossEntry,
    /// The settings that all kinds have.
    pub config: LossConfig,
    /// The settings of the kind.
    pub own: Value,
}

/// Reads a table `[loss]`, with what its preset and its kind have by default filled in.
///
/// # Errors
/// An unknown kind, preset or setting, or a setting of another type or out of range.
pub fn read(mut given: Map<String, Value>) -> Result<ReadLoss, TrainerError> {
    named_kind(&mut given);
    let (kind, mut settings) = presets::filled("loss", given)?;
    let Some(entry) = kinds::find(&kind) else {
        let names: Vec<&str> = kinds::ALL.iter().map(|entry| entry.kind).collect();
        let message = format!("no loss is called \"{kind}\"; there are: {}", names.join(", "));
        return Err(TrainerError::setting("kind", message));
    };
    presets::fill(&mut settings, &entry.defaults()?);
    let mut part = |name: &str| settings.remove(name);
    let config = LossConfig {
        aggregation: table("aggregation", part("aggregation").unwrap_or_default())?,
        kl: table("kl", part("kl").unwrap_or_else(empty))?,
        correction: table("correction", part("correction").unwrap_or_else(empty))?,
        entropy: table("entropy", part("entropy").unwrap_or_else(empty))?,
    };
    config.aggregation.check()?;
    config.kl.check()?;
    config.correction.check()?;
    config.entropy.check()?;
    Ok(ReadLoss { entry, config, own: Value::Object(settings) })
}

/// The JSON Schema of the table of a kind: its own settings and those that all have.
pub fn schema(entry: &LossEntry) -> Schema {
    let mut schema = (entry.schema)();
    let shared = schema_for!(LossConfig);
    for key in ["properties", "$defs"] {
        let Some(Value::Object(more)) = shared.get(key) else { continue };
        let own = schema.ensure_object().entry(key).or_insert_with(empty);
        if let Some(own) = own.as_object_mut() {
            own.extend(more.clone());
        }
    }
    if let Ok(defaults) = entry.defaults() {
        let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
        let properties = properties.into_iter().flatten();
        for (name, property) in properties {
            if let (Some(value), Some(property)) = (defaults.get(name), property.as_object_mut()) {
                property.insert("default".to_owned(), value.clone());
            }
        }
    }
    schema.insert("description".to_owned(), entry.doc.into());
    schema
}

/// What was wrong with the settings of a kind; where one is unknown, all that there are.
pub fn own_error(entry: &LossEntry, error: TrainerError) -> TrainerError {
    match error {
        TrainerError::Setting(mut error) if error.code == Code::UnknownKey => {
            error.message = format!("loss \"{}\": {}", entry.kind, error.message);
            error.expected.extend(SHARED.map(str::to_owned));
            error.into()
        }
        other => other,
    }
}

/// `aggregation = "token_mean"` is short for `aggregation = { kind = "token_mean" }`.
fn named_kind(given: &mut Map<String, Value>) {
    if let Some(aggregation) = given.get_mut("aggregation").filter(|value| value.is_string()) {
        let mut table = Map::new();
        table.insert("kind".to_owned(), aggregation.take());
        *aggregation = Value::Object(table);
    }
}

fn empty() -> Value {
    Value::Object(Map::new())
}

fn table<T: DeserializeOwned + JsonSchema>(name: &str, value: Value) -> Result<T, TrainerError> {
    Ok(assay_verifiers::check::settings(value).map_err(|error| error.within(name))?)
}
