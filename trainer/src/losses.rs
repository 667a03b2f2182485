//! Losses: from log-probabilities and advantages to a number, and to its gradient.
//!
//! A loss is put together from parts that do not know each other: an objective (`kind`), the
//! aggregation of its terms, a divergence penalty, corrections for rollouts of another policy, and an
//! entropy bonus. The gradient is exact, with respect to the log-probability of each token; a tensor
//! library that trains with `sum(gradient * logp)`, the gradient detached, makes the same step.
//!
//! ```
//! use assay_trainer::advantages::AdvantageValues;
//! use assay_trainer::losses::{self, LossBatch};
//! use serde_json::json;
//!
//! let settings = json!({"kind": "dapo", "preset": "trl-1.16"});
//! let loss = losses::build(serde_json::from_value(settings).unwrap()).unwrap();
//! let logp = [vec![-0.5, -1.0], vec![-0.2]].into_iter().collect();
//! let advantages = AdvantageValues::Rollouts(vec![1.0, -1.0]);
//! let found = loss.loss(&LossBatch::new(&logp, &advantages)).unwrap();
//! // On policy the ratio is 1: the loss is the negated mean advantage of a token.
//! assert!((found.value + 1.0 / 3.0).abs() < 1e-12);
//! ```

pub mod aggregation;
pub mod batch;
pub mod config;
pub mod correction;
pub mod entropy;
pub mod kinds;
pub mod kl;
pub mod objective;
pub mod policy;
pub mod preference;
mod prelude;
pub mod ratio;
pub mod span;
mod table;
pub mod terms;
pub mod tokens;

#[cfg(test)]
mod gradient_tests;
#[cfg(test)]
mod hand_worked_tests;
#[cfg(test)]
mod property_tests;

pub use crate::config::LossTable;
pub use aggregation::LossAggregation;
pub use batch::{BatchScale, EntropyState, LossBatch};
pub use config::LossConfig;
pub use policy::{Loss, PolicyLoss, build};
pub use preference::{PreferenceLoss, PreferencePair};
