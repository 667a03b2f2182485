//! The entropy of the policy: a bonus for it, and a mask of the tokens that have the most of it.
//!
//! Sources: TRL 1.16, `GRPOTrainer._compute_loss` and `get_high_entropy_mask`; verl 0.9,
//! `workers.utils.losses.ppo_loss`; "Beyond the 80/20 Rule: High-Entropy Minority Tokens Drive
//! Effective Reinforcement Learning for LLM Reasoning", section 5.

use crate::losses::batch::EntropyState;
use crate::losses::prelude::*;

/// What entropy has to do with the loss.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EntropySettings {
    /// The weight of the bonus; 0, the default, leaves it out. The first one, where it is adaptive.
    pub coefficient: f64,
    /// How the entropies of the tokens become one number.
    pub normalization: EntropyNormalization,
    /// The share of the tokens that have a term in the objective: those of the greatest entropy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top: Option<f64>,
    /// How the coefficient follows the entropy; it does not by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adaptive: Option<AdaptiveEntropy>,
}

/// How the entropies of the tokens become one number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EntropyNormalization {
    /// The mean over the tokens that the objective acts on, whatever the loss (TRL).
    #[default]
    TokenMean,
    /// The aggregation of the loss (verl).
    Loss,
}

/// A coefficient that grows by a step after each optimiser step whose mean entropy is at most the
/// target, and falls by a step after any other. There is a bonus only after a step at or below the
/// target, so none in the first one.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct AdaptiveEntropy {
    /// The entropy of a token, in nats, that is aimed at.
    #[default(0.2)]
    pub target: f64,
    /// The step.
    #[default(0.005)]
    pub delta: f64,
    /// The least coefficient.
    pub min: f64,
    /// The greatest coefficient.
    #[default(1.0)]
    pub max: f64,
}

/// The bonus of a batch.
#[derive(Clone, Debug, PartialEq)]
pub struct EntropyBonus {
    /// What the loss is lowered by.
    pub value: f64,
    /// The derivative of the loss with respect to the entropy of each token.
    pub gradient: Vec<f64>,
    /// The mean entropy, aggregated, without the coefficient.
    pub aggregated: f64,
    /// What is kept for the next batch, where the coefficient is adaptive.
    pub state: Option<EntropyState>,
}

impl EntropySettings {
    /// Fails where a number is out of range.
    ///
    /// # Errors
    /// Names the setting.
    pub fn check(&self) -> Result<(), TrainerError> {
        if self.top.is_some_and(|top| !(top > 0.0 && top <= 1.0)) {
            let message = format!(
                "`top` is {}, expected a share above 0 and up to 1",
                self.top.unwrap_or(0.0)
            );
            return Err(TrainerError::setting("entropy.top", message));
        }
        let is_ordered = self.adaptive.is_none_or(|adaptive| adaptive.min <= adaptive.max);
        if is_ordered && self.coefficient.is_finite() {
            return Ok(());
        }
        let message = "expected a finite `coefficient` and `min` <= `max`";
        Err(TrainerError::setting("entropy", message))
    }

    /// Which tokens are among the `top` share by entropy; `None` where all have a term.
    ///
    /// # Errors
    /// There are no entropies.
    #[expect(clippy::cast_possible_truncation, reason = "the quantile is one of single precision")]
    pub fn top_mask(&self, tokens: &TrainedTokens<'_>) -> Result<Option<Vec<bool>>, TrainerError> {
        let Some(top) = self.top.filter(|top| *top < 1.0) else { return Ok(None) };
        let entropies = tokens.given("entropies", tokens.batch.entropy)?;
        tokens.finite("entropies", entropies)?;
        let single = |token: LossToken| at(entropies, token.at) as f32;
        let mut sorted: Vec<f32> = tokens.iter().map(single).collect();
        sorted.sort_by(f32::total_cmp);
        let threshold = quantile(&sorted, 1.0 - top);
        Ok(Some(tokens.list(false, |token| single(token) >= threshold)))
    }

