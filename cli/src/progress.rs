//! How far a run is: a bar on a terminal, plain lines elsewhere, nothing when asked.
//!
//! What is shown is looked up by the clock, not row by row: a run that waits for a slow row says so.

use std::io::IsTerminal as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use assay::engine::{Activity, CancellationToken, RunProgress, SlowRow};
use assay::setup::Monotonic;
use indicatif::{ProgressBar, ProgressStyle};

use super::output::{self, count, percent};
use super::text::inline;
use super::ticker::Ticker;

/// How often a bar is drawn, and how often a plain line is written.
const BAR_EVERY: Duration = Duration::from_millis(200);
const LINE_EVERY: Duration = Duration::from_secs(5);
/// The steps of the bar.
const BAR_STEPS: u64 = 1000;
/// How many rewards are named that rows wait for.
const NAMES_MAX: usize = 3;
/// Rows that took at least so long are told at the end, in nanoseconds.
const SLOW_NS: u64 = 1_000_000_000;

/// What a run is known to be before it begins.
pub(super) struct Expected {
    /// Bytes of its files; 0 where that is not known.
    pub(super) bytes: u64,
    /// The most rows of input that are read.
    pub(super) limit: Option<u64>,
    /// How many shards there are, of which one is scored.
    pub(super) shards: u32,
}

/// Tells the user how far a run is.
pub(super) struct Progress {
    shown: Arc<Shown>,
    slowest: Vec<SlowRow>,
    ticker: Option<Ticker>,
}

/// What is looked at.
struct Shown {
    bar: Option<ProgressBar>,
    quiet: bool,
    expected: Expected,
    activity: Arc<Activity>,
    stop: CancellationToken,
    clock: Monotonic,
    written: Mutex<Written>,
}

/// What was written so far.
#[derive(Default)]
struct Written {
    rows: u64,
    bytes_read: u64,
    mean: Option<f64>,
    abstained: u64,
    failed: u64,
    fault_rate: f64,
}

impl Progress {
    pub(super) fn start(
        expected: Expected,
        activity: Arc<Activity>,
        stop: &CancellationToken,
        quiet: bool,
    ) -> Self {
        let bar = (std::io::stderr().is_terminal() && !quiet).then(|| bar(&expected));
        let (stop, clock, written) = (stop.clone(), Monotonic::start(), Mutex::default());
        let shown = Arc::new(Shown { bar, quiet, expected, activity, stop, clock, written });
        let ticker = (!quiet).then(|| ticker(&shown));
        Self { shown, slowest: Vec::new(), ticker }
    }

    /// Takes note of a batch.
    pub(super) fn update(&mut self, now: &RunProgress<'_>) {
        SlowRow::merge(&mut self.slowest, &now.batch.slowest);
        for error in &now.batch.skipped {
            self.shown.say(&format!("skipped: {error}"));
        }
        let total = &now.summary.total;
        *self.shown.written.lock().unwrap_or_else(PoisonError::into_inner) = Written {
            rows: now.summary.rows,
            bytes_read: now.bytes_read,
            mean: total.mean,
            abstained: total.abstained,
            failed: total.failed,
            fault_rate: now.summary.fault_rate(),
        };
    }

    /// Seconds since the start.
    pub(super) fn seconds(&self) -> f64 {
        self.shown.clock.seconds()
    }

    /// Takes the bar away, and tells the slowest rows where they were slow. `names` are the rewards.
    pub(super) fn finish(&mut self, names: &[String]) {
        drop(self.ticker.take());
        if let Some(bar) = &self.shown.bar {
            bar.finish_and_clear();
        }
        if !self.shown.quiet && self.slowest.iter().any(|slow| slow.spent_ns >= SLOW_NS) {
            output::note(&slowest(&self.slowest, names));
        }
    }
}

/// Looks and tells.
fn ticker(shown: &Arc<Shown>) -> Ticker {
    let own = Arc::clone(shown);
    let every = if own.bar.is_some() { BAR_EVERY } else { LINE_EVERY };
    let (mut is_stopping, mut next_s) = (false, every.as_secs_f64());
    // The stop is told at once, whenever the next line is due.
    Ticker::start(BAR_EVERY, move || {
        if own.stop.is_cancelled() && !is_stopping {
            is_stopping = true;
            let rows = count(own.activity.under_way());
            own.say(&format!("finishing {rows} rows; press again to stop at once"));
        }
        if own.clock.seconds() >= next_s {
            next_s = own.clock.seconds() + every.as_secs_f64();
            own.tell();
        }
    })
}

