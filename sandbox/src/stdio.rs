//! Whole programs on given input: what they print is compared on the host.

mod interpreter;

use std::borrow::Cow;

use assay_verifiers::{Fault, Meter};
use serde_json::json;

use crate::compare::Comparison;
use crate::languages::javascript::JavaScript;
use crate::rooms::{self, Terms};
use crate::runtime::{Guest, Limits, Run, Start, Stop, drive};
use crate::suite::StdioCase;
use crate::trial::{Outcome, fault, tail};
pub(crate) use interpreter::{Interpreter, Ready, Unready, Written};

/// Cases on which a program may use all its fuel; the ones after them have failed, so that a program
/// without end costs no more than that.
const ENDLESS_MAX: usize = 2;

/// What a program came to on one input.
pub(crate) struct Printed {
    /// The exit code, or what stopped it.
    pub(crate) end: Result<i32, Stop>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    pub(crate) fuel: u64,
    pub(crate) memory_bytes_peak: usize,
}

/// Runs a Python program.
pub(crate) fn python(
    python: &Guest,
    source: &str,
    stdin: &str,
    limits: &Limits,
    meter: &Meter<'_>,
) -> Printed {
    let terms = Terms { limits: limits.clone(), seed: 0, expired: &mut || meter.expired() };
    let run = rooms::run_program(python, source, stdin.as_bytes(), terms);
    let ended = || run.exit.ok_or_else(|| Stop::Internal("the program has no end".to_owned()));
    Printed {
        end: run.stop.clone().map_or_else(ended, Err),
        stdout: run.stdout,
        stderr: run.stderr,
        fuel: run.fuel,
        memory_bytes_peak: run.memory_bytes_peak,
    }
}

fn javascript(
    guest: &JavaScript,
    source: &str,
    stdin: &str,
    limits: &Limits,
    meter: &Meter<'_>,
) -> Printed {
    let stdin = stdin.as_bytes().to_vec();
    let start = Start { limits: limits.clone(), stdin, ..Start::default() };
    drive(guest.run(source, start), &mut || meter.expired()).into()
}

impl From<Result<Run, Stop>> for Printed {
    fn from(run: Result<Run, Stop>) -> Self {
        match run {
            Ok(run) => Self {
                end: run.end,
                stdout: run.stdout,
                stderr: run.stderr,
                fuel: run.fuel,
                memory_bytes_peak: run.memory_bytes_peak,
            },
            Err(stop) => Self {
                end: Err(stop),
                stdout: Vec::new(),
                stderr: Vec::new(),
                fuel: 0,
                memory_bytes_peak: 0,
            },
        }
    }
}

/// Runs every case and compares. An exit code other than 0 fails a case, whatever was printed.
pub(crate) fn cases(
    cases: &[StdioCase],
    comparison: &Comparison,
    stop_at_first: bool,
    run: impl Fn(&str, &Meter<'_>) -> Printed,
    meter: &mut Meter<'_>,
) -> Result<Outcome, Fault> {
    let mut outcome = Outcome::new(cases.len());
    let (mut fuel, mut memory, mut endless, mut last) = (0_u64, 0, 0, None);
    for (at, case) in cases.iter().enumerate() {
        let printed = run(&case.stdin, meter);
        fuel = fuel.saturating_add(printed.fuel);
        memory = memory.max(printed.memory_bytes_peak);
        if let Some(fault) = printed.end.as_ref().err().and_then(fault) {
            return Err(fault);
        }
        endless += usize::from(printed.end == Err(Stop::OutOfFuel));
        let difference = match &printed.end {
            Ok(0) => {
                let compared =
                    comparison.compare(&case.stdout, &printed.stdout, &case.stdin, meter)?;
                compared.difference.map(|difference| json!(difference))
            }
            Ok(code) => Some(json!({"reason": "exit-code", "got": code})),
            Err(stop) => Some(json!({"reason": stop.name(), "got": stop.to_string()})),
        };
        match difference {
            None => outcome.pass(),
            Some(difference) => {
                let stdin: String = case.stdin.chars().take(200).collect();
                let stderr = tail(&printed.stderr);
                outcome.fail(json!({
                    "case": at + 1, "stdin": stdin, "difference": difference, "stderr": stderr,
                }));
                if stop_at_first || endless >= ENDLESS_MAX {
                    outcome.end(format!("case {} of {} failed", at + 1, cases.len()));
                    last = Some(printed);
                    break;
                }
            }
        }
        last = Some(printed);
    }
    let (stdout, stderr) = last.map(|last| (last.stdout, last.stderr)).unwrap_or_default();
    outcome.used(fuel, memory, [&stdout, &stderr]);
    Ok(outcome)
}

/// The program with code in front of it.
pub(crate) fn with_setup<'a>(source: &'a str, setup: Option<&str>) -> Cow<'a, str> {
    match setup {
        Some(setup) => Cow::Owned(format!("{setup}\n{source}")),
        None => Cow::Borrowed(source),
    }
}
