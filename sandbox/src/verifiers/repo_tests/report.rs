//! The verdict on a repository's tests.

use std::collections::BTreeSet;

use assay_verifiers::{Fault, Verdict};
use serde_json::{Map, Value, json};

use super::task::Task;
use crate::isolation::{RepositoryRun, WantedTest};
use crate::suite_report::{Pay, SuiteReport, cause_of_error, cause_of_stop};
use crate::suite_run;

/// Tests and files that evidence names; all are counted.
const SHOWN_MAX: usize = 200;

/// What follows from a run.
pub(super) fn verdict(
    run: &RepositoryRun,
    task: &Task,
    wanted: &[WantedTest],
) -> Result<Verdict, Fault> {
    if let Some(fault) = run.stop.as_ref().and_then(suite_run::fault) {
        return Err(fault);
    }
    if let Some(why) = &run.broken {
        return Err(Fault::bad_reference(format!("tests: {why}")));
    }
    let mut report = SuiteReport::new(wanted.len());
    let rows = || wanted.iter().zip(&run.tests);
    let passed: BTreeSet<&str> =
        rows().filter(|(_, row)| row.word == "passed").map(|(test, _)| test.id.as_str()).collect();
    // A program that broke a rule is not paid for what seemed to pass.
    let is_clean = run.poisoned.is_none() && run.stop.is_none();
    if is_clean {
        report.passed(passed.len());
    }
    if let Some(stop) = &run.stop {
        report.cause(cause_of_stop(stop));
        report.end(format!("the program: {stop}"));
    }
    if let Some(why) = &run.poisoned {
        report.cause("broken-rule");
        report.end(why.clone());
    }
    let mut words = Map::new();
    for (test, row) in rows() {
        if words.len() < SHOWN_MAX {
            words.insert(test.id.clone(), row.word.clone().into());
        }
        if row.word == "passed" {
            continue;
        }
        let why = row.why.as_deref();
        report.cause(match (row.word.as_str(), why) {
            ("skipped", _) => "skipped",
            ("failed", Some(why)) if why.starts_with("AssertionError") => "failed-assertion",
            ("failed", _) => "exception",
            (_, Some(why)) => cause_of_error(why, "module-error"),
            _ => "not-tested",
        });
        let said = why.unwrap_or("there is no such test");
        let said = if row.word == "skipped" { "skipped" } else { said };
        let described = json!({"test": test.id, "outcome": row.word, "error": row.why});
        report.fail(described, &format!("{}: {said}", test.id));
    }
    let count = |ids: &[String]| {
        let passed =
            if is_clean { ids.iter().filter(|id| passed.contains(id.as_str())).count() } else { 0 };
        json!({"passed": passed, "total": ids.len()})
    };
    report.note("fail_to_pass", count(&task.fail_to_pass));
    report.note("pass_to_pass", count(&task.pass_to_pass));
    report.note("tests", words);
    report.used(&run.used);
    Ok(report.verdict(Pay::All))
}

/// Paths, as evidence names them.
pub(super) fn shown(paths: &[String]) -> Vec<Value> {
    paths.iter().take(SHOWN_MAX).map(|path| path.as_str().into()).collect()
}
