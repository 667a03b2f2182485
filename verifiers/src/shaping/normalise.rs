//! `normalise`: a reward in standard deviations of a fixed reference.

use crate::shape::member::changed;
use crate::shape::prelude::*;
use crate::shape::settings::Target;

/// `(r - mean) / max(std, floor)`, with mean and standard deviation of the initial policy on a fixed
/// set of prompts: frozen normalisation, so that the units do not move while the policy does.
///
/// Source: the frozen normalisation of "Quark Medical Alignment", reconstructed from its
/// abstract; the floor of 1e-3 keeps an objective that hardly varies from being blown up.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Normalise {
    /// The mean of the reference.
    mean: f64,
    /// The standard deviation of the reference.
    std: f64,
    /// The least standard deviation by which is divided.
    #[serde(default = "floor")]
    floor: f64,
    /// Which rewards are changed.
    #[serde(default)]
    on: Target,
}

impl Shape for Normalise {
    const KIND: &'static str = "normalise";

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        at_least("std", self.std, 0.0)?;
        positive("floor", self.floor)
    }

    fn shape_one(
        &self,
        member: &ShapeMember<'_>,
        reward: f64,
        _: &TrainingState,
        _: &mut Meter<'_>,
    ) -> Result<Shaped, Fault> {
        let std = self.std.max(self.floor);
        Ok(changed(self.on, member, reward, |reward| (reward - self.mean) / std))
    }
}

fn floor() -> f64 {
    1e-3
}
