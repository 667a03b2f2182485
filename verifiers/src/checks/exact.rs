//! `exact`: the last line equals the reference.

use crate::prelude::*;

/// Right when the last non-empty line equals the reference, both trimmed.
///
/// A reference that is a list names several acceptable answers.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Exact {
    /// Compare without regard to ASCII case.
    #[serde(default)]
    ignore_case: bool,
}

impl Check for Exact {
    const ID: &'static str = "exact";

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        if sample.reference().is_none() {
            return Ok(Verdict::no_reference());
        }
        let completion = sample.completion();
        meter.spend(completion.len() as u64)?;
        let line = completion.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
        let answer = line.trim();
        let right = !answer.is_empty()
            && sample.references().iter().any(|reference| self.equal(answer, reference.trim()));
        let start = answer.as_ptr() as usize - completion.as_ptr() as usize;
        let verdict = Verdict::graded(right);
        Ok(match (right, answer.is_empty()) {
            (_, true) => verdict.because("empty"),
            (true, _) => verdict.with_extracted(answer, (start, start + answer.len())).because("equal"),
            (false, _) => verdict.with_extracted(answer, (start, start + answer.len())).because("unequal"),
        })
    }
}

impl Exact {
    fn equal(&self, answer: &str, reference: &str) -> bool {
        if self.ignore_case { answer.eq_ignore_ascii_case(reference) } else { answer == reference }
    }
}
