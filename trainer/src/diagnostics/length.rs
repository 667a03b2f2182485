//! Length against reward: whether long answers are paid for being long.

use assay_verifiers::stats::{CorrelationSums, complete, corrected_mean};

use super::correlation::{Correlation, correlation, correlation_within};
use crate::prelude::*;

/// Length against reward. Slopes are reward for one more unit of length, such as a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct LengthBias {
    /// Length and reward over all rows.
    pub overall: Correlation,
    /// The same relative to the prompt: what a trainer that compares rollouts of a prompt learns.
    pub within_groups: Correlation,
    /// Among the rows that are correct; all `null` without labels.
    pub among_correct: Correlation,
    /// Among those that are wrong.
    pub among_wrong: Correlation,
    /// The slope at fixed correctness: length and reward relative to the means of their label.
    /// `null` without labels.
    pub slope_at_fixed_correctness: Option<f64>,
    /// The mean length of the correct rows.
    pub mean_length_correct: Option<f64>,
    /// The mean length of the wrong ones.
    pub mean_length_wrong: Option<f64>,
}

/// Measures length against reward. `correct` is a label that is trusted; empty without labels.
///
/// Source: "A Long Way to Go: Investigating Length Correlations in RLHF" (Singhal et al. 2023), section
/// 3; the slope at fixed correctness takes out that right answers may be longer or shorter.
///
/// # Errors
/// Not one length, reward, or label if there are any, for each row of the groups.
pub fn length_bias(
    groups: &Groups,
    lengths: &[f64],
    rewards: &[f64],
    correct: &[Option<bool>],
) -> Result<LengthBias, TrainerError> {
    let within_groups = correlation_within(groups, lengths, rewards)?;
    if !correct.is_empty() {
        groups.along("labels", correct.len())?;
    }
    let of_label = |wanted: bool| -> (Vec<f64>, Vec<f64>) {
        let rows = lengths.iter().zip(rewards).zip(correct);
        let rows = rows.filter(|(_, label)| **label == Some(wanted));
        let (lengths, rewards): (Vec<f64>, Vec<f64>) = rows.map(|(row, _)| row).unzip();
        complete(&lengths, &rewards)
    };
    let (right, wrong) = (of_label(true), of_label(false));
    let mut fixed = CorrelationSums::default();
    fixed.add(&right.0, &right.1);
    fixed.add(&wrong.0, &wrong.1);
    Ok(LengthBias {
        overall: correlation(lengths, rewards),
        within_groups,
        among_correct: correlation(&right.0, &right.1),
        among_wrong: correlation(&wrong.0, &wrong.1),
        slope_at_fixed_correctness: fixed.slope(),
        mean_length_correct: corrected_mean(&right.0),
        mean_length_wrong: corrected_mean(&wrong.0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slope_that_correctness_explains_is_none() {
        // Right answers are longer; at fixed correctness length earns nothing.
        let groups = Groups::of_size(4, 4).unwrap();
        let (lengths, rewards) = ([10.0, 12.0, 2.0, 4.0], [1.0, 1.0, 0.0, 0.0]);
        let labels = [Some(true), Some(true), Some(false), Some(false)];
        let found = length_bias(&groups, &lengths, &rewards, &labels).unwrap();
        assert!(found.overall.pearson.unwrap() > 0.9);
        assert_eq!(found.slope_at_fixed_correctness, Some(0.0));
        assert_eq!((found.mean_length_correct, found.mean_length_wrong), (Some(11.0), Some(3.0)));
    }

    #[test]
    fn a_reward_for_length_is_found_at_fixed_correctness() {
        // 0.01 a token, and 1 for being right.
        let groups = Groups::of_size(4, 2).unwrap();
        let (lengths, rewards) = ([10.0, 30.0, 20.0, 60.0], [1.1, 0.3, 0.2, 1.6]);
        let labels = [Some(true), Some(false), Some(false), Some(true)];
        let found = length_bias(&groups, &lengths, &rewards, &labels).unwrap();
        assert!((found.slope_at_fixed_correctness.unwrap() - 0.01).abs() < 1e-12);
        assert!((found.among_wrong.slope.unwrap() - 0.01).abs() < 1e-12);
        assert_eq!(found.within_groups.rows, 4);
        let unlabelled = length_bias(&groups, &lengths, &rewards, &[]).unwrap();
        assert_eq!(unlabelled.slope_at_fixed_correctness, None);
        assert!(length_bias(&groups, &lengths, &rewards, &labels[..1]).is_err());
    }
}
