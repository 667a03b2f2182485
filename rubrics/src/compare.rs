//! Comparison of the samples of a group: which pairs are judged, and the scores that follow.
//!
//! A [`PairSchedule`] says which pairs; its [`Tournament`] hands them out round by round, the results of
//! one round given back for the next. The number of calls is known before. Where a pair is judged in
//! both orders, [`both_orders`] joins the two. [`scores`] turns results into one score a sample;
//! [`order_effects`] and [`transitivity`] tell how far the judge can be trusted.
//!
//! ```
//! use assay_rubrics::compare::{PairResult, PairSchedule, scores};
//!
//! let schedule = PairSchedule::AllPairs;
//! assert_eq!(schedule.calls(3, true), 6);
//! let mut tournament = schedule.start(3, 1);
//! let mut results = Vec::new();
//! let mut round = tournament.next_round(&[]);
//! while !round.is_empty() {
//!     // A judge that prefers the sample with the higher number.
//!     let judged: Vec<PairResult> =
//!         round.iter().map(|&(i, j)| PairResult::new(i, j, if i > j { 1.0 } else { -1.0 })).collect();
//!     round = tournament.next_round(&judged);
//!     results.extend(judged);
//! }
//! assert_eq!(scores::mean_strength(3, &results), [Some(-1.0), Some(0.0), Some(1.0)]);
//! ```

mod diagnostics;
mod fixed;
mod knockout;
mod result;
mod schedule;
pub mod scores;
mod swiss;
mod tournament;

pub use diagnostics::{OrderEffects, Transitivity, order_effects, transitivity};
pub use knockout::Knockout;
pub(crate) use result::points;
pub use result::{OnFlip, OrderedResult, PairResult, both_orders};
pub use schedule::PairSchedule;
pub use swiss::{Placing, Swiss};
pub use tournament::Tournament;
