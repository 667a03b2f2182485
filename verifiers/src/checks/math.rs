//! `math`: the answer equals the reference as mathematics.
//!
//! [`extract`] finds the answer, [`crate::math`] reads and compares it. An answer that is equal but
//! restates the question is refused.

mod candidate;
mod integer;
mod trial;

pub use crate::extract::Policy;
pub use crate::math::{Decimals, Relations, Strict};

use trial::{Said, Trial};

use crate::extract::{self, Scope, Spoken, Thinking};
use crate::math::question::Question;
use crate::math::syntax::text::trimmed;
use crate::prelude::*;

/// Right when the answer equals the reference as mathematics.
///
/// The answer is taken from the last `\boxed{}` or announcement ("the answer is", `#### 18`,
/// `"answer": "18"`, in many languages), outside thinking, hidden text, code and quotations of the
/// prompt; a completion that is nothing but an answer works too. LaTeX, plain text and Unicode
/// are read alike: fractions, surds, percents, units, points, sets, intervals, matrices, equations
/// and inequalities, polynomials and rational functions, number words. What cannot be proved equal
/// is not paid. Where the reference is a decimal, an answer within half a unit of its last digit is
/// right. See docs/math.md.
///
/// A reference that is a list names several acceptable answers. One that is no mathematics is
/// compared as text.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Math {
    /// Where the answer is looked for.
    #[serde(default)]
    extract: Policy,
    /// Let boxes and announcements in chains of thought, in code and in quotations of the prompt
    /// count.
    #[serde(default)]
    allow_hidden: bool,
    /// How decimals are compared: `reference_digits`, `exact`, or `{ relative = 1e-6 }`.
    #[serde(default)]
    decimals: Decimals,
    /// Refuse an answer that is a sum, a product, an integral, a limit or a derivative which the
    /// reference has not: it says the problem again. A bare expression without a prompt is no
    /// answer to a problem, and is computed. Where there is a prompt, arithmetic of its numbers
    /// that was left to be done is refused too.
    #[serde(default = "yes")]
    closed_form: bool,
    /// What an equation or inequality may stand for: `solved`, its solutions where it is solved for
    /// its variable; `equivalent`, its solutions in any form.
    #[serde(default)]
    relations: Relations,
    /// What must also be written as in the reference: `{ units = true, order = true, relations = true }`.
    #[serde(default)]
    strict: Strict,
}

fn yes() -> bool {
    true
}

impl Check for Math {
    const ID: &'static str = "math";
    const VERSION: u32 = 4;

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        match self.decimals {
            Decimals::Relative(eps) if !(0.0..1.0).contains(&eps) => Err(BuildError::new(
                "decimals",
                format!("relative is {eps}; it must be at least 0 and below 1"),
            )),
            _ => Ok(()),
        }
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        if sample.reference().is_none() {
            return Ok(Verdict::no_reference());
        }
        let references = sample.references();
        meter.spend(references.iter().map(|text| text.len() as u64).sum())?;
        let references: Vec<_> = references.iter().map(|text| extract::reference(text)).collect();
        if references.is_empty() || references.iter().any(|text| trimmed(text).is_empty()) {
            return Err(Fault::bad_reference("the reference is empty"));
        }
        meter.spend(20 + sample.completion().len() as u64)?;
        let (completion, prompt) = (sample.completion(), sample.prompt());
        let spoken = if self.allow_hidden {
            Spoken::all(completion)
        } else {
            Spoken::of(completion, Thinking::Skip)
        };
        let scope = if self.allow_hidden {
            Scope::everything(&spoken, prompt)
        } else {
            Scope::of(&spoken, prompt)
        };
        let announced = extract::announced(&scope, self.extract, meter)?;
        let said = Said { scope, announced, question: Question::new(sample.prompt()) };
        let mut best: Option<Trial> = None;
        for reference in &references {
            let trial = self.trial(reference, &said, meter)?;
            if best.as_ref().is_none_or(|best| trial.rank() > best.rank()) {
                best = Some(trial);
            }
            if best.as_ref().is_some_and(Trial::is_equal) {
                break;
            }
        }
        Ok(best.map_or_else(|| Verdict::graded(false).because("no-answer"), Trial::verdict))
    }
}
