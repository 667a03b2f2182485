//! `optimal_token_baseline`: a baseline for each token that weighs rollouts by their variance.

use crate::advantages::prelude::*;
use crate::statistics::sum_sorted;

/// Optimal token baseline: `A_t = G_t - B_t` with `B_t = sum(G_t W_t) / (sum(W_t) + eps)` over the
/// rollouts of a group, where `G_t` is the sum of the rewards from the token on and `W_t` the sum of
/// `1 - 2 p + sum of p^2` up to it, times the squared importance weight where one is given. A group of
/// one has no baseline. It needs `policy`, and `mask` or `lengths`.
///
/// Source: "The Optimal Token Baseline: Variance Reduction for Long-Horizon LLM-RL", as in verl 0.9.1
/// `compute_optimal_token_baseline_advantage`; with `compact`
/// `compute_multi_turn_optimal_token_baseline_advantage`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct OptimalTokenBaseline {
    /// Added to the sum of the weights.
    #[default(1e-8)]
    pub eps: f64,
    /// Whether the longest response, where it is one alone, has no baseline behind the end of the
    /// second longest.
    #[default(true)]
    pub zero_tail: bool,
    /// Whether tokens are compared by their place among those that are trained on, in place of that
    /// among all.
    pub compact: bool,
}

impl EstimatorSettings for OptimalTokenBaseline {
    fn check(&self) -> Result<(), TrainerError> {
        within("eps", self.eps, 0.0..)
    }
}

impl Estimator for OptimalTokenBaseline {
    fn estimate(&self, batch: &RewardBatch<'_>) -> Result<Advantages, TrainerError> {
        let report = report(batch)?;
        let mask = tokens::trained(batch, "optimal_token_baseline")?;
        let returns = tokens::rewards(batch, batch.rewards, &mask)?;
        let mut returns = tokens::returns(returns, &mask, 1.0, tokens::MaskedTokens::Skip);
        let weights = weights(batch, &mask)?;
        for group in batch.groups.iter() {
            let scored = |row: &usize| batch.rewards.get(*row).is_some_and(|r| !r.is_nan());
            let members: Vec<usize> = group.rows().filter(scored).collect();
            let tracks = self.tracks(&members, &mask, &returns, &weights);
            if tracks.len() > 1 {
                self.subtract(&tracks, &mut returns);
            }
        }
        tokens::checked(batch, &returns)?;
        Ok(Advantages::of_tokens(returns, report))
    }
}

/// The tokens of one rollout that are trained on, by the place at which they are compared.
struct Track {
    row: usize,
    tokens: Vec<Token>,
}

struct Token {
    place: usize,
    at: usize,
    value: f64,
    weight: f64,
}

impl OptimalTokenBaseline {
    fn tracks(
        &self,
        members: &[usize],
        mask: &Ragged<bool>,
        returns: &Ragged<f64>,
        weights: &Ragged<f64>,
    ) -> Vec<Track> {
        let track = |row: &usize| {
            let each = returns.row(*row).iter().zip(weights.row(*row)).zip(mask.row(*row));
            let trained = each.enumerate().filter(|(_, (_, trained))| **trained);
            let tokens = trained.enumerate().map(|(nth, (at, ((value, weight), _)))| Token {
                place: if self.compact { nth } else { at },
                at,
                value: *value,
                weight: *weight,
            });
            Track { row: *row, tokens: tokens.collect() }
        };
        let tracks = members.iter().map(track);
        // Without its holes, a rollout without a token is no member of the group.
        tracks.filter(|track| !self.compact || !track.tokens.is_empty()).collect()
    }

