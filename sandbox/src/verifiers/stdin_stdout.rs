//! `stdin_stdout`: the program in the completion prints what it should for given input.

use std::sync::Arc;

use assay_verifiers::prelude::*;
use assay_verifiers::{BuildError, Digest, Reward, Trivial, canonical};

use super::packages::{self, OnMissingPackage};
use super::sandboxed::{Python, Sandboxed};
use crate::answer::{self, Extract};
use crate::checker::Checker;
use crate::compare::Comparison;
use crate::memo::VerdictMemo;
use crate::runtime::Limits;
use crate::languages::{Interpreter, Unready, Written};
use crate::suite::{Kind, StdioCase};
use crate::suite_report::Pay;
use crate::{Sandbox, stdio, suite_run, trivial};

/// Right when the program in the completion prints the expected output for every input.
///
/// Each input is given to a fresh instance in the sandbox, and what the program prints is compared
/// on the host: token by token by default, or by lines, exactly, with a tolerance for numbers, or by
/// a script of yours. A program that ends with an error has failed, whatever it printed. Tests come
/// from the reference: `{"cases": [{"stdin": "1 2\n", "stdout": "3\n"}]}`, or the shapes of APPS,
/// TACO, `LiveCodeBench` and verl; see docs/sandbox.md.
#[derive(Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct StdinStdout {
    /// What the programs are written in: `python`, `javascript`, `c`, `cpp`, or a language whose
    /// interpreter you bring: `{ wasm = { file = "lua.wasm", tags = ["lua"], args = ["-e",
    /// "{source}"] } }`. C and C++ need a build that has them; see docs/sandbox.md.
    language: Written,
    /// Where the tests are: `reference`, a column of the row such as `meta.tests`, or `.` for the
    /// whole row.
    #[default = "reference"]
    tests: String,
    /// How the program is found in the completion.
    extract: Extract,
    /// What the share of passed cases earns. With `all`, the first failure ends the run.
    pay: Pay,
    /// How output is compared.
    comparison: Comparison,
    /// A column of the row with a checker, which judges instead of the comparison where there is more than one
    /// right output, as `generated_checker` of open-r1/codeforces. It is a program in Python that gets the paths of
    /// three files: the input, the expected output and the output. It prints a number from 0 to 1, of which 1 alone
    /// is right, or ends with the exit code 0 or 1 and prints nothing. Rows without it are compared.
    checker: Option<String>,
    /// For Python, packages beside the library: wheels in pure Python and modules of one file, as files, which may be pinned
    /// (`"wheels/networkx-3.7-py3-none-any.whl#sha256=..."`), and names of packages that must be there.
    packages: Vec<String>,
    /// What becomes of a program that fails because it imports a well-known package that is not there: `abstain`, or
    /// `fail`. With `abstain` a program can leave the judgement by such an import, which `missing_package` in the
    /// evidence shows.
    on_missing_package: OnMissingPackage,
    /// What one run may use.
    limits: Limits,
    #[serde(skip)]
    interpreter: Option<Interpreter>,
    #[serde(skip)]
    judges: Python,
    #[serde(skip)]
    memo: VerdictMemo,
}

impl Sandboxed for StdinStdout {
    fn enter(&mut self, sandbox: &Arc<Sandbox>) -> Result<Vec<(String, Digest)>, BuildError> {
        let (interpreter, identity) = Interpreter::of(&self.language, sandbox)?;
        interpreter.check_limits(&self.limits)?;
        self.interpreter = Some(interpreter);
        let mut identities: Vec<_> = identity.into_iter().collect();
        if self.checker.is_some() {
            identities.extend(self.judges.enter(sandbox, &Limits::judging())?);
            identities.dedup();
        }
        Ok(identities)
    }
}

impl StdinStdout {
    /// The checker of a row that has one.
    fn checker<'a>(&'a self, sample: &'a Sample) -> Result<Option<Checker<'a>>, Fault> {
        let column = self.checker.as_ref().and_then(|column| sample.column(column));
        let Some(own) = column.filter(|own| !own.is_null()) else { return Ok(None) };
        let why = "checker: expected a program in Python as text";
        let source = own.as_str().ok_or_else(|| Fault::bad_reference(why))?;
        if source.trim().is_empty() {
            return Ok(None);
        }
        Ok(Some(Checker { python: self.judges.guest::<Self>()?, source }))
    }
}

impl Check for StdinStdout {
    const ID: &'static str = "stdin_stdout";
    const VERSION: u32 = 5;
    const SLOW: bool = true;
    const ASPECT: Aspect = Aspect::Printed;

    fn load(&mut self, files: &dyn Files) -> Result<(), BuildError> {
        if let Some(interpreter) = &mut self.interpreter {
            interpreter.load(files)?;
            match interpreter {
                Interpreter::Python(python) if !self.packages.is_empty() => {
                    *python = packages::mount(python, &self.packages, files, &self.limits)?;
                    interpreter.check_limits(&self.limits)?;
                }
                Interpreter::Python(_) => {}
                _ if self.packages.is_empty() => {}
                _ => return Err(BuildError::new("packages", "packages are for Python alone")),
            }
        }
        self.comparison.load_in("comparison")
    }

    fn trivial(&self, sample: &Sample) -> Option<Trivial> {
        trivial::trivial(&*suite_run::tests(sample, &self.tests)?, &self.language, &self.extract)
    }

    fn slips(&self, samples: &[&Sample]) -> Vec<Slip> {
        stdio::slips(samples, &self.tests)
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let Some((value, suite)) = suite_run::suite(sample, &self.tests, meter)? else {
            return Ok(suite_run::no_tests(sample, &self.tests));
        };
        let Kind::Stdio { cases } = &suite.kind else {
            let why = "tests: expected cases with stdin and stdout; `unit_tests` runs others";
            return Err(Fault::bad_reference(why));
        };
        let completion = sample.completion();
        let language = self.language.language();
        let Some(program) = answer::program(completion, &language, &self.extract) else {
            return Ok(Verdict::scored(Reward::ZERO).because("no-program"));
        };
        let source = stdio::with_setup(&program.source, suite.setup.as_deref());
        let unset = || Fault::internal("stdin_stdout was not loaded");
        let interpreter = self.interpreter.as_ref().ok_or_else(unset)?;
        let checker = self.checker(sample)?;
        let judged_by = checker.as_ref().map_or("", |checker| checker.source);
        let key = [source.as_bytes(), &canonical::to_bytes(&value), judged_by.as_bytes()];
        let key = canonical::digest_parts(&key);
        let verdict = self.memo.verdict(key, || {
            let ready = match interpreter.ready(&source, meter) {
                Ok(ready) => ready,
                Err(Unready::Fault(fault)) => return Err(fault),
                Err(Unready::Refused(reason, why)) => {
                    let refused = Verdict::scored(Reward::ZERO).because(reason);
                    return Ok(refused.with("message", why));
                }
            };
            let run = |stdin: &str, meter: &Meter<'_>| ready.run(stdin, &self.limits, meter);
            let stop_at_first = self.pay == Pay::All;
            let judge = |case: &StdioCase, got: &[u8], meter: &mut Meter<'_>| match &checker {
                Some(checker) => checker.judge(case, got, meter),
                None => self.comparison.judge(case, got, meter),
            };
            let report = stdio::cases(cases, judge, stop_at_first, run, meter)?;
            if self.language == Written::Python {
                return self.on_missing_package.verdict(report, self.pay, &source, "");
            }
            Ok(report.verdict(self.pay))
        });
        Ok(Verdict::from(verdict).with("span", vec![program.span.0, program.span.1]))
    }
}
