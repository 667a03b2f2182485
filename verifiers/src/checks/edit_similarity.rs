//! `edit_similarity`: how few characters lead from one text to another.

use assay_metrics::edit::characters;

use crate::likeness::{self, Measured};
use crate::prelude::*;

/// 1 less the edit distance over the characters of the longer text, against the best of one or several
/// references, as rapidfuzz has it (`Levenshtein.normalized_similarity`).
///
/// With `lowercase = true, floor = 0.5` it is ANLS, the score of `DocVQA`. The text is the last answer
/// tag, or else all that the completion says.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EditSimilarity {
    /// Case does not count.
    lowercase: bool,
    /// A similarity below it earns nothing.
    floor: f64,
    /// The reward is 1 from this score on and 0 below, in place of the score.
    #[serde(skip_serializing_if = "Option::is_none")]
    threshold: Option<f64>,
}

impl Check for EditSimilarity {
    const ID: &'static str = "edit_similarity";
    const ASPECT: Aspect = Aspect::Likeness;

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        if !(0.0..=1.0).contains(&self.floor) {
            return Err(BuildError::new("floor", "expected 0 to 1"));
        }
        likeness::check_threshold(self.threshold)
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let cased = |text: &str| if self.lowercase { text.to_lowercase() } else { text.to_owned() };
        likeness::judge(sample, self.threshold, meter, |text, references, meter| {
            let (text, mut similarity) = (cased(text), 0.0_f64);
            for reference in references {
                let mut pay = |units| meter.spend(units);
                let found = characters(&text, &cased(reference), &mut pay)?;
                similarity = similarity.max(found.similarity());
            }
            let score = if similarity < self.floor { 0.0 } else { similarity };
            Ok(Measured { score, parts: vec![("similarity", similarity.into())] })
        })
    }

    fn gold(&self, sample: &Sample) -> Option<Vec<String>> {
        likeness::gold(sample)
    }
}
