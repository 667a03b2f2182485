//! Correlation, and the ranks of values.

use std::cmp::Ordering;

use super::means::{corrected_mean, float, ratio};

/// Sums of squares and products of deviations.
#[derive(Clone, Copy, Debug, Default)]
pub struct CorrelationSums {
    xx: f64,
    yy: f64,
    xy: f64,
    /// Below these, a sum of squares is rounding.
    noise_x: f64,
    noise_y: f64,
}

impl CorrelationSums {
    /// Of two series of one length, about their means.
    pub fn of(x: &[f64], y: &[f64]) -> Self {
        let mut sums = Self::default();
        sums.add(x, y);
        sums
    }

    /// Adds the deviations of one group about its own means.
    pub fn add(&mut self, x: &[f64], y: &[f64]) {
        let (Some(mean_x), Some(mean_y)) = (corrected_mean(x), corrected_mean(y)) else { return };
        for (x, y) in x.iter().zip(y) {
            self.xx += (x - mean_x).powi(2);
            self.yy += (y - mean_y).powi(2);
            self.xy += (x - mean_x) * (y - mean_y);
            self.noise_x += rounding(*x);
            self.noise_y += rounding(*y);
        }
    }

    /// Pearson's correlation, -1 to 1; `None` where a side has no spread.
    pub fn pearson(&self) -> Option<f64> {
        if self.xx <= self.noise_x || self.yy <= self.noise_y {
            return None;
        }
        // The root of the product is exact where both spreads are equal, as those of ranks are.
        let product = self.xx * self.yy;
        let spread =
            if product.is_normal() { product.sqrt() } else { self.xx.sqrt() * self.yy.sqrt() };
        ratio(self.xy, spread).map(|value| value.clamp(-1.0, 1.0))
    }

    /// The least-squares slope of y on x; `None` where x has no spread.
    pub fn slope(&self) -> Option<f64> {
        (self.xx > self.noise_x).then(|| ratio(self.xy, self.xx)).flatten()
    }
}

/// The square of what rounding may do to a value and its mean.
fn rounding(value: f64) -> f64 {
    (8.0 * f64::EPSILON * value.abs()).powi(2)
}

/// The rows in which both are finite.
pub fn complete(x: &[f64], y: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let both = x.iter().copied().zip(y.iter().copied());
    both.filter(|(x, y)| x.is_finite() && y.is_finite()).unzip()
}

/// The rank of each value from 1, equal values sharing the mean of theirs.
pub fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<(usize, f64)> = values.iter().copied().enumerate().collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0;
    // Zero and negative zero are equal.
    for equal in order.chunk_by(|a, b| a.1.partial_cmp(&b.1) == Some(Ordering::Equal)) {
        let rank = float(before) + float(equal.len() + 1) / 2.0;
        before += equal.len();
        for (place, _) in equal {
            if let Some(own) = ranks.get_mut(*place) {
                *own = rank;
            }
        }
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_share_their_rank() {
        assert_eq!(ranks(&[2.0, 1.0, 2.0, -0.0, 0.0]), [4.5, 3.0, 4.5, 1.5, 1.5]);
    }
}
