//! `svg`: an SVG image that is well-formed, draws something and leads nowhere.

use assay_structure::{markup, svg};

use crate::prelude::*;
use crate::text_parts::{Place, judge_document, required, valid};

/// Right when the completion is an SVG image.
///
/// That is well-formed XML whose root is `svg` in the namespace of SVG. Elements are those of SVG 1.1
/// and 2; paths, points and the `viewBox` follow their grammar; each `id` comes once, and what refers
/// to one finds it. An image that runs scripts or refers out of itself is refused, and one that draws
/// nothing: no shape with an extent, or all of them hidden, without paint, or in `defs` and not used.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Svg {
    /// Where the image stands.
    from: Place,
    /// Elements of which each must be there.
    required: Vec<String>,
    /// Elements that must not be there.
    forbidden: Vec<String>,
    /// The reference of each row lists further elements that must be there.
    by_reference: bool,
}

impl Check for Svg {
    const ID: &'static str = "svg";
    const ASPECT: Aspect = Aspect::Form;

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let Some(required) = required(&self.required, self.by_reference, sample)? else {
            return Ok(Verdict::no_reference());
        };
        let units = 80 + 2 * (required.len() + self.forbidden.len()) as u64;
        judge_document(sample, (self.from, &["svg", "xml"], units), meter, |text, _| {
            let pieces = markup::xml(text)?;
            svg::check(&pieces)?;
            let prefix = svg::prefix(&pieces);
            let named = |names: &[String]| -> Vec<String> {
                names.iter().map(|name| format!("{prefix}{name}")).collect()
            };
            markup::elements(&pieces, &named(&required), &named(&self.forbidden))?;
            Ok(valid())
        })
    }
}
