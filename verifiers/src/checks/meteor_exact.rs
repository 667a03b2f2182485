//! `meteor_exact`: equal words of a translation and their order.

use assay_metrics::meteor::{MeteorWeights, meteor};

use crate::likeness::{self, Measured};
use crate::prelude::*;

/// METEOR by equal words alone, without stems and synonyms, from 0 to 1, as NLTK aligns and weighs them.
///
/// Words stand between white space and are compared in lower case. Scores are lower than those of METEOR
/// with synonyms, and not comparable with them. A text equal to its reference earns just below 1, as its
/// one chunk costs a little. The text is the last answer tag, or else all that the completion says.
#[derive(Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct MeteorExact {
    /// How much precision counts in the mean with recall.
    #[default(MeteorWeights::default().alpha)]
    alpha: f64,
    /// The power of the share of chunks.
    #[default(MeteorWeights::default().beta)]
    beta: f64,
    /// The greatest penalty.
    #[default(MeteorWeights::default().gamma)]
    gamma: f64,
    /// The reward is 1 from this score on and 0 below, in place of the score.
    #[serde(skip_serializing_if = "Option::is_none")]
    threshold: Option<f64>,
}

impl Check for MeteorExact {
    const ID: &'static str = "meteor_exact";
    const ASPECT: Aspect = Aspect::Likeness;

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        for (name, value, most) in
            [("alpha", self.alpha, 1.0), ("beta", self.beta, 100.0), ("gamma", self.gamma, 1.0)]
        {
            if !(0.0..=most).contains(&value) {
                return Err(BuildError::new(name, format!("expected 0 to {most}")));
            }
        }
        likeness::check_threshold(self.threshold)
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        likeness::judge(sample, self.threshold, meter, |text, references, _| {
            let Self { alpha, beta, gamma, .. } = *self;
            let score = meteor(text, references, MeteorWeights { alpha, beta, gamma });
            Ok(Measured { score, parts: vec![("meteor", score.into())] })
        })
    }

    /// A text equal to its reference earns less than 1, unless a threshold says otherwise.
    fn gold(&self, sample: &Sample) -> Option<Vec<String>> {
        if self.threshold.is_some() { likeness::gold(sample) } else { Some(Vec::new()) }
    }
}
