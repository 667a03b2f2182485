//! `xml`: well-formed XML with the elements that are asked for.

use assay_structure::markup;

use crate::prelude::*;
use crate::text_parts::{Place, judge_document, required, valid};

/// Right when the completion is well-formed XML 1.0 with its namespaces bound.
///
/// The document is the last code fence of XML, or else the last answer tag, or else the whole
/// completion. Declarations of entities are refused, so that nothing expands. The evidence says where
/// a document breaks, and by which rule.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Xml {
    /// Where the document stands.
    from: Place,
    /// The name of the root.
    root: Option<String>,
    /// Elements of which each must be there, with text, an attribute or an element within it.
    required: Vec<String>,
    /// Elements that must not be there.
    forbidden: Vec<String>,
    /// The reference of each row lists further elements that must be there.
    by_reference: bool,
}

impl Check for Xml {
    const ID: &'static str = "xml";
    const ASPECT: Aspect = Aspect::Form;

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let Some(required) = required(&self.required, self.by_reference, sample)? else {
            return Ok(Verdict::no_reference());
        };
        let units = 20 + 2 * (required.len() + self.forbidden.len()) as u64;
        judge_document(sample, (self.from, &["xml"], units), meter, |text, _| {
            let pieces = markup::xml(text)?;
            if let Some(root) = &self.root {
                markup::root(&pieces, root)?;
            }
            markup::elements(&pieces, &required, &self.forbidden)?;
            Ok(valid())
        })
    }
}
