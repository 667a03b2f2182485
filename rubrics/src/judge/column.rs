//! The judge whose replies are in the row.

use std::future;

use assay_verifiers::{Fault, Pending};
use serde_json::{Value, json};

use super::{Judge, JudgeReply, JudgeRequest};

/// Reads replies from a column: those of a judge that was asked elsewhere.
///
/// The column holds a text, which answers every vote; a list of texts, one a vote; a list of
/// objects with `text` and, for pairs, `swap`, one a vote among those of the same order; or an
/// object that holds any of these under the name of each criterion. Only such objects answer
/// where the completions of a pair are shown in the other order.
#[derive(Clone, Debug)]
pub struct ColumnJudge {
    column: String,
}

impl ColumnJudge {
    /// Reads `column`, in which dots lead into objects.
    pub fn new(column: impl Into<String>) -> Self {
        Self { column: column.into() }
    }

    fn read(&self, request: &JudgeRequest) -> Result<JudgeReply, Fault> {
        let whole = request.sample.column(&self.column);
        let criterion = &request.subject.criterion;
        let found = match whole {
            Some(Value::Object(by_criterion)) => by_criterion.get(criterion),
            other => other,
        };
        let text = found.and_then(|found| reply_text(found, request));
        let text = text.ok_or_else(|| self.missing(request))?;
        Ok(JudgeReply { text: text.to_owned(), ..JudgeReply::default() })
    }

    fn missing(&self, request: &JudgeRequest) -> Fault {
        let subject = &request.subject;
        let order = if subject.swapped { " in the other order" } else { "" };
        Fault::bad_input(format!(
            "column \"{}\": no reply for criterion \"{}\"{order}, vote {}",
            self.column, subject.criterion, request.vote
        ))
    }
}

fn reply_text<'v>(found: &'v Value, request: &JudgeRequest) -> Option<&'v str> {
    let swapped = request.subject.swapped;
    let vote = usize::try_from(request.vote).ok()?;
    match found {
        Value::String(text) => (!swapped).then_some(text),
        Value::Array(votes) if votes.iter().all(Value::is_object) => {
            let swap = |one: &Value| one.get("swap").and_then(Value::as_bool).unwrap_or_default();
            votes.iter().filter(|one| swap(one) == swapped).nth(vote)?.get("text")?.as_str()
        }
        Value::Array(votes) => votes.get(vote).filter(|_| !swapped)?.as_str(),
        _ => None,
    }
}

impl Judge for ColumnJudge {
    fn identity(&self) -> Value {
        json!({"kind": "column", "column": self.column})
    }

    fn ask(&self, request: JudgeRequest) -> Pending<Result<JudgeReply, Fault>> {
        Box::pin(future::ready(self.read(&request)))
    }
}
