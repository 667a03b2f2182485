//! `ngram_repetition`: how much of a completion is said again.

use assay_metrics::repetition::{GramCounts, GramUnit};

use crate::likeness::{self, Measured};
use crate::prelude::*;
use crate::text_parts::shown;

/// The share of different n-grams among all n-grams of a completion: 1 where nothing is said again.
///
/// Less 1, it is the repetition penalty of Open-R1 (`get_repetition_penalty_reward`). A completion that
/// is too short for an n-gram abstains. What the model thinks does not count, nor does case.
#[derive(Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct NgramRepetition {
    /// The length of n-grams, from 1 to 32.
    #[default(3)]
    n: usize,
    /// What n-grams are made of.
    unit: GramsOf,
    /// The reward is 1 from this share on and 0 below, in place of the share.
    #[serde(skip_serializing_if = "Option::is_none")]
    threshold: Option<f64>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum GramsOf {
    /// Words between white space.
    #[default]
    Words,
    /// Characters, for scripts without blanks.
    Characters,
}

impl Check for NgramRepetition {
    const ID: &'static str = "ngram_repetition";
    const ASPECT: Aspect = Aspect::Form;

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        if !(1..=32).contains(&self.n) {
            return Err(BuildError::new("n", "expected 1 to 32"));
        }
        likeness::check_threshold(self.threshold)
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let text = shown(sample, meter)?;
        meter.spend(10 * (text.len() * self.n) as u64)?;
        if text.trim().is_empty() {
            return Ok(Verdict::graded(false).because("empty"));
        }
        let unit = match self.unit {
            GramsOf::Words => GramUnit::Words,
            GramsOf::Characters => GramUnit::Characters,
        };
        let counts = GramCounts::of(&text, unit, self.n);
        if counts.all == 0 {
            return Ok(Verdict::abstained("the completion is too short for an n-gram"));
        }
        let parts = vec![("all", counts.all.into()), ("distinct", counts.distinct.into())];
        Ok(likeness::earned(Measured { score: 1.0 - counts.repeated(), parts }, self.threshold))
    }
}
