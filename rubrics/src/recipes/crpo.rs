//! CRPO: accuracy, faithfulness and comprehensiveness of clinical reasoning.

use assay_verifiers::RunningMoments;
use assay_verifiers::deviation::{EPS, Std};
use assay_verifiers::stats::are_shares;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// "Clinical-R1", clinical-objective relative policy optimisation:
/// `r = accuracy + 0.5 faithfulness + 0.5 comprehensiveness`; the last two count only where the format
/// is right. Reconstructed, weights included.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Crpo {
    /// The weight of accuracy; 1.
    pub accuracy: f64,
    /// The weight of faithfulness, the share of claims that the case supports; 0.5.
    pub faithfulness: f64,
    /// The weight of comprehensiveness, the share of key findings that are named; 0.5.
    pub comprehensiveness: f64,
}

impl Default for Crpo {
    fn default() -> Self {
        Self { accuracy: 1.0, faithfulness: 0.5, comprehensiveness: 0.5 }
    }
}

/// The parts of one response, each a share.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CrpoParts {
    /// Whether the format is right.
    pub format: bool,
    /// How right the answer is.
    pub accuracy: f64,
    /// The share of the claims that the case supports.
    pub faithfulness: f64,
    /// The share of the key findings that are named.
    pub comprehensiveness: f64,
}

impl Crpo {
    /// The reward of one response, from 0 to the sum of the weights.
    pub fn reward(&self, parts: &CrpoParts) -> Option<f64> {
        let [accuracy, faithfulness, comprehensiveness] = gated(parts)?;
        Some(self.weighed(accuracy, faithfulness, comprehensiveness))
    }

    /// The rewards of a group, each part as `(x - mean) / (std + eps)` within the group before it is
    /// weighed. A part that is equal throughout counts 0. A response with a part out of
    /// range is left out.
    pub fn normalised(&self, group: &[CrpoParts]) -> Vec<Option<f64>> {
        let values: Vec<Option<[f64; 3]>> = group.iter().map(gated).collect();
        let scales: Vec<(f64, f64)> = (0..3)
            .map(|part| {
                let column: Vec<f64> =
                    values.iter().flatten().filter_map(|one| one.get(part).copied()).collect();
                let moments = RunningMoments::of(column);
                (moments.mean, moments.std(Std::default()))
            })
            .collect();
        let weigh = |own: [f64; 3]| {
            let mut units = own.iter().zip(&scales).map(|(value, (mean, deviation))| {
                if *deviation > 1e-9 { (value - mean) / (deviation + EPS) } else { 0.0 }
            });
            Some(self.weighed(units.next()?, units.next()?, units.next()?))
        };
        values.into_iter().map(|one| one.and_then(weigh)).collect()
    }

    fn weighed(&self, accuracy: f64, faithfulness: f64, comprehensiveness: f64) -> f64 {
        self.accuracy * accuracy
            + self.faithfulness * faithfulness
            + self.comprehensiveness * comprehensiveness
    }
}

fn gated(parts: &CrpoParts) -> Option<[f64; 3]> {
    let values = [parts.accuracy, parts.faithfulness, parts.comprehensiveness];
    let gated = if parts.format { values } else { [parts.accuracy, 0.0, 0.0] };
    are_shares(&values).then_some(gated)
}
