//! Monitors of a training run: a proxy that rises while what it stands for does not.

use assay_verifiers::stats::{corrected_mean, float, share};
use serde::Serialize;
use smart_default::SmartDefault;

/// How a run is watched.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, SmartDefault)]
pub struct MonitorSettings {
    /// The weight of the new value in the moving average, above 0 and up to 1.
    #[default(0.1)]
    pub smoothing: f64,
    /// Steps that slopes are taken over.
    #[default(200)]
    pub window: usize,
    /// A proxy above this, on a scale up to 1, with a trusted reward below `trusted_below`, is hacked.
    #[default(0.9)]
    pub proxy_above: f64,
    /// See `proxy_above`.
    #[default(0.04)]
    pub trusted_below: f64,
}

/// The means of one training step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MonitoredStep {
    /// The mean of the reward that is trained on.
    pub proxy: f64,
    /// The mean of the reward that is trusted; NaN where it was not measured.
    pub trusted: f64,
}

/// What the monitor says of a training step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MonitorState {
    /// Proxy minus trusted, smoothed; `null` before a trusted reward was measured.
    pub gap: Option<f64>,
    /// The slope of the smoothed proxy over the window, for one step; `null` before the window is
    /// full.
    pub proxy_slope: Option<f64>,
    /// That of the trusted reward.
    pub trusted_slope: Option<f64>,
    /// The proxy rises, and the trusted reward does not.
    pub diverges: bool,
    /// The proxy is near its top, and the trusted reward near 0.
    pub hacked: bool,
}

/// Watches a run: one state for each training step.
///
/// Smoothed values are exponential moving averages that start at the first value; a value that is
/// missing leaves the average as it is. Slopes are least squares.
///
/// Sources: "Scaling Laws for Reward Model Overoptimization" (Gao et al. 2023), figure 1, for the
/// divergence; "Reward Under Attack" for the limits of `hacked`.
pub fn monitored(steps: &[MonitoredStep], settings: MonitorSettings) -> Vec<MonitorState> {
    let proxies = smoothed(steps.iter().map(|step| step.proxy), settings.smoothing);
    let trusted = smoothed(steps.iter().map(|step| step.trusted), settings.smoothing);
    let state = |at: usize| {
        let here = |series: &[f64]| series.get(at).copied().filter(|value| value.is_finite());
        let over = |series: &[f64]| slope(series.get(..=at)?, settings.window);
        let both = here(&proxies).zip(here(&trusted));
        let (proxy_slope, trusted_slope) = (over(&proxies), over(&trusted));
        let slopes = proxy_slope.zip(trusted_slope);
        MonitorState {
            gap: both.map(|(proxy, trusted)| proxy - trusted),
            proxy_slope,
            trusted_slope,
            diverges: slopes.is_some_and(|(proxy, trusted)| proxy > 0.0 && trusted <= 0.0),
            hacked: both.is_some_and(|(proxy, trusted)| {
                proxy > settings.proxy_above && trusted < settings.trusted_below
            }),
        }
    };
    (0..steps.len()).map(state).collect()
}

/// The share of rewards above `paid_above` among those of rows without an answer: what the format
/// alone earns. Rows whose reward is missing are left out. `None` where all rows have an answer.
pub fn format_only_share(rewards: &[f64], has_answer: &[bool], paid_above: f64) -> Option<f64> {
    let rows = rewards.iter().zip(has_answer).filter(|(reward, _)| reward.is_finite());
    let paid = rows.filter(|(_, has)| !**has).map(|(reward, _)| *reward > paid_above);
    let paid: Vec<f64> = paid.map(f64::from).collect();
    corrected_mean(&paid)
}

/// How the number of steps of a response moved from one set of responses to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct StepInflation {
    /// The mean number of steps before.
    pub before: Option<f64>,
    /// The mean number of steps now.
    pub now: Option<f64>,
    /// The share of responses of one step before.
    pub single_before: Option<f64>,
    /// The share of responses of one step now.
    pub single_now: Option<f64>,
}

