//! `ter`: edits that lead from a translation to its reference.

use assay_metrics::ter::{TerRules, ter};

use crate::likeness::{self, Measured};
use crate::prelude::*;

/// 1 less the translation edit rate, at least 0, as sacrebleu counts edits.
///
/// An edit inserts, deletes or changes a word, or moves a run of words. Of several references the least
/// edits count, for the mean length. The text is the last answer tag, or else all that the completion
/// says.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Ter {
    /// Case counts.
    case_sensitive: bool,
    /// Punctuation stands alone.
    normalized: bool,
    /// The marks `. , ? : ; ! " ( )` do not count.
    no_punct: bool,
    /// The reward is 1 from this score on and 0 below, in place of the score.
    #[serde(skip_serializing_if = "Option::is_none")]
    threshold: Option<f64>,
}

impl Check for Ter {
    const ID: &'static str = "ter";
    const SLOW: bool = true;
    const ASPECT: Aspect = Aspect::Likeness;

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        likeness::check_threshold(self.threshold)
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        likeness::judge(sample, self.threshold, meter, |text, references, meter| {
            let rules = TerRules {
                case_counts: self.case_sensitive,
                normalised: self.normalized,
                without_marks: self.no_punct,
            };
            let rate = ter(text, references, rules, &mut |units| meter.spend(units))?;
            Ok(Measured { score: 1.0 - rate / 100.0, parts: vec![("ter", rate.into())] })
        })
    }

    fn gold(&self, sample: &Sample) -> Option<Vec<String>> {
        likeness::gold(sample)
    }
}
