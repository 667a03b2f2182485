//! What is measured, each by itself: whole passes until the time is up.

use std::io::{self, Cursor};
use std::path::PathBuf;

use assay::Engine;
use assay::data::{DataError, Source};
use assay::engine::{BadRows, CancellationToken, Resume, StreamSpec};
use assay::setup::Monotonic;
use assay::verifiers::{Sample, TrainingState};
use serde::Serialize;
use serde_json::Value;

use super::lines::Lines;
use crate::exit::Failure;

/// One measurement.
#[derive(Serialize)]
pub(super) struct Phase {
    pub(super) rows_per_s: f64,
    /// The slowest, the median and the fastest pass.
    pub(super) rows_per_s_of_passes: [f64; 3],
    pub(super) passes: u64,
    pub(super) seconds: f64,
}

/// Makes an engine that remembers nothing of what others judged.
pub(super) type Fresh<'a> = &'a dyn Fn() -> Result<Engine, Failure>;

/// Where rows come from: lines in memory, or else the files.
pub(super) struct Input<'a> {
    pub(super) engine: &'a Engine,
    pub(super) fresh: Fresh<'a>,
    pub(super) data: &'a [PathBuf],
    pub(super) lines: Option<&'a Lines>,
    pub(super) limit: u64,
}

/// Times of one verifier or server, in nanoseconds.
#[derive(Default)]
pub(super) struct Spent(Vec<u64>);

/// A spread needs some passes; they are made unless they take so many times as long as was asked for.
const PASSES_MIN: usize = 3;
const PATIENCE: f64 = 5.0;

/// The most times that are held for one verifier.
const TIMES_MAX: usize = 4_000_000;

/// Parses each line into a `serde_json::Value`, on one thread.
pub(super) fn yardstick(lines: &Lines, seconds: f64) -> Result<Phase, Failure> {
    repeat(seconds, || {
        let clock = Monotonic::start();
        let parsed = lines.iter().map(serde_json::from_slice::<Value>);
        let rows = parsed.map(|value| u64::from(std::hint::black_box(value).is_ok())).sum();
        Ok((rows, clock.seconds()))
    })
}

/// Reads and parses, on one thread.
pub(super) fn parse(input: &Input<'_>, seconds: f64) -> Result<Phase, Failure> {
    let config = &input.engine.plan().config;
    repeat(seconds, || {
        let (clock, mut rows) = (Monotonic::start(), 0);
        for block in input.open()? {
            rows += std::hint::black_box(block?.rows(&config.data)).len() as u64;
            if rows >= input.limit {
                break;
            }
        }
        Ok((rows, clock.seconds()))
    })
}

/// Judges samples that are in memory. Each pass has an engine of its own: what one remembers of a
/// program would be the answer in the next.
pub(super) fn engine(
    fresh: Fresh<'_>,
    samples: &[Sample],
    seconds: f64,
) -> Result<(Phase, Vec<Spent>), Failure> {
    let mut spent: Vec<Spent> = Vec::new();
    let phase = repeat(seconds, || {
        let (engine, copies) = (fresh()?, samples.to_vec());
        let clock = Monotonic::start();
        let scored = engine.score(copies);
        let busy = clock.seconds();
        spent.resize_with(engine.plan().rewards.len(), Spent::default);
        for one in &scored {
            for (spent, ns) in spent.iter_mut().zip(&one.spent_ns) {
                spent.add(*ns);
            }
        }
        Ok((scored.len() as u64, busy))
    })?;
    Ok((phase, spent))
}

/// From the input to verdict lines, which are counted and dropped.
pub(super) fn end_to_end(input: &Input<'_>, seconds: f64) -> Result<Phase, Failure> {
    repeat(seconds, || {
        let spec = StreamSpec {
            bad_rows: BadRows::Skip,
            limit: Some(input.limit),
            shard: None,
            training: TrainingState::default(),
            earlier: Box::new(std::iter::empty()),
            mode: Resume::KeepLines,
        };
        let engine = (input.fresh)()?;
        let (clock, mut rows) = (Monotonic::start(), 0);
        let sink = |batch: assay::engine::Batch| {
            rows += (batch.rows + batch.skipped.len()) as u64;
            std::hint::black_box(batch.verdicts);
            Ok::<(), io::Error>(())
        };
        engine.stream(input.open()?, spec, &CancellationToken::new(), sink)?;
        Ok((rows, clock.seconds()))
    })
}

/// Passes until the time is up; each gives its rows, and the seconds that count.
fn repeat(
    seconds: f64,
    mut pass: impl FnMut() -> Result<(u64, f64), Failure>,
) -> Result<Phase, Failure> {
    let clock = Monotonic::start();
    let mut passes = Vec::new();
    while passes.is_empty()
        || clock.seconds() < seconds
        || (passes.len() < PASSES_MIN && clock.seconds() < seconds * PATIENCE)
    {
        passes.push(pass()?);
    }
    Ok(Phase::new(&passes))
}

impl Phase {
    #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
    #[expect(clippy::indexing_slicing, reason = "there is one pass at least")]
    fn new(passes: &[(u64, f64)]) -> Self {
        let rate = |rows: u64, seconds: f64| rows as f64 / seconds.max(1e-9);
        let mut rates: Vec<f64> =
            passes.iter().map(|(rows, seconds)| rate(*rows, *seconds)).collect();
        rates.sort_by(f64::total_cmp);
        let last = rates.len().saturating_sub(1);

        let rows = passes.iter().map(|(rows, _)| rows).sum();
        let seconds = passes.iter().map(|(_, seconds)| seconds).sum();
        Self {
            rows_per_s: rate(rows, seconds),
            rows_per_s_of_passes: [rates[0], rates[last / 2], rates[last]],
            passes: passes.len() as u64,
            seconds,
        }
    }
}

impl Input<'_> {
    fn open(&self) -> Result<Source, DataError> {
        let limits = self.engine.plan().config.limits.data();
        match self.lines {
            // The copy is of memory to memory, far below the cost of parsing.
            Some(lines) => Source::stream("bench", Cursor::new(lines.bytes.clone()), &limits),
            None => Source::open(self.data, &limits),
        }
    }
}

impl Spent {
    pub(super) fn add(&mut self, ns: u64) {
        // 0 is not a time: the verifier was not asked.
        if ns > 0 && self.0.len() < TIMES_MAX {
            self.0.push(ns);
        }
    }

    /// Takes over the times of another.
    #[cfg(feature = "serve")]
    pub(super) fn append(&mut self, mut other: Self) {
        self.0.append(&mut other.0);
    }

    pub(super) fn count(&self) -> u64 {
        self.0.len() as u64
    }

    #[expect(clippy::cast_precision_loss, reason = "times for people")]
    pub(super) fn mean_us(&self) -> f64 {
        let sum: u64 = self.0.iter().sum();
        sum as f64 / self.0.len().max(1) as f64 / 1000.0
    }

    /// The time below which so many hundredths of the verdicts stay.
    #[expect(clippy::cast_precision_loss, reason = "times for people")]
    pub(super) fn quantile_us(&mut self, hundredths: usize) -> f64 {
        if self.0.is_empty() {
            return 0.0;
        }
        let at = (self.0.len() - 1) * hundredths / 100;
        let (_, value, _) = self.0.select_nth_unstable(at);
        *value as f64 / 1000.0
    }
}
