//! The clipped objective of PPO, and those that differ from it in what is averaged over what.
//!
//! `L = -min(R A, clip(R, 1 - eps_low, 1 + eps_high) A)` with the ratio `R` (Proximal Policy
//! Optimization Algorithms, section 3). With dual clip, a token of negative advantage costs at most
//! `-dual_clip A` (Mastering Complex Control in MOBA Games with Deep Reinforcement Learning, section
//! "Dual-clip PPO"). With `ratio_max`, `R` in the first part is at most that (`delta` of TRL 1.16;
//! INTELLECT-2, section 3.4). Sources of the conventions: TRL 1.16, `GRPOTrainer._compute_loss`;
//! verl 0.9, `core_algos.compute_policy_loss_vanilla` and `compute_policy_loss_gspo`; `OpenRLHF` 0.11,
//! `PolicyLoss.forward`; `AReaL` 1.0, `functional.ppo_actor_loss_fn`.

use crate::losses::prelude::*;
use crate::losses::ratio::LogRatios;

/// The clipped objective: `-min(R A, clip(R, 1 - eps_low, 1 + eps_high) A)`.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct ClipObjective {
    /// How far below 1 the ratio is clipped.
    #[default(0.2)]
    pub eps_low: f64,
    /// How far above 1 the ratio is clipped.
    #[default(0.2)]
    pub eps_high: f64,
    /// What a token of negative advantage may cost, as a multiple of its advantage; no bound by
    /// default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dual_clip: Option<f64>,
    /// The greatest ratio before the minimum is taken; none by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio_max: Option<f64>,
    /// Whether a token has its own advantage or the mean of its sequence.
    #[default(AdvantageLevel::Token)]
    pub advantage: AdvantageLevel,
    /// The ratio.
    pub ratio: RatioSettings,
}

/// What has an advantage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AdvantageLevel {
    /// Each token its own.
    Token,
    /// All tokens of a sequence their mean.
    SequenceMean,
}

/// Where one token is clipped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClipBounds {
    /// The least ratio.
    pub low: f64,
    /// The greatest ratio.
    pub high: f64,
    /// The greatest ratio before the minimum is taken.
    pub ratio_max: Option<f64>,
    /// The bound of the loss where the advantage is negative, as a multiple of it.
    pub dual: Option<f64>,
}

impl ClipObjective {
    fn bounds(&self) -> ClipBounds {
        ClipBounds {
            low: 1.0 - self.eps_low,
            high: 1.0 + self.eps_high,
            ratio_max: self.ratio_max,
            dual: self.dual_clip,
        }
    }
}

impl Objective for ClipObjective {
    fn check(&self) -> Result<(), TrainerError> {
        within("eps_low", self.eps_low, 0.0..)?;
        within("eps_high", self.eps_high, 0.0..)?;
        self.dual_clip.map_or(Ok(()), |bound| above("dual_clip", bound, 1.0))?;
        self.ratio_max.map_or(Ok(()), |bound| above("ratio_max", bound, 0.0))
    }

    fn terms(&self, tokens: &TrainedTokens<'_>) -> Result<Terms, TrainerError> {
        let ratios = self.ratio.of(tokens)?;
        let bounds = self.bounds();
        let means = match self.advantage {
            AdvantageLevel::Token => None,
            AdvantageLevel::SequenceMean => {
                let sums = tokens.row_sums(|token| token.advantage);
                let counts = tokens.row_counts();
                let rows = sums.iter().zip(counts);
                Some(rows.map(|(sum, count)| sum / count.max(1.0)).collect::<Vec<_>>())
            }
        };
        let advantage =
            |token: LossToken| means.as_ref().map_or(token.advantage, |means| at(means, token.row));
        let mut terms =
            ratios.terms(tokens, |token, log_ratio| bounds.term(advantage(token), log_ratio));
        terms.metrics.extend(metrics(tokens, &ratios, |token| (advantage(token), bounds)));
        Ok(terms)
    }

    fn ratio(&self) -> RatioSettings {
        self.ratio
    }
}

impl ClipBounds {
    /// The clipped term of one token.
    pub fn term(&self, advantage: f64, log_ratio: f64) -> RatioTerm {
        if advantage == 0.0 {
            return RatioTerm::default();
        }
        let ratio = log_ratio.exp();
        let (capped, capped_slope) = match self.ratio_max {
            Some(most) if ratio > most => (most, 0.0),
            _ => (ratio, ratio),
        };
        let (clipped, clipped_slope) = match ratio {
            ratio if ratio < self.low => (self.low, 0.0),
            ratio if ratio > self.high => (self.high, 0.0),
            ratio => (ratio, ratio),
        };
        let (free, bound) = (capped * advantage, clipped * advantage);
        let slope = match free.total_cmp(&bound) {
            std::cmp::Ordering::Less => capped_slope,
            std::cmp::Ordering::Greater => clipped_slope,
            std::cmp::Ordering::Equal => 0.5 * (capped_slope + clipped_slope),
        };
        let value = -free.min(bound);
        match self.dual {
            Some(most) if advantage < 0.0 && value > -most * advantage => {
                RatioTerm { value: -most * advantage, ..RatioTerm::default() }
            }
            _ => RatioTerm { value, by_logp: 0.0, by_log_ratio: -slope * advantage },
        }
    }
}

/// The shares of the tokens, or of the sequences, that are clipped.
pub fn metrics(
    tokens: &TrainedTokens<'_>,
    ratios: &LogRatios,
    bounds: impl Fn(LossToken) -> (f64, ClipBounds),
) -> Vec<(&'static str, f64)> {
    let capped = |token: LossToken, bounds: &ClipBounds| {
        ratios.log(token).exp().min(bounds.ratio_max.unwrap_or(f64::INFINITY))
    };
    let is_low = |token: LossToken| {
        let (advantage, bounds) = bounds(token);
        advantage < 0.0 && capped(token, &bounds) < bounds.low
    };
    let is_high = |token: LossToken| {
        let (advantage, bounds) = bounds(token);
        advantage > 0.0 && capped(token, &bounds) > bounds.high
    };
    let is_dual = |token: LossToken| {
        let (advantage, bounds) = bounds(token);
        let most = bounds.dual.unwrap_or(f64::INFINITY);
        advantage < 0.0 && capped(token, &bounds).max(bounds.low) > most
    };
    vec![
        ("clip_fraction", ratios.share(tokens, |token| is_low(token) || is_high(token))),
        ("clip_fraction_low", ratios.share(tokens, is_low)),
        ("clip_fraction_high", ratios.share(tokens, is_high)),
        ("clip_fraction_dual", ratios.share(tokens, is_dual)),
    ]
}
