//! `gleu`: n-grams that a text shares with its reference, or the reference with it.

use assay_metrics::bleu::{BleuReferences, BleuRules, Smoothing};
use assay_metrics::score::Overlap;

use super::bleu::Tokenizer;
use crate::likeness::{self, Measured};
use crate::prelude::*;

/// GLEU, the sentence score made as a reward, against the best of one or several references, from 0 to 1.
///
/// It is the lesser of precision and recall over all n-grams of one to four tokens, so that a text that is
/// too short or too long earns less. The text is the last answer tag, or else all that the completion says.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Gleu {
    /// How texts are split.
    tokenize: Tokenizer,
    /// Case does not count.
    lowercase: bool,
    /// The reward is 1 from this score on and 0 below, in place of the score.
    #[serde(skip_serializing_if = "Option::is_none")]
    threshold: Option<f64>,
}

impl Check for Gleu {
    const ID: &'static str = "gleu";
    const ASPECT: Aspect = Aspect::Likeness;

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        likeness::check_threshold(self.threshold)
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        likeness::judge(sample, self.threshold, meter, |text, references, _| {
            let rules = BleuRules {
                tokens: self.tokenize.split(),
                smoothing: Smoothing::None,
                ignore_case: self.lowercase,
                effective_order: true,
            };
            let score = |found: &Overlap| found.precision.min(found.recall);
            let each =
                references.iter().map(|one| BleuReferences::new(&[*one], &rules).overlap(text));
            let found =
                each.max_by(|one, two| score(one).total_cmp(&score(two))).unwrap_or_default();
            let parts =
                vec![("precision", found.precision.into()), ("recall", found.recall.into())];
            Ok(Measured { score: score(&found), parts })
        })
    }

    fn gold(&self, sample: &Sample) -> Option<Vec<String>> {
        likeness::gold(sample)
    }
}
