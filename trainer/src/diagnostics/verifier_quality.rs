//! A verifier against labels that are trusted: what it accepts wrongly is what training will find.

use assay_verifiers::stats::{ratio, share};
use std::collections::BTreeMap;

use serde::Serialize;

use super::estimate::{Estimate, wilson};

/// One decision of a verifier beside the label that is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JudgedDecision<'a> {
    /// Whether the verifier accepted; `None` where it did not judge.
    pub accepted: Option<bool>,
    /// Whether it should have.
    pub correct: bool,
    /// How hard the problem is, or another name to count by; empty for none.
    pub stratum: &'a str,
}

/// How good the decisions are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct DecisionQuality {
    /// Right ones that were accepted.
    pub true_accepts: usize,
    /// Wrong ones that were accepted.
    pub false_accepts: usize,
    /// Right ones that were rejected.
    pub false_rejects: usize,
    /// Wrong ones that were rejected.
    pub true_rejects: usize,
    /// Those that were not judged; they count in nothing else.
    pub not_judged: usize,
    /// The share of the accepted that is right.
    pub precision: Option<f64>,
    /// The share of the right that was accepted.
    pub recall: Option<f64>,
    /// The harmonic mean of the two.
    pub f1: Option<f64>,
    /// The share of the wrong that was accepted: what training exploits. With Wilson's interval of 95
    /// percent, as a small share needs many wrong ones to be seen.
    pub false_accept_rate: Option<Estimate>,
    /// The share of the right that was rejected.
    pub false_reject_rate: Option<Estimate>,
}

/// Counts decisions by stratum, and all of them under the name `all`. A stratum without a name is in
/// `all` alone.
///
/// Source: "`HardTests`: Synthesizing High-Quality Test Cases for LLM Coding" (He et al. 2025), section
/// on the quality of tests.
pub fn decision_quality(decisions: &[JudgedDecision<'_>]) -> BTreeMap<String, DecisionQuality> {
    let mut found: BTreeMap<String, DecisionQuality> = BTreeMap::new();
    for decision in decisions {
        let own = Some(decision.stratum).filter(|name| !name.is_empty() && *name != ALL);
        for name in [ALL].into_iter().chain(own) {
            found.entry(name.to_owned()).or_default().count(decision);
        }
    }
    found.into_iter().map(|(name, counts)| (name, counts.measured())).collect()
}

/// The name of all strata together.
const ALL: &str = "all";
/// The probability of the intervals.
const LEVEL: f64 = 0.95;

impl DecisionQuality {
    fn count(&mut self, decision: &JudgedDecision<'_>) {
        let counter = match (decision.accepted, decision.correct) {
            (None, _) => &mut self.not_judged,
            (Some(true), true) => &mut self.true_accepts,
            (Some(true), false) => &mut self.false_accepts,
            (Some(false), true) => &mut self.false_rejects,
            (Some(false), false) => &mut self.true_rejects,
        };
        *counter += 1;
    }

    fn measured(self) -> Self {
        let right = self.true_accepts + self.false_rejects;
        let wrong = self.false_accepts + self.true_rejects;
        let precision = share(self.true_accepts, self.true_accepts + self.false_accepts);
        let recall = share(self.true_accepts, right);
        let f1 = precision.zip(recall).map(|(p, r)| ratio(2.0 * p * r, p + r).unwrap_or(0.0));
        Self {
            precision,
            recall,
            f1,
            false_accept_rate: wilson(self.false_accepts, wrong, LEVEL),
            false_reject_rate: wilson(self.false_rejects, right, LEVEL),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decision(accepted: Option<bool>, correct: bool, stratum: &str) -> JudgedDecision<'_> {
        JudgedDecision { accepted, correct, stratum }
    }

    #[test]
    fn decisions_by_hand() {
        let (yes, no) = (Some(true), Some(false));
        let found = decision_quality(&[
            decision(yes, true, "easy"),
            decision(yes, true, "hard"),
            decision(yes, false, "hard"),
            decision(no, true, "hard"),
            decision(no, false, ""),
            decision(None, true, "hard"),
        ]);
        let all = found["all"];
        assert_eq!((all.true_accepts, all.false_accepts, all.false_rejects), (2, 1, 1));
        assert_eq!((all.true_rejects, all.not_judged), (1, 1));
        assert_eq!((all.precision, all.recall), (Some(2.0 / 3.0), Some(2.0 / 3.0)));
        assert!((all.f1.unwrap() - 2.0 / 3.0).abs() < 1e-12);
        let rate = all.false_accept_rate.unwrap();
        assert!((rate.value - 0.5).abs() < 1e-12 && rate.low > 0.0 && rate.high < 1.0);
        let hard = found["hard"];
        assert_eq!((hard.precision, hard.recall), (Some(0.5), Some(0.5)));
        assert_eq!(found["easy"].false_accept_rate, None);
        assert_eq!(found.len(), 3);
    }
}