    /// The bonus; `None` where there is none. `aggregated` are the coefficients of the aggregation.
    ///
    /// # Errors
    /// There are no entropies.
    pub fn bonus(
        &self,
        tokens: &TrainedTokens<'_>,
        aggregated: &[f64],
    ) -> Result<Option<EntropyBonus>, TrainerError> {
        if self.coefficient == 0.0 && self.adaptive.is_none() {
            return Ok(None);
        }
        let entropies = tokens.given("entropies", tokens.batch.entropy)?;
        tokens.finite("entropies", entropies)?;
        let weights = match self.normalization {
            EntropyNormalization::Loss => aggregated.to_vec(),
            EntropyNormalization::TokenMean => token_mean(tokens),
        };
        let sum = |weights: &[f64]| -> f64 {
            tokens.iter().map(|token| at(entropies, token.at) * at(weights, token.at)).sum()
        };
        let value = sum(&weights);
        let state = tokens.batch.entropy_state;
        let (coefficient, state) = match self.adaptive {
            None => (self.coefficient, None),
            Some(adaptive) => {
                let window = (sum(&acted_on(tokens)), acted_on(tokens).iter().sum());
                let (coefficient, next) = adaptive.step(self.coefficient, state, window, tokens);
                (coefficient, Some(next))
            }
        };
        Ok(Some(EntropyBonus {
            value: coefficient * value,
            gradient: weights.iter().map(|weight| -coefficient * weight).collect(),
            aggregated: value,
            state,
        }))
    }
}

impl AdaptiveEntropy {
    /// The coefficient of this batch, and what is kept for the next one.
    fn step(
        &self,
        first: f64,
        state: Option<EntropyState>,
        (sum, count): (f64, f64),
        tokens: &TrainedTokens<'_>,
    ) -> (f64, EntropyState) {
        let fresh = EntropyState {
            coefficient: first,
            last_entropy: None,
            window_sum: 0.0,
            window_tokens: 0.0,
        };
        let mut state = state.unwrap_or(fresh);
        let is_low = state.last_entropy.is_some_and(|entropy| entropy <= self.target);
        let applied = if is_low { state.coefficient } else { 0.0 };
        state.window_sum += sum;
        state.window_tokens += count;
        if tokens.batch.scale.ends_step {
            let entropy = state.window_sum / state.window_tokens.max(1.0);
            let moved = if entropy <= self.target {
                (state.coefficient + self.delta).min(self.max)
            } else {
                (state.coefficient - self.delta).max(self.min)
            };
            state = EntropyState { coefficient: moved, last_entropy: Some(entropy), ..fresh };
        }
        (applied, state)
    }
}

/// 1 for each token that the objective acts on.
fn acted_on(tokens: &TrainedTokens<'_>) -> Vec<f64> {
    let is_top = |at: usize| tokens.top.as_ref().is_none_or(|top| top.get(at) == Some(&true));
    tokens.list(0.0, |token| f64::from(is_top(token.at)))
}

fn token_mean(tokens: &TrainedTokens<'_>) -> Vec<f64> {
    let mut weights = acted_on(tokens);
    let count = weights.iter().sum::<f64>().max(1.0) * tokens.batch.scale.accumulation_steps;
    for weight in &mut weights {
        *weight /= count;
    }
    weights
}

/// The quantile of sorted values, interpolated between its neighbours; infinite where there are none.
/// In the precisions that `torch.quantile` has for single precision, as TRL calls it: on which side a
/// token at the threshold falls depends on them.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::indexing_slicing,
    reason = "a place within a list"
)]
fn quantile(sorted: &[f32], share: f64) -> f32 {
    let Some(last) = sorted.len().checked_sub(1) else { return f32::INFINITY };
    let place = f64::from(share as f32) * last as f64;
    let below = place.floor() as usize;
    let value = |at: usize| sorted[at.min(last)];
    let (low, high, weight) = (value(below), value(below + 1), (place - place.floor()) as f32);
    let width = high - low;
    if weight < 0.5 { weight.mul_add(width, low) } else { width.mul_add(weight - 1.0, high) }
}
