//! How far a run is: a bar on a terminal, plain lines elsewhere, nothing when asked.

use std::io::IsTerminal as _;

use assay::engine::{Batch, Summary};
use indicatif::{ProgressBar, ProgressStyle};

use super::output::{self, count, percent};
use super::setup::Monotonic;

/// Seconds between two plain lines.
const LINE_EVERY_S: f64 = 5.0;

/// Tells the user how far a run is.
pub(super) struct Progress {
    bar: Option<ProgressBar>,
    quiet: bool,
    clock: Monotonic,
    next_line_s: f64,
}

impl Progress {
    /// Progress towards `total` rows, where that is known.
    pub(super) fn start(total: Option<u64>, quiet: bool) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let bar = (terminal && !quiet).then(|| bar(total));
        Self { bar, quiet, clock: Monotonic::start(), next_line_s: 0.0 }
    }

    /// Takes note of a batch.
    pub(super) fn update(&mut self, summary: &Summary, batch: &Batch) {
        for error in &batch.skipped {
            self.say(&format!("skipped: {error}"));
        }
        if let Some(bar) = &self.bar {
            bar.set_position(summary.rows);
            bar.set_message(outcomes(summary));
        } else if !self.quiet && self.clock.seconds() >= self.next_line_s {
            self.next_line_s = self.clock.seconds() + LINE_EVERY_S;
            let rows = count(summary.rows);
            output::note(&format!("{rows} rows, {}/s, {}", self.rate(summary), outcomes(summary)));
        }
    }

    /// Seconds since the start.
    pub(super) fn seconds(&self) -> f64 {
        self.clock.seconds()
    }

    /// Takes the bar away.
    pub(super) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(text),
            None => output::note(text),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
    fn rate(&self, summary: &Summary) -> String {
        format!("{:.0}", summary.rows as f64 / self.clock.seconds().max(1e-9))
    }
}

fn bar(total: Option<u64>) -> ProgressBar {
    let template = match total {
        Some(_) => "{bar:30} {human_pos}/{human_len} rows  {per_sec}  eta {eta}  {msg}",
        None => "{spinner} {human_pos} rows  {per_sec}  {msg}",
    };
    let style =
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    total.map_or_else(ProgressBar::new_spinner, ProgressBar::new).with_style(style)
}

fn outcomes(summary: &Summary) -> String {
    let total = &summary.total;
    let share = total.mean.map_or_else(|| "-".to_owned(), |mean| format!("{mean:.4}"));
    let mut text = format!("mean {share}");
    if total.abstained > 0 {
        text.push_str(&format!(", {} abstained", count(total.abstained)));
    }
    if total.failed > 0 {
        text.push_str(&format!(
            ", {} failed ({})",
            count(total.failed),
            percent(summary.fault_rate())
        ));
    }
    text
}
