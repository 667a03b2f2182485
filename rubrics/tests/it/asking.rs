//! Requests to judges, for tests.

use std::sync::{Arc, Mutex};

use assay_rubrics::judge::{
    ChatMessage, Judge, JudgeReply, JudgeRequest, JudgeSampling, JudgedTexts, Subject,
};
use assay_verifiers::{Fault, Pending, Sample, Usage};
use serde_json::{Value, json};

/// A question about a criterion.
pub(crate) fn question(criterion: &str) -> JudgeRequest {
    JudgeRequest {
        messages: vec![ChatMessage { role: "user", content: format!("is it {criterion}?") }],
        schema: json!({"type": "object", "properties": {"yes": {"type": "boolean"}}}),
        sampling: JudgeSampling { temperature: 0.0, seed: 3, tokens_max: 64, top_logprobs: 0 },
        vote: 0,
        texts: JudgedTexts::default(),
        sample: Sample::builder("a completion").build(),
        subject: Subject { criterion: criterion.to_owned(), swapped: false },
    }
}

/// A judge that answers by a function of the number of the question, and lists what it was asked.
pub(crate) struct Scripted {
    pub(crate) asked: Arc<Mutex<Vec<String>>>,
    pub(crate) answer: fn(usize) -> Result<&'static str, Fault>,
}

impl Scripted {
    pub(crate) fn new(answer: fn(usize) -> Result<&'static str, Fault>) -> Self {
        Self { asked: Arc::default(), answer }
    }
}

impl Judge for Scripted {
    fn identity(&self) -> Value {
        json!({"kind": "scripted"})
    }

    fn ask(&self, request: JudgeRequest) -> Pending<Result<JudgeReply, Fault>> {
        let (asked, answer) = (Arc::clone(&self.asked), self.answer);
        Box::pin(async move {
            let at = {
                let mut asked = asked.lock().unwrap();
                asked.push(request.subject.criterion);
                asked.len() - 1
            };
            tokio::task::yield_now().await;
            let usage = Usage { tokens: 10, calls: 1 };
            answer(at).map(|text| JudgeReply {
                text: text.to_owned(),
                usage,
                ..JudgeReply::default()
            })
        })
    }
}
