//! Weights that a trainer multiplies advantages, or terms of its loss, with.

use super::conventions::{in_range, positive};
use crate::error::TrainerError;
use crate::statistics::{float, sum_sorted};

/// As the source has it: three decimals of Euler's number.
#[expect(clippy::approx_constant, reason = "the source rounds it")]
const DIVERGENCE_SCALE: f64 = 2.718;

/// The weight of the divergence of a rollout from the reference: `1 - exp(-e (1 - d))` for a rollout
/// with an advantage above 0 of a prompt of difficulty `d = 1 - pass_rate` between 0 and 1, else 1. The
/// harder the prompt, the freer is what solves it.
///
/// Source: difficulty-adaptive divergence shaping of Asymmetric Policy Optimization, as in View-R1's
/// `ppo_actor.py`; `e` is 2.718 there.
///
/// # Errors
/// A pass rate out of 0 to 1.
pub fn divergence_weight(pass_rate: f64, advantage: f64) -> Result<f64, TrainerError> {
    in_range("pass_rate", pass_rate, 0.0, 1.0)?;
    if pass_rate == 0.0 || pass_rate >= 1.0 || advantage <= 0.0 || advantage.is_nan() {
        return Ok(1.0);
    }
    Ok(1.0 - (-DIVERGENCE_SCALE * pass_rate).exp())
}

/// The weight of each action by how long it took: its duration by the mean duration of the batch,
/// within `min` and `max`. Actions that are over sooner are sampled more often; the weight corrects for
/// it. Durations are in any unit, above 0; one that is NaN has the weight 1.
///
/// Source: duration-aware gradients for asynchronous agents; `min` 0.1 and `max` 10 are ours.
///
/// # Errors
/// Bounds that are not in order, or a duration that is not above 0.
pub fn duration_weights(durations: &[f64], min: f64, max: f64) -> Result<Vec<f64>, TrainerError> {
    in_range("min", min, 0.0, f64::MAX)?;
    in_range("max", max, min, f64::MAX)?;
    let known: Vec<f64> = durations.iter().copied().filter(|time| !time.is_nan()).collect();
    known.iter().try_for_each(|duration| positive("duration", *duration))?;
    let count = float(known.len());
    // Shares of the mean, so that the sum stays within the range of numbers.
    let mean = sum_sorted(known.into_iter().map(|duration| duration / count).collect());
    let weight = |duration: &f64| {
        if duration.is_nan() { 1.0 } else { (duration / mean).clamp(min, max) }
    };
    Ok(durations.iter().map(weight).collect())
}

#[cfg(test)]
mod tests {
    use super::{divergence_weight, duration_weights};
    use crate::advantages::testing::assert_close;

    #[test]
    fn what_solves_a_hard_prompt_may_diverge() {
        // 1 - e^(-0.6795), 1 - e^(-1.359) and 1 - e^(-2.0385).
        for (pass_rate, expected) in
            [(0.25, 0.493_129_635_801), (0.5, 0.743_082_433_896), (0.75, 0.869_776_099_700)]
        {
            let weight = divergence_weight(pass_rate, 2.0).unwrap();
            assert!((weight - expected).abs() < 1e-11, "{weight}");
        }
        for (pass_rate, advantage) in [(0.0, 1.0), (1.0, 1.0), (0.5, 0.0), (0.5, -1.0)] {
            assert_eq!(divergence_weight(pass_rate, advantage), Ok(1.0));
        }
        assert!(divergence_weight(1.5, 1.0).is_err());
    }

    #[test]
    fn long_actions_weigh_more() {
        let weights = duration_weights(&[1.0, 2.0, 3.0, f64::NAN], 0.1, 1.25).unwrap();
        assert_close(&weights, &[0.5, 1.0, 1.25, 1.0]);
        assert!(duration_weights(&[0.0], 0.1, 10.0).is_err());
        assert!(duration_weights(&[1.0], 10.0, 0.1).is_err());
        assert_eq!(duration_weights(&[], 0.1, 10.0), Ok(Vec::new()));
    }
}
