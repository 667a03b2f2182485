//! `exact`: the last line equals the reference.

use std::borrow::Cow;

use memchr::memrchr;

use crate::extract::{Thinking, thinking};
use crate::plain::{lower, refuse_objects};
use crate::prelude::*;

/// Right when the last non-empty line equals the reference, both trimmed.
///
/// A reference that is a list, or the text of a list of texts (`"['Paris']"`), names several acceptable
/// answers. An empty answer is never right, and an empty reference is a bad one. What the model thinks
/// before it answers is not looked at.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Exact {
    /// Compare without regard to case, in any script: characters are compared by their Unicode
    /// lower case.
    ignore_case: bool,
}

impl Check for Exact {
    const ID: &'static str = "exact";
    const VERSION: u32 = 3;
    const ASPECT: Aspect = Aspect::Text;

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        if sample.reference().is_none() {
            return Ok(Verdict::no_reference());
        }
        refuse_objects(sample)?;
        let references = sample.answers();
        if references.iter().all(|reference| reference.trim().is_empty()) {
            return Err(Fault::bad_reference("the reference is empty, and no answer is"));
        }
        let completion = sample.completion();
        meter.spend(completion.len() as u64)?;
        let said = thinking::answer(completion, Thinking::Skip).unwrap_or_default();
        let (start, said) = (said.start, &completion[said]);
        let said = said.trim_end();
        let last_line = memrchr(b'\n', said.as_bytes()).map_or(0, |end| end + 1);
        let answer = said[last_line..].trim_start();
        if answer.is_empty() {
            return Ok(Verdict::graded(false).because("empty"));
        }
        let right = self.equal_any(answer, &references, meter)?;
        Ok(Verdict::graded(right)
            .with_extracted(answer, (start + said.len() - answer.len(), start + said.len()))
            .because(if right { "equal" } else { "unequal" }))
    }
}

impl Exact {
    fn equal_any(
        &self,
        answer: &str,
        references: &[Cow<'_, str>],
        meter: &mut Meter<'_>,
    ) -> Result<bool, Fault> {
        for reference in references {
            if self.equal(answer, reference, meter)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn equal(&self, answer: &str, reference: &str, meter: &mut Meter<'_>) -> Result<bool, Fault> {
        meter.spend(answer.len().min(reference.len()) as u64)?;
        let reference = reference.trim();
        Ok(answer == reference || (self.ignore_case && lower(answer).eq(lower(reference))))
    }
}
