//! `unit_tests`: the program in the completion passes the tests of its task.

use std::sync::Arc;

use assay_verifiers::prelude::*;
use assay_verifiers::{BuildError, Digest, Reward, Trivial, canonical};

use super::packages::OnMissingPackage;
use super::sandboxed::{Python, Sandboxed};
use crate::answer::{self, Extract, Language};
use crate::compare::Comparison;
use crate::isolation::{AssertionTask, Callee, Isolation};
use crate::memo::VerdictMemo;
use crate::runtime::Limits;
use crate::languages::{Ready, Written};
use crate::suite::{Kind, StdioCase, Suite};
use crate::suite_report::Pay;
use crate::suite_run::AnswerComparison;
use crate::{Sandbox, stdio, stub, suite_run, trivial};

/// Languages of programs that are not judged here, as data sets write them.
const OTHERS: [&str; 20] = [
    "bash", "c", "c#", "c++", "cpp", "csharp", "go", "golang", "haskell", "java", "javascript", "js", "kotlin", "lua",
    "php", "ruby", "rust", "scala", "swift", "typescript",
];

/// Right when the Python program in the completion passes its tests.
///
/// The program runs in a fresh interpreter in a sandbox that has no files, network or clock of its
/// own. What judges it runs elsewhere: assertions in a second room, from which the candidate is
/// called; calls and printed output are compared on the host. A program cannot end early, change
/// `==` or read the expected values, because none of that is in its room. Tests come from the
/// reference, as an object or as JSON text, in the shapes that people have: `entry_point` and
/// `test` (`HumanEval`), `test_list` (MBPP), `entry_point` and `cases`, `inputs` and `outputs`
/// (APPS, `LiveCodeBench`), operations on an object of a class (`LeetCode`), and others; or they are the text of a program that asserts, or whose
/// functions are called `test_...`. See docs/sandbox.md.
#[derive(Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
pub struct UnitTests {
    /// Where the tests are: `reference`, a column of the row such as `meta.tests`, or `.` for the
    /// whole row.
    #[default = "reference"]
    tests: String,
    /// How the program is found in the completion.
    extract: Extract,
    /// What the share of passed tests earns.
    pay: Pay,
    /// How printed output is compared, for tests that give input and output.
    comparison: Comparison,
    /// How what calls return is compared, where the tests do not say.
    answers: AnswerComparison,
    /// Names that programs take for granted are there: `math`, `re`, `typing` and their like. The
    /// harnesses by which most data sets were labelled had them.
    #[default(true)]
    common_imports: bool,
    /// What an argument becomes in the candidate's hands is seen by the tests. A candidate can then
    /// cheat tests that use an argument twice.
    copy_back: bool,
    /// A result may be not a number. By default it fails the test, because no comparison with it
    /// can be trusted.
    allow_nan: bool,
    /// Where assertions run: `separate`, in a room that the candidate cannot reach; `shared`, in
    /// its room, which tests of operators, identity, printed output or patches need; or `auto`, which
    /// takes the shared room for tests whose code asks for it. It is weaker, and the evidence says so.
    isolation: Isolation,
    /// The language of the programs: `python`, the only one whose tests are run here. `stdin_stdout`
    /// judges others.
    #[serde(skip_serializing)]
    language: JudgedLanguage,
    /// An older name: `true` is `isolation = "shared"`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    shared_room: bool,
    /// Packages beside the library: wheels in pure Python and modules of one file, as files, which may be pinned
    /// (`"wheels/networkx-3.7-py3-none-any.whl#sha256=..."`), and names of packages that must be there.
    packages: Vec<String>,
    /// What becomes of a program that fails because it imports a well-known package that is not there: `abstain`, or
    /// `fail`. With `abstain` a program can leave the judgement by such an import, which `missing_package` in the
    /// evidence shows.
    on_missing_package: OnMissingPackage,
    /// What one run may use.
    limits: Limits,
    #[serde(skip)]
    python: Python,
    #[serde(skip)]
    memo: VerdictMemo,
}

/// The language of programs whose tests are run.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum JudgedLanguage {
    /// Python.
    #[default]
    #[serde(alias = "py", alias = "python3")]
    Python,
}

