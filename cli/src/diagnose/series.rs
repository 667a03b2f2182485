//! Several runs as the points of one training run.

use assay::trainer::diagnostics::{MonitorSettings, MonitorState, MonitoredStep, monitored};
use serde::Serialize;

use super::args::Args;
use super::report::RunReport;

/// The most points that slopes are taken over, where none were named.
const WINDOW_MAX: usize = 200;

/// The runs in their order.
#[derive(Serialize)]
pub(super) struct Series {
    /// Points that slopes are taken over.
    window: usize,
    pub(super) points: Vec<SeriesPoint>,
}

#[derive(Serialize)]
pub(super) struct SeriesPoint {
    pub(super) run: String,
    /// The mean of the combined reward.
    pub(super) proxy: Option<f64>,
    /// The mean of what is trusted.
    pub(super) trusted: Option<f64>,
    #[serde(flatten)]
    pub(super) state: MonitorState,
}

pub(super) fn series(runs: &[RunReport], args: &Args) -> Series {
    let window = args.window.unwrap_or_else(|| runs.len().min(WINDOW_MAX));
    // Each point is the mean of a whole run: it is smooth already.
    let settings = MonitorSettings { smoothing: 1.0, window, ..MonitorSettings::default() };
    let step = |run: &RunReport| MonitoredStep {
        proxy: run.mean_reward.unwrap_or(f64::NAN),
        trusted: run.mean_trusted.unwrap_or(f64::NAN),
    };
    let steps: Vec<MonitoredStep> = runs.iter().map(step).collect();
    let states = monitored(&steps, settings);
    let point = |(run, state): (&RunReport, MonitorState)| SeriesPoint {
        run: run.run.clone(),
        proxy: run.mean_reward,
        trusted: run.mean_trusted,
        state,
    };
    Series { window, points: runs.iter().zip(states).map(point).collect() }
}
