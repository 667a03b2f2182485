//! GMPO: the geometric mean of the ratios of a sequence, each clipped in the logarithm.
//!
//! `L = -A exp(mean_t d_t)` for each sequence, where `d = logp - old` is clipped to at most
//! `eps_high` where the advantage is positive and to at least `-eps_low` where it is negative
//! (Geometric-Mean Policy Optimization, section 3). Its aggregation is a mean over sequences. Sources:
//! TRL 1.16, `experimental.gmpo`; verl 0.9, `core_algos.compute_policy_loss_geo_mean`.

use crate::losses::prelude::*;
use crate::losses::terms::Coupling;

/// The geometric mean of clipped ratios: `-A exp(mean of clip(logp - old))` for each sequence.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct GmpoObjective {
    /// How far below 0 the logarithm of a ratio is clipped.
    #[default(0.4)]
    pub eps_low: f64,
    /// How far above 0 the logarithm of a ratio is clipped.
    #[default(0.4)]
    pub eps_high: f64,
    /// The policy in the denominator of the ratio.
    #[default(LogpSource::Old)]
    pub policy: LogpSource,
    /// Added to the tokens of a row where they divide.
    pub length_eps: f64,
}

/// The numbers of each row.
struct Rows {
    /// What the sums over the tokens of the geometric mean are divided by.
    lengths: Vec<f64>,
    /// The term.
    values: Vec<f64>,
}

impl GmpoObjective {
    /// The clipped logarithm, and whether a gradient goes through it.
    fn clipped(&self, log_ratio: f64, advantage: f64) -> (f64, f64) {
        match advantage {
            advantage if advantage > 0.0 && log_ratio > self.eps_high => (self.eps_high, 0.0),
            advantage if advantage < 0.0 && log_ratio < -self.eps_low => (-self.eps_low, 0.0),
            0.0 => (0.0, 0.0),
            _ => (log_ratio, 1.0),
        }
    }

    fn rows(&self, tokens: &TrainedTokens<'_>, old: &[f64]) -> Rows {
        let length = |count: &f64| count.max(1.0) + self.length_eps;
        let selected = tokens.row_sums(|token| f64::from(is_selected(tokens, token)));
        let lengths: Vec<f64> = selected.iter().map(length).collect();
        let all: Vec<f64> = tokens.row_counts().iter().map(length).collect();
        let logs = tokens.row_sums(|token| {
            let log = self.clipped(token.live - at(old, token.at), token.advantage).0;
            if is_selected(tokens, token) { log } else { 0.0 }
        });
        let advantages = tokens.row_sums(|token| token.advantage);
        // The weights of the tokens too become one by their geometric mean, kept off zero as verl does.
        let weights = tokens.row_sums(|token| (at(&tokens.importance, token.at) + 1e-10).ln());
        let value = |row: usize| {
            let all = at(&all, row);
            let ratio = (at(&logs, row) / at(&lengths, row)).exp();
            -at(&advantages, row) / all * ratio * (at(&weights, row) / all).exp()
        };
        Rows { values: (0..lengths.len()).map(value).collect(), lengths }
    }
}

impl Objective for GmpoObjective {
    fn check(&self) -> Result<(), TrainerError> {
        within("eps_low", self.eps_low, 0.0..)?;
        within("eps_high", self.eps_high, 0.0..)?;
        within("length_eps", self.length_eps, 0.0..)
    }

    fn terms(&self, tokens: &TrainedTokens<'_>) -> Result<Terms, TrainerError> {
        let old = tokens.logp(self.policy)?;
        if self.policy == LogpSource::Rollout {
            tokens.finite("rollout log-probabilities", old)?;
        }
        let rows = self.rows(tokens, old);
        let log = |token: LossToken| token.live - at(old, token.at);
        let values = tokens.list(0.0, |token| at(&rows.values, token.row));
        let spread = tokens.list(0.0, |token| {
            let open = self.clipped(log(token), token.advantage).1;
            let is_selected = f64::from(is_selected(tokens, token));
            open * is_selected / at(&rows.lengths, token.row)
        });
        let is_low = |token: LossToken| token.advantage < 0.0 && log(token) < -self.eps_low;
        let is_high = |token: LossToken| token.advantage > 0.0 && log(token) > self.eps_high;
        let share = |is_so: &dyn Fn(LossToken) -> bool| tokens.mean(|t| f64::from(is_so(t)));
        Ok(Terms {
            slopes: vec![0.0; values.len()],
            coupled: Some(Coupling { slopes: values.clone(), spread }),
            values,
            metrics: vec![
                ("approximate_kl", -tokens.mean(log)),
                ("clip_fraction", share(&|token| is_low(token) || is_high(token))),
                ("clip_fraction_low", share(&is_low)),
                ("clip_fraction_high", share(&is_high)),
            ],
        })
    }

    fn ratio(&self) -> RatioSettings {
        RatioSettings { policy: self.policy, ..RatioSettings::default() }
    }

    fn weighs_importance(&self) -> bool {
        true
    }

    fn selects_top(&self) -> bool {
        true
    }
}

fn is_selected(tokens: &TrainedTokens<'_>, token: LossToken) -> bool {
    tokens.top.as_ref().is_none_or(|top| top.get(token.at) == Some(&true))
}
