//! `aalc`: shorter completions earn more once the policy is accurate.

use crate::shape::length::CompletionLength;
use crate::shape::prelude::*;

/// `(0.9 + 0.1 (1 - a)) r + alpha (1 - min(a^beta, l))`, with `a = min(1, accuracy / target)` and
/// `l = min(1, L / max)`.
///
/// The accuracy on the validation set is a value of the training state, pushed by the trainer; while
/// it is unknown (missing, or below 0) nothing changes. Below the target `a^beta` is near 0 and length
/// costs nothing; at the target it costs up to `alpha`. For `r` in 0 to 1 between 0 and 1 + alpha
/// comes out. Source: "AALC: Large Language Model Efficient Reasoning via Adaptive
/// Accuracy-Length Control"; constants of its code.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Aalc {
    /// The accuracy that the policy is to have.
    target: f64,
    /// The value of the training state that holds the accuracy.
    #[serde(default = "accuracy")]
    accuracy: String,
    /// How sharply the pressure sets in.
    #[serde(default = "beta")]
    beta: f64,
    /// The weight of the length.
    #[serde(default = "alpha")]
    alpha: f64,
    /// The length from which on a completion is wholly long.
    #[serde(default = "max_default")]
    max: u32,
    /// Only a completion that earns something is paid for its length.
    #[serde(default)]
    only_correct: bool,
    #[serde(flatten)]
    length: CompletionLength,
}

impl Shape for Aalc {
    const KIND: &'static str = "aalc";

    fn load(&mut self, files: &dyn Files) -> Result<(), BuildError> {
        positive("target", self.target)?;
        at_least("beta", self.beta, 0.0)?;
        at_least("alpha", self.alpha, 0.0)?;
        at_least("max", f64::from(self.max), 1.0)?;
        self.length.load(files)
    }

    fn shape_one(
        &self,
        member: &ShapeMember<'_>,
        reward: f64,
        state: &TrainingState,
        meter: &mut Meter<'_>,
    ) -> Result<Shaped, Fault> {
        let known = state.values.get(&self.accuracy).filter(|accuracy| **accuracy >= 0.0);
        let Some(accuracy) = known else {
            return Ok(Shaped::skipped(reward, format!("value \"{}\" is unknown", self.accuracy)));
        };
        let length = self.length.of(member.sample, meter)?;
        let reached = (accuracy / self.target).min(1.0);
        let long = (length / f64::from(self.max)).min(1.0);
        let short = 1.0 - reached.powf(self.beta).min(long);
        let paid = if self.only_correct && reward <= 0.0 { 0.0 } else { self.alpha * short };
        let attention = 0.9 + 0.1 * (1.0 - reached);
        Ok(Shaped::new(attention * reward + paid).with("length", length))
    }
}

fn accuracy() -> String {
    "validation_accuracy".to_owned()
}

fn beta() -> f64 {
    128.0
}

fn alpha() -> f64 {
    1e-6
}

fn max_default() -> u32 {
    1024
}
