//! How a program did on its tests, and the verdict that follows.

use std::collections::BTreeMap;

use assay_verifiers::{Reward, Verdict};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::runtime::RunRecord;

/// Tests that evidence describes; all are counted.
const SHOWN_MAX: usize = 10;
/// Characters of output that evidence repeats.
const TAIL_CHARS: usize = 400;

/// What a program earns by the share of its tests that it passes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Pay {
    /// 1 when every test passes, else 0.
    #[default]
    All,
    /// The share of the tests that pass.
    Fraction,
}

/// How a program did on its tests.
pub(crate) struct SuiteReport {
    passed: usize,
    total: usize,
    /// What ended it before the tests were through.
    error: Option<String>,
    tests: Vec<Value>,
    notes: BTreeMap<&'static str, Value>,
}

impl SuiteReport {
    pub(crate) fn new(total: usize) -> Self {
        Self { passed: 0, total, error: None, tests: Vec::new(), notes: BTreeMap::new() }
    }

    /// Sets the number of tests that passed.
    pub(crate) fn passed(&mut self, passed: usize) {
        self.passed = passed;
    }

    pub(crate) fn pass(&mut self) {
        self.passed += 1;
    }

    /// A test that failed, described for the evidence.
    pub(crate) fn fail(&mut self, test: Value) {
        if self.tests.len() < SHOWN_MAX {
            self.tests.push(test);
        }
    }

    pub(crate) fn end(&mut self, why: impl Into<String>) {
        self.error.get_or_insert_with(|| why.into());
    }

    pub(crate) fn note(&mut self, key: &'static str, value: impl Into<Value>) {
        self.notes.insert(key, value.into());
    }

    /// What the program used, and the end of what it wrote.
    pub(crate) fn used(&mut self, used: &RunRecord) {
        self.note("fuel", used.fuel);
        self.note("memory_bytes", used.memory_bytes_peak);
        for (key, bytes) in [("stdout", &used.stdout), ("stderr", &used.stderr)] {
            if !bytes.is_empty() {
                self.note(key, tail(bytes));
            }
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "no suite has 2^53 tests")]
    pub(crate) fn verdict(self, pay: Pay) -> Verdict {
        let all = self.passed == self.total && self.total > 0 && self.error.is_none();
        let share = self.passed as f64 / self.total.max(1) as f64;
        let reward = match pay {
            Pay::All => Reward::graded(all),
            // A program that was stopped has not passed what it seemed to pass.
            Pay::Fraction if !all && self.passed >= self.total => Reward::ZERO,
            Pay::Fraction => Reward::new(share).unwrap_or(Reward::ZERO),
        };
        let mut verdict = Verdict::scored(reward)
            .with("passed", self.passed)
            .with("total", self.total)
            .because(if all { "all-passed" } else { "failed" });
        if let Some(error) = self.error {
            verdict = verdict.with("error", error);
        }
        if !self.tests.is_empty() {
            verdict = verdict.with("failures", self.tests);
        }
        for (key, value) in self.notes {
            verdict = verdict.with(key, value);
        }
        verdict
    }
}

/// The end of an output, as text.
pub(crate) fn tail(bytes: &[u8]) -> String {
    let from = bytes.len().saturating_sub(4 * TAIL_CHARS);
    let text = String::from_utf8_lossy(bytes.get(from..).unwrap_or_default()).into_owned();
    let skip = text.chars().count().saturating_sub(TAIL_CHARS);
    text.chars().skip(skip).collect()
}
