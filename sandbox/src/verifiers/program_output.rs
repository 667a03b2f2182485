//! `program_output`: the completion says what a program does.

mod find;
mod grade;
mod hedge;
mod line;
mod paid;
mod question;
mod raised;
mod run;
mod sheet;
#[cfg(test)]
mod tests;
mod truth;

use std::sync::Arc;

use assay_verifiers::prelude::*;
use assay_verifiers::{BuildError, Digest, Reward, canonical};

use super::sandboxed::{Python, Sandboxed};
use crate::Sandbox;
use crate::memo::VerdictMemo;
use crate::runtime::Limits;
use crate::suite_run;
use crate::value::{Equality, truncated};
use find::{Answer, Find, Want};
use grade::Rules;
use paid::Paid;
use question::{Ask, Question, Task};
use run::{ProgramRunner, RunFailure, Truths};
use truth::Truth;

/// Characters of an answer that evidence repeats.
const SHOWN_CHARS_MAX: usize = 200;
/// Questions that evidence tells of; all are counted.
const SHOWN_MAX: usize = 20;

/// Right when the completion predicts what a program does: what a call returns or prints, an input
/// that gives an output, or what happens in a run (the next line, the value or the type of a
/// variable).
///
/// The reference is the answer itself, as a Python literal, or says which program is asked about:
/// `{"program": "...", "call": "f([1])"}`; that program runs in the sandbox, once for all samples
/// that share it. `ask` says what is asked, and `questions` may hold several, answered on a sheet;
/// see docs/sandbox.md. The answer is found in JSON, tags, assertions, sentences and blocks, and
/// read as a Python literal or as bare text. Nothing in a completion is run: an input that is
/// asked for must be made of literals.
#[derive(Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct ProgramOutput {
    /// Where the answer or the question is: `reference`, a column of the row such as `meta.task`,
    /// or `.` for the whole row, with the columns `code`, `input` and `output`.
    #[default = "reference"]
    reference: String,
    /// What is asked where the reference does not say. By default what the call returns, or what
    /// the program prints.
    ask: Option<Ask>,
    /// How the answer is found in the completion.
    extract: Find,
    /// When a value is right.
    equality: Equality,
    /// A text is right without quotes around it.
    #[default(true)]
    bare_text: bool,
    /// The share of the reward that questions on input and output earn, where a sheet has others
    /// too.
    #[default(0.5)]
    io_share: f64,
    /// Lines that are followed to answer questions on a run.
    #[default(100_000)]
    steps_max: u32,
    /// Packages beside the library: wheels in pure Python and modules of one file, as files, which may be pinned
    /// (`"wheels/networkx-3.7-py3-none-any.whl#sha256=..."`), and names of packages that must be there.
    packages: Vec<String>,
    /// What one run may use.
    limits: Limits,
    #[serde(skip)]
    python: Python,
    #[serde(skip)]
    truths: VerdictMemo<Arc<Truths>>,
}

impl Sandboxed for ProgramOutput {
    fn enter(&mut self, sandbox: &Arc<Sandbox>) -> Result<Vec<(String, Digest)>, BuildError> {
        self.python.enter(sandbox, &self.limits)
    }
}

impl Check for ProgramOutput {
    const ID: &'static str = "program_output";
    const VERSION: u32 = 7;
    const SLOW: bool = true;
    const ASPECT: Aspect = Aspect::Output;

    fn load(&mut self, files: &dyn Files) -> Result<(), BuildError> {
        self.python.load::<Self>(&self.packages, files, &self.limits)?;
        if (0.0..=1.0).contains(&self.io_share) {
            return Ok(());
        }
        Err(BuildError::new(
            "io_share",
            format!("{} is not a share: expected 0 to 1", self.io_share),
        ))
    }

