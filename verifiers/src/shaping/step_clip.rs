//! `step_clip`: steps can lose reward and never gain any.

use crate::shape::prelude::*;
use crate::stats::Aggregate;

/// Every step earns `min(p - eta, 0)`, and the sample what the steps come to by `total`.
///
/// No step is positive, so saying good steps again gains nothing. `eta` is a quantile of the step
/// rewards such that most right steps earn 0. Source: "On Designing Effective RL Reward at Training
/// Time for LLM Reasoning", section on Clip and Delta. With `step_delta` behind it, both are combined
/// as there.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StepClip {
    /// The step reward from which on nothing is lost.
    eta: f64,
    /// How the steps become the reward.
    #[serde(default = "Aggregate::sum")]
    total: Aggregate,
}

impl Shape for StepClip {
    const KIND: &'static str = "step_clip";

    fn shape_one(
        &self,
        member: &ShapeMember<'_>,
        reward: f64,
        _: &TrainingState,
        _: &mut Meter<'_>,
    ) -> Result<Shaped, Fault> {
        let steps: Vec<f64> =
            member.steps().iter().map(|step| (step - self.eta).min(0.0)).collect();
        Ok(match self.total.of(&steps) {
            Some(total) => Shaped::new(total).with_steps(steps),
            None => Shaped::skipped(reward, "the verdict has no steps"),
        })
    }
}
