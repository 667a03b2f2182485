//! `step_delta`: a step earns what the next one loses.

use crate::shape::prelude::*;
use crate::stats::Aggregate;

/// Step `k` of `K` earns `p_k - p_(k+1)`, the last but one `p_(K-1)`, the last 0; and the sample what
/// the steps come to by `total`.
///
/// The sum from a step on is that step's own reward, so that more steps gain nothing; the last step
/// has the outcome alone (`step_return` adds it). Source: "On Designing Effective RL Reward at
/// Training Time for LLM Reasoning", section on Clip and Delta.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StepDelta {
    /// How the steps become the reward.
    #[serde(default = "Aggregate::sum")]
    total: Aggregate,
}

impl Shape for StepDelta {
    const KIND: &'static str = "step_delta";

    fn shape_one(
        &self,
        member: &ShapeMember<'_>,
        reward: f64,
        _: &TrainingState,
        _: &mut Meter<'_>,
    ) -> Result<Shaped, Fault> {
        let steps = deltas(&member.steps());
        Ok(match self.total.of(&steps) {
            Some(total) => Shaped::new(total).with_steps(steps),
            None => Shaped::skipped(reward, "the verdict has no steps"),
        })
    }
}

fn deltas(steps: &[f64]) -> Vec<f64> {
    let Some((_, before)) = steps.split_last() else { return Vec::new() };
    let next = before.iter().skip(1).copied().chain([0.0]);
    let mut deltas: Vec<f64> = before.iter().zip(next).map(|(step, next)| step - next).collect();
    deltas.push(0.0);
    deltas
}
