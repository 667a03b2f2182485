//! One verifier on variants of samples.

use std::sync::atomic::{AtomicU64, Ordering};

use assay::Engine;
use assay::engine::Planned;
use assay::verifiers::{Lane, Outcome, Sample, Verdict};
use serde_json::{Map, Value};

use super::{Trial, is_exhausted};

/// From here on a reward is full.
const FULL: f64 = 1.0 - 1e-9;
/// Variants on which a verifier may run out of fuel, memory or time before no more are tried.
const EXHAUSTED_MAX: u64 = 4;

/// A verifier on variants of samples, as the engine runs it.
pub(crate) struct Probe<'a> {
    pub(crate) engine: &'a Engine,
    /// The place of its reward.
    pub(crate) at: usize,
    pub(crate) planned: &'a Planned,
    exhausted: AtomicU64,
    /// It failed on every row, so that variants say nothing.
    spent: bool,
}

impl<'a> Probe<'a> {
    /// With nothing left to try where the verifier failed on every row: it would on each variant too, and each may cost
    /// all that it may.
    pub(crate) fn new(
        engine: &'a Engine,
        trial: &Trial<'_>,
        at: usize,
        planned: &'a Planned,
    ) -> Self {
        Self { engine, at, planned, exhausted: AtomicU64::new(0), spent: trial.is_spent(at) }
    }

    /// The settings, as the configuration has them.
    pub(crate) fn settings(&self) -> Option<&'a Map<String, Value>> {
        Some(&self.engine.plan().config.rewards.get(self.at)?.config)
    }

    /// Variants on which the verifier ran out of fuel, memory or time.
    pub(crate) fn exhausted(&self) -> u64 {
        self.exhausted.load(Ordering::Relaxed)
    }

    /// Whether no more variants are tried: each may cost a whole deadline.
    pub(crate) fn is_over(&self) -> bool {
        self.spent || self.exhausted() >= EXHAUSTED_MAX
    }

    /// The right answers of a row, where they are others than its reference as text.
    pub(crate) fn gold(&self, sample: &Sample) -> Option<Vec<String>> {
        match &self.planned.built.lane {
            Lane::Compute(verifier) => verifier.gold(sample),
            _ => None,
        }
    }

    pub(crate) fn verdict(
        &self,
        sample: &Sample,
        completion: &str,
        reference: Option<&Value>,
    ) -> Verdict {
        self.alone(&variant(sample, completion, reference.cloned().unwrap_or_default()))
    }

    pub(crate) fn alone(&self, sample: &Sample) -> Verdict {
        let missing = || Verdict::abstained("the verifier judges whole groups");
        let verdict = self.engine.verify_alone(self.at, sample).unwrap_or_else(missing);
        let is_out = is_exhausted(&verdict, self.planned.built.slow);
        self.exhausted.fetch_add(u64::from(is_out), Ordering::Relaxed);
        verdict
    }
}

/// The sample with another completion and another reference.
pub(crate) fn variant(sample: &Sample, completion: &str, reference: Value) -> Sample {
    Sample::builder(completion)
        .id(sample.id())
        .prompt(sample.prompt_content().clone())
        .meta(sample.meta().clone())
        .reference(reference)
        .build()
}

/// Whether a verdict earned full reward.
pub(crate) fn is_full(verdict: &Verdict) -> bool {
    matches!(&verdict.outcome, Outcome::Scored(reward) if reward.get() >= FULL)
}
