//! A JSON Schema, compiled, and the places where a value breaks it.
//!
//! `jsonschema` is generic over the form of its values, so the crate that builds a validator compiles
//! all of its rules: it is this one, which nothing hot is in.

use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::Value;

/// A compiled schema. Nothing is fetched: a reference out of the schema is an error.
#[derive(Debug)]
pub struct JsonSchema(Validator);

/// Where a value breaks a schema, and the rule that it breaks: two JSON pointers.
pub type Broken = (String, String);

impl JsonSchema {
    /// Compiles `schema`; a pattern of it takes at most `pattern_bytes_max` of memory.
    ///
    /// # Errors
    /// What is wrong with the schema, and where in it.
    pub fn new(schema: &Value, pattern_bytes_max: usize) -> Result<Self, String> {
        let patterns = PatternOptions::regex().size_limit(pattern_bytes_max);
        let options = jsonschema::options().offline().with_pattern_options(patterns);
        options.build(schema).map(Self).map_err(|error| match error.instance_path().as_str() {
            "" => error.to_string(),
            path => format!("at {path}: {error}"),
        })
    }

    /// Checks `value` up to the first rule that it breaks.
    ///
    /// # Errors
    /// That rule and its place.
    pub fn validate(&self, value: &Value) -> Result<(), Broken> {
        self.0.validate(value).map_err(|error| broken(&error))
    }

    /// Every place where `value` breaks the schema.
    pub fn errors(&self, value: &Value) -> Vec<Broken> {
        self.0.iter_errors(value).map(|error| broken(&error)).collect()
    }
}

fn broken(error: &ValidationError<'_>) -> Broken {
    (error.instance_path().to_string(), error.schema_path().to_string())
}
