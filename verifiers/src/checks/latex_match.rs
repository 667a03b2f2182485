//! `latex_match`: a formula has the structure of the reference.

use assay_structure::formula::{canonical, similarity};

use crate::prelude::*;
use crate::text_parts::{said, share};

/// Right when the formula of the answer is that of the reference, token by token.
///
/// It is a comparison of what is written, not of what it is worth: `a + b` is not `b + a` (the check
/// `math` compares values). Spacing, braces that group nothing, sizes of delimiters, the order of lower
/// and upper scripts, alignment, and names for the same sign (`\le`, `\leq`, `≤`) do not count.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LatexMatch {
    /// Upright type (`\mathrm`, `\text`, `\operatorname`) counts.
    #[serde(default)]
    style: bool,
    /// Pay how alike the formulas are: 1 less the edit distance of tokens over the longer one.
    #[serde(default)]
    partial: bool,
}

impl Check for LatexMatch {
    const ID: &'static str = "latex_match";

    fn aspect(&self) -> Aspect {
        Aspect::Text
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        if sample.reference().is_none() {
            return Ok(Verdict::no_reference());
        }
        let references = sample.references();
        let first = references.first().map_or("", |first| first.as_ref());
        let Some(said) = said(sample, first, meter)? else {
            return Ok(Verdict::graded(false).because("nothing-found"));
        };
        meter.spend(200 * said.text.len() as u64)?;
        let given = match canonical(&said.text, self.style) {
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
