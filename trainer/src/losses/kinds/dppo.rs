//! DPPO: a token has no gradient where the policy has moved too far in the direction of its
//! advantage, measured by a divergence and not by the ratio.
//!
//! With `p` the probability of the token and `q` that of the earlier policy, the divergence is
//! `p - q` ("tv"), or that of sampling the token or not ("kl") (Rethinking the Trust Region in LLM
//! Reinforcement Learning, section 4). verl 0.9 (`core_algos.compute_policy_loss_dppo_tv`,
//! `..._dppo_kl`) has `L = -sg(min(R, ratio_max)) A logp`; `SkyRL` 0.3 (`ppo_utils.dppo_policy_loss`)
//! has `L = -R A`.

use crate::losses::prelude::*;

/// A mask by divergence in place of the clip.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct DppoObjective {
    /// How far the policy has moved.
    #[default(DppoDivergence::Tv)]
    pub divergence: DppoDivergence,
    /// How far a token of negative advantage may have moved down.
    #[default(0.2)]
    pub delta_low: f64,
    /// How far a token of positive advantage may have moved up.
    #[default(0.2)]
    pub delta_high: f64,
    /// The greatest ratio; none by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio_max: Option<f64>,
    /// What the gradient goes through.
    #[default(DppoSurrogate::LogProbability)]
    pub surrogate: DppoSurrogate,
    /// The ratio, and the policy that the divergence is from.
    pub ratio: RatioSettings,
}

/// How far a policy has moved at a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DppoDivergence {
    /// The difference of the probabilities of the token.
    Tv,
    /// The divergence of the distributions of whether the token is sampled.
    Kl,
}

/// What the gradient goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DppoSurrogate {
    /// The log-probability: the ratio is a weight.
    LogProbability,
    /// The ratio.
    Ratio,
}

impl DppoObjective {
    /// Whether a token has a term.
    fn is_valid(&self, token: LossToken, old: f64) -> bool {
        let (p, q) = (token.fixed.exp(), old.exp());
        let (up, down) = match self.divergence {
            DppoDivergence::Tv => (p - q, q - p),
            DppoDivergence::Kl => {
                let not = ((1.0 - q + 1e-8) / (1.0 - p + 1e-8)).ln();
                let kl = q * (old - token.fixed) + (1.0 - q) * not;
                (if p <= q { 0.0 } else { kl }, if p >= q { 0.0 } else { kl })
            }
        };
        if token.advantage > 0.0 { up <= self.delta_high } else { down <= self.delta_low }
    }
}

impl Objective for DppoObjective {
    fn check(&self) -> Result<(), TrainerError> {
        within("delta_low", self.delta_low, 0.0..)?;
        within("delta_high", self.delta_high, 0.0..)?;
        self.ratio_max.map_or(Ok(()), |most| above("ratio_max", most, 0.0))
    }

    fn terms(&self, tokens: &TrainedTokens<'_>) -> Result<Terms, TrainerError> {
        let (ratios, detached) = (self.ratio.of(tokens)?, self.ratio.detached(tokens)?);
        let old = tokens.logp(self.ratio.policy)?;
        let most = self.ratio_max.unwrap_or(f64::INFINITY);
        let valid = tokens.list(false, |token| self.is_valid(token, at(old, token.at)));
        let is_valid = |token: LossToken| valid.get(token.at) == Some(&true);
        let mut terms = ratios.terms(tokens, |token, log_ratio| {
            let weight = -detached.log(token).exp().min(most) * token.advantage;
            let term = -log_ratio.exp() * token.advantage;
            match self.surrogate {
                _ if !is_valid(token) || token.advantage == 0.0 => RatioTerm::default(),
                DppoSurrogate::LogProbability => {
                    RatioTerm { value: weight * token.live, by_logp: weight, by_log_ratio: 0.0 }
                }
                DppoSurrogate::Ratio if log_ratio.exp() > most => {
                    RatioTerm { value: -most * token.advantage, ..RatioTerm::default() }
                }
                DppoSurrogate::Ratio => RatioTerm { value: term, by_logp: 0.0, by_log_ratio: term },
            }
        });
        let is_capped = |token| is_valid(token) && ratios.log(token).exp() > most;
        terms.metrics.extend([
            ("clip_fraction", tokens.mean(|token| f64::from(!is_valid(token)))),
            ("ratio_capped_fraction", tokens.mean(|token| f64::from(is_capped(token)))),
        ]);
        Ok(terms)
    }

    fn ratio(&self) -> RatioSettings {
        self.ratio
    }
}
