//! `python_check`: a Python function of the user's decides.

mod script;

use std::sync::Arc;

use assay_verifiers::code::Code;
use assay_verifiers::prelude::*;
use assay_verifiers::{BuildError, Digest, Reward};

use super::sandboxed::{Python, Sandboxed, over_judge_limits};
use crate::Sandbox;
use crate::runtime::Limits;
use crate::suite::Kind;
use crate::suite_run;
use script::{Body, Failure, Said, Script};

/// What a Python function of yours says of the sample.
///
/// The function `reward(sample)` gets a dict with `completion`, `messages` (where the completion
/// is a conversation), `prompt`, `prompt_messages`, `reference`, `id`, `group` and `meta`, the
/// other columns. A function `grade(sample, item)`, as `OpenAI` graders have it, gets the same,
/// with `output_text` for the completion, and the row as `item`. What it returns is the reward: a
/// number, `True` or `False`; `None` abstains; a dict holds a `reward`, and whatever else it holds
/// is noted as evidence. A script that fails, or returns anything else, is a fault and no reward.
/// It runs in a fresh interpreter in the sandbox for every sample; the completion is data there,
/// and nothing runs it unless the script does.
#[derive(Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct PythonCheck {
    /// The script itself.
    script: Option<String>,
    /// The file that holds it.
    file: Option<String>,
    /// The column that holds a grader for each row: `{"type": "python", "source": "..."}`. It is
    /// `reference`, a column such as `grader`, or `.` for the whole row.
    tests: Option<String>,
    /// The function that decides. By default `reward`, or else `grade`.
    function: Option<String>,
    /// The least and the most that a function may return.
    #[default([0.0, 1.0])]
    range: [f64; 2],
    /// Packages beside the library: wheels in pure Python and modules of one file, as files, which may be pinned
    /// (`"wheels/networkx-3.7-py3-none-any.whl#sha256=..."`), and names of packages that must be there.
    packages: Vec<String>,
    /// What one run may use: by default 3.2e9 units of fuel, which is less than a second, and 80 MiB.
    #[serde(deserialize_with = "over_judge_limits")]
    #[default(Limits::judging())]
    limits: Limits,
    #[serde(skip)]
    python: Python,
    #[serde(skip)]
    compiled: Option<Vec<u8>>,
}

impl Sandboxed for PythonCheck {
    fn enter(&mut self, sandbox: &Arc<Sandbox>) -> Result<Vec<(String, Digest)>, BuildError> {
        self.python.enter(sandbox, &self.limits)
    }
}

impl Check for PythonCheck {
    const ID: &'static str = "python_check";
    const VERSION: u32 = 3;
    const SLOW: bool = true;

    fn load(&mut self, files: &dyn Files) -> Result<(), BuildError> {
        self.python.load::<Self>(&self.packages, files, &self.limits)?;
        let [least, most] = self.range;
        if !(least.is_finite() && most.is_finite() && least < most) {
            let why =
                format!("expected two numbers, the less before the more, found {least}, {most}");
            return Err(BuildError::new("range", why));
        }
        let (setting, source) = match (&self.script, &self.file, &self.tests) {
            (Some(source), None, None) => ("script", source.clone()),
            (None, Some(file), None) => ("file", files.text("file", file)?),
            (None, None, Some(_)) => return Ok(()),
            _ => return Err(BuildError::new("script", "give one of script, file and tests")),
        };
        let python = self.python.guest::<Self>();
        let python = python.map_err(|_| BuildError::new("", "python_check needs the sandbox"))?;
        let compiled = script::compile(python, &source, self.function.as_deref(), &self.limits);
        self.compiled = Some(compiled.map_err(|why| {
            // In single quotes TOML leaves a backslash as it is.
            let is_one_line = !source.contains('\n') && source.contains("\\n");
            let help = if is_one_line {
                "; \\n in single quotes is not a line end: write the script over several lines, between ''' and '''"
            } else {
                ""
            };
            BuildError::new(setting, format!("{why}{help}")).code(Code::BadScript)
        })?);
        Ok(())
    }

    fn range(&self) -> [f64; 2] {
        self.range
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let unset = || Fault::internal("python_check was not loaded");
        let function = self.function.as_deref();
        if let Some(column) = &self.tests {
            let Some((_, suite)) = suite_run::suite(sample, column, meter)? else {
                return Ok(Verdict::abstained("the row has no grader"));
            };
            let Kind::Grader { source } = suite.kind else {
                let why = "tests: expected a grader, {\"type\": \"python\", \"source\": \"...\"}";
                return Err(Fault::bad_reference(why));
            };
            return self.run(&Script { body: Body::Source(&source), function }, sample, meter);
        }
        let compiled = self.compiled.as_ref().ok_or_else(unset)?;
        self.run(&Script { body: Body::Compiled(compiled), function }, sample, meter)
    }
}

impl PythonCheck {
    fn run(
        &self,
        script: &Script<'_>,
        sample: &Sample,
        meter: &mut Meter<'_>,
    ) -> Result<Verdict, Fault> {
        meter.spend((sample.completion().len() + sample.prompt().len()) as u64)?;
        let ran = script.run(self.python.guest::<Self>()?, sample, &self.limits, meter);
        let verdict = ran
            .said
            .and_then(|said| self.verdict(said))
            .unwrap_or_else(|failure| Verdict::failed(failure.fault(self.tests.is_some())));
        let verdict = verdict.with("fuel", ran.fuel);
        Ok(if ran.stdout.is_empty() { verdict } else { verdict.with("stdout", ran.stdout) })
    }

    fn verdict(&self, said: Said) -> Result<Verdict, Failure> {
        let Said::Reward(number, notes) = said else {
            return Ok(Verdict::abstained("the script returned None"));
        };
        let [least, most] = self.range;
        let reward = Reward::new(number).filter(|_| (least..=most).contains(&number));
        let reward = reward.ok_or_else(|| Failure {
            kind: FaultKind::Trap,
            why: format!(
                "returned {number}; `range` allows {least} to {most}, which a setting widens: range = [{:?}, {:?}]",
                least.min(number),
                most.max(number)
            ),
            line: None,
        })?;
        let verdict = Verdict::scored(reward);
        Ok(if notes.is_empty() { verdict } else { verdict.with("notes", notes) })
    }
}
