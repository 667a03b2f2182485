//! Judging the judge: how far its answers agree with those of people.
//!
//! Every statistic is `None` where it is not defined: no cases, or no spread. [`bootstrap`] gives an
//! interval for any of them.
//!
//! ```
//! use assay_rubrics::agreement::{Bootstrap, accuracy, bootstrap};
//!
//! let cases = [(1, 1), (2, 2), (1, 2), (2, 2)];
//! assert_eq!(accuracy(&cases), Some(0.75));
//! let interval = bootstrap(&cases, Bootstrap::default(), |cases| accuracy(cases)).unwrap();
//! assert!(interval.low <= 0.75 && 0.75 <= interval.high);
//! ```

mod calibration;
mod correlation;
mod kappa;
mod pairs;
mod resample;

pub use calibration::{ReliabilityBin, ReliabilityDiagram, reliability};
pub use correlation::{mean_absolute_error, spearman};
pub use kappa::{KappaWeights, accuracy, cohen_kappa, weighted_kappa};
pub use pairs::{JudgedPair, PairAgreement, pair_agreement};
pub use resample::{Bootstrap, Interval, bootstrap};
