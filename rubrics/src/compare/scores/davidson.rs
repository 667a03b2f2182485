//! The model of Bradley and Terry with ties, after Davidson.

use assay_verifiers::prelude::*;
use assay_verifiers::stats::float;

use crate::compare::result::{PairResult, points, verdict};

/// "On Extending the Bradley-Terry Model to Accommodate Ties in Paired Comparison Experiments"
/// (Davidson 1970): sample i of worth `p_i` beats j with probability `p_i / D`, and ties with
/// `v sqrt(p_i p_j) / D`, where `D = p_i + p_j + v sqrt(p_i p_j)`.
///
/// Fitted by minorisation and maximisation ("MM Algorithms for Generalized Bradley-Terry Models",
/// Hunter 2004): `sqrt(p_i p_j)` is bounded by the arithmetic mean at the current worths, which gives
/// `p_i <- (w_i + t_i / 2) / sum_j n_ij (1 + v / 2 sqrt(p_j / p_i)) / D_ij`; then `v` is set to its
/// best value at these worths, and their level too. Each step raises the likelihood.
///
/// Beside the paper, each sample wins and loses `prior / 2` comparisons against a sample of worth 1.
/// So samples that never lose, never win or were never compared keep a finite worth. Of `n`
/// comparisons at most `n n / (n + prior / 2)` count as ties, so that `v` is finite too.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema, SmartDefault)]
#[serde(default, deny_unknown_fields)]
pub struct Davidson {
    /// The weight of the comparisons added for each sample; above 0, 0.1 by default.
    #[default(0.1)]
    pub prior: f64,
    /// The most steps; 10000.
    #[default(10_000)]
    pub steps_max: usize,
    /// The change of the logarithms at which the fit ends; 1e-10.
    #[default(1e-10)]
    pub tolerance: f64,
}

/// The worths that were fitted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DavidsonFit {
    /// The logarithm of the worth of each sample: finite; 0 for a sample like the one of worth 1.
    pub log_worths: Vec<f64>,
    /// `v`, how readily the judge ties: 0 where it never did.
    pub tie: f64,
    /// The steps that were taken.
    pub steps: usize,
    /// Whether the fit ended before `steps_max`.
    pub converged: bool,
}

impl Davidson {
    /// Fits the worths of `samples`; only the signs of the strengths count. `None` where the settings
    /// are out of range.
    pub fn fit(&self, samples: usize, results: &[PairResult]) -> Option<DavidsonFit> {
        if !(self.prior > 0.0 && self.prior.is_finite() && self.tolerance >= 0.0) {
            return None;
        }
        let games = Games::of(samples, results);
        let mut fit =
            DavidsonFit { log_worths: vec![0.0; samples], tie: 0.0, steps: 0, converged: false };
        if games.ties > 0.0 {
            fit.tie = 1.0;
        }
        while fit.steps < self.steps_max && !fit.converged {
            fit.steps += 1;
            let change = self.step(&games, &mut fit);
            fit.converged = change <= self.tolerance;
        }
        Some(fit)
    }

    /// One step; the largest change of a logarithm.
    #[expect(clippy::indexing_slicing, reason = "pairs are of samples")]
    fn step(&self, games: &Games, fit: &mut DavidsonFit) -> f64 {
        let worths: Vec<f64> = fit.log_worths.iter().map(|log| log.exp()).collect();

        let mut load: Vec<f64> = worths.iter().map(|own| self.prior / (own + 1.0)).collect();
        for &(first, second) in &games.pairs {
            let (i, j) = (worths[first], worths[second]);
            let whole = i + j + fit.tie * (i * j).sqrt();
            for (place, ratio) in [(first, j / i), (second, i / j)] {
                load[place] += (1.0 + fit.tie / 2.0 * ratio.sqrt()) / whole;
            }
        }
        let mut change: f64 = 0.0;
        for ((log, load), points) in fit.log_worths.iter_mut().zip(&load).zip(&games.points) {
            let next = ((points + self.prior / 2.0) / load).ln();
            change = change.max((next - *log).abs());
            *log = next;
        }
        change.max(games.level(fit)).max(games.step_tie(self.prior, fit))
    }
}

/// The most steps of Newton's method.
const NEWTON_STEPS: usize = 200;

/// The halvings of an interval of worths, to the last bits.
const HALVINGS: usize = 64;

