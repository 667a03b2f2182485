//! `stop_properly`: a completion that was cut off earns less.

use crate::shape::member::truncated;
use crate::shape::prelude::*;

/// A completion that was cut off at the limit of its length earns `coefficient r` where the
/// coefficient is 0 or more, else the coefficient itself.
///
/// Cut off is what the row calls so: its `finish_reason` is `length`, or the column `truncated` is
/// true or holds such a reason. A row that does not say is left as it is. Source: `OpenRLHF`,
/// `stop_properly_penalty_coef`, after the second version of
/// "`ProRL`: Prolonged Reinforcement Learning Expands Reasoning Boundaries in Large Language Models".
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct StopProperly {
    /// The factor where it is 0 or more, else what is earned.
    coefficient: f64,
    /// The column that says whether the completion was cut off; by default the finish reason.
    truncated: Option<String>,
}

impl Shape for StopProperly {
    const KIND: &'static str = "stop_properly";

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        let coefficient = self.coefficient;
        if coefficient.is_finite() && coefficient <= 1.0 {
            return Ok(());
        }
        let message =
            format!("coefficient is {coefficient}, expected at most 1; write 0.5 for 50 %");
        Err(BuildError::new("coefficient", message))
    }

    fn shape_one(
        &self,
        member: &ShapeMember<'_>,
        reward: f64,
        _: &TrainingState,
        _: &mut Meter<'_>,
    ) -> Result<Shaped, Fault> {
        Ok(match truncated(member.sample, self.truncated.as_deref())? {
            None => Shaped::skipped(reward, "the row does not say how the completion ended"),
            Some(false) => Shaped::new(reward).with("truncated", false),
            Some(true) if self.coefficient < 0.0 => {
                Shaped::new(self.coefficient).with("truncated", true)
            }
            Some(true) => Shaped::new(self.coefficient * reward).with("truncated", true),
        })
    }
}
