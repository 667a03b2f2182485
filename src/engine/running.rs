//! Running moments: what the next call is to know of the rewards of this one.

use assay_verifiers::{Reward, Scored, TrainingState, Verdict};
use serde_json::Value;

use super::plan::Plan;

impl Plan {
    /// Whether a shape reads moments of the calls before.
    pub fn reads_moments(&self) -> bool {
        self.moments_read().next().is_some()
    }

    /// Where the training stands once these samples were scored: a function of the state that they were
    /// scored with and of what came of them. Moments are of rewards as they were judged; a fault and
    /// an abstention are in none.
    pub fn next_state(&self, state: &TrainingState, scored: &[Scored]) -> TrainingState {
        state.observed(self.observed(scored))
    }

    /// What [`TrainingState::observed`] is told of these samples: rewards as they were judged, by the
    /// names of those whose moments shapes read.
    pub fn observed<'a>(&'a self, scored: &'a [Scored]) -> impl Iterator<Item = (&'a str, f64)> {
        self.moments_read().flat_map(move |name| {
            let judged = |one: &Scored| unshaped(one.verdict(name)?);
            scored.iter().filter_map(judged).map(move |reward| (name, reward))
        })
    }

    /// The names of the rewards whose moments shapes read, each once.
    fn moments_read(&self) -> impl Iterator<Item = &str> {
        let shapes = || self.rewards.iter().flat_map(|reward| &reward.shapes);
        let is_read = move |name: &&String| shapes().any(|shape| shape.moments.contains(name));
        self.names.iter().filter(is_read).map(String::as_str)
    }
}

/// The reward of a verdict as it was judged, before it was shaped. `None` where it has none.
pub fn unshaped(verdict: &Verdict) -> Option<f64> {
    match verdict.evidence.get("shaping") {
        Some(Value::Array(notes)) => notes.first()?.get("before")?.as_f64(),
        _ => verdict.outcome.reward().map(Reward::get),
    }
}