    fn subtract(&self, tracks: &[Track], returns: &mut Ragged<f64>) {
        let places =
            tracks.iter().filter_map(|track| track.tokens.last()).map(|last| last.place + 1);
        let places = places.max().unwrap_or(0);
        let mut sums: Vec<(Vec<f64>, Vec<f64>)> = vec![Default::default(); places];
        for token in tracks.iter().flat_map(|track| &track.tokens) {
            if let Some((weighed, weights)) = sums.get_mut(token.place) {
                weighed.push(token.value * token.weight);
                weights.push(token.weight);
            }
        }
        let baseline = |(weighed, weights)| {
            let weights = sum_sorted(weights) + self.eps;
            if weights > 0.0 { sum_sorted(weighed) / weights } else { 0.0 }
        };
        let baselines: Vec<f64> = sums.into_iter().map(baseline).collect();
        for track in tracks {
            let end = self.tail(track, tracks).unwrap_or(places);
            let row = returns.row_mut(track.row);
            for token in track.tokens.iter().filter(|token| token.place < end) {
                if let (Some(value), Some(baseline)) =
                    (row.get_mut(token.at), baselines.get(token.place))
                {
                    *value -= baseline;
                }
            }
        }
    }

    /// Where the baseline ends, for the one longest response.
    fn tail(&self, track: &Track, tracks: &[Track]) -> Option<usize> {
        let others = tracks.iter().filter(|other| other.row != track.row);
        let second = others.map(|other| other.tokens.len()).max()?;
        (self.zero_tail && track.tokens.len() > second).then_some(second)
    }
}

/// The cumulative weight of each token.
fn weights(batch: &RewardBatch<'_>, mask: &Ragged<bool>) -> Result<Ragged<f64>, TrainerError> {
    let kind = "optimal_token_baseline";
    let given = batch.policy;
    let log_probs = batch.needed_rows(kind, "log-probabilities", given.map(|p| p.log_probs))?;
    let squared = batch.needed_rows(kind, "sums of squares", given.map(|p| p.sum_pi_squared))?;
    let importance = given.and_then(|policy| policy.weights);
    let mut all = vec![("log-probabilities", log_probs), ("sums of squares", squared)];
    all.extend(importance.map(|weights| ("importance weights", weights)));
    for (what, values) in all {
        tokens::along(mask, what, values)?;
        tokens::finite(what, mask, values)?;
    }
    let mut weights = log_probs.map(|log_prob| 1.0 - 2.0 * log_prob.exp());
    for (weight, squared) in weights.values_mut().iter_mut().zip(squared.values()) {
        *weight += squared;
    }
    if let Some(importance) = importance {
        for (weight, importance) in weights.values_mut().iter_mut().zip(importance.values()) {
            *weight *= importance * importance;
        }
    }
    for row in 0..mask.rows() {
        let mut sum = 0.0;
        for (weight, trained) in weights.row_mut(row).iter_mut().zip(mask.row(row)) {
            sum += if *trained { *weight } else { 0.0 };
            *weight = sum;
        }
    }
    Ok(weights)
}

#[cfg(test)]
mod tests {
    use crate::advantages::batch::PolicyTokens;
    use crate::advantages::testing::{assert_close, estimated_with, of_tokens, rows};

    #[test]
    fn rollouts_weigh_as_their_variance() {
        // p = 0.5 and sums of squares 1 and 3: weights 1 and 3 at the first token, 2 at the second.
        // Returns 1 and 0: baseline 1 / 4 at the first token, none at the tail.
        let log = 0.5_f64.ln();
        let log_probs = Box::leak(Box::new(rows(&[&[log, log], &[log]])));
        let squared = Box::leak(Box::new(rows(&[&[1.0, 1.0], &[3.0]])));
        let values = |settings: &str| {
            let config = format!("kind = \"optimal_token_baseline\"\neps = 0\n{settings}");
            of_tokens(estimated_with(&config, &[1.0, 0.0], 2, |mut batch| {
                batch.lengths = Some(&[2, 1]);
                batch.policy =
                    Some(PolicyTokens { log_probs, sum_pi_squared: squared, weights: None });
                batch
            }))
        };
        assert_close(values("").values(), &[0.75, 1.0, -0.25]);
        assert_close(values("zero_tail = false").values(), &[0.75, 0.0, -0.25]);
    }
}
