//! `reasoning_gym`: the tasks of reasoning-gym 0.1.25, each by its own rule.

use std::borrow::Cow;

use assay_puzzles::entry::{Puzzle, weight};
use assay_puzzles::reasoning::{last_answer, mark, steps};

use crate::extract::{Thinking, thinking};
use crate::prelude::*;
use crate::text_parts::share;

/// Right when reasoning-gym says so of the last `<answer>` tag.
///
/// The row is that of the library: `answer` as reference, and `metadata` with the data of the puzzle,
/// whose `source_dataset` names the task. 101 of 106 tasks are judged. Answers are parsed, never
/// executed. An unknown task, or data that a rule needs and the row lacks, is a bad reference.
#[derive(Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct ReasoningGym {
    /// The task of all rows. Without it, each row names its own.
    task: Option<String>,
    /// The column that names the task.
    #[default = "metadata.source_dataset"]
    task_column: String,
    /// The column with the data of the puzzle: an object, or its JSON.
    #[default = "metadata"]
    metadata: String,
    /// Pay 1 for what is right, and nothing else. Without it, the score is that of reasoning-gym, which
    /// pays shares for wrong answers of many tasks, and in some tasks 0.01 for any or none.
    #[default(true)]
    strict: bool,
}

impl Check for ReasoningGym {
    const ID: &'static str = "reasoning_gym";

    fn columns(&self) -> Vec<(&'static str, String)> {
        vec![("metadata", self.metadata.clone())]
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let metadata = self.metadata(sample)?;
        if sample.reference().is_none() && metadata.is_null() {
            return Ok(Verdict::no_reference());
        }
        let task = self.task(sample, &metadata)?;
        let reference = sample.reference().unwrap_or(&Value::Null);
        let completion = sample.completion();
        meter.spend(5 * completion.len() as u64)?;
        let said = thinking::answer(completion, Thinking::Skip);
        let span = said.and_then(|said| {
            let inner = last_answer(completion.get(said.clone())?)?;
            Some(said.start + inner.start..said.start + inner.end)
        });
        let answer = span.clone().and_then(|span| completion.get(span));
        let length = answer.map_or(0, str::len) as u64 + weight(reference) + weight(&metadata);
        meter.spend(steps(&task).saturating_mul(length))?;
        let puzzle = Puzzle { answer: "", reference, metadata: &metadata };
        let marked = mark(&task, answer, &puzzle).map_err(Fault::bad_reference)?;
        let verdict = if self.strict {
            Verdict::graded(marked.right)
        } else {
            share(marked.published.min(1.0))
        };
        let verdict = verdict.with("task", &*task).with("published", marked.published);
        let verdict = match (answer, span) {
            (Some(answer), Some(span)) => verdict.with_extracted(answer, (span.start, span.end)),
            _ => return Ok(verdict.because("no-answer")),
        };
        Ok(verdict.because(if marked.right { "right" } else { "wrong" }))
    }

    fn gold(&self, sample: &Sample) -> Option<Vec<String>> {
        let metadata = self.metadata(sample).ok()?;
        let own = sample.reference().filter(|own| !own.is_null() && own.as_str() != Some("None"));
        let gold = own.or_else(|| metadata.get("possible_answer"));
        let tagged = |gold| format!("<answer>{}</answer>", crate::sample::value_text(gold));
        Some(gold.map(tagged).into_iter().collect())
    }
}

impl ReasoningGym {
    fn metadata<'s>(&self, sample: &'s Sample) -> Result<Cow<'s, Value>, Fault> {
        match sample.column(&self.metadata) {
            Some(Value::String(text)) => serde_json::from_str(text).map(Cow::Owned).map_err(|_| {
                Fault::bad_reference(format!(
                    "column \"{}\" is a text that is not JSON",
                    self.metadata
                ))
            }),
            Some(value) => Ok(Cow::Borrowed(value)),
            None => Ok(Cow::Owned(Value::Null)),
        }
    }

    fn task<'s>(&'s self, sample: &'s Sample, metadata: &Value) -> Result<Cow<'s, str>, Fault> {
        if let Some(task) = &self.task {
            return Ok(Cow::Borrowed(task));
        }
        let column = sample.column(&self.task_column).and_then(Value::as_str);
        let inner = || metadata.get("source_dataset").and_then(Value::as_str);
        let own =
            column.map(Cow::Borrowed).or_else(|| inner().map(|task| Cow::Owned(task.to_owned())));
        own.ok_or_else(|| {
            Fault::bad_reference(format!("column \"{}\" names no task", self.task_column))
        })
    }
}
