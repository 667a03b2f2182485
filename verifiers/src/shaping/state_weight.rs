//! `state_weight`: a weight that the trainer computes.

use crate::shape::prelude::*;
use crate::shape::settings::one;

/// `w r`, where `w` is a value of the training state; `unknown` while the trainer has pushed none.
///
/// For weights that need more than one call to be known: those of Quark (weakness, risk and
/// redundancy of each objective), of a learned blend of rewards, of a mixture of data.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StateWeight {
    /// The value of the training state that holds the weight.
    value: String,
    /// The weight while it is unknown.
    #[serde(default = "one")]
    unknown: f64,
}

impl Shape for StateWeight {
    const KIND: &'static str = "state_weight";

    fn shape_one(
        &self,
        _: &ShapeMember<'_>,
        reward: f64,
        state: &TrainingState,
        _: &mut Meter<'_>,
    ) -> Result<Shaped, Fault> {
        let known = state.values.get(&self.value).copied().filter(|weight| weight.is_finite());
        let weight = known.unwrap_or(self.unknown);
        Ok(Shaped::new(reward * weight).with("weight", weight))
    }
}
