//! A JSON Schema, compiled. There is none in a build without the feature `json-schema`.

#[cfg(feature = "json-schema")]
use assay_structure::json_schema::JsonSchema;

#[cfg(feature = "json-schema")]
use super::cost::{RULES_MAX, RuleCount};
#[cfg(feature = "json-schema")]
use super::expansion;
#[cfg(feature = "json-schema")]
use super::keywords;
#[cfg(feature = "json-schema")]
use super::texts::Texts;
use crate::prelude::*;

#[cfg(feature = "json-schema")]
#[derive(Debug)]
pub(in crate::checks) struct Compiled {
    rules: JsonSchema,
    schema: Value,
    texts: Texts,
    /// The length of the schema.
    pub(in crate::checks) bytes: usize,
}

#[cfg(feature = "json-schema")]
impl Compiled {
    /// Compiles the schema of a setting.
    pub(in crate::checks) fn new(setting: &str, schema: &Value) -> Result<Self, BuildError> {
        if let Some(slip) = keywords::slip(schema) {
            return Err(BuildError::new(setting, slip));
        }
        let bad = |why: String| BuildError::new(setting, why);
        let texts = Texts::of(schema).map_err(bad)?;
        expansion::bounded(schema).map_err(bad)?;
        let rules = JsonSchema::new(schema, Pattern::PROGRAM_BYTES_MAX).map_err(bad)?;
        let bytes = schema.to_string().len();
        Ok(Self { rules, schema: schema.clone(), texts, bytes })
    }

    /// Pays for what the rules do with the texts of a value.
    ///
    /// # Errors
    /// More than the meter holds.
    pub(in crate::checks) fn pay_for_texts(
        &self,
        value: &Value,
        meter: &mut Meter<'_>,
    ) -> Result<(), Fault> {
        self.texts.pay(value, meter)
    }

    /// How many rules are applied to a value.
    ///
    /// # Errors
    /// More of them than anyone can wait for.
    pub(in crate::checks) fn rules(&self, value: &Value) -> Result<u64, Fault> {
        let rules = RuleCount::new(&self.schema).of(&self.schema, value);
        if rules <= RULES_MAX {
            return Ok(rules);
        }
        let why = format!("the schema applies more than {RULES_MAX} rules to this value");
        Err(Fault::new(FaultKind::OutOfFuel, why))
    }

    /// Every place where a value breaks the schema, and the rule that it breaks.
    #[cfg(feature = "tasks")]
    pub(in crate::checks) fn errors(&self, value: &Value) -> Vec<(String, String)> {
        self.rules.errors(value)
    }

    /// Where a value breaks the schema, and the rule that it breaks.
    pub(in crate::checks) fn validate(&self, value: &Value) -> Result<(), (String, String)> {
        self.rules.validate(value)
    }
}

/// Never made.
#[cfg(not(feature = "json-schema"))]
#[derive(Debug)]
pub(in crate::checks) struct Compiled {
    pub(in crate::checks) bytes: usize,
    never: std::convert::Infallible,
}

#[cfg(not(feature = "json-schema"))]
impl Compiled {
    pub(in crate::checks) fn new(setting: &str, _: &Value) -> Result<Self, BuildError> {
        let why = "this build knows no JSON Schema: built without the feature `json-schema`";
        Err(BuildError::new(setting, why))
    }

    pub(in crate::checks) fn rules(&self, _: &Value) -> Result<u64, Fault> {
        match self.never {}
    }

    pub(in crate::checks) fn pay_for_texts(
        &self,
        _: &Value,
        _: &mut Meter<'_>,
    ) -> Result<(), Fault> {
        match self.never {}
    }

    #[cfg(feature = "tasks")]
    pub(in crate::checks) fn errors(&self, _: &Value) -> Vec<(String, String)> {
        match self.never {}
    }

    pub(in crate::checks) fn validate(&self, _: &Value) -> Result<(), (String, String)> {
        match self.never {}
    }
}
