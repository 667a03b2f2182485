//! How a program did on its tests, and the verdict that follows.

use std::collections::BTreeMap;

use assay_verifiers::prelude::*;

use crate::runtime::{RunRecord, Stop};
use crate::value::truncated;

/// Tests that evidence describes; all are counted.
const SHOWN_MAX: usize = 10;
/// Characters of a line about a test.
const LINE_CHARS: usize = 500;
/// What Python says of a module that is not there, up to its name.
const NO_MODULE: &str = "ModuleNotFoundError: No module named '";
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
    /// The way in which the first test failed, or in which the program was stopped: a fixed word.
    cause: Option<&'static str>,
    tests: Vec<Value>,
    /// The same tests in words, a line each.
    lines: Vec<String>,
    notes: BTreeMap<&'static str, Value>,
}

impl SuiteReport {
    pub(crate) fn new(total: usize) -> Self {
        Self {
            passed: 0,
            total,
            error: None,
            cause: None,
            tests: Vec::new(),
            lines: Vec::new(),
            notes: BTreeMap::new(),
        }
    }

    /// Sets the number of tests that passed.
    pub(crate) fn passed(&mut self, passed: usize) {
        self.passed = passed;
    }

    pub(crate) fn pass(&mut self) {
        self.passed += 1;
    }

    /// A test that failed, described for the evidence: as data, and in a line of words.
    pub(crate) fn fail(&mut self, test: Value, line: &str) {
        if self.tests.len() < SHOWN_MAX {
            self.tests.push(test);
            self.lines.push(truncated(line.replace('\n', " "), LINE_CHARS));
        }
    }

    /// The way in which it failed, unless an earlier one is known.
    pub(crate) fn cause(&mut self, cause: &'static str) {
        self.cause.get_or_insert(cause);
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

    /// The module that was not found, where that is why the program did not pass.
    pub(crate) fn missing_module(&self) -> Option<&str> {
        if self.passed == self.total && self.error.is_none() {
            return None;
        }
        let mut texts = self.error.iter().chain(&self.lines);
        texts.find_map(|text| text.split_once(NO_MODULE)?.1.split('\'').next())
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
        if let Some(cause) = self.cause.filter(|_| !all) {
            verdict = verdict.with("cause", cause);
        }
        if let Some(error) = self.error {
            verdict = verdict.with("error", error);
        }
        if !self.lines.is_empty() {
            verdict = verdict.with("failed", self.lines);
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

/// The word for what stopped a program.
pub(crate) fn cause_of_stop(stop: &Stop) -> &'static str {
    match stop {
        Stop::OutOfFuel => "time-out",
        stop => stop.name(),
    }
}

/// The word for an exception that ended a program, by the name that it begins with; `other` where the
/// name says no more.
pub(crate) fn cause_of_error(error: &str, other: &'static str) -> &'static str {
    match error.split(':').next().unwrap_or_default().trim() {
        "SyntaxError" | "IndentationError" | "TabError" => "syntax-error",
        "ImportError" | "ModuleNotFoundError" => "import-error",
        "MemoryError" => "out-of-memory",
        "the program ends itself" => "exit",
        _ => other,
    }
}

/// The end of an output, as text.
pub(crate) fn tail(bytes: &[u8]) -> String {
    let from = bytes.len().saturating_sub(4 * TAIL_CHARS);
    let text = String::from_utf8_lossy(bytes.split_at(from).1).into_owned();
    let skip = text.chars().count().saturating_sub(TAIL_CHARS);
    text.chars().skip(skip).collect()
}
