//! `yaml`: one YAML document with the members that are asked for.

use assay_structure::format::Format;

use crate::prelude::*;
use crate::text_parts::{Place, judge_document, required, valid};

/// Right when the completion is one YAML 1.2 document that is a mapping or a sequence.
///
/// Keys differ, tags are those of the core schema, and what aliases repeat is bounded. Keys are scalars other
/// than null. Plain text is a scalar, and no document here.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Yaml {
    /// Where the document stands.
    from: Place,
    /// JSON pointers such as `/servers/0/port` to members that must be there.
    required: Vec<String>,
    /// The reference of each row lists further JSON pointers that must be there.
    by_reference: bool,
}

impl Check for Yaml {
    const ID: &'static str = "yaml";
    const ASPECT: Aspect = Aspect::Form;

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        pointers(&self.required)
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let Some(required) = required(&self.required, self.by_reference, sample)? else {
            return Ok(Verdict::no_reference());
        };
        let format = Format::Yaml;
        judge_document(sample, (self.from, format.fences(), 100), meter, |text, _| {
            Ok(members(&format.read(text)?, &required))
        })
    }
}

/// Refuses what is no JSON pointer to a member.
pub(super) fn pointers(required: &[String]) -> Result<(), BuildError> {
    match required.iter().find(|at| !at.starts_with('/')) {
        Some(at) => {
            Err(BuildError::new("required", format!("\"{at}\": a JSON pointer starts with /")))
        }
        None => Ok(()),
    }
}

/// Right when a value is a collection that is not empty, with these members.
pub(super) fn members(value: &Value, required: &[String]) -> Verdict {
    let is_empty = match value {
        Value::Array(values) => values.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => return Verdict::graded(false).because("scalar"),
    };
    if is_empty {
        return Verdict::graded(false).because("empty");
    }
    match required.iter().find(|at| value.pointer(at).is_none()) {
        Some(at) => Verdict::graded(false).with("at", at.as_str()).because("no-member"),
        None => valid(),
    }
}
