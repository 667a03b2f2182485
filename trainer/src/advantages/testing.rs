//! What tests of estimators share.

use serde_json::{Map, Value};

use super::batch::{AdvantageValues, Advantages, Estimator, RewardBatch};
use crate::error::TrainerError;
use crate::groups::Groups;
use crate::ragged::Ragged;

/// The estimator of a table in TOML.
pub(crate) fn built(config: &str) -> Box<dyn Estimator> {
    try_built(config).unwrap()
}

/// The same, or why there is none.
pub(crate) fn try_built(config: &str) -> Result<Box<dyn Estimator>, TrainerError> {
    let table: Map<String, Value> = toml::from_str(config).unwrap();
    super::build(table)
}

/// Advantages of groups of one size, of a batch that holds nothing else.
pub(crate) fn estimated(config: &str, rewards: &[f64], size: usize) -> Advantages {
    estimated_with(config, rewards, size, |batch| batch)
}

/// The same for a batch to which `with` adds something.
pub(crate) fn estimated_with<'a>(
    config: &str,
    rewards: &'a [f64],
    size: usize,
    with: impl Fn(RewardBatch<'a>) -> RewardBatch<'a>,
) -> Advantages {
    // The batch borrows the groups for as long as what the test lends it.
    let groups = Box::leak(Box::new(Groups::of_size(rewards.len(), size).unwrap()));
    built(config).estimate(&with(RewardBatch::new(groups, rewards).unwrap())).unwrap()
}

/// The advantages of rollouts.
pub(crate) fn rollouts(config: &str, rewards: &[f64], size: usize) -> Vec<f64> {
    of_rollouts(estimated(config, rewards, size))
}

pub(crate) fn of_rollouts(advantages: Advantages) -> Vec<f64> {
    match advantages.values {
        AdvantageValues::Rollouts(values) => values,
        AdvantageValues::Tokens(tokens) => panic!("tokens: {tokens:?}"),
    }
}

pub(crate) fn of_tokens(advantages: Advantages) -> Ragged<f64> {
    match advantages.values {
        AdvantageValues::Tokens(tokens) => tokens,
        AdvantageValues::Rollouts(values) => panic!("rollouts: {values:?}"),
    }
}

/// Rows of tokens.
pub(crate) fn rows<T: Clone>(rows: &[&[T]]) -> Ragged<T> {
    rows.iter().map(|row| row.to_vec()).collect()
}

/// Equal up to 1e-12.
#[track_caller]
pub(crate) fn assert_close(values: &[f64], expected: &[f64]) {
    assert_eq!(values.len(), expected.len(), "{values:?}");
    for (at, (value, expected)) in values.iter().zip(expected).enumerate() {
        let error = (value - expected).abs() / expected.abs().max(1.0);
        assert!(error < 1e-12, "{at}: {value}, expected {expected}, of {values:?}");
    }
}
