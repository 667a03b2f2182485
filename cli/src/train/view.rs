//! The live view of a training: a bar and a few lines, redrawn below the printed lines.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use assay::engine::CancellationToken;
use assay::setup::Monotonic;
use assay::trainer::training::RolloutReport;
use assay::verifiers::stats::float;
use indicatif::{ProgressBar, ProgressStyle};

use super::super::text::inline;
use super::super::ticker::Ticker;
use super::summary::sparkline;
use super::watched::{self, CURVES, Phase, Watched};

const DRAW_EVERY: Duration = Duration::from_millis(200);
/// Characters of a curve, and of a completion.
const CURVE_WIDTH: usize = 40;
const TEXT_WIDTH: usize = 60;

/// The bar, and the thread that draws it. Both are gone once this is dropped.
pub(super) struct View {
    bar: ProgressBar,
    ticker: Option<Ticker>,
}

impl View {
    /// Draws on stderr what is known of a training.
    pub(super) fn start(known: Arc<Mutex<Watched>>, stop: CancellationToken) -> Self {
        let style = ProgressStyle::with_template("{bar:30} {msg}");
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = ProgressBar::new(1).with_style(style);
        let (drawn, clock) = (bar.clone(), Monotonic::start());
        let ticker = Ticker::start(DRAW_EVERY, move || {
            let mut known = watched::lock(&known);
            known.seconds = clock.seconds();
            if stop.is_cancelled() {
                known.phase = Phase::Stopping;
            }
            let (done, all) = match known.phase {
                Phase::Warmup { update, updates, .. } => (update, updates),
                _ => (known.step, known.steps),
            };
            drawn.set_length(all.max(1));
            drawn.set_position(done);
            drawn.set_message(text(&known));
        });
        Self { bar, ticker: Some(ticker) }
    }

    /// Tells something above the bar.
    pub(super) fn say(&self, text: &str) {
        self.bar.println(inline(text));
    }
}

impl Drop for View {
    fn drop(&mut self) {
        drop(self.ticker.take());
        self.bar.finish_and_clear();
    }
}

/// How far a training is, its curves, the best and the worst completion of its last step, and times.
fn text(known: &Watched) -> String {
    let rollouts = known.last.as_ref().map(|last| last.rollouts.as_slice()).unwrap_or_default();
    let rewarded = || rollouts.iter().filter_map(|one| Some((one.reward?, one)));
    let best = rewarded().reduce(|best, one| if one.0 > best.0 { one } else { best });
    let worst = rewarded().reduce(|worst, one| if one.0 < worst.0 { one } else { worst });
    let curves = CURVES.iter().filter_map(|(name, title)| curve(known, name, title));
    let completions = [("best", best), ("worst", worst)];
    let completions = completions.into_iter().filter_map(|(which, one)| Some(shown(which, one?)));
    let mut lines = vec![label(known), inline(&known.title)];
    lines.extend(curves.chain(completions));
    lines.push(times(known));
    lines.join("\n")
}

/// How far the training is, in words.
fn label(known: &Watched) -> String {
    let steps = format!("step {}/{}", known.step, known.steps);
    let elapsed = clock(known.seconds);
    match &known.phase {
        Phase::Starting => format!("starting  {elapsed}"),
        Phase::Warmup { update, updates, loss } => {
            format!("warm-up {update}/{updates}  loss {loss:.4}  {elapsed}")
        }
        Phase::Evaluation => format!("{steps}  evaluating  {elapsed}"),
        Phase::Steps => format!("{steps}  {elapsed}{}", left(known)),
        Phase::Stopping => format!("{steps}  stopping after this step  {elapsed}"),
    }
}

/// How long the steps that are left take.
fn left(known: &Watched) -> String {
    let steps = float(known.steps.saturating_sub(known.step));
    match known.metric("step_time") {
        Some(seconds) if steps > 0.0 => format!(", {} left", clock(seconds * steps)),
        _ => String::new(),
    }
}

/// A metric: its last value, and how it came there.
fn curve(known: &Watched, name: &str, title: &str) -> Option<String> {
    let values: Vec<f64> = known.curves.get(name)?.iter().map(|(_, value)| *value).collect();
    let held_out = known.held_out.last().filter(|_| name == "accuracy");
    let held_out = held_out.map(|(_, value)| format!("  held out {value:.3}")).unwrap_or_default();
    let bars = sparkline(&values, CURVE_WIDTH);
    Some(format!("{title:<10} {:>8.3}  {bars}{held_out}", values.last()?))
}

fn shown(which: &str, (reward, one): (f64, &RolloutReport)) -> String {
    let text: String = one.completion.chars().take(TEXT_WIDTH).collect();
    format!("{which:<10} {reward:>8.3}  {}: {}", inline(&one.task), inline(&text))
}

/// What a step takes, and which share of it goes where.
fn times(known: &Watched) -> String {
    let mut text = "Ctrl-C: stop with a checkpoint".to_owned();
    if let Some(total) = known.metric("step_time") {
        text.push_str(&format!("  |  {total:.2} s/step"));
        for part in ["sampling", "rewards", "training"] {
            if let Some(seconds) = known.metric(&format!("time/{part}")) {
                text.push_str(&format!("  {part} {:.0} %", 100.0 * seconds / total.max(1e-9)));
            }
        }
    }
    text
}

/// Minutes and seconds.
fn clock(seconds: f64) -> String {
    let minutes = (seconds / 60.0).floor();
    format!("{minutes:.0}:{:02.0}", (seconds - 60.0 * minutes).floor())
}

#[cfg(test)]
mod tests {
    use super::super::watched::testing::watched;
    use super::*;

    #[test]
    fn the_view_shows_what_is_known_and_obeys_no_model() {
        insta::assert_snapshot!("view", text(&watched()));
    }

    #[test]
    fn every_phase_is_shown() {
        let mut watched = watched();
        let warmup = Phase::Warmup { update: 3, updates: 4, loss: 1.5 };
        for (phase, expected) in [
            (Phase::Starting, "starting"),
            (warmup, "warm-up 3/4  loss 1.5000"),
            (Phase::Evaluation, "evaluating"),
            (Phase::Stopping, "stopping after this step"),
        ] {
            watched.phase = phase;
            assert!(text(&watched).contains(expected));
        }
        assert_eq!(text(&Watched::default()).lines().count(), 3);
    }

    #[test]
    fn times_are_read_as_minutes() {
        assert_eq!([0.4, 65.0, 3600.0].map(clock), ["0:00", "1:05", "60:00"]);
    }
}