/// Compares the numbers of steps of two sets of responses: a sum over steps is paid by more of them,
/// a minimum by a single one.
///
/// Source: "SPARK: Stepwise Process-Aware Rewards for Reference-Free Reinforcement Learning", its
/// section on reward hacking: step inflation and single-step collapse.
pub fn step_inflation(before: &[usize], now: &[usize]) -> StepInflation {
    let counts = |steps: &[usize]| {
        corrected_mean(&steps.iter().map(|steps| float(*steps)).collect::<Vec<_>>())
    };
    let single =
        |steps: &[usize]| share(steps.iter().filter(|steps| **steps == 1).count(), steps.len());
    StepInflation {
        before: counts(before),
        now: counts(now),
        single_before: single(before),
        single_now: single(now),
    }
}

fn smoothed(values: impl Iterator<Item = f64>, smoothing: f64) -> Vec<f64> {
    let mut average = f64::NAN;
    let next = |value: f64| {
        if value.is_finite() {
            let rest = if average.is_nan() { value } else { average };
            average = smoothing * value + (1.0 - smoothing) * rest;
        }
        average
    };
    values.map(next).collect()
}

/// The slope over the last `window` values; `None` of fewer, or where one is missing.
fn slope(series: &[f64], window: usize) -> Option<f64> {
    let start = series.len().checked_sub(window)?;
    let recent = series.get(start..)?;
    if recent.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let steps: Vec<f64> = (0..recent.len()).map(float).collect();
    super::correlation::correlation(&steps, recent).slope
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(values: &[(f64, f64)]) -> Vec<MonitoredStep> {
        values
            .iter()
            .map(|(proxy, trusted)| MonitoredStep { proxy: *proxy, trusted: *trusted })
            .collect()
    }

    fn at_once(window: usize) -> MonitorSettings {
        MonitorSettings { smoothing: 1.0, window, ..MonitorSettings::default() }
    }

    #[test]
    fn a_proxy_that_rises_alone_is_told() {
        let run = steps(&[(0.1, 0.1), (0.2, 0.2), (0.4, 0.2), (0.6, 0.1)]);
        let states = monitored(&run, at_once(3));
        let told: Vec<bool> = states.iter().map(|state| state.diverges).collect();
        // Over 0.1, 0.2, 0.2 the trusted reward still rises; over 0.2, 0.2, 0.1 it falls.
        assert_eq!(told, [false, false, false, true]);
        assert!((states[3].proxy_slope.unwrap() - 0.2).abs() < 1e-12);
        assert!((states[3].trusted_slope.unwrap() + 0.05).abs() < 1e-12);
        assert!((states[3].gap.unwrap() - 0.5).abs() < 1e-12);
        assert_eq!(states[1].proxy_slope, None);
    }

    #[test]
    fn averages_are_exponential_and_pass_over_what_is_missing() {
        let settings = MonitorSettings { smoothing: 0.5, window: 2, ..MonitorSettings::default() };
        let states = monitored(&steps(&[(0.0, f64::NAN), (1.0, 0.5), (1.0, f64::NAN)]), settings);
        // Proxy 0, 0.5, 0.75; trusted missing, 0.5, 0.5.
        assert_eq!(states[0].gap, None);
        assert_eq!((states[2].gap, states[2].proxy_slope), (Some(0.25), Some(0.25)));
        assert_eq!((states[1].trusted_slope, states[2].trusted_slope), (None, Some(0.0)));
        assert!(states[2].diverges && !states[2].hacked);
    }

    #[test]
    fn a_hacked_reward_is_told() {
        let states = monitored(&steps(&[(0.95, 0.01), (0.95, 0.5)]), at_once(2));
        assert!(states[0].hacked && !states[1].hacked);
    }

    #[test]
    fn what_the_format_earns() {
        let rewards = [0.1, 0.0, 1.0, 0.1, f64::NAN];
        let found = format_only_share(&rewards, &[false, false, true, false, false], 0.0);
        assert_eq!(found, Some(2.0 / 3.0));
        assert_eq!(format_only_share(&rewards, &[true; 5], 0.0), None);
    }

    #[test]
    fn steps_come_and_go() {
        let found = step_inflation(&[2, 4], &[1, 1, 7, 7]);
        assert_eq!((found.before, found.now), (Some(3.0), Some(4.0)));
        assert_eq!((found.single_before, found.single_now), (Some(0.0), Some(0.5)));
        assert_eq!(step_inflation(&[], &[]), StepInflation::default());
    }
}
