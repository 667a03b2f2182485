//! Elo ratings: one update a result, in the order given.

use assay_verifiers::prelude::*;

use crate::compare::result::{PairResult, points};

/// "The Rating of Chessplayers, Past and Present" (Elo 1978): after each result a rating moves by
/// `k` times the difference of the points and the expected points,
/// `1 / (1 + 10^((r_j - r_i) / scale))`. The order of the results matters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema, SmartDefault)]
#[serde(default, deny_unknown_fields)]
pub struct Elo {
    /// How far one result moves a rating at most; 32.
    #[default(32.0)]
    pub k: f64,
    /// The difference at which the better is expected to win ten times as often; 400.
    #[default(400.0)]
    pub scale: f64,
    /// The rating of a sample without results; 1000.
    #[default(1000.0)]
    pub start: f64,
}

impl Elo {
    /// The rating of each sample after the results. Their sum stays `samples * start`.
    pub fn ratings(&self, samples: usize, results: &[PairResult]) -> Vec<f64> {
        let mut ratings = vec![self.start; samples];
        for result in results {
            let (Some(strength), Some(&first), Some(&second)) =
                (result.finite(), ratings.get(result.first), ratings.get(result.second))
            else {
                continue;
            };
            let expected = 1.0 / (1.0 + 10.0_f64.powf((second - first) / self.scale));
            let points = points(strength);
            let moved = self.k * (points - expected);
            for (place, by) in [(result.first, moved), (result.second, -moved)] {
                if let Some(rating) = ratings.get_mut(place) {
                    *rating += by;
                }
            }
        }
        ratings
    }
}
