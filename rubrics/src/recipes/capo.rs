//! CAPO: critiques vote on the wrong steps, and each step is given credit.
//!
//! "CAPO: Towards Enhancing LLM Reasoning through Generative Credit Assignment" (2025), sections on
//! voting and on the asymmetric reward.

use std::collections::BTreeSet;

use assay_verifiers::stats::{are_shares, float, ratio};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How critiques decide that a step is wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepVote {
    /// All say so.
    #[default]
    Intersection,
    /// More than half say so.
    Majority,
    /// The share that says so.
    Average,
}

/// How wrong each of `steps` steps is, 0 to 1, from critiques that each list the wrong steps by their
/// index from 0. A critique that failed is left out; `None` where all did.
pub fn step_errors(
    critiques: &[Option<BTreeSet<usize>>],
    steps: usize,
    how: StepVote,
) -> Option<Vec<f64>> {
    let read: Vec<&BTreeSet<usize>> = critiques.iter().flatten().collect();
    let error = |step: usize| {
        let wrong = read.iter().filter(|critique| critique.contains(&step)).count();
        let shared = ratio(float(wrong), float(read.len()))?;
        Some(match how {
            StepVote::Intersection => f64::from(wrong == read.len()),
            StepVote::Majority => f64::from(shared > 0.5),
            StepVote::Average => shared,
        })
    };
    (!read.is_empty()).then(|| (0..steps).filter_map(error).collect())
}

/// The credits of CAPO. The outcome outweighs the steps: `correct` is larger than `penalty`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Capo {
    /// `C`, the credit of a right answer; 2.
    pub correct: f64,
    /// `P`, what a wrong step costs; 1.
    pub penalty: f64,
}

impl Default for Capo {
    fn default() -> Self {
        Self { correct: 2.0, penalty: 1.0 }
    }
}

impl Capo {
    /// The credit of each step, for all of its tokens: `C 1[right] - P error`, from `-P` to `C`.
    pub fn step_credits(&self, right: bool, errors: &[f64]) -> Option<Vec<f64>> {
        let credit = |error: &f64| self.correct * f64::from(right) - self.penalty * error;
        are_shares(errors).then(|| errors.iter().map(credit).collect())
    }

    /// The reward of the response: `C 1[right]`, less `P` times the error of its worst step. With the
    /// defaults 2 right and clean, 1 right with a wrong step, 0 wrong and clean, -1 wrong with a wrong
    /// step.
    pub fn reward(&self, right: bool, errors: &[f64]) -> Option<f64> {
        let worst = errors.iter().copied().fold(0.0, f64::max);
        are_shares(errors).then(|| self.correct * f64::from(right) - self.penalty * worst)
    }
}
