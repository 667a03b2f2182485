//! Hierarchical reward modelling: lower levels earn nothing until the upper one is satisfied.

use assay_verifiers::stats::are_shares;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The conditional gates of "`ChatShopBuddy`", section on hierarchical reward modelling:
/// `r = valid (a correct + 1[correct >= tau] (b persuasive + c efficient))`. Reconstructed, weights
/// included.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Hrm {
    /// `a`, the weight of correctness; 0.6.
    pub correctness: f64,
    /// `b`, the weight of persuasiveness; 0.3.
    pub persuasiveness: f64,
    /// `c`, the weight of efficiency; 0.1.
    pub efficiency: f64,
    /// `tau`, the correctness from which the levels below count; 1.
    pub tau: f64,
}

impl Default for Hrm {
    fn default() -> Self {
        Self { correctness: 0.6, persuasiveness: 0.3, efficiency: 0.1, tau: 1.0 }
    }
}

impl Hrm {
    /// The reward, from 0 to the sum of the weights. The parts of a level whose gate is closed may be
    /// missing: they need not be judged.
    pub fn reward(
        &self,
        valid: bool,
        correct: Option<f64>,
        persuasive: Option<f64>,
        efficient: Option<f64>,
    ) -> Option<f64> {
        if !valid {
            return Some(0.0);
        }
        let correct = correct?;
        let upper = self.correctness * correct;
        if !are_shares(&[correct]) {
            return None;
        }
        if correct < self.tau {
            return Some(upper);
        }
        let (persuasive, efficient) = (persuasive?, efficient?);
        let lower = self.persuasiveness * persuasive + self.efficiency * efficient;
        are_shares(&[persuasive, efficient]).then_some(upper + lower)
    }
}
