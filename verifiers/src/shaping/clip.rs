//! `clip`: a reward within bounds.

use crate::shape::member::changed;
use crate::shape::prelude::*;
use crate::shape::settings::Target;

/// `min(max(r, min), max)`. A bound that is not set does not hold.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Clip {
    /// The least that comes out.
    #[serde(default)]
    min: Option<f64>,
    /// The most that comes out.
    #[serde(default)]
    max: Option<f64>,
    /// Which rewards are changed.
    #[serde(default)]
    on: Target,
}

impl Shape for Clip {
    const KIND: &'static str = "clip";

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        match (self.min, self.max) {
            (None, None) => Err(BuildError::new("", "clip needs `min`, `max` or both")),
            (Some(min), Some(max)) if min > max => {
                Err(BuildError::new("min", format!("min is {min}, more than max, {max}")))
            }
            _ => Ok(()),
        }
    }

    fn shape_one(
        &self,
        member: &ShapeMember<'_>,
        reward: f64,
        _: &TrainingState,
        _: &mut Meter<'_>,
    ) -> Result<Shaped, Fault> {
        let (min, max) = (self.min.unwrap_or(f64::MIN), self.max.unwrap_or(f64::MAX));
        Ok(changed(self.on, member, reward, |reward| reward.max(min).min(max)))
    }
}
