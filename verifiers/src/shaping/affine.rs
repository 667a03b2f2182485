//! `affine`: a reward in other units.

use crate::shape::member::changed;
use crate::shape::prelude::*;
use crate::shape::settings::{Target, none, whole};

/// `scale u + shift`, where `u` is the reward, or `to[0] + (r - from[0]) / (from[1] - from[0]) (to[1] -
/// to[0])` where `from` is set: a range mapped onto another, by default onto 0 to 1.
///
/// Any finite number may come out: nothing is clipped. `scale` and `shift` may follow the training
/// step, so that a part is brought in or taken out slowly.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Affine {
    /// The factor.
    #[serde(default = "whole")]
    scale: Schedule,
    /// What is added.
    #[serde(default = "none")]
    shift: Schedule,
    /// The range that is mapped onto `to`.
    #[serde(default)]
    from: Option<(f64, f64)>,
    /// The range onto which `from` is mapped.
    #[serde(default = "unit_range")]
    to: (f64, f64),
    /// Which rewards are changed.
    #[serde(default)]
    on: Target,
}

impl Shape for Affine {
    const KIND: &'static str = "affine";

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        match self.from {
            Some((low, high)) if low >= high => {
                let message = format!("from goes from {low} to {high}, expected low to high");
                Err(BuildError::new("from", message))
            }
            None if self.to != unit_range() => {
                Err(BuildError::new("to", "to needs the range `from` that is mapped onto it"))
            }
            _ => Ok(()),
        }
    }

    fn shape_one(
        &self,
        member: &ShapeMember<'_>,
        reward: f64,
        state: &TrainingState,
        _: &mut Meter<'_>,
    ) -> Result<Shaped, Fault> {
        let (scale, shift) = (self.scale.at(state.step), self.shift.at(state.step));
        Ok(changed(self.on, member, reward, |reward| scale * self.mapped(reward) + shift))
    }
}

impl Affine {
    fn mapped(&self, reward: f64) -> f64 {
        let Some((low, high)) = self.from else { return reward };
        self.to.0 + (reward - low) / (high - low) * (self.to.1 - self.to.0)
    }
}

fn unit_range() -> (f64, f64) {
    (0.0, 1.0)
}
