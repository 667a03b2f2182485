//! Support dynamics: which correct answers training kept, found and lost.

use assay_verifiers::stats::{entropy, float, ratio, share};
use serde::Serialize;

/// How often the base model and the trained one gave a correct answer: one entry a problem, or one for
/// each cluster of correct answers of a problem.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CorrectCounts {
    /// Correct samples of the base model.
    pub base: usize,
    /// All samples of the base model.
    pub base_samples: usize,
    /// Correct samples of the trained model.
    pub trained: usize,
    /// All samples of the trained model.
    pub trained_samples: usize,
}

/// What became of the support. A share is `null` where its denominator is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct SupportDynamics {
    /// In the support of both: P.
    pub preserved: usize,
    /// Of the trained model alone: E.
    pub expanded: usize,
    /// Of the base model alone: S.
    pub shrunk: usize,
    /// Of neither: O.
    pub neither: usize,
    /// Support retention rate, `P / (P + S)`.
    pub retention: Option<f64>,
    /// Net discovery rate, `E / (P + E)`.
    pub discovery: Option<f64>,
    /// Support dynamic score: the harmonic mean of the two.
    pub dynamic_score: Option<f64>,
    /// Net support change rate, `(E - S) / (P + E + S)`.
    pub net_change: Option<f64>,
}

/// Counts what became of each correct answer. One is in the support of a model if its share of the
/// samples is above `threshold`; entries without samples of both models are left out.
///
/// Source: "The Invisible Leash: Why RLVR May or May Not Escape Its Origin" (Wu et al. 2025), section
/// on support dynamics: SRR, NDR, SDS, NSCR.
pub fn support_dynamics(cases: &[CorrectCounts], threshold: f64) -> SupportDynamics {
    let mut found = SupportDynamics::default();
    for case in cases {
        let (Some(base), Some(trained)) =
            (share(case.base, case.base_samples), share(case.trained, case.trained_samples))
        else {
            continue;
        };
        match (base > threshold, trained > threshold) {
            (true, true) => found.preserved += 1,
            (false, true) => found.expanded += 1,
            (true, false) => found.shrunk += 1,
            (false, false) => found.neither += 1,
        }
    }
    let (kept, new, lost) = (float(found.preserved), float(found.expanded), float(found.shrunk));
    found.retention = ratio(kept, kept + lost);
    found.discovery = ratio(new, kept + new);
    let both = found.retention.zip(found.discovery);
    found.dynamic_score = both.and_then(|(srr, ndr)| ratio(2.0 * srr * ndr, srr + ndr));
    found.net_change = ratio(new - lost, kept + new + lost);
    found
}

/// The entropy of the answers of a prompt, in nats, from the sizes of their clusters. `None` of none.
///
/// Source: as [`support_dynamics`]; it may fall while the entropy of tokens rises.
pub fn answer_entropy(clusters: impl IntoIterator<Item = usize>) -> Option<f64> {
    entropy(clusters)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cases(base: usize, trained: usize, count: usize) -> Vec<CorrectCounts> {
        let case = CorrectCounts { base, base_samples: 100, trained, trained_samples: 100 };
        vec![case; count]
    }

    #[test]
    fn the_rates_by_hand() {
        // P 8, E 1, S 2: 8/10, 1/9, 2 * 0.8 / 9 / (0.8 + 1/9), -1/11.
        let all = [cases(9, 3, 8), cases(0, 1, 1), cases(4, 0, 2), cases(0, 0, 5)].concat();
        let found = support_dynamics(&all, 0.0);
        let counts = (found.preserved, found.expanded, found.shrunk, found.neither);
        assert_eq!(counts, (8, 1, 2, 5));
        let near = |value: Option<f64>, expected: f64| (value.unwrap() - expected).abs() < 1e-4;
        assert!(near(found.retention, 0.8) && near(found.discovery, 0.1111));
        assert!(near(found.dynamic_score, 0.1951) && near(found.net_change, -0.0909));
    }

    #[test]
    fn a_threshold_leaves_out_what_is_rare() {
        let found = support_dynamics(&cases(9, 3, 1), 0.05);
        assert_eq!((found.preserved, found.shrunk), (0, 1));
        assert_eq!(
            (found.retention, found.discovery, found.dynamic_score),
            (Some(0.0), None, None)
        );
        let none = support_dynamics(&[CorrectCounts::default()], 0.0);
        assert_eq!(none, SupportDynamics::default());
    }

    #[test]
    fn entropy_of_answers() {
        assert_eq!(answer_entropy([4]), Some(0.0));
        let four = answer_entropy([1, 1, 1, 1]).unwrap();
        assert!((four - 4.0_f64.ln()).abs() < 1e-12);
        assert_eq!(answer_entropy([]), None);
    }
}
