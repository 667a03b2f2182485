//! Calibration: whether what is predicted with probability p is right in a share p of the cases.

use assay_verifiers::stats::{float, ratio};
use serde::Serialize;

/// Cases with like probabilities.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ReliabilityBin {
    /// The least probability of the bin. It belongs to it; in the first bin 0 does.
    pub from: f64,
    /// The end of the bin. It belongs to the next, but 1 to the last.
    pub to: f64,
    /// How many cases fall into it.
    pub count: usize,
    /// The mean of their probabilities.
    pub mean_predicted: Option<f64>,
    /// The share of them that is right.
    pub share_right: Option<f64>,
}

/// Bins of equal width over 0 to 1.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ReliabilityDiagram {
    /// The bins, in order; empty ones too.
    pub bins: Vec<ReliabilityBin>,
    /// The mean over the cases of `abs(share_right - mean_predicted)` of their bins: "Obtaining Well
    /// Calibrated Probabilities Using Bayesian Binning" (Naeini, Cooper, Hauskrecht 2015). 0 to 1.
    pub expected_calibration_error: Option<f64>,
    /// The largest such difference of a bin.
    pub maximum_calibration_error: Option<f64>,
    /// The mean of `(p - right)^2`: "Verification of Forecasts Expressed in Terms of Probability"
    /// (Brier 1950). 0 to 1.
    pub brier: Option<f64>,
    /// Cases that were left out, because their probability is not within 0 to 1.
    pub invalid: usize,
}

/// Bins cases of a probability and whether it came true. No bins where `bins` is 0.
pub fn reliability(cases: &[(f64, bool)], bins: usize) -> ReliabilityDiagram {
    let valid: Vec<(f64, bool)> =
        cases.iter().copied().filter(|(p, _)| (0.0..=1.0).contains(p)).collect();
    let mut members: Vec<Vec<(f64, bool)>> = vec![Vec::new(); bins];
    for (p, right) in &valid {
        // The last bin that begins at or below p.
        let edges = 1..bins;
        let at = edges.take_while(|edge| edge_of(*edge, bins) <= *p).count();
        if let Some(bin) = members.get_mut(at) {
            bin.push((*p, *right));
        }
    }
    let bin = |(at, members): (usize, &Vec<(f64, bool)>)| ReliabilityBin {
        from: edge_of(at, bins),
        to: edge_of(at + 1, bins),
        count: members.len(),
        mean_predicted: mean_of(members, |(p, _)| *p),
        share_right: mean_of(members, |(_, right)| f64::from(*right)),
    };
    let bins: Vec<ReliabilityBin> = members.iter().enumerate().map(bin).collect();
    let gaps: Vec<(f64, f64)> = bins
        .iter()
        .filter_map(|bin| Some((float(bin.count), (bin.share_right? - bin.mean_predicted?).abs())))
        .collect();
    let weighted: f64 = gaps.iter().map(|(count, gap)| count * gap).sum();
    ReliabilityDiagram {
        expected_calibration_error: ratio(weighted, gaps.iter().map(|(count, _)| count).sum()),
        maximum_calibration_error: gaps.iter().map(|(_, gap)| *gap).reduce(f64::max),
        brier: mean_of(&valid, |(p, right)| (p - f64::from(*right)).powi(2)),
        invalid: cases.len() - valid.len(),
        bins,
    }
}

fn edge_of(edge: usize, bins: usize) -> f64 {
    float(edge) / float(bins)
}

fn mean_of(cases: &[(f64, bool)], value: impl Fn(&(f64, bool)) -> f64) -> Option<f64> {
    ratio(cases.iter().map(value).sum(), float(cases.len()))
}
