//! The fit, by alternating least squares.

use assay_verifiers::stats::{SplitMix64, are_shares, float, population_variance};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::model::{BridgedText, BridgingFit, BridgingRating};

/// The variance of the raters' factors below which they have one view.
const ONE_SIDED: f64 = 1e-6;

/// How a model of ratings is fitted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Bridging {
    /// `li`, on the mean and the intercepts; 0.15. Above 0.
    pub lambda_intercept: f64,
    /// `lf`, on the factors; 0.03. Above 0.
    pub lambda_factor: f64,
    /// The ratings that a text needs; 5.
    pub ratings_min: usize,
    /// How many starts are tried, of which the best is kept; 5. The starts are seeds 0, 1, ...
    pub starts: u64,
    /// The most rounds of one start; 500.
    pub rounds_max: usize,
    /// The relative change of the loss at which a start ends; 1e-9.
    pub tolerance: f64,
}

impl Default for Bridging {
    fn default() -> Self {
        Self {
            lambda_intercept: 0.15,
            lambda_factor: 0.03,
            ratings_min: 5,
            starts: 5,
            rounds_max: 500,
            tolerance: 1e-9,
        }
    }
}

/// The parameters while they are fitted: intercept and factor of each rater and text.
#[derive(Clone)]
struct Parameters {
    mean: f64,
    raters: Vec<(f64, f64)>,
    texts: Vec<(f64, f64)>,
}

impl Bridging {
    /// Fits the ratings of `texts` texts by `raters` raters. `None` where there are no ratings, a rating
    /// is not from 0 to 1 or names what is not there, or a setting is out of range.
    pub fn fit(
        &self,
        raters: usize,
        texts: usize,
        ratings: &[BridgingRating],
    ) -> Option<BridgingFit> {
        let known = |one: &BridgingRating| {
            one.rater < raters && one.text < texts && are_shares(&[one.value])
        };
        let usable = self.lambda_intercept > 0.0 && self.lambda_factor > 0.0 && self.starts > 0;
        if ratings.is_empty() || !usable || !ratings.iter().all(known) {
            return None;
        }
        let start = |seed| self.start(seed, (raters, texts), ratings);
        let (mut best, mut loss) =
            (0..self.starts).map(start).min_by(|a, b| a.1.total_cmp(&b.1))?;
        let views: Vec<f64> = best.raters.iter().map(|(_, factor)| *factor).collect();
        let one_sided = population_variance(&views)? < ONE_SIDED;
        if one_sided {
            (best, loss) = self.rounds(Parameters::zero(raters, texts), ratings);
        }
        Some(self.finished(best, ratings, (loss, one_sided)))
    }

    /// The intercept and factor of a new text from ratings by raters of the model, which stay as they
    /// are: ridge regression in closed form. Ratings of unknown raters are left out; `None` where none
    /// is left. The ratings may be those of simulated raters.
    pub fn cold_start(&self, fit: &BridgingFit, ratings: &[(usize, f64)]) -> Option<BridgedText> {
        let rows: Vec<(f64, f64)> = ratings
            .iter()
            .filter(|(_, value)| are_shares(&[*value]))
            .filter_map(|&(rater, value)| {
                let (intercept, factor) = fit.raters.get(rater)?;
                Some((*factor, value - fit.mean - intercept))
            })
            .collect();
        let (intercept, factor) = self.ridge(&rows);
        (!rows.is_empty())
            .then(|| BridgedText::new(intercept, factor, rows.len(), self.ratings_min))
    }

    fn start(
        &self,
        seed: u64,
        (raters, texts): (usize, usize),
        ratings: &[BridgingRating],
    ) -> (Parameters, f64) {
        let mut random = SplitMix64::new(seed);
        let mut parameters = Parameters::zero(raters, texts);
        for (_, factor) in parameters.raters.iter_mut().chain(&mut parameters.texts) {
            *factor = float(random.below(2001)) / 1000.0 - 1.0;
        }
        self.rounds(parameters, ratings)
    }

