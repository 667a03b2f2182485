//! `structured`: YAML, TOML, XML, CSV or JSON that a JSON Schema accepts.

use assay_structure::format::{Format, typed};
use assay_structure::schema_paths;

use super::json::schema::Compiled;
use super::json::tree::{self, Rules};
use crate::prelude::*;
use crate::text_parts::{Place, Stop, judge_document, share};
use crate::toml_bounds;

/// Right when the completion is of the format, and its value is one that the schema accepts.
///
/// Every format is read to a JSON value. Of XML that is the content of the root: attributes as
/// `@name`, elements by name, a list where one comes again, text as `#text`. Of CSV it is a list of
/// objects by header. XML and CSV have no types: text becomes a number, a boolean or null where the
/// schema asks for it.
///
/// With `partial`, the reward is the share of the paths of the schema that the value meets: the root,
/// each property that is required or there, and the items of each list, which are one path together.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StructuredCheck {
    /// The format.
    format: Name,
    /// The JSON Schema. Without it, the reference of each row is one, as an object or as JSON in text.
    #[serde(default)]
    schema: Option<Value>,
    /// Where the document stands.
    #[serde(default)]
    from: Place,
    /// Pay the share of paths. A value that is not right earns less than 1.
    #[serde(default)]
    partial: bool,
    #[serde(skip)]
    compiled: Option<Compiled>,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Name {
    Json,
    Yaml,
    Toml,
    Xml,
    Csv,
}

/// What a byte of a schema costs to compile.
const COMPILE_UNITS: u64 = 500;

/// How deep JSON may nest.
const RULES: Rules = Rules { depth_max: 120, unique_keys: true };

impl Check for StructuredCheck {
    const ID: &'static str = "structured";
    const ASPECT: Aspect = Aspect::Form;

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        self.compiled = self.schema.as_ref().map(|own| Compiled::new("schema", own)).transpose()?;
        Ok(())
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let of_row;
        let (schema, compiled) = match (&self.schema, &self.compiled, sample.reference()) {
            (Some(schema), Some(compiled), _) => (schema, compiled),
            (_, _, None) => return Ok(Verdict::no_reference()),
            (_, _, Some(reference)) => {
                of_row = row_schema(reference, meter)?;
                (&of_row.0, &of_row.1)
            }
        };
        let format = self.format();
        let units = 100 + compiled.bytes as u64 / 64;
        judge_document(sample, (self.from, format.fences(), units), meter, |text, meter| {
            let value = match read(format, text, schema)? {
                Ok(value) => value,
                Err(reason) => return Ok(Verdict::graded(false).because(reason)),
            };
            meter.spend(compiled.rules(&value)?)?;
            compiled.pay_for_texts(&value, meter)?;
            let errors = compiled.errors(&value);
            let Some((at, rule)) = errors.first() else {
                return Ok(Verdict::graded(true).because("valid"));
            };
            let places: Vec<String> = errors.iter().map(|(at, _)| at.clone()).collect();
            let mut pay = |units| meter.spend(units);
            let met = schema_paths::share(schema, &value, &places, &mut pay)?;
            #[expect(clippy::cast_precision_loss, reason = "at most 10,000 paths are counted")]
            let part = met.met as f64 / met.all as f64;
            let verdict = share(if self.partial { part } else { 0.0 });
            let verdict = verdict.with("at", at.as_str()).with("rule", rule.as_str());
            Ok(verdict.with("met", met.met).with("paths", met.all).because("schema"))
        })
    }
}

impl StructuredCheck {
    fn format(&self) -> Format {
        match self.format {
            Name::Json => Format::Json,
            Name::Yaml => Format::Yaml,
            Name::Toml => Format::Toml,
            Name::Xml => Format::Xml,
            Name::Csv => Format::Csv,
        }
    }
}

/// The schema of a row. Compiling one costs far more than reading its text.
fn row_schema(reference: &Value, meter: &mut Meter<'_>) -> Result<(Value, Compiled), Fault> {
    let bad = |why: &str| Fault::bad_reference(format!("the reference is no JSON Schema: {why}"));
    let schema = match reference {
        Value::String(text) => {
            serde_json::from_str(text).map_err(|error| bad(&error.to_string()))?
        }
        other => other.clone(),
    };
    meter.spend(COMPILE_UNITS * schema.to_string().len() as u64)?;
    let compiled = Compiled::new("reference", &schema).map_err(|error| bad(&error.message))?;
    Ok((schema, compiled))
}

/// The value of a text; the reason where it has none and breaks nowhere.
fn read(format: Format, text: &str, schema: &Value) -> Result<Result<Value, &'static str>, Stop> {
    if matches!(format, Format::Toml) && toml_bounds::excess(text).is_some() {
        return Ok(Err("too-large"));
    }
    // Leading line ends of a fence are no record.
    let text = if matches!(format, Format::Csv) { text.trim_start() } else { text };
    let value = format.read(text)?;
    Ok(match format {
        Format::Json => tree::read(text, RULES).map(|node| node.value()),
        format if format.is_untyped() => Ok(typed(value, schema, schema)),
        _ => Ok(value),
    })
}
