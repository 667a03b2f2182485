//! What judges were asked, for the summary of a run.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use assay_verifiers::{Fault, FaultKind};
use serde::Serialize;

use super::JudgeReply;

/// Subjects that are counted apart; rubrics of rows may have no end of them.
const SUBJECTS_MAX: usize = 1000;

/// The name under which the other subjects are counted.
const OTHERS: &str = "(others)";

/// What was asked of all judges.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct JudgeReport {
    /// By the name of the judge.
    pub judges: BTreeMap<String, SubjectCounts>,
    /// The store of replies, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub store: Option<StoreCounts>,
}

/// What was asked of one judge.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SubjectCounts {
    /// All of it.
    #[serde(flatten)]
    pub total: JudgeCounts,
    /// By what was asked: the criterion.
    pub subjects: BTreeMap<String, JudgeCounts>,
}

/// Questions, and what came of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct JudgeCounts {
    /// Questions.
    pub calls: u64,
    /// Those of them that the store of replies answered.
    pub recorded: u64,
    /// Requests that were sent.
    pub tries: u64,
    /// Those of them that were not the first of their question.
    pub retries: u64,
    /// Tokens that were read and written; of a reply from the store, those that it took once.
    pub tokens: u64,
    /// Questions that failed, by kind.
    pub faults: BTreeMap<FaultKind, u64>,
}

/// What became of the store of replies.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StoreCounts {
    /// Replies and faults that were written.
    pub kept: u64,
    /// Replies and faults that could not be written. A run with any cannot be replayed as a whole.
    pub lost: u64,
    /// Why the first of them could not be written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The counts of one judge while it is asked.
#[derive(Debug, Default)]
pub struct JudgeCounters {
    counts: Mutex<SubjectCounts>,
}

impl JudgeCounters {
    /// The counts so far.
    pub fn counts(&self) -> SubjectCounts {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A question was asked.
    pub(super) fn called(&self, subject: &str) {
        self.count(subject, |counts| counts.calls += 1);
    }

    /// The store answered.
    pub(super) fn recorded(&self, subject: &str) {
        self.count(subject, |counts| counts.recorded += 1);
    }

    /// Requests were sent for one question.
    pub(super) fn tried(&self, subject: &str, tries: u32) {
        self.count(subject, |counts| {
            counts.tries += u64::from(tries);
            counts.retries += u64::from(tries.saturating_sub(1));
        });
    }

    /// A question ended.
    pub(super) fn ended(&self, subject: &str, reply: &Result<JudgeReply, Fault>) {
        self.count(subject, |counts| match reply {
            Ok(reply) => counts.tokens = counts.tokens.saturating_add(reply.usage.tokens),
            Err(fault) => *counts.faults.entry(fault.kind).or_default() += 1,
        });
    }

    fn count(&self, subject: &str, add: impl Fn(&mut JudgeCounts)) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        add(&mut counts.total);
        if let Some(known) = counts.subjects.get_mut(subject) {
            return add(known);
        }
        let name = if counts.subjects.len() < SUBJECTS_MAX { subject } else { OTHERS };
        add(counts.subjects.entry(name.to_owned()).or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_without_end_are_counted_together() {
        let counters = JudgeCounters::default();
        for at in 0..SUBJECTS_MAX + 5 {
            counters.called(&format!("criterion {at}"));
        }
        let counts = counters.counts();
        assert_eq!(counts.total.calls, 1005);
        assert_eq!(counts.subjects.len(), SUBJECTS_MAX + 1);
        assert_eq!(counts.subjects[OTHERS].calls, 5);
    }
}