    /// Rounds of mean, raters and texts until the loss stands still.
    fn rounds(&self, mut own: Parameters, ratings: &[BridgingRating]) -> (Parameters, f64) {
        let mut loss = f64::INFINITY;
        for _ in 0..self.rounds_max {
            let rest = ratings.iter().map(|one| one.value - own.model(one) + own.mean);
            own.mean = rest.sum::<f64>() / (float(ratings.len()) + self.lambda_intercept);
            let mut rows = vec![Vec::new(); own.raters.len()];
            for one in ratings {
                let (intercept, factor) = own.text(one.text);
                push(&mut rows, one.rater, (factor, one.value - own.mean - intercept));
            }
            own.raters = rows.iter().map(|rows| self.ridge(rows)).collect();
            let mut rows = vec![Vec::new(); own.texts.len()];
            for one in ratings {
                let (intercept, factor) = own.rater(one.rater);
                push(&mut rows, one.text, (factor, one.value - own.mean - intercept));
            }
            own.texts = rows.iter().map(|rows| self.ridge(rows)).collect();
            let next = self.loss(&own, ratings);
            let still = loss - next <= self.tolerance * next.max(f64::MIN_POSITIVE);
            loss = next;
            if still {
                break;
            }
        }
        (own, loss)
    }

    /// The `(b, f)` of least `sum (y - b - x f)^2 + li b^2 + lf f^2`, over rows of `(x, y)`.
    fn ridge(&self, rows: &[(f64, f64)]) -> (f64, f64) {
        let sum = |value: fn(&(f64, f64)) -> f64| rows.iter().map(value).sum::<f64>();
        let a = float(rows.len()) + self.lambda_intercept;
        let b = sum(|(x, _)| *x);
        let d = sum(|(x, _)| x * x) + self.lambda_factor;
        let (y, xy) = (sum(|(_, y)| *y), sum(|(x, y)| x * y));
        // Above 0, by the inequality of Cauchy and Schwarz and the two lambdas.
        let determinant = a * d - b * b;
        ((d * y - b * xy) / determinant, (a * xy - b * y) / determinant)
    }

    fn loss(&self, own: &Parameters, ratings: &[BridgingRating]) -> f64 {
        let errors: f64 = ratings.iter().map(|one| (one.value - own.model(one)).powi(2)).sum();
        let both = || own.raters.iter().chain(&own.texts);
        let intercepts = own.mean.powi(2) + both().map(|(b, _)| b * b).sum::<f64>();
        let factors: f64 = both().map(|(_, f)| f * f).sum();
        errors + self.lambda_intercept * intercepts + self.lambda_factor * factors
    }

    fn finished(
        &self,
        own: Parameters,
        ratings: &[BridgingRating],
        (loss, one_sided): (f64, bool),
    ) -> BridgingFit {
        let count = |text: usize| ratings.iter().filter(|one| one.text == text).count();
        let texts = own.texts.iter().enumerate().map(|(at, (intercept, factor))| {
            BridgedText::new(*intercept, *factor, count(at), self.ratings_min)
        });
        BridgingFit { mean: own.mean, texts: texts.collect(), raters: own.raters, loss, one_sided }
    }
}

impl Parameters {
    fn zero(raters: usize, texts: usize) -> Self {
        Self { mean: 0.0, raters: vec![(0.0, 0.0); raters], texts: vec![(0.0, 0.0); texts] }
    }

    fn rater(&self, rater: usize) -> (f64, f64) {
        self.raters.get(rater).copied().unwrap_or_default()
    }

    fn text(&self, text: usize) -> (f64, f64) {
        self.texts.get(text).copied().unwrap_or_default()
    }

    /// `m + b_u + b_n + f_u f_n`.
    fn model(&self, rating: &BridgingRating) -> f64 {
        let (rater, text) = (self.rater(rating.rater), self.text(rating.text));
        self.mean + rater.0 + text.0 + rater.1 * text.1
    }
}

fn push(rows: &mut [Vec<(f64, f64)>], at: usize, row: (f64, f64)) {
    if let Some(own) = rows.get_mut(at) {
        own.push(row);
    }
}
