//! Arithmetic that checks, judges, diagnostics and the trainer share, each function once.
//!
//! Sums run in the order of the values, unless a name says otherwise: verdicts depend on their last
//! bits.

mod aggregate;
mod correlation;
mod logistic;
mod means;
mod random;

pub use aggregate::Aggregate;
pub use correlation::{CorrelationSums, complete, ranks};
pub use logistic::{log_sum_exp, sigmoid, softplus};
pub use means::{
    bounds, corrected_mean, entropy, float, interpolated, mean, mean_sorted, median, present,
    quantile, ratio, sample_variance, share, sorted, sum_sorted,
};
pub use random::{GOLDEN_GAMMA, SplitMix64, fnv1a, mix64};
