//! `MiCRo`: a mixture of reward heads, and routing by a few labelled pairs.
//!
//! "`MiCRo`: Mixture Modeling and Context-aware Routing for Personalized Preference Learning" (2025). The
//! update is the Hedge algorithm: "A Decision-Theoretic Generalization of On-Line Learning and an
//! Application to Boosting" (Freund, Schapire 1997). Constants are reconstructed.

use assay_verifiers::stats::softplus;

/// The weights of the heads for one context or user; they sum to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct HedgeRouter {
    weights: Vec<f64>,
    eta: f64,
}

impl HedgeRouter {
    /// Begins with the prior of the context. `eta`, the rate, is 1 by custom. `None` where the prior is
    /// not positive somewhere, or `eta` is not above 0.
    pub fn new(prior: &[f64], eta: f64) -> Option<Self> {
        let valid = |weight: &f64| *weight >= 0.0 && weight.is_finite();
        let sum: f64 = prior.iter().sum();
        let usable = prior.iter().all(valid) && sum > 0.0 && eta > 0.0 && eta.is_finite();
        usable.then(|| Self { weights: prior.iter().map(|weight| weight / sum).collect(), eta })
    }

    /// The weights, each 0 to 1.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Learns from one labelled pair, with the score of each head for the chosen and the rejected one:
    /// `w_k <- w_k exp(-eta loss_k)`, `loss = -log sigmoid(chosen - rejected)`. Changes nothing where a
    /// score is missing or not finite.
    pub fn learn(&mut self, chosen: &[f64], rejected: &[f64]) {
        let Some(margins) = self.margins(chosen, rejected) else { return };
        let logs: Vec<f64> = self
            .weights
            .iter()
            .zip(&margins)
            .map(|(weight, margin)| weight.ln() - self.eta * softplus(-margin))
            .collect();
        let most = logs.iter().copied().fold(f64::MIN, f64::max);
        let raw: Vec<f64> = logs.iter().map(|log| (log - most).exp()).collect();
        let sum: f64 = raw.iter().sum();
        self.weights = raw.iter().map(|weight| weight / sum).collect();
    }

    /// The score of a response, `sum w_k r_k`. `None` where a head has none.
    pub fn score(&self, heads: &[f64]) -> Option<f64> {
        let usable = heads.len() == self.weights.len() && heads.iter().all(|head| head.is_finite());
        usable.then(|| self.weights.iter().zip(heads).map(|(weight, head)| weight * head).sum())
    }

    /// The probability that the first is preferred, `sum w_k sigmoid(first_k - second_k)`, 0 to 1.
    pub fn preference(&self, first: &[f64], second: &[f64]) -> Option<f64> {
        let margins = self.margins(first, second)?;
        let parts = self.weights.iter().zip(margins);
        Some(
            parts
                .map(|(weight, margin)| weight * (-softplus(-margin)).exp())
                .sum::<f64>()
                .clamp(0.0, 1.0),
        )
    }

    fn margins(&self, first: &[f64], second: &[f64]) -> Option<Vec<f64>> {
        let margins: Vec<f64> = first.iter().zip(second).map(|(a, b)| a - b).collect();
        let whole = first.len() == self.weights.len() && second.len() == self.weights.len();
        (whole && margins.iter().all(|margin| margin.is_finite())).then_some(margins)
    }
}
