//! Whole programs on given input: what they print is compared on the host.

mod interpreter;
mod ready;

use std::borrow::Cow;

use assay_verifiers::{Fault, Meter};
use serde_json::json;

use crate::compare::Comparison;
use crate::runtime::{Run, RunRecord, Stop};
use crate::suite::StdioCase;
use crate::suite_report::{SuiteReport, tail};
use crate::suite_run::fault;
pub(crate) use interpreter::{Interpreter, Written};
pub(crate) use ready::{Ready, Unready};

/// Cases on which a program may use all its fuel; the ones after them have failed, so that a program
/// without end costs no more than that.
const ENDLESS_MAX: usize = 2;

/// Runs every case and compares. An exit code other than 0 fails a case, whatever was printed.
pub(crate) fn cases(
    cases: &[StdioCase],
    comparison: &Comparison,
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
                let compared =
                    comparison.compare(&case.stdout, &run.used.stdout, &case.stdin, meter)?;
                compared.difference.map(|difference| json!(difference))
            }
            Ok(code) => Some(json!({"reason": "exit-code", "got": code})),
            Err(stop) => Some(json!({"reason": stop.name(), "got": stop.to_string()})),
        };
        used.follow(run.used);
        let Some(difference) = difference else {
            report.pass();
            continue;
        };
        let stdin: String = case.stdin.chars().take(200).collect();
        report.fail(json!({
            "case": at + 1, "stdin": stdin, "difference": difference, "stderr": tail(&used.stderr),
        }));
        if stop_at_first || endless >= ENDLESS_MAX {
            report.end(format!("case {} of {} failed", at + 1, cases.len()));
            break;
        }
    }
    report.used(&used);
    Ok(report)
}

/// The program with code in front of it.
pub(crate) fn with_setup<'a>(source: &'a str, setup: Option<&str>) -> Cow<'a, str> {
    match setup {
        Some(setup) => Cow::Owned(format!("{setup}\n{source}")),
        None => Cow::Borrowed(source),
    }
}
