//! `step_min_form`: the worst step makes the reward.

use crate::shape::prelude::*;
use crate::stats::Aggregate;

/// Step `i` earns `w_i p_i` with `w = softmax(-p / temperature)`, and the sample the sum: close to the
/// least step reward, the closer the lower the temperature.
///
/// Between the least and the mean of the step rewards comes out. Source: "Stop Summation: Min-Form
/// Credit Assignment Is All Process Reward Model Needs for Reasoning" (PURE), section "Method"; its
/// temperature is the default.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StepMinForm {
    /// How soft the minimum is.
    #[serde(default = "tenth")]
    temperature: f64,
}

impl Shape for StepMinForm {
    const KIND: &'static str = "step_min_form";

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        positive("temperature", self.temperature)
    }

    fn shape_one(
        &self,
        member: &ShapeMember<'_>,
        reward: f64,
        _: &TrainingState,
        _: &mut Meter<'_>,
    ) -> Result<Shaped, Fault> {
        let steps = member.steps();
        let Some(least) = Aggregate::Min.of(&steps) else {
            return Ok(Shaped::skipped(reward, "the verdict has no steps"));
        };
        // Less the least step: the greatest exponential is 1.
        let weight = |step: &f64| ((least - step) / self.temperature).exp();
        let whole: f64 = steps.iter().map(weight).sum();
        let shaped: Vec<f64> = steps.iter().map(|step| step * weight(step) / whole).collect();
        Ok(Shaped::new(shaped.iter().sum()).with_steps(shaped))
    }
}

fn tenth() -> f64 {
    0.1
}
