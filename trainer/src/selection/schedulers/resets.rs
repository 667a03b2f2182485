//! When the reference policy is replaced by the current one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::TrainerError;

/// When the reference policy and the optimiser are reset (`ProRL`: Prolonged Reinforcement Learning
/// Expands Reasoning Boundaries in Large Language Models, section "KL Regularization and Reference
/// Policy Reset").
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResetSettings {
    /// After how many evaluations without an improvement; 0 for never.
    #[serde(default)]
    pub patience: u32,
    /// By how much more than the best score an evaluation must be an improvement.
    #[serde(default)]
    pub min_gain: f64,
    /// Above which mean divergence from the reference; for none where it is not given.
    #[serde(default)]
    pub kl_max: Option<f64>,
}

/// Why the reference is reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResetReason {
    /// Evaluations have not improved.
    Stalled,
    /// The policy is too far from the reference.
    Diverged,
}

/// Watches evaluations and divergences. After a reset, the watch begins anew, but for the best score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResetMonitor {
    settings: ResetSettings,
    best: Option<f64>,
    without_gain: u32,
    resets: u32,
}

impl ResetMonitor {
    /// A monitor that has seen nothing.
    ///
    /// # Errors
    /// A bound that is negative or no number.
    pub fn new(settings: ResetSettings) -> Result<Self, TrainerError> {
        let bounds =
            [("min_gain", settings.min_gain), ("kl_max", settings.kl_max.unwrap_or_default())];
        for (key, bound) in bounds {
            if !(bound.is_finite() && bound >= 0.0) {
                let message = format!("`{key}` is {bound}, expected at least 0");
                return Err(TrainerError::setting(key, message));
            }
        }
        Ok(Self { settings, best: None, without_gain: 0, resets: 0 })
    }

    /// An evaluation has this score; one that is missing (NaN) says nothing.
    pub fn on_evaluation(&mut self, score: f64) -> Option<ResetReason> {
        if score.is_nan() {
            return None;
        }
        if self.best.is_none_or(|best| score > best + self.settings.min_gain) {
            self.best = Some(score);
            self.without_gain = 0;
            return None;
        }
        self.without_gain += 1;
        let is_stalled = self.settings.patience > 0 && self.without_gain >= self.settings.patience;
        is_stalled.then(|| self.reset(ResetReason::Stalled))
    }

    /// The policy has this mean divergence from the reference; infinity is above every bound.
    pub fn on_divergence(&mut self, kl: f64) -> Option<ResetReason> {
        let is_far = self.settings.kl_max.is_some_and(|most| kl > most);
        is_far.then(|| self.reset(ResetReason::Diverged))
    }

    /// How often the reference was reset.
    pub fn resets(&self) -> u32 {
        self.resets
    }

    fn reset(&mut self, reason: ResetReason) -> ResetReason {
        self.without_gain = 0;
        self.resets += 1;
        reason
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stall_and_a_divergence_reset_the_reference() {
        let settings = ResetSettings { patience: 2, min_gain: 0.01, kl_max: Some(0.5) };
        let mut monitor = ResetMonitor::new(settings).unwrap();
        let scores = [0.3, 0.4, 0.405, f64::NAN, 0.4, 0.4, 0.39, 0.5, 0.4];
        let reasons: Vec<Option<ResetReason>> =
            scores.iter().map(|score| monitor.on_evaluation(*score)).collect();
        let stalled: Vec<usize> = (0..9).filter(|at| reasons[*at].is_some()).collect();
        assert_eq!((stalled, reasons[4]), (vec![4, 6], Some(ResetReason::Stalled)));
        assert_eq!(monitor.on_divergence(0.5), None);
        assert_eq!(monitor.on_divergence(f64::INFINITY), Some(ResetReason::Diverged));
        assert_eq!(monitor.resets(), 3);
        assert_eq!(monitor.on_evaluation(0.4), None, "the count begins anew");
        let never = ResetSettings { patience: 0, min_gain: 0.0, kl_max: None };
        let mut monitor = ResetMonitor::new(never).unwrap();
        assert!((0..99).all(|_| monitor.on_evaluation(0.0).is_none()));
        assert_eq!(monitor.on_divergence(9.0), None);
        assert!(ResetMonitor::new(ResetSettings { kl_max: Some(-1.0), ..never }).is_err());
    }
}
