//! `latex_match`: a formula has the structure of the reference.

use assay_structure::formula::{canonical, in_words, similarity};

use crate::extract::Provenance;
use crate::plain::refuse_objects;
use crate::prelude::*;
use crate::text_parts::{Place, Said, said, share};

/// Right when the formula of the answer is that of the reference, token by token.
///
/// It is a comparison of what is written, not of what it is worth: `a + b` is not `b + a` (the check
/// `math` compares values). Spacing, braces that group nothing, sizes of delimiters, the order of lower
/// and upper scripts, alignment, and names for the same sign (`\le`, `\leq`, `≤`) do not count.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LatexMatch {
    /// Upright type (`\mathrm`, `\text`, `\operatorname`) counts.
    style: bool,
    /// Pay how alike the formulas are: 1 less the edit distance of tokens over the longer one.
    partial: bool,
}

impl Check for LatexMatch {
    const ID: &'static str = "latex_match";
    const ASPECT: Aspect = Aspect::Text;

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        if sample.reference().is_none() {
            return Ok(Verdict::no_reference());
        }
        refuse_objects(sample)?;
        let references = sample.references();
        let first = references.first().map_or("", |first| first.as_ref());
        let Some(said) = formula(sample, first, meter)? else {
            return Ok(Verdict::graded(false).because("nothing-found"));
        };
        meter.spend(200 * said.text.len() as u64)?;
        let given = match canonical(in_words(&said.text), self.style) {
            Ok(given) if !given.is_empty() => given,
            _ => return Ok(said.verdict(false, Verdict::graded)),
        };
        let mut best = 0.0_f64;
        for reference in &references {
            meter.spend(200 * reference.len() as u64)?;
            let wanted = canonical(reference, self.style).unwrap_or_default();
            if wanted.is_empty() {
                return Err(Fault::bad_reference("the reference is no formula"));
            }
            let alike = if given == wanted {
                1.0
            } else if self.partial {
                similarity(&given, &wanted, &mut |units| meter.spend(units))?
            } else {
                0.0
            };
            best = best.max(alike);
        }
        if references.is_empty() {
            return Err(Fault::bad_reference("the reference lists no formula"));
        }
        let is_right = best >= 1.0;
        Ok(said.verdict(is_right, |stands| share(if is_right && !stands { 0.0 } else { best })))
    }
}

/// The answer that is marked as one, or else the last code fence of LaTeX, or else what is announced or said
/// last.
fn formula(sample: &Sample, reference: &str, meter: &mut Meter<'_>) -> Result<Option<Said>, Fault> {
    let said = said(sample, reference, meter)?;
    let is_marked = said.as_ref().is_some_and(|said| {
        matches!(said.provenance, Provenance::Boxed | Provenance::Marker | Provenance::Json)
    });
    if is_marked {
        return Ok(said);
    }
    let completion = sample.completion();
    meter.spend(4 * completion.len() as u64)?;
    let fence = Place::Fence.find(completion, &["latex", "tex", "math"]).ok();
    Ok(fence.map(|span| Said::part(completion, span)).or(said))
}
