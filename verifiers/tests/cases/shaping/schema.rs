//! The schema of an entry of `shape` accepts the settings of every case, as they are written and with
//! every default filled in, and nothing that is not a setting.

use std::borrow::Cow;

use assay_structure::json_schema;
use assay_verifiers::{Pattern, shaping};
use schemars::{JsonSchema, Schema, SchemaGenerator, schema_for};
use serde_json::Value;

use super::{ShapeCase, ShapeEntry, built};

/// An entry of `shape`.
struct Entry;

impl JsonSchema for Entry {
    fn schema_name() -> Cow<'static, str> {
        "Entry".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        shaping::schema(generator)
    }
}

pub(super) fn fits(entry: &ShapeEntry, cases: &[ShapeCase]) -> Result<(), String> {
    let schema = schema_for!(Entry).to_value();
    let accepted = json_schema::JsonSchema::new(&schema, Pattern::PROGRAM_BYTES_MAX)?;
    let mut tried = 0;
    for case in cases.iter().filter(|case| case.refused.is_none()) {
        let mut written = case.config.clone();
        written.insert("kind".to_owned(), Value::from(entry.kind));
        let mut wrong = written.clone();
        wrong.insert("no_setting".to_owned(), Value::from(1));
        let whole = built(entry, case)?.settings;
        for (value, fits) in [(Value::Object(written), true), (whole, true), (wrong.into(), false)]
        {
            if accepted.validate(&value).is_ok() != fits {
                return Err(format!("expected that {value} is valid: {fits}"));
            }
            tried += 1;
        }
    }
    if tried > 0 { Ok(()) } else { Err("nothing was tried".to_owned()) }
}
