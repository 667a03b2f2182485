//! `normalise_running`: a reward in standard deviations of what was seen so far.

use crate::deviation::Std;
use crate::shape::member::changed;
use crate::shape::prelude::*;
use crate::shape::settings::Target;

/// `(r - mean) / max(std, floor)`, with mean and standard deviation of all
/// rewards that were seen before this call.
///
/// They are an input: the training state holds them under `name`, and a call gives the next state,
/// which has seen its unshaped rewards too. Until `warmup` rewards were seen nothing changes. Source:
/// the running form of the normalisation of Quark; the statistics of a call are not used for the call
/// itself, so that a sample does not depend on the batch in which it came.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NormaliseRunning {
    /// The reward whose moments are used: the name of the reward that is shaped.
    name: String,
    /// Which standard deviation.
    #[serde(default)]
    std: Std,
    /// The least standard deviation by which is divided.
    #[serde(default = "floor")]
    floor: f64,
    /// How many rewards must have been seen.
    #[serde(default = "warmup")]
    warmup: u64,
    /// Which rewards are changed.
    #[serde(default)]
    on: Target,
}

impl Shape for NormaliseRunning {
    const KIND: &'static str = "normalise_running";

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        positive("floor", self.floor)
    }

    fn moments(&self) -> Vec<&str> {
        vec![&self.name]
    }

    fn shape_one(
        &self,
        member: &ShapeMember<'_>,
        reward: f64,
        state: &TrainingState,
        _: &mut Meter<'_>,
    ) -> Result<Shaped, Fault> {
        let moments = state.moments.get(&self.name).copied().unwrap_or_default();
        if moments.count < self.warmup.max(1) {
            let why = format!("{} rewards were seen of {}", moments.count, self.warmup.max(1));
            return Ok(Shaped::skipped(reward, why));
        }
        let std = moments.std(self.std).max(self.floor);
        Ok(changed(self.on, member, reward, |reward| (reward - moments.mean) / std))
    }
}

fn floor() -> f64 {
    1e-3
}

fn warmup() -> u64 {
    2
}
