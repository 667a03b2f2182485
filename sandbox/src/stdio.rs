//! Whole programs on given input: what they print is compared on the host.

mod slips;

use std::borrow::Cow;

use assay_verifiers::{Fault, Meter};
use serde_json::{Value, json};

use crate::answer::unmarked;
use crate::compare::Difference;
use crate::runtime::{Run, RunRecord, Stop};
use crate::suite::StdioCase;
use crate::suite_report::{SuiteReport, cause_of_error, cause_of_stop, tail};
use crate::suite_run::fault;
pub(crate) use slips::slips;

/// Cases on which a program may use all its fuel; the ones after them have failed, so that a program
/// without end costs no more than that.
const ENDLESS_MAX: usize = 2;

/// Runs every case and compares. An exit code other than 0 fails a case, whatever was printed.
pub(crate) fn cases(
    cases: &[StdioCase],
    judge: impl Fn(&StdioCase, &[u8], &mut Meter<'_>) -> Result<Option<Difference>, Fault>,
    stop_at_first: bool,
    run: impl Fn(&str, &Meter<'_>) -> Run,
    meter: &mut Meter<'_>,
) -> Result<SuiteReport, Fault> {
    let mut report = SuiteReport::new(cases.len());
    let (mut used, mut endless) = (RunRecord::default(), 0);
    for (at, case) in cases.iter().enumerate() {
        let run = run(&case.stdin, meter);
        if let Some(fault) = run.end.as_ref().err().and_then(fault) {
            return Err(fault);
        }
        endless += usize::from(run.end == Err(Stop::OutOfFuel));
        let difference = match &run.end {
            Ok(0) => {
                let difference = judge(case, &run.used.stdout, meter)?;
                difference.map(|found| ("wrong-output", words(&found), json!(found)))
            }
            Ok(code) => {
                let error = last_line(&run.used.stderr);
                let other = if is_exception(&error) { "exception" } else { "exit-code" };
                let cause = cause_of_error(&error, other);
                let told = if error.is_empty() { String::new() } else { format!(": {error}") };
                let words = format!("the program ends with exit code {code}{told}");
                Some((cause, words, json!({"reason": "exit-code", "got": code})))
            }
            Err(stop) => {
                let found = json!({"reason": stop.name(), "got": stop.to_string()});
                Some((cause_of_stop(stop), format!("the program is stopped: {stop}"), found))
            }
        };
        used.follow(run.used);
        let Some((cause, words, difference)) = difference else {
            report.pass();
            continue;
        };
        report.cause(cause);
        let stdin: String = case.stdin.chars().take(200).collect();
        let line = format!("case {}, input {}: {words}", at + 1, quoted(&stdin));
        let test = json!({
            "case": at + 1, "stdin": stdin, "difference": difference, "stderr": tail(&used.stderr),
        });
        report.fail(test, &line);
        if stop_at_first || endless >= ENDLESS_MAX {
            report.end(format!("case {} of {} failed", at + 1, cases.len()));
            break;
        }
    }
    report.used(&used);
    Ok(report)
}

/// Where two outputs differ first, in words.
fn words(found: &Difference) -> String {
    let side = |text: &str| if text.is_empty() { "nothing".to_owned() } else { quoted(text) };
    let (expected, got) = (side(&found.expected), side(&found.got));
    match found.reason {
        "comparator" | "comparator-failed" | "checker-failed" => {
            format!("{}: {}", found.reason, found.got)
        }
        "checker" => format!("the checker refuses {got}"),
        _ => format!("line {}: expected {expected}, got {got}", found.line),
    }
}

/// A text on one line.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// The last line that a program wrote to standard error: the exception, where one ended it.
pub(crate) fn last_line(stderr: &[u8]) -> String {
    tail(stderr).trim_end().lines().next_back().unwrap_or_default().to_owned()
}

/// Whether a line begins with the name of an exception.
pub(crate) fn is_exception(line: &str) -> bool {
    let name = line.split(':').next().unwrap_or_default();
    ["Error", "Exception", "Interrupt", "Iteration"].iter().any(|end| name.ends_with(end))
}

/// The program with code in front of it, behind what must stand first.
pub(crate) fn with_setup<'a>(source: &'a str, setup: Option<&str>) -> Cow<'a, str> {
    let source = unmarked(source);
    let Some(setup) = setup.map(unmarked) else { return Cow::Borrowed(source) };
    let (first, rest) = source.split_at(after_future(source));
    Cow::Owned(format!("{first}{setup}\n{rest}"))
}

/// Where the imports from `__future__` end, before which there is nothing but comments and the documentation.
fn after_future(source: &str) -> usize {
    let (mut at, mut end, mut is_open) = (0, 0, false);
    for line in source.split_inclusive('\n') {
        at += line.len();
        let is_import = line.starts_with("from __future__ import");
        if is_import || is_open {
            is_open = (is_open || line.contains('(')) && !line.contains(')');
            end = at;
        }
    }
    end
}