impl Sandboxed for UnitTests {
    fn enter(&mut self, sandbox: &Arc<Sandbox>) -> Result<Vec<(String, Digest)>, BuildError> {
        self.python.enter(sandbox, &self.limits)
    }
}

impl Check for UnitTests {
    const ID: &'static str = "unit_tests";
    const VERSION: u32 = 10;
    const SLOW: bool = true;

    fn load(&mut self, files: &dyn Files) -> Result<(), BuildError> {
        self.python.load::<Self>(&self.packages, files, &self.limits)?;
        self.answers.load()?;
        self.comparison.load_in("comparison")
    }

    fn trivial(&self, sample: &Sample) -> Option<Trivial> {
        trivial::trivial(&*suite_run::tests(sample, &self.tests)?, &Written::Python, &self.extract)
    }

    fn slips(&self, samples: &[&Sample]) -> Vec<Slip> {
        stdio::slips(samples, &self.tests)
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let Some((value, suite)) = suite_run::suite(sample, &self.tests, meter)? else {
            return Ok(suite_run::no_tests(sample, &self.tests));
        };
        if let Some(other) = suite.language.as_deref().filter(|own| is_other(own)) {
            let why = format!("tests: of programs in {other}; Python alone is judged, `when` leaves others out");
            return Err(Fault::bad_reference(why));
        }
        let completion = sample.completion();
        let found =
            answer::program_with(completion, &Language::PYTHON, &self.extract, suite.asked());
        let Some(program) = found else {
            return Ok(Verdict::scored(Reward::ZERO).because("no-program"));
        };
        let source = stub::completed(&program.source, sample.prompt(), &suite);
        let tests = canonical::to_bytes(&value);
        let key = canonical::digest_parts(&[source.as_bytes(), &tests, sample.prompt().as_bytes()]);
        let verdict = self.memo.verdict(key, || self.run(&source, &suite, sample.prompt(), meter));
        Ok(Verdict::from(verdict).with("span", vec![program.span.0, program.span.1]))
    }
}

/// Whether tests are those of another language. A column of this name may hold a language that people speak.
fn is_other(language: &str) -> bool {
    OTHERS.contains(&language.trim().to_ascii_lowercase().as_str())
}

impl UnitTests {
    fn run(
        &self,
        source: &str,
        suite: &Suite,
        prompt: &str,
        meter: &mut Meter<'_>,
    ) -> Result<Verdict, Fault> {
        let python = self.python.guest::<Self>()?;
        let setup = suite.setup.as_deref();
        let report = match &suite.kind {
            Kind::Assertions(tests) => {
                let task = AssertionTask {
                    common_imports: self.common_imports,
                    copy_back: self.copy_back,
                    allow_nan: self.allow_nan,
                    isolation: if self.shared_room { Isolation::Shared } else { self.isolation },
                    ..suite_run::task(source, tests, setup, prompt)
                };
                suite_run::assertions(python, &task, &self.limits, meter)?
            }
            Kind::Calls(calls) => {
                let callee = Callee {
                    source,
                    setup,
                    entry_point: &calls.entry_point,
                    common_imports: self.common_imports,
                    allow_nan: self.allow_nan,
                };
                suite_run::calls(python, callee, calls, self.answers, &self.limits, meter)?
            }
            Kind::Stdio { cases } => {
                let source = stdio::with_setup(source, setup);
                let stop_at_first = self.pay == Pay::All;
                let program = Ready::Python(python, &source);
                let run = |stdin: &str, meter: &Meter<'_>| program.run(stdin, &self.limits, meter);
                let judge = |case: &StdioCase, got: &[u8], meter: &mut Meter<'_>| {
                    self.comparison.judge(case, got, meter)
                };
                stdio::cases(cases, judge, stop_at_first, run, meter)?
            }
            Kind::Grader { .. } => {
                let why = "tests: a grader of its own; `python_check` runs one";
                return Err(Fault::bad_reference(why));
            }
        };
        let tests = match &suite.kind {
            Kind::Assertions(tests) => tests.test.as_str(),
            _ => "",
        };
        self.on_missing_package.verdict(report, self.pay, source, tests)
    }
}
