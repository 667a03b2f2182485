//! `renorm`: steps of a right completion earn, those of a wrong one pay, ordered by their quality.

use crate::shape::member::other;
use crate::shape::prelude::*;
use crate::shape::settings::one;
use crate::stats::Aggregate;

/// Every step earns `p + o - mu`, and the sample what the steps come to by `total`; a verdict without
/// steps is one step, and its reward is `p`.
///
/// `o` is the outcome in 0 to 1: the reward `outcome`, by default the reward of this verdict itself.
/// With `p` in 0 to 1 and `mu = 1`, steps of a right completion earn 0 to 1 and those of a wrong one -1
/// to 0. Where the reward `format` is below one half, every `p` is 0. Source: "Hybrid Reward
/// Normalization for Process-supervised Non-verifiable Agentic Tasks" (PPR, `ReNorm`); its repository
/// states the formula and mu.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Renorm {
    /// The reward that is the outcome.
    #[serde(default)]
    outcome: Option<String>,
    /// The reward that is the format.
    #[serde(default)]
    format: Option<String>,
    /// What is taken off.
    #[serde(default = "one")]
    mu: f64,
    /// How the steps become the reward.
    #[serde(default = "Aggregate::mean")]
    total: Aggregate,
}

impl Shape for Renorm {
    const KIND: &'static str = "renorm";

    fn reads(&self) -> Vec<&str> {
        self.outcome.as_deref().into_iter().chain(self.format.as_deref()).collect()
    }

    fn shape_one(
        &self,
        member: &ShapeMember<'_>,
        reward: f64,
        _: &TrainingState,
        _: &mut Meter<'_>,
    ) -> Result<Shaped, Fault> {
        let read = |name: &Option<String>, own: f64| match name {
            None => Ok(Ok(own)),
            Some(name) => Ok(other(member, name)?.map(|(_, reward)| reward)),
        };
        let (outcome, format) = match (read(&self.outcome, reward)?, read(&self.format, 1.0)?) {
            (Ok(outcome), Ok(format)) => (outcome, format),
            (Err(why), _) | (_, Err(why)) => return Ok(Shaped::skipped(reward, why)),
        };
        let step = |process: f64| {
            let process = if format < Reward::RIGHT { 0.0 } else { process };
            process + outcome - self.mu
        };
        let steps: Vec<f64> = member.steps().into_iter().map(step).collect();
        Ok(match (self.total.of(&steps), &self.outcome) {
            (Some(total), _) => Shaped::new(total).with_steps(steps).with("outcome", outcome),
            (None, Some(_)) => Shaped::new(step(reward)).with("outcome", outcome),
            (None, None) => Shaped::skipped(reward, "the verdict has no steps, and no `outcome`"),
        })
    }
}
