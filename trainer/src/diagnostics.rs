//! Diagnostics: whether rewards can be trusted, over the rows of a run or a stream.
//!
//! Everything is a function of numbers or texts that are given; nothing is read or drawn from the
//! machine, and what is random takes a seed. A value that is missing is NaN in a slice of numbers, and
//! `None` in one of labels; it takes part in nothing. A statistic that is not defined (no rows, no
//! spread, one label alone) is `None`, and `null` as JSON: never a zero.
//!
//! ```
//! use assay_trainer::diagnostics::pass_at_k;
//!
//! assert_eq!(pass_at_k(10, 3, 1), Some(0.3));
//! ```

mod calibration;
mod controls;
mod correlation;
mod discriminability;
mod estimate;
mod length;
mod numbers;
mod pass_at_k;
mod pass_curve;
mod random;
mod starc;
mod support;

pub use calibration::{
    AnswerCounts, CalibrationBin, CalibrationReport, honesty, probability_calibration,
    selective_accuracy,
};
pub use controls::{ControlReward, ControlRow, majority_answer};
pub use correlation::{
    Correlation, CorrelationMatrix, correlation, correlation_within, correlations,
    correlations_within,
};
pub use discriminability::{Discriminability, DiscriminabilitySettings, auroc, discriminability};
pub use estimate::{
    ClusteredMean, Estimate, Resampling, clustered_mean, design_effect, normal_width,
    paired_difference, resampled, wilson,
};
pub use length::{LengthBias, length_bias};
pub use pass_at_k::{AnswerCluster, majority_at_k, pass_at_k};
pub use pass_curve::{
    CurveCrossing, PassCurve, PassPoint, PromptCounts, crossings, pass_curve, powers_of_two,
    prompt_counts,
};
pub use starc::{RewardDistance, RewardPair, reward_distance};
pub use support::{CorrectCounts, SupportDynamics, answer_entropy, support_dynamics};
