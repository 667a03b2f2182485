//! `limr`: prompts that are learned along with the others.

use crate::selection::prelude::*;

/// Keeps the prompts whose accuracy over the epochs goes along with the mean of all prompts (LIMR: Less
/// is More for RL Scaling, section "Learning Impact Measurement"); see [`alignment_scores`].
///
/// The default is that of the authors' script; their program's own default is 0.2.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct LimrFilter {
    /// The least score that is kept.
    #[default(0.6)]
    min: f64,
}

impl SelectorSettings for LimrFilter {
    fn check(&self) -> Result<(), TrainerError> {
        if self.min.is_nan() || self.min > 1.0 {
            let message = format!("`min` is {}, expected at most 1", self.min);
            return Err(TrainerError::setting("min", message));
        }
        Ok(())
    }
}

impl Selector for LimrFilter {
    fn select(
        &self,
        batch: &RolloutBatch<'_>,
        state: &SelectionState,
    ) -> Result<Selection, TrainerError> {
        batch.check()?;
        let scores = alignment_scores(batch.need("curves", batch.curves)?)?;
        let mut fates = Fates::new(batch);
        for (members, score) in batch.groups.iter().zip(scores) {
            if score.is_nan() {
                fates.drop_all(members.rows(), DropReason::MissingMeasure);
            } else if score < self.min {
                fates.drop_all(members.rows(), DropReason::OffCurve);
            }
        }
        Ok(fates.selection(state.next()))
    }

    fn reads_curves(&self) -> bool {
        true
    }
}

/// How well the accuracy of each prompt goes along with the mean accuracy `m_k` of all: with the
/// accuracies `a_k` after each epoch, `1 - sum (a_k - m_k)^2 / sum (1 - m_k)^2`. It is 1 for the mean
/// itself, 0 for a prompt that is always answered right, and 1 where the mean is 1 throughout (LIMR:
/// Less is More for RL Scaling, `lim/lim_selection.py` of its code).
///
/// A missing accuracy (NaN) is that of the next epoch; a prompt without a next one scores NaN and takes
/// no part in the mean.
///
/// # Errors
/// Curves of different lengths.
pub fn alignment_scores(curves: &Ragged<f64>) -> Result<Vec<f64>, TrainerError> {
    let epochs = curves.lengths().next().unwrap_or_default();
    if let Some(other) = curves.lengths().find(|length| *length != epochs) {
        let have = format!("one of {epochs} and one of {other} epochs");
        return Err(TrainerError::input("curves", have, "one length"));
    }
    let filled: Vec<Option<Vec<f64>>> = curves.iter().map(filled).collect();
    let whole: Vec<&Vec<f64>> = filled.iter().flatten().collect();
    let mean = |epoch: usize| {
        let values: Vec<f64> = whole.iter().filter_map(|curve| curve.get(epoch).copied()).collect();
        stats::mean(&values)
    };
    let means: Vec<f64> = (0..epochs).map(mean).collect();
    let distance = |curve: &[f64]| -> f64 {
        curve.iter().zip(&means).map(|(value, mean)| (value - mean).powi(2)).sum()
    };
    let worst = distance(&vec![1.0; epochs]);
    let score = |curve: Option<Vec<f64>>| match curve {
        None => f64::NAN,
        Some(_) if worst == 0.0 => 1.0,
        Some(curve) => 1.0 - distance(&curve) / worst,
    };
    Ok(filled.into_iter().map(score).collect())
}

/// A curve whose gaps are filled from the right; none where the last value is missing.
fn filled(curve: &[f64]) -> Option<Vec<f64>> {
    let mut next = f64::NAN;
    let mut values: Vec<f64> = Vec::with_capacity(curve.len());
    for value in curve.iter().rev() {
        next = if value.is_nan() { next } else { *value };
        values.push(next);
    }
    values.reverse();
    values.iter().all(|value| !value.is_nan()).then_some(values)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::groups::Groups;
    use crate::selection::testing::{built, check_fates, kept_rows, refused};

    const NAN: f64 = f64::NAN;

    #[test]
    fn scores_are_those_of_the_formula() {
        // The mean curve is 1/4, 1/2, 3/4: the distance of 1 from it is 9/16 + 4/16 + 1/16 = 14/16.
        let curves: Ragged<f64> = [
            vec![0.25, 0.5, 0.75],
            vec![0.5, 0.5, 0.75],
            vec![0.0, 0.5, 0.75],
            vec![NAN, 0.25, NAN],
        ]
        .into_iter()
        .collect();
        let scores = alignment_scores(&curves).unwrap();
        assert!((scores[0] - 1.0).abs() < 1e-12);
        assert!((scores[1] - (1.0 - 1.0 / 14.0)).abs() < 1e-12, "{scores:?}");
        assert!((scores[2] - scores[1]).abs() < 1e-12 && scores[3].is_nan());
    }

    #[test]
    fn always_right_is_zero_and_nothing_to_learn_is_one() {
        let rising: Ragged<f64> = [vec![1.0, 1.0], vec![0.0, 0.5]].into_iter().collect();
        let scores = alignment_scores(&rising).unwrap();
        assert!(scores[0].abs() < 1e-12, "{scores:?}");
        let solved: Ragged<f64> = [vec![1.0, 1.0], vec![1.0, NAN]].into_iter().collect();
        let scores = alignment_scores(&solved).unwrap();
        assert!((scores[0] - 1.0).abs() < 1e-12 && scores[1].is_nan());
        assert_eq!(alignment_scores(&Ragged::new()).unwrap(), Vec::<f64>::new());
    }

    #[test]
    fn gaps_are_filled_from_the_next_epoch() {
        assert_eq!(filled(&[NAN, 0.25, NAN, 0.5]), Some(vec![0.25, 0.25, 0.5, 0.5]));
        assert_eq!(filled(&[0.25, NAN]), None);
        let uneven: Ragged<f64> = [vec![1.0], vec![1.0, 1.0]].into_iter().collect();
        let error = alignment_scores(&uneven).unwrap_err().to_string();
        assert_eq!(error, "curves: one of 1 and one of 2 epochs, expected one length");
    }

    #[test]
    fn prompts_off_the_curve_are_dropped() {
        let groups = Groups::of_size(6, 2).unwrap();
        let curves: Ragged<f64> =
            [vec![0.1, 0.9], vec![0.9, 0.1], vec![0.2, NAN]].into_iter().collect();
        let mut batch = RolloutBatch::new(&groups, &[1.0, 0.0, 1.0, NAN, 1.0, 0.0]).unwrap();
        batch.curves = Some(&curves);
        let state = SelectionState::default();
        for (min, kept) in [(0.6, vec![]), (0.3, vec![0, 1, 2])] {
            // Both are 0.4 away from the mean of one half in both epochs: 1 - 0.32 / 0.5 = 0.36.
            let selection = built("limr", json!({"min": min})).select(&batch, &state).unwrap();
            check_fates(&batch, &selection);
            assert_eq!(kept_rows(&selection), kept, "{min}");
        }
        assert!(refused("limr", json!({"min": 1.5})).contains("at most 1"));
    }
}
