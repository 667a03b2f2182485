//! Rows that come from no file, such as those of a request: read, judged, and answered in their order.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use assay_verifiers::{Fault, Sample, Scored};
use futures_util::FutureExt as _;

use super::call::{Call, ScoreOptions};
use super::groups::{GroupOrder, group_key};
use super::score::Engine;
use super::sequence::unread;
use crate::data::Line;

/// The most samples that are judged on the thread that asks, and how long that may take by what samples
/// took lately.
const INLINE_ROWS: usize = 64;
const INLINE_NS_MAX: u64 = 500_000;
/// The most that one call counts for: several must be slow before others are handed on.
const NOTED_NS_MAX: u64 = 4 * INLINE_NS_MAX;
/// How much of the mean a new figure makes: one part in so many.
const MEAN_OF: u64 = 8;

/// Rows that were read: samples, and in the place of each row that cannot be read the fault that a
/// dataset has there.
#[derive(Debug, Default)]
pub struct Rows {
    rows: Vec<Result<Sample, Box<Scored>>>,
}

impl Engine {
    /// Reads rows of JSON by the columns of the configuration. `first` is the number of the first of
    /// them, from 0: rows that cannot be read are named by their numbers.
    pub fn read_rows<'a, L: Into<Line<'a>>>(
        &self,
        first: u64,
        rows: impl IntoIterator<Item = L>,
    ) -> Rows {
        self.read_rows_within(usize::MAX, first, rows)
    }

    /// The same, of rows of at most so many bytes.
    pub(crate) fn read_rows_within<'a, L: Into<Line<'a>>>(
        &self,
        bytes_max: usize,
        first: u64,
        rows: impl IntoIterator<Item = L>,
    ) -> Rows {
        let mut limits = self.plan().config.limits.data();
        limits.row_bytes_max = limits.row_bytes_max.min(bytes_max);
        let read = |(row, at): (L, u64)| {
            self.plan()
                .reader
                .parse(row, &limits)
                .map_err(|why| Box::new(unread(at, &why.to_string())))
        };
        Rows { rows: rows.into_iter().zip(first..).map(read).collect() }
    }

    /// Judges rows that were read: one [`Scored`] each, in their order.
    ///
    /// A few samples of a plan that awaits nothing, and whose verdicts took microseconds lately, are
    /// judged on this thread: handing them to another one would cost more. All else is as for
    /// [`Engine::score_async`]. Either way the verdicts are the same.
    pub async fn score_rows(&self, rows: Rows, options: ScoreOptions) -> Vec<Scored> {
        let mut samples = Vec::with_capacity(rows.rows.len());
        let bad: Vec<Option<Box<Scored>>> = rows
            .rows
            .into_iter()
            .map(|row| match row {
                Ok(sample) => {
                    samples.push(sample);
                    None
                }
                Err(scored) => Some(scored),
            })
            .collect();
        let judged = match self.score_inline(samples, &options) {
            Ok(judged) => judged,
            Err(samples) => {
                // Kept out of the future of a request, which is moved about.
                let judged = self.score_async(samples, options).boxed().await;
                self.note_time(&judged);
                judged
            }
        };
        let mut judged = judged.into_iter();
        let lost = || Scored::failed("", Fault::internal("the sample was lost"));
        bad.into_iter()
            .map(|bad| bad.map_or_else(|| judged.next().unwrap_or_else(lost), |bad| *bad))
            .collect()
    }

    /// Judges samples on this thread, where [`Engine::score_rows`] does.
    ///
    /// # Errors
    /// The samples, where it does not.
    pub fn score_inline(
        &self,
        samples: Vec<Sample>,
        options: &ScoreOptions,
    ) -> Result<Vec<Scored>, Vec<Sample>> {
        if self.inline_ns(samples.len()).is_none() {
            return Err(samples);
        }
        let call = Arc::new(Call::new(options, self.core.clock.now_ns()));
        let judged = self.core.score_at_once(samples, &call);
        self.note_time(&judged);
        Ok(judged)
    }

    /// How long it is expected to take to judge so many samples on the thread that asks; `None` where
    /// they are handed to others.
    pub fn inline_ns(&self, rows: usize) -> Option<u64> {
        let expected = self.core.row_ns.load(Ordering::Relaxed).saturating_mul(rows as u64);
        let is_inline = rows <= INLINE_ROWS && expected <= INLINE_NS_MAX && self.plan().is_inline();
        is_inline.then_some(expected)
    }

