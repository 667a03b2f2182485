//! `chrf`: n-grams of characters that a translation shares with its references.

use assay_metrics::chrf::{ChrfReferences, ChrfRules};

use crate::likeness::{self, Kept, Measured};
use crate::prelude::*;

/// chrF or chrF++ against the best of one or several references, from 0 to 1, as sacrebleu has it.
///
/// The text is the last answer tag, or else all that the completion says. White space does not count.
#[derive(Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct Chrf {
    /// The longest n-grams of words, at most 4: 0 is chrF, 2 is chrF++.
    word_order: usize,
    /// How much more recall weighs than precision.
    #[default(2.0)]
    beta: f64,
    /// Case does not count.
    lowercase: bool,
    /// The reward is 1 from this score on and 0 below, in place of the score.
    #[serde(skip_serializing_if = "Option::is_none")]
    threshold: Option<f64>,
}

thread_local! {
    static KEPT: Kept<ChrfRules, ChrfReferences> = const { Kept::new() };
}

impl Check for Chrf {
    const ID: &'static str = "chrf";
    const ASPECT: Aspect = Aspect::Likeness;

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        if self.word_order > 4 {
            return Err(BuildError::new("word_order", "expected 0 to 4"));
        }
        if !(self.beta > 0.0 && self.beta <= 100.0) {
            return Err(BuildError::new("beta", "expected a number above 0, up to 100"));
        }
        likeness::check_threshold(self.threshold)
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        likeness::judge(sample, self.threshold, meter, |text, references, meter| {
            let rules =
                ChrfRules { words: self.word_order, beta: self.beta, ignore_case: self.lowercase };
            // Windows of both texts are sorted.
            let read: usize = references.iter().map(|one| one.len() + text.len()).sum();
            meter.spend(20 * read as u64)?;
            let read = |rules: &ChrfRules| ChrfReferences::new(references, rules);
            let score = KEPT.with(|kept| kept.with(references, rules, read, |all| all.score(text)));
            Ok(Measured { score: score / 100.0, parts: vec![("chrf", score.into())] })
        })
    }

    fn gold(&self, sample: &Sample) -> Option<Vec<String>> {
        likeness::gold(sample)
    }
}
