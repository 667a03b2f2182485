//! Gains of a run beside those of its controls.

use assay_verifiers::stats::{corrected_mean, present, ratio};
use serde::Serialize;

/// What a run gained on a trusted measure.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ControlGain {
    /// The reward that was trained on.
    pub name: String,
    /// The mean of the first `window` values.
    pub start: Option<f64>,
    /// The mean of the last `window` values.
    pub end: Option<f64>,
    /// The end minus the start.
    pub gain: Option<f64>,
    /// The gain over that of the first run: what a control explains of it. `null` where the first run
    /// gained nothing.
    pub share_of_first: Option<f64>,
}

/// Compares the gains of runs on a measure that is trusted, such as accuracy: the first with the reward
/// of interest, the others with controls. A random reward has no expected advantage, so a control that
/// gains much points to the clip of the loss or to a contaminated measure. Values that are not finite
/// are left out.
///
/// Source: "Spurious Rewards: Rethinking Training Signals in RLVR" (Shao et al. 2025), sections 2 and 4.
pub fn control_gains(runs: &[(&str, &[f64])], window: usize) -> Vec<ControlGain> {
    let mut gains: Vec<ControlGain> =
        runs.iter().map(|(name, run)| gain(name, run, window)).collect();
    let first = gains.first().and_then(|first| first.gain);
    for own in &mut gains {
        own.share_of_first = own.gain.zip(first).and_then(|(own, first)| ratio(own, first));
    }
    gains
}

fn gain(name: &str, run: &[f64], window: usize) -> ControlGain {
    let run = present(run);
    let width = window.max(1).min(run.len());
    let start = run.get(..width).and_then(corrected_mean);
    let end = run.get(run.len() - width..).and_then(corrected_mean);
    let gain = start.zip(end).map(|(start, end)| end - start);
    ControlGain { name: name.to_owned(), start, end, gain, share_of_first: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_control_explains() {
        let found = control_gains(
            &[
                ("correct", &[0.25, 0.25, 0.5, 0.75, 0.75]),
                ("random", &[0.25, 0.25, f64::NAN, 0.375, 0.375]),
                ("none", &[]),
            ],
            2,
        );
        assert_eq!((found[0].gain, found[0].share_of_first), (Some(0.5), Some(1.0)));
        assert_eq!((found[1].gain, found[1].share_of_first), (Some(0.125), Some(0.25)));
        assert_eq!((found[2].gain, found[2].share_of_first), (None, None));
        assert_eq!(control_gains(&[("flat", &[0.5, 0.5])], 1)[0].share_of_first, None);
    }
}
