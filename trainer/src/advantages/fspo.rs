//! `fspo`: the sign of an advantage follows whether a sentence is supported by the evidence.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use smart_default::SmartDefault;

use super::batch::{Advantages, Estimator, RewardBatch, StepReward};
use super::conventions::{EstimatorSettings, in_range};
use super::grpo::Grpo;
use super::tokens;
use crate::error::TrainerError;

/// Factuality-aware step-wise policy optimization: a sentence is a step, and its reward is how well the
/// evidence supports it. With `z = 1` above the threshold and `z = -1` otherwise, the advantage of its
/// tokens is `A` where `z A >= 0`, else `-A`: unsupported sentences of good rollouts are pushed down,
/// supported ones of bad rollouts up. Tokens of no judged sentence, such as the answer, keep `A`. It
/// needs `steps`, with NaN for a span that is not judged, and `mask` or `lengths`.
///
/// Source: "The Hallucination Dilemma: Factuality-Aware Reinforcement Learning for Large Reasoning
/// Models", as in its repository, `ray_trainer.py`, but for tokens outside the judged
/// sentences, which that code takes for supported.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct Fspo {
    /// A sentence with a higher score is supported.
    #[default(0.5)]
    pub threshold: f64,
    /// How rewards relate to their group: settings of `grpo`.
    pub group: Grpo,
}

impl EstimatorSettings for Fspo {
    fn check(&self) -> Result<(), TrainerError> {
        in_range("threshold", self.threshold, f64::MIN, f64::MAX)?;
        self.group.check()
    }
}

impl Estimator for Fspo {
    fn estimate(&self, batch: &RewardBatch<'_>) -> Result<Advantages, TrainerError> {
        let mut outcome = vec![0.0; batch.rewards.len()];
        let report = self.group.estimate_into(batch, &mut outcome)?;
        let sentences = batch.needed_rows("fspo", "steps", batch.steps)?;
        let mask = tokens::trained(batch, "fspo")?;
        tokens::ordered_steps(&mask, sentences)?;
        let mut values = tokens::spread(&outcome, &mask);
        for (row, sentences) in sentences.iter().enumerate() {
            let tokens = values.row_mut(row);
            for (sentence, span) in sentences.iter().zip(StepReward::spans(sentences)) {
                let is_judged = !sentence.reward.is_nan();
                let is_supported = sentence.reward > self.threshold;
                #[expect(clippy::indexing_slicing, reason = "steps are within their row")]
                let span = &mut tokens[span];
                let contradicts = |token: &&mut f64| is_judged && is_supported != (**token > 0.0);
                // A token whose advantage is 0 stays as it is.
                for token in span.iter_mut().filter(contradicts).filter(|token| **token != 0.0) {
                    *token = -*token;
                }
            }
        }
        Ok(Advantages::of_tokens(values, report))
    }
}

#[cfg(test)]
mod tests {
    use crate::advantages::batch::StepReward;
    use crate::advantages::testing::{estimated_with, of_tokens, rows};

    #[test]
    fn the_sign_follows_the_evidence() {
        let step = |end: usize, reward: f64| StepReward::new(end, reward);
        // Right and wrong; supported, not supported, not judged; the last token is behind all steps.
        let judged = [step(1, 0.9), step(2, 0.5), step(3, f64::NAN)];
        let steps = Box::leak(Box::new(rows(&[&judged, &judged, &[]])));
        let config = "kind = \"fspo\"\ngroup = { std = \"biased\", eps = 0 }";
        let values = of_tokens(estimated_with(config, &[1.0, 0.0, f64::NAN], 3, |mut batch| {
            batch.lengths = Some(&[4, 4, 1]);
            batch.steps = Some(steps);
            batch
        }));
        let expected = rows(&[&[1.0, -1.0, 1.0, 1.0], &[1.0, -1.0, -1.0, -1.0], &[0.0]]);
        assert_eq!(values, expected);
    }
}
