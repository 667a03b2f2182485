//! One verifier on variants of samples.

use assay::Engine;
use assay::engine::Planned;
use assay::verifiers::{Outcome, Sample, Verdict};
use serde_json::Value;

/// From here on a reward is full.
const FULL: f64 = 1.0 - 1e-9;

/// A verifier on variants of samples, as the engine runs it.
pub(super) struct Probe<'a> {
    pub(super) engine: &'a Engine,
    /// The place of its reward.
    pub(super) at: usize,
    pub(super) planned: &'a Planned,
}

impl Probe<'_> {
    pub(super) fn verdict(
        &self,
        sample: &Sample,
        completion: &str,
        reference: Option<&Value>,
    ) -> Verdict {
        let variant = Sample::builder(completion)
            .id(sample.id())
            .prompt(sample.prompt_content().clone())
            .meta(sample.meta().clone())
            .reference(reference.cloned().unwrap_or_default())
            .build();
        self.alone(&variant)
    }

    pub(super) fn alone(&self, sample: &Sample) -> Verdict {
        let missing = || Verdict::abstained("the verifier judges whole groups");
        self.engine.verify_alone(self.at, sample).unwrap_or_else(missing)
    }
}

/// Whether a verdict earned full reward.
pub(super) fn is_full(verdict: &Verdict) -> bool {
    matches!(&verdict.outcome, Outcome::Scored(reward) if reward.get() >= FULL)
}