/// What the results come to.
struct Games {
    /// The pairs, one for each comparison.
    pairs: Vec<(usize, usize)>,
    /// Wins and half the ties of each sample.
    points: Vec<f64>,
    ties: f64,
    /// The samples, those together that were compared with each other, directly or through others.
    parts: Vec<Vec<usize>>,
}

/// The samples in parts that the pairs connect.
fn parts(samples: usize, pairs: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let mut parts: Vec<Vec<usize>> = (0..samples).map(|sample| vec![sample]).collect();
    for (first, second) in pairs {
        let of = |sample| parts.iter().position(|part| part.contains(sample));
        if let (Some(a), Some(b)) = (of(first), of(second))
            && a != b
        {
            let moved = parts.swap_remove(a.max(b));
            if let Some(part) = parts.get_mut(a.min(b)) {
                part.extend(moved);
            }
        }
    }
    parts
}

impl Games {
    fn of(samples: usize, results: &[PairResult]) -> Self {
        let mut games =
            Self { pairs: Vec::new(), points: vec![0.0; samples], ties: 0.0, parts: Vec::new() };
        let known = |one: &&PairResult| one.first < samples && one.second < samples;
        for result in results.iter().filter(known) {
            let Some(strength) = result.finite() else { continue };
            games.pairs.push((result.first, result.second));
            games.ties += f64::from(u8::from(verdict(strength) == 0));
            let points = points(strength);
            for (place, points) in [(result.first, points), (result.second, 1.0 - points)] {
                if let Some(own) = games.points.get_mut(place) {
                    *own += points;
                }
            }
        }
        games.parts = parts(samples, &games.pairs);
        games
    }

    /// Moves the samples that were compared with each other, directly or through others, together to
    /// the level that the prior prefers, `sum 1/2 = sum p / (p + 1)`; the largest change. Without this
    /// step the fit is slow where results are many, for they say nothing of the level.
    fn level(&self, fit: &mut DavidsonFit) -> f64 {
        let mut change: f64 = 0.0;
        for part in &self.parts {
            let logs: Vec<f64> =
                part.iter().filter_map(|&place| fit.log_worths.get(place).copied()).collect();
            // The sum falls as the level rises, from above 0 at the least worth to below 0 at the
            // largest: the root is found by halving.
            let (mut low, mut high) = logs
                .iter()
                .fold((f64::MAX, f64::MIN), |(low, high), log| (low.min(-log), high.max(-log)));
            for _ in 0..HALVINGS {
                let middle = low.midpoint(high);
                let over: f64 = logs.iter().map(|log| ((log + middle) / 2.0).tanh()).sum();
                if over > 0.0 { high = middle } else { low = middle }
            }
            let shift = low.midpoint(high);
            change = change.max(shift.abs());
            for &place in part {
                if let Some(log) = fit.log_worths.get_mut(place) {
                    *log += shift;
                }
            }
        }
        change
    }

    /// Sets `tie` to the root of its equation, `sum v / (s + v) = T` with
    /// `s = sqrt(p_i / p_j) + sqrt(p_j / p_i)`; the change of its logarithm. Newton's method: the left
    /// side is concave, so the root is never passed from below.
    #[expect(clippy::indexing_slicing, reason = "pairs are of samples")]
    fn step_tie(&self, prior: f64, fit: &mut DavidsonFit) -> f64 {
        let all = float(self.pairs.len());
        let ties = self.ties.min(all * all / (all + prior / 2.0));
        if ties == 0.0 {
            return 0.0;
        }
        let log = |place: usize| fit.log_worths[place];
        let spreads: Vec<f64> = self
            .pairs
            .iter()
            .map(|&(first, second)| 2.0 * ((log(first) - log(second)) / 2.0).cosh())
            .collect();
        let mut tie = fit.tie;
        for _ in 0..NEWTON_STEPS {
            let value: f64 = spreads.iter().map(|s| tie / (s + tie)).sum::<f64>() - ties;
            let slope: f64 = spreads.iter().map(|s| s / (s + tie).powi(2)).sum();
            let next = (tie - value / slope).max(0.0);
            let moved = (next - tie).abs();
            tie = next;
            if moved <= 1e-14 * tie {
                break;
            }
        }
        let change = (tie.ln() - fit.tie.ln()).abs();
        fit.tie = tie;
        change
    }
}
