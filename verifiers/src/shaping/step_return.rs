//! `step_return`: the rewards of the steps, with the outcome on the last one.

use crate::shape::member::other;
use crate::shape::prelude::*;
use crate::shape::settings::whole;
use crate::stats::Aggregate;

/// Every step earns `alpha p`, the last one the outcome too, and the sample what the steps come to by
/// `total`.
///
/// The outcome is another reward, such as whether the answer is right; without one it is 0. For a
/// process reward model in training the paper takes `alpha = 0.02`. Source: "On Designing Effective RL
/// Reward at Training Time for LLM Reasoning", the reward of a step.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StepReturn {
    /// The weight of the steps.
    #[serde(default = "whole")]
    alpha: Schedule,
    /// The reward that is the outcome.
    #[serde(default)]
    outcome: Option<String>,
    /// How the steps become the reward.
    #[serde(default = "Aggregate::sum")]
    total: Aggregate,
}

impl Shape for StepReturn {
    const KIND: &'static str = "step_return";

    fn reads(&self) -> Vec<&str> {
        self.outcome.as_deref().into_iter().collect()
    }

    fn shape_one(
        &self,
        member: &ShapeMember<'_>,
        reward: f64,
        state: &TrainingState,
        _: &mut Meter<'_>,
    ) -> Result<Shaped, Fault> {
        let outcome = match &self.outcome {
            None => 0.0,
            Some(name) => match other(member, name)? {
                Ok((_, outcome)) => outcome,
                Err(why) => return Ok(Shaped::skipped(reward, why)),
            },
        };
        let alpha = self.alpha.at(state.step);
        let mut steps: Vec<f64> = member.steps().iter().map(|step| alpha * step).collect();
        if let Some(last) = steps.last_mut() {
            *last += outcome;
        }
        Ok(match self.total.of(&steps) {
            Some(total) => Shaped::new(total).with_steps(steps).with("outcome", outcome),
            None => Shaped::skipped(reward, "the verdict has no steps"),
        })
    }
}
