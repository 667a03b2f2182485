//! What a trainer does with rewards: advantages, losses, selection and diagnostics.
//!
//! Everything here is a function of numbers in `f64`, without a tensor framework: a loss returns its
//! value, its gradient with respect to the log-probabilities, and its metrics, and any backend trains
//! with the surrogate `sum(gradient * log_probability)`. Where a library has a convention of its own
//! (a standard deviation, an epsilon, a clamp), it is a setting, and a preset names the library and
//! the version whose defaults it holds.
//!
//! The GRPO loop ([`training`]) trains whatever is a [`policy::PolicyModel`]; with the feature `train`
//! there is one, a decoder on a processor.
//!
//! A reward that is missing (a fault, an abstention, a masked sample) is NaN in a slice of rewards. It
//! takes part in no statistic, and its advantage is 0.

pub mod advantages;
pub mod diagnostics;
pub mod error;
pub mod groups;
pub mod losses;
pub mod monitor;
pub mod policy;
pub mod presets;
pub mod ragged;
pub mod request;
pub mod selection;
pub mod training;

pub use error::TrainerError;
pub use groups::{Groups, Members};
pub use ragged::Ragged;
