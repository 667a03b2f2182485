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
mod correlation;
mod discriminability;
mod drift;
mod estimate;
mod fault_shares;
mod length;
mod monitor;
mod ngrams;
mod order_agreement;
mod part_shares;
mod pass_at_k;
mod pass_curve;
mod perturbation;
mod second_problem;
mod starc;
mod support;
mod verifier_quality;

pub use calibration::{CalibrationBin, CalibrationReport, probability_calibration};
pub use correlation::{
    Correlation, CorrelationMatrix, correlation, correlation_within, correlations,
    correlations_within,
};
pub use discriminability::{Discriminability, DiscriminabilitySettings, auroc, discriminability};
pub use drift::{Drift, drift, jensen_shannon, kullback_leibler, total_variation};
pub use estimate::{
    ClusteredMean, Estimate, Resampling, clopper_pearson, clustered_mean, normal_width,
    paired_difference, resampled, wilson,
};
pub use fault_shares::{FaultShares, GroupFaults, RowFaults, fault_shares};
pub use length::{LengthBias, length_bias};
pub use monitor::{
    MonitorSettings, MonitorState, MonitoredStep, StepInflation, format_only_share, monitored,
    step_inflation,
};
pub use ngrams::{NewPhrase, PhraseSettings, duplicate_ngrams, new_phrases, phrase_places};
pub use order_agreement::{OrderAgreement, order_agreement};
pub use part_shares::{PartShare, part_shares};
pub use pass_at_k::{AnswerCluster, majority_at_k, pass_at_k};
pub use pass_curve::{
    CurveCrossing, PassCurve, PassPoint, PromptCounts, crossings, pass_curve, powers_of_two,
    prompt_counts,
};
pub use perturbation::PerturbationFamily;
pub use second_problem::has_second_problem;
pub use starc::{RewardDistance, RewardPair, reward_distance};
pub use support::{CorrectCounts, SupportDynamics, answer_entropy, support_dynamics};
pub use verifier_quality::{DecisionQuality, JudgedDecision, decision_quality};
