//! `process`: the rewards of steps, normalised over the group, from each step on.

use super::steps;
use crate::advantages::prelude::*;

/// Process supervision of GRPO: the rewards of all steps of all rollouts of a group are normalised
/// together, and the advantage of a token is the sum of those of the steps that end at it or behind
/// it. An outcome alone is the case of one step. It needs `steps`, and `mask` or `lengths`.
///
/// Source: "`DeepSeekMath`: Pushing the Limits of Mathematical Reasoning in Open Language Models",
/// section 4.1.3.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct ProcessSupervision {
    /// Which standard deviation of the rewards of steps.
    pub std: Std,
    /// Keeps the divisor above 0.
    #[default(EPS)]
    pub eps: f64,
    /// Where it enters the divisor.
    pub eps_at: EpsAt,
}

impl EstimatorSettings for ProcessSupervision {
    fn check(&self) -> Result<(), TrainerError> {
        within("eps", self.eps, 0.0..)
    }
}

impl Estimator for ProcessSupervision {
    fn estimate(&self, batch: &RewardBatch<'_>) -> Result<Advantages, TrainerError> {
        let report = report(batch)?;
        let given = batch.needed_rows("process", "steps", batch.steps)?;
        let mask = tokens::trained(batch, "process")?;
        tokens::ordered_steps(&mask, given)?;
        let groups = steps::group_of_rows(batch);
        let mut values = steps::normalized(
            batch,
            given,
            |row, _| groups.get(row).copied(),
            |moments| Some(self.eps_at.divisor(moments.std(self.std), self.eps)),
        );
        steps::future_sums(&mut values);
        // A token before the start of a step counts what ends behind it, as any other.
        let given = given.map(|step| StepReward::new(step.end, step.reward));
        let values = tokens::spread_steps(&mask, &given, &values, &vec![0.0; mask.rows()]);
        tokens::checked(batch, &values)?;
        Ok(Advantages::of_tokens(values, report))
    }
}

#[cfg(test)]
mod tests {
    use crate::advantages::batch::StepReward;
    use crate::advantages::testing::{assert_close, estimated_with, of_tokens, rollouts, rows};

    fn step(end: usize, reward: f64) -> StepReward {
        StepReward::new(end, reward)
    }

    #[test]
    fn the_steps_from_a_token_on_are_its_advantage() {
        // Rewards 1, 0, 1, 0: mean 0.5, biased deviation 0.5. The step without a reward adds nothing,
        // and neither does the rollout without one.
        let steps = Box::leak(Box::new(rows(&[
            &[step(1, 1.0), step(3, 0.0)],
            &[step(2, 1.0), step(3, f64::NAN), step(4, 0.0)],
            &[step(1, 9.0)],
        ])));
        let config = "kind = \"process\"\nstd = \"biased\"\neps = 0";
        let values = of_tokens(estimated_with(config, &[1.0, 0.0, f64::NAN], 3, |mut batch| {
            batch.lengths = Some(&[4, 4, 1]);
            batch.steps = Some(steps);
            batch
        }));
        assert_eq!(values, rows(&[&[0.0, -1.0, -1.0, 0.0], &[0.0, 0.0, -1.0, -1.0], &[0.0]]));
    }

    #[test]
    fn an_outcome_is_one_step() {
        let rewards = &[1.0, 0.0, 0.0, 0.0];
        let steps = rewards.map(|reward| vec![step(2, reward)]).into_iter().collect();
        let steps = Box::leak(Box::new(steps));
        let values = of_tokens(estimated_with(r#"kind = "process""#, rewards, 4, |mut batch| {
            batch.lengths = Some(&[2, 2, 2, 2]);
            batch.steps = Some(steps);
            batch
        }));
        let firsts: Vec<f64> = values.iter().map(|row| row[0]).collect();
        assert_close(&firsts, &rollouts(r#"kind = "grpo""#, rewards, 4));
    }
}
