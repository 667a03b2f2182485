//! Samples on their way through the stages of a plan.

use assay_verifiers::{Fault, Outcome, Verdict};

/// What is known of one sample. The vectors run along the rewards of the plan.
pub(super) struct Row {
    pub(super) verdicts: Vec<Option<Verdict>>,
    pub(super) spent_ns: Vec<u64>,
}

/// One verdict, and where it belongs.
pub(super) struct Judged {
    pub(super) row: usize,
    pub(super) reward: usize,
    pub(super) verdict: Verdict,
    pub(super) spent_ns: u64,
}

/// A sample's reward, with everything that led to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Scored {
    /// The combined outcome.
    pub outcome: Outcome,
    /// One verdict a reward, in the order of the plan. Empty for a row that could not be read.
    pub verdicts: Vec<Verdict>,
    /// Time spent on each, in nanoseconds; 0 where the verifier was not run.
    pub spent_ns: Vec<u64>,
}

impl Scored {
    /// A row that could not be judged at all.
    pub fn failed(fault: Fault) -> Self {
        Self { outcome: Outcome::Failed(fault), verdicts: Vec::new(), spent_ns: Vec::new() }
    }
}

impl Row {
    pub(super) fn new(rewards: usize) -> Self {
        Self { verdicts: vec![None; rewards], spent_ns: vec![0; rewards] }
    }

    pub(super) fn record(&mut self, reward: usize, verdict: Verdict, spent_ns: u64) {
        if let (Some(slot), Some(spent)) =
            (self.verdicts.get_mut(reward), self.spent_ns.get_mut(reward))
        {
            *slot = Some(verdict);
            *spent = spent_ns;
        }
    }

    /// The verdicts, of which by now there is one for each reward.
    pub(super) fn finish(self) -> (Vec<Verdict>, Vec<u64>) {
        let missing = || Verdict::failed(Fault::internal("no verdict was given"));
        let verdicts = self.verdicts.into_iter().map(|verdict| verdict.unwrap_or_else(missing));
        (verdicts.collect(), self.spent_ns)
    }
}
