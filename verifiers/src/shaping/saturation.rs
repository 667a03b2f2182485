//! `saturation`: a reward that is nearly always earned counts less.

use crate::shape::prelude::*;
use crate::shape::settings::{one, zero};

/// `r (1 - s)^exponent`, with `s = (mean - low) / (high - low)` within 0 to 1: how far the mean of the
/// reward has come.
///
/// The mean is a value of the training state, pushed by the trainer; while it is unknown nothing
/// changes. Between 0 and `r` comes out; a normalisation behind it brings the parts to one scale again.
/// Source: the down-weighting of saturated objectives, in the notes of the reference.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Saturation {
    /// The value of the training state that holds the mean.
    value: String,
    /// The mean at which the reward counts whole.
    #[serde(default = "zero")]
    low: f64,
    /// The mean at which it counts no more.
    #[serde(default = "one")]
    high: f64,
    /// How the weight falls: 1 is a line.
    #[serde(default = "one")]
    exponent: f64,
}

impl Shape for Saturation {
    const KIND: &'static str = "saturation";

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        if self.low >= self.high {
            let message = format!("high is {}, expected more than low, {}", self.high, self.low);
            return Err(BuildError::new("high", message));
        }
        positive("exponent", self.exponent)
    }

    fn shape_one(
        &self,
        _: &ShapeMember<'_>,
        reward: f64,
        state: &TrainingState,
        _: &mut Meter<'_>,
    ) -> Result<Shaped, Fault> {
        let Some(mean) = state.values.get(&self.value).filter(|mean| mean.is_finite()) else {
            return Ok(Shaped::skipped(reward, format!("value \"{}\" is unknown", self.value)));
        };
        let saturated = ((mean - self.low) / (self.high - self.low)).clamp(0.0, 1.0);
        let weight = (1.0 - saturated).powf(self.exponent);
        Ok(Shaped::new(reward * weight).with("weight", weight))
    }
}
