//! Log-probabilities of tokens.

use assay_verifiers::stats::log_sum_exp;

/// How likely a token was, as the logits of the place before it say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Likelihood {
    /// The natural logarithm of its probability.
    pub log_prob: f64,
    /// The log-sum-exp of the logits: the value of the place in the sense of soft Q-learning.
    pub log_sum_exp: f64,
}

impl Likelihood {
    /// Of the token `target`; of none, where nothing follows.
    pub(crate) fn of(logits: &[f32], target: Option<u32>) -> Self {
        let wide: Vec<f64> = logits.iter().map(|logit| f64::from(*logit)).collect();
        let whole = log_sum_exp(&wide);
        let own = target.and_then(|target| wide.get(usize::try_from(target).ok()?));
        Self { log_prob: own.map_or(0.0, |own| own - whole), log_sum_exp: whole }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_likelihood_is_that_of_the_softmax() {
        let logits = [1.0_f32, 2.0, 3.0];
        let sum: f64 = [1.0_f64, 2.0, 3.0].iter().map(|x| x.exp()).sum();
        let found = Likelihood::of(&logits, Some(2));
        assert!((found.log_prob - (3.0 - sum.ln())).abs() < 1e-12);
        assert!((Likelihood::of(&logits, None).log_sum_exp - sum.ln()).abs() < 1e-12);
    }
}