    fn gold(&self, sample: &Sample) -> Option<Vec<String>> {
        let value = suite_run::tests(sample, &self.reference)?;
        let task = Task::read(&value, self.ask, self.reference == ".").ok()?;
        Some(task.gold().into_iter().collect())
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let Some(value) = suite_run::tests(sample, &self.reference) else {
            return Ok(Verdict::no_reference());
        };
        let task = Task::read(&value, self.ask, self.reference == ".")?;
        let truths = self.truths(&task, &canonical::to_bytes(&value), meter)?;
        let verdict = if task.is_sheet {
            self.sheet(sample, &task, &truths, meter)?
        } else {
            self.single(sample, &task, &truths, meter)?
        };
        Ok(if truths.fuel > 0 { verdict.with("fuel", truths.fuel) } else { verdict })
    }
}

/// One answer, graded.
struct Graded<'a> {
    paid: Paid,
    answer: Option<Answer<'a>>,
    /// What the program did with an input.
    gave: Option<String>,
}

impl ProgramOutput {
    fn truths(
        &self,
        task: &Task,
        reference: &[u8],
        meter: &Meter<'_>,
    ) -> Result<Arc<Truths>, Fault> {
        let find = || Truths::of(task, &self.runner()?, meter).map(Arc::new);
        if task.must_run() {
            self.truths.verdict(canonical::digest_parts(&[reference]), find)
        } else {
            find()
        }
    }

    fn runner(&self) -> Result<ProgramRunner<'_>, Fault> {
        let python = self.python.guest::<Self>()?;
        Ok(ProgramRunner { python, limits: &self.limits, steps_max: self.steps_max })
    }

    fn single(
        &self,
        sample: &Sample,
        task: &Task,
        truths: &Truths,
        meter: &mut Meter<'_>,
    ) -> Result<Verdict, Fault> {
        let (Some(question), Some(truth)) = (task.questions.first(), truths.answers.first()) else {
            return Err(Fault::internal("no question"));
        };
        let answers = find::find(sample.completion(), &self.extract, want(question), meter)?;
        let graded = self.graded(answers, task, question, truth, meter)?;
        let Some(answer) = graded.answer else {
            return Ok(Verdict::graded(false).because("no-answer"));
        };
        let verdict = Verdict::scored(Reward::new(graded.paid.share).unwrap_or(Reward::ZERO))
            .with_extracted(&answer.text, answer.span)
            .because(reason(graded.paid.share))
            .with("found", answer.from)
            .with("reading", graded.paid.reading)
            .with("expected", shown(truth));
        Ok(match graded.gave {
            Some(gave) => verdict.with("gave", gave),
            None => verdict,
        })
    }

    fn sheet(
        &self,
        sample: &Sample,
        task: &Task,
        truths: &Truths,
        meter: &mut Meter<'_>,
    ) -> Result<Verdict, Fault> {
        let completion = sample.completion();
        let Some(answers) = sheet::answers(completion, &task.questions, &self.extract, meter)?
        else {
            return Ok(Verdict::graded(false).because("malformed-sheet"));
        };
        let (mut white_box, mut io) = (Mean::default(), Mean::default());
        let mut told = Vec::new();
        for ((question, truth), answer) in task.questions.iter().zip(&truths.answers).zip(answers) {
            let graded = self.graded(answer.into_iter().collect(), task, question, truth, meter)?;
            let mean = if question.ask.is_white_box() { &mut white_box } else { &mut io };
            mean.add(graded.paid.share);
            if told.len() < SHOWN_MAX {
                told.push(json!({
                    "id": question.id,
                    "got": graded.answer.as_ref().map(|answer| got(answer)),
                    "expected": shown(truth),
                    "reading": graded.paid.reading,
                }));
            }
        }
        let reward = match (white_box.mean(), io.mean()) {
            (Some(white_box), Some(io)) => (1.0 - self.io_share) * white_box + self.io_share * io,
            (one, other) => one.or(other).unwrap_or(0.0),
        };
        Ok(Verdict::scored(Reward::new(reward).unwrap_or(Reward::ZERO))
            .because(reason(reward))
            .with("questions", told)
            .with("right", white_box.right + io.right)
            .with("total", white_box.count + io.count))
    }

    /// The best of the answers.
    fn graded<'a>(
        &self,
        answers: Vec<Answer<'a>>,
        task: &Task,
        question: &Question,
        truth: &Truth,
        meter: &mut Meter<'_>,
    ) -> Result<Graded<'a>, Fault> {
        let rules = Rules { equality: self.equality, bare_text: self.bare_text };
        let mut best = Graded { paid: Paid::NOTHING, answer: None, gave: None };
        let is_hedged = |answer| hedge::is_hedged(answer, &answers, truth);
        let hedged: Vec<bool> = answers.iter().map(is_hedged).collect();
        for (answer, is_hedged) in answers.into_iter().zip(hedged) {
            let (paid, gave) = match question.ask {
                Ask::Input => self.input(&answer, task, truth, meter)?,
                _ if is_hedged => (Paid::NOTHING, None),
                _ => (rules.paid(&answer, truth, meter)?, None),
            };
            if best.answer.is_none() || paid.share > best.paid.share {
                best = Graded { paid, answer: Some(answer), gave };
            }
        }
        Ok(best)
    }

    /// Whether the function returns what is expected when it is called with the answer.
    fn input(
        &self,
        answer: &Answer<'_>,
        task: &Task,
        truth: &Truth,
        meter: &mut Meter<'_>,
    ) -> Result<(Paid, Option<String>), Fault> {
        meter.spend(16 * answer.text.len() as u64)?;
        let mut gave = None;
        for call in find::calls(answer, &task.program.entry_point) {
            let got = match self.runner()?.run(&task.program, Some(&call), &[], meter) {
                Ok(found) => found,
                Err(RunFailure::Fault(fault)) => return Err(fault),
                Err(RunFailure::Broken(why)) => {
                    return Err(Fault::bad_reference(format!("the program: {why}")));
                }
                Err(RunFailure::Stopped(why)) => {
                    gave.get_or_insert(why);
                    continue;
                }
            };
            let right = match (&got.returned, truth) {
                (Some(Truth::Value(got)), Truth::Value(wanted)) => self.equality.holds(got, wanted),
                (got, wanted) => got.as_ref() == Some(wanted),
            };
            let raised = got.raised.map(|(_, text)| format!("raised {text}"));
            let returned = got.returned.as_ref().map(shown);
            let told = raised.or(returned).unwrap_or_default();
            if right {
                return Ok((Paid::full("run"), Some(told)));
            }
            gave.get_or_insert(told);
        }
        Ok((Paid::NOTHING, gave))
    }
}

