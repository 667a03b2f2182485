//! `toml`: a TOML document with the members that are asked for.

use assay_structure::format::Format;

use super::yaml::{members, pointers};
use crate::prelude::*;
use crate::text_parts::{Place, judge_document, required};
use crate::toml_bounds;

/// Right when the completion is TOML 1.1 with at least one key.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Toml {
    /// Where the document stands.
    from: Place,
    /// JSON pointers such as `/servers/0/port` to members that must be there.
    required: Vec<String>,
    /// The reference of each row lists further JSON pointers that must be there.
    by_reference: bool,
}

impl Check for Toml {
    const ID: &'static str = "toml";
    const ASPECT: Aspect = Aspect::Form;

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        pointers(&self.required)
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let Some(required) = required(&self.required, self.by_reference, sample)? else {
            return Ok(Verdict::no_reference());
        };
        let format = Format::Toml;
        judge_document(sample, (self.from, format.fences(), 40), meter, |text, _| {
            if let Some(what) = toml_bounds::excess(text) {
                return Ok(Verdict::graded(false).with("what", what).because("too-large"));
            }
            Ok(members(&format.read(text)?, &required))
        })
    }
}