impl Written {
    fn outcomes(&self) -> String {
        let mut text =
            self.mean.map_or_else(|| "mean -".to_owned(), |mean| format!("mean {mean:.4}"));
        if self.abstained > 0 {
            text.push_str(&format!(", {} abstained", count(self.abstained)));
        }
        if self.failed > 0 {
            let rate = percent(self.fault_rate);
            text.push_str(&format!(", {} failed ({rate})", count(self.failed)));
        }
        text
    }
}

impl Shown {
    fn tell(&self) {
        let written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let share = self.share(written.bytes_read);
        let text = self.text(&written);
        drop(written);
        match &self.bar {
            Some(bar) => {
                if let Some(share) = share {
                    bar.set_position(thousandths(share));
                }
                bar.set_message(inline(&text));
            }
            None => output::note(&format!("{text}{}", self.eta(share))),
        }
    }

    fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(inline(text)),
            None if !self.quiet => output::note(text),
            None => {}
        }
    }

    /// The share of rows that are judged. How many there are is guessed from the bytes of those that
    /// were read.
    #[expect(clippy::cast_precision_loss, reason = "a share for people")]
    fn share(&self, bytes_read: u64) -> Option<f64> {
        let Expected { bytes, limit, shards } = self.expected;
        let (read, done) = (self.activity.read() as f64, self.activity.done() as f64);
        let of_bytes = (bytes > 0 && bytes_read > 0).then(|| {
            let all = read / (bytes_read as f64 / bytes as f64).min(1.0);
            done * f64::from(shards) / all.max(1.0)
        });
        let of_limit = limit.map(|limit| done * f64::from(shards) / limit.max(1) as f64);
        let share = match (of_bytes, of_limit) {
            (Some(bytes), Some(limit)) => Some(bytes.max(limit)),
            (bytes, limit) => bytes.or(limit),
        };
        share.map(|share| share.min(1.0))
    }

    #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
    fn text(&self, written: &Written) -> String {
        let (done, under_way) = (self.activity.done(), self.activity.under_way());
        let rate = done as f64 / self.clock.seconds().max(1e-9);
        let rate = if rate < 10.0 { format!("{rate:.1}") } else { format!("{rate:.0}") };
        let mut text = format!("{} rows, {rate}/s", count(done.max(written.rows)));
        if written.rows > 0 {
            text.push_str(&format!(", {}", written.outcomes()));
            if done > written.rows {
                text.push_str(&format!(" of {} written", count(written.rows)));
            }
        }
        if under_way > 0 {
            text.push_str(&format!("; {} under way", count(under_way)));
            let waits = self.activity.waits_for();
            let named = waits
                .iter()
                .take(NAMES_MAX)
                .map(|(name, count)| format!("{} ({count})", assay::data::escape(name)));
            let named: Vec<String> = named.collect();
            if !named.is_empty() {
                text.push_str(&format!(", waiting for {}", named.join(", ")));
            }
        }
        text
    }

    /// How much is left, for a plain line; a bar shows it by itself.
    fn eta(&self, share: Option<f64>) -> String {
        let Some(share) = share.filter(|share| *share > 0.0) else { return String::new() };
        let left_s = self.clock.seconds() * (1.0 / share - 1.0);
        format!(", {}, eta {left_s:.0} s", percent(share))
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 1000")]
fn thousandths(share: f64) -> u64 {
    (share * 1000.0) as u64
}

fn bar(expected: &Expected) -> ProgressBar {
    let (template, bar) = match (expected.bytes, expected.limit) {
        (0, None) => ("{spinner} {elapsed} {wide_msg}", ProgressBar::new_spinner()),
        _ => ("{bar:30} {percent} %  eta {eta}  {wide_msg}", ProgressBar::new(BAR_STEPS)),
    };
    let style = ProgressStyle::with_template(template);
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

#[expect(clippy::cast_precision_loss, reason = "times for people")]
#[expect(clippy::indexing_slicing, reason = "a slow row was slow for a reward")]
fn slowest(slowest: &[SlowRow], names: &[String]) -> String {
    let line = |slow: &SlowRow| {
        let (id, name) = (assay::data::escape(&slow.id), assay::data::escape(&names[slow.reward]));
        let seconds = slow.spent_ns as f64 / 1e9;
        format!("  {seconds:8.2} s  row {}, {id}: most of it {name}", slow.row + 1)
    };
    let lines: Vec<String> = slowest.iter().map(line).collect();
    format!("slowest rows:\n{}", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_rows_are_told_by_number_id_and_reward() {
        let slow =
            SlowRow { row: 16, id: "a\u{1b}".to_owned(), spent_ns: 12_340_000_000, reward: 1 };
        let text = slowest(&[slow], &["exact".to_owned(), "tests".to_owned()]);
        assert!(text.contains("12.34 s  row 17, a\\u{1b}: most of it tests"), "{text}");
    }
}
