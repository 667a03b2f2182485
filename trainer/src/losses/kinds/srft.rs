//! SRFT: demonstrations and own rollouts in one loss, weighted by the entropy of the policy.
//!
//! With `H` the mean entropy of the tokens of a rollout, detached: a demonstration has
//! `-demonstration exp(-H) logp`, and as a rollout of a policy of probability 1, `-A p`; an own rollout
//! has `-positive exp(H) A logp` where its advantage is positive and `-A logp` where it is negative
//! (SRFT: A Single-Stage Method with Supervised and Reinforcement Fine-Tuning for Reasoning, section
//! 4). The weights 0.5 and 0.1, and that the second grows with the entropy, are from reviews of the
//! paper, which disagree on the sign.

use crate::losses::prelude::*;

/// Demonstrations and own rollouts, weighted by entropy.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct SrftObjective {
    /// The weight of the likelihood of a demonstration.
    #[default(0.5)]
    pub demonstration: f64,
    /// The weight of an own rollout of positive advantage.
    #[default(0.1)]
    pub positive: f64,
}

impl Objective for SrftObjective {
    fn check(&self) -> Result<(), TrainerError> {
        within("demonstration", self.demonstration, 0.0..)?;
        within("positive", self.positive, 0.0..)
    }

    fn terms(&self, tokens: &TrainedTokens<'_>) -> Result<Terms, TrainerError> {
        let entropies = tokens.given("entropies", tokens.batch.entropy)?;
        tokens.finite("entropies", entropies)?;
        let sums = tokens.row_sums(|token| at(entropies, token.at));
        let counts = tokens.row_counts();
        let mean = |row: usize| at(&sums, row) / at(&counts, row).max(1.0);
        let demonstrations = tokens.batch.demonstrations.unwrap_or_default();
        let mut terms = Terms::apart(tokens, |token| {
            if demonstrations.get(token.row) == Some(&true) {
                let likelihood = -self.demonstration * (-mean(token.row)).exp();
                let gain = -token.advantage * token.live.exp();
                return Term { value: likelihood * token.live + gain, slope: likelihood + gain };
            }
            let weight =
                if token.advantage > 0.0 { self.positive * mean(token.row).exp() } else { 1.0 };
            let slope = -weight * token.advantage;
            Term { value: slope * token.live, slope }
        });
        let entropy = tokens.mean(|token| at(entropies, token.at));
        terms.metrics = vec![("entropy", entropy)];
        Ok(terms)
    }
}
