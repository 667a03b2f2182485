//! `html`: HTML that needs no repair, with the elements that are asked for.

use assay_structure::markup;

use crate::prelude::*;
use crate::text_parts::{Place, judge_document, required, valid};

/// Right when the completion is HTML whose elements pair up.
///
/// The syntax is that of the HTML Standard: void elements have no end, some end tags may be left out,
/// attributes may lack quotation marks. What a browser would repair is refused: crossed elements,
/// elements that HTML lacks (custom ones have a hyphen), attributes that come twice, stray signs.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Html {
    /// Where the document stands.
    from: Place,
    /// It must be a whole document: a document type, `html`, `head` with a `title`, and `body`.
    document: bool,
    /// Elements of which each must be there, with text, an attribute or an element within it.
    required: Vec<String>,
    /// Elements that must not be there, such as `script`.
    forbidden: Vec<String>,
    /// The reference of each row lists further elements that must be there.
    by_reference: bool,
}

/// What a whole document has.
const DOCUMENT: [&str; 4] = ["html", "head", "title", "body"];

impl Check for Html {
    const ID: &'static str = "html";
    const ASPECT: Aspect = Aspect::Form;

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let Some(required) = required(&self.required, self.by_reference, sample)? else {
            return Ok(Verdict::no_reference());
        };
        let units = 60 + 2 * (required.len() + self.forbidden.len()) as u64;
        judge_document(sample, (self.from, &["html", "htm"], units), meter, |text, _| {
            let pieces = markup::html(text)?;
            if self.document {
                let head = text.trim_start().get(..14);
                if !head.is_some_and(|head| head.eq_ignore_ascii_case("<!doctype html")) {
                    return Ok(Verdict::graded(false).because("no-doctype"));
                }
                markup::elements(&pieces, &DOCUMENT.map(str::to_owned), &[])?;
            }
            markup::elements(&pieces, &required, &self.forbidden)?;
            Ok(valid())
        })
    }
}
