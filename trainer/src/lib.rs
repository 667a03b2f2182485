//! What a trainer does with rewards: advantages, losses, selection and diagnostics.
//!
//! Everything here is a function of numbers in `f64`, without a tensor framework: a loss returns its
//! value, its gradient with respect to the log-probabilities, and its metrics, and any backend trains
//! with the surrogate `sum(gradient * log_probability)`. Where a library has a convention of its own
//! (a standard deviation, an epsilon, a clamp), it is a setting, and a preset names the library and
//! the version whose defaults it holds.
//!
//! These functions are the feature `groups`. With the feature `train` there is a GRPO loop
//! ([`training`]) too, which trains whatever is a [`policy::PolicyModel`], such as the decoder here,
//! on a processor. Without either the crate is what a configuration says of them ([`config`]).
//!
//! A reward that is missing (a fault, an abstention, a masked sample) is NaN in a slice of rewards. It
//! takes part in no statistic, and its advantage is 0.

#[cfg(feature = "groups")]
pub mod advantages;
pub mod config;
#[cfg(feature = "groups")]
pub mod diagnostics;
pub mod error;
#[cfg(feature = "groups")]
mod formula;
#[cfg(feature = "groups")]
pub mod groups;
#[cfg(feature = "groups")]
pub mod losses;
#[cfg(feature = "train")]
pub mod monitor;
#[cfg(feature = "groups")]
mod not_finite;
#[cfg(feature = "train")]
pub mod policy;
#[cfg(feature = "groups")]
mod prelude;
#[cfg(feature = "groups")]
pub mod presets;
pub mod ragged;
#[cfg(feature = "groups")]
mod ranges;
#[cfg(feature = "train")]
pub mod reports;
#[cfg(feature = "groups")]
pub mod request;
#[cfg(feature = "groups")]
pub mod selection;
pub mod statistics;
#[cfg(feature = "train")]
pub mod training;

pub use error::TrainerError;
#[cfg(feature = "groups")]
pub use groups::{Groups, Members};
pub use ragged::Ragged;