#[derive(Default)]
struct Mean {
    sum: f64,
    right: usize,
    count: u32,
}

impl Mean {
    fn add(&mut self, share: f64) {
        self.sum += share;
        self.right += usize::from(share >= 1.0);
        self.count += 1;
    }

    fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / f64::from(self.count))
    }
}

fn want(question: &Question) -> Want {
    match question.ask {
        Ask::Input => Want::Arguments,
        Ask::Stdout => Want::Text,
        _ => Want::Value,
    }
}

fn reason(share: f64) -> &'static str {
    match share {
        share if share >= 1.0 => "equal",
        share if share > 0.0 => "partly",
        _ => "different",
    }
}

fn got(answer: &Answer<'_>) -> String {
    match &answer.value {
        Some(value) => cut(value),
        None => cut(&answer.text),
    }
}

/// What is right, as evidence shows it.
fn shown(truth: &Truth) -> String {
    match truth {
        Truth::Value(value) => cut(value),
        Truth::Shown { text, .. } | Truth::Printed(text) | Truth::Line { number: None, text } => {
            cut(text)
        }
        Truth::Raised(class) => format!("raises {class}"),
        Truth::Line { number: Some(number), text } => {
            cut(format!("line {number}: {text}").trim_end_matches([':', ' ']))
        }
        Truth::End => "no line".to_owned(),
        Truth::Type(names) => names.first().cloned().unwrap_or_default(),
    }
}

fn cut(shown: impl std::fmt::Display) -> String {
    truncated(shown, SHOWN_CHARS_MAX)
}
