//! The crate from outside.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

#[cfg(feature = "groups")]
mod advantages_properties;
#[cfg(feature = "train")]
mod checkpoints;
#[cfg(feature = "groups")]
mod docs;
#[cfg(feature = "train")]
mod event_files;
#[cfg(feature = "train")]
mod monitor;
#[cfg(feature = "groups")]
mod parity_advantages;
#[cfg(feature = "groups")]
mod parity_losses;
#[cfg(feature = "train")]
mod parity_optimizer;
#[cfg(feature = "train")]
mod parity_training;
#[cfg(feature = "train")]
mod policies;
