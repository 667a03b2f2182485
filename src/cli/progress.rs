//! How far a run is: a bar on a terminal, plain lines elsewhere, nothing when asked.

use std::io::IsTerminal as _;

use assay::engine::{RunProgress, Summary};
use assay::setup::Monotonic;
use indicatif::{ProgressBar, ProgressStyle};

use super::output::{self, count, percent};

/// Seconds between two plain lines.
const LINE_EVERY_S: f64 = 5.0;

/// Tells the user how far a run is.
pub(super) struct Progress {
    bar: Option<ProgressBar>,
    quiet: bool,
    clock: Monotonic,
    next_line_s: f64,
    total_bytes: u64,
    read_bytes: u64,
}

impl Progress {
    /// Progress through files of `total_bytes`; 0 where that is not known.
    pub(super) fn start(total_bytes: u64, quiet: bool) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let bar = (terminal && !quiet).then(|| bar(total_bytes));
        let clock = Monotonic::start();
        Self { bar, quiet, clock, next_line_s: 0.0, total_bytes, read_bytes: 0 }
    }

    /// Takes note of a batch.
    pub(super) fn update(&mut self, now: &RunProgress<'_>) {
        let summary = now.summary;
        self.read_bytes = now.bytes_read;
        for error in &now.batch.skipped {
            self.say(&format!("skipped: {error}"));
        }
        if let Some(bar) = &self.bar {
            bar.set_position(self.read_bytes);
            bar.set_message(self.rows(summary));
        } else if !self.quiet && self.clock.seconds() >= self.next_line_s {
            self.next_line_s = self.clock.seconds() + LINE_EVERY_S;
            output::note(&format!("{}{}", self.rows(summary), self.eta()));
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
    fn rows(&self, summary: &Summary) -> String {
        let rate = summary.rows as f64 / self.clock.seconds().max(1e-9);
        format!("{} rows, {rate:.0}/s, {}", count(summary.rows), outcomes(summary))
    }

    /// How much is left, for a plain line; a bar shows it by itself.
    #[expect(clippy::cast_precision_loss, reason = "a share for people")]
    fn eta(&self) -> String {
        let share = self.read_bytes as f64 / self.total_bytes.max(1) as f64;
        if self.total_bytes == 0 || share <= 0.0 {
            return String::new();
        }
        let left_s = self.clock.seconds() * (1.0 / share - 1.0).max(0.0);
        format!(", {} read, eta {left_s:.0} s", percent(share.min(1.0)))
    }
}

fn bar(total_bytes: u64) -> ProgressBar {
    let (template, bar) = match total_bytes {
        0 => ("{spinner} {msg}", ProgressBar::new_spinner()),
        total => ("{bar:30} {percent} %  eta {eta}  {msg}", ProgressBar::new(total)),
    };
    let style = ProgressStyle::with_template(template);
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
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
