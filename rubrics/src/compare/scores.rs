//! One score a sample from the results of pairs.
//!
//! Failed comparisons are skipped. Results that name a sample outside the group, or one sample twice,
//! are skipped too.

mod davidson;
mod elo;
mod mean;

pub use davidson::{Davidson, DavidsonFit};
pub use elo::Elo;
pub use mean::{mean_strength, win_rate};