    fn note_time(&self, judged: &[Scored]) {
        let rows = judged.len() as u64;
        let spent: u64 = judged.iter().flat_map(|one| &one.spent_ns).sum();
        if let Some(now) = spent.checked_div(rows) {
            // A thread that had no core for a while says little of the next rows.
            let now = now.min(NOTED_NS_MAX);
            let mean = self.core.row_ns.load(Ordering::Relaxed);
            // A mean that is about right stays: to write it takes it from all other threads.
            if now.abs_diff(mean) > mean / 2 {
                // Another thread may note its own meanwhile: either figure will do.
                self.core.row_ns.store(mean - mean / MEAN_OF + now / MEAN_OF, Ordering::Relaxed);
            }
        }
    }
}

impl Rows {
    /// Rows that are samples already.
    pub fn of_samples(samples: impl IntoIterator<Item = Sample>) -> Self {
        Self { rows: samples.into_iter().map(Ok).collect() }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Puts other rows behind these.
    pub fn append(&mut self, mut others: Self) {
        self.rows.append(&mut others.rows);
    }

    /// The key of the group of each row, as group verifiers see it: the group that it names, else its
    /// prompt. `None` for a row that cannot be read.
    pub fn group_keys(&self) -> impl ExactSizeIterator<Item = Option<&str>> {
        self.rows.iter().map(|row| row.as_ref().ok().map(group_key))
    }

    /// Takes the rows of the last group off, so that rows after them can still join it. Rows that
    /// cannot be read end no group.
    #[must_use]
    pub fn split_last_group(&mut self) -> Self {
        let keys: Vec<Option<&str>> = self.group_keys().collect();
        let Some(last) = keys.iter().rev().find_map(|key| *key) else { return Self::default() };
        let at = keys.iter().rposition(|key| key.is_some_and(|key| key != last));
        Self { rows: self.rows.split_off(at.map_or(0, |at| at + 1)) }
    }

    /// Puts these rows of so many bytes, of which `first` is the number of the first one, behind those
    /// that a stream holds already. In place of a row of a group that ended before, or is full, is a fault.
    pub fn hold(&mut self, others: Self, bytes: usize, first: u64, order: &mut GroupOrder) {
        order.bytes += bytes;
        for (row, at) in others.rows.into_iter().zip(first..) {
            let row = row.and_then(|sample| {
                let wrong = |why: String| Box::new(unread(at, &why));
                order.begins(&sample).map_err(wrong)?;
                if !order.has_room() {
                    return Err(wrong(order.too_many()));
                }
                Ok(sample)
            });
            self.rows.push(row);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::config::Config;
    use super::*;

    fn engine() -> Engine {
        let config =
            "version = 1\n[data]\ngroup = 'g'\n[[reward]]\nname = 'a'\nverifier = 'exact'\n";
        let config = Config::parse("assay.toml", config).unwrap();
        Engine::builder().config(config).jobs(1).build().unwrap()
    }

    #[test]
    fn a_row_that_cannot_be_read_is_a_fault_in_its_place() {
        let engine = engine();
        let rows: [&[u8]; 4] = [
            br#"{"completion": "1", "reference": "1", "id": "x"}"#,
            br#"{"completion": 1}"#,
            b"[]",
            br#"{"completion": "1", "reference": "2"}"#,
        ];
        let rows = engine.read_rows(7, rows);
        let scored = pollster::block_on(engine.score_rows(rows, ScoreOptions::default()));
        let ids: Vec<&str> = scored.iter().map(|one| one.id.as_str()).collect();
        assert_eq!(&ids[..3], ["x", "row-9", "row-10"]);
        let rewards: Vec<Option<f64>> = scored.iter().map(Scored::reward).collect();
        assert_eq!(rewards, [Some(1.0), None, None, Some(0.0)]);
        let mut line = Vec::new();
        super::super::lines::verdict_line(&mut line, &scored[1]);
        let line = String::from_utf8(line).unwrap();
        assert!(line.contains("row 9: completion: expected text or messages"), "{line}");
    }

    #[test]
    fn the_last_group_is_taken_off_whole() {
        let engine = engine();
        let read = |groups: &[&str]| {
            let row = |group: &&str| format!(r#"{{"completion": "", "g": "{group}"}}"#);
            let texts: Vec<String> = groups.iter().map(row).collect();
            engine.read_rows(0, texts.iter().map(String::as_bytes))
        };
        for (groups, left) in [
            (&["a", "b", "b"][..], 1),
            (&["a", "a"], 0),
            (&["b", "a"], 1),
            (&[], 0),
            // Rows that cannot be read.
            (&["\n"], 1),
            (&["a", "\n", "a", "\n"], 0),
            (&["a", "b", "\n", "b"], 1),
        ] {
            let mut rows = read(groups);
            let last = rows.split_last_group();
            assert_eq!((rows.len(), last.len()), (left, groups.len() - left), "{groups:?}");
        }
    }
}
