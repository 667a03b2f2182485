//! The questions about pairs and lists of texts, and the reading of their replies.

use std::sync::Arc;

use assay_verifiers::{Fault, FaultKind, Sample, Usage};
use serde_json::{Value, json};

use super::settings::{PairQuestion, PairwiseVerifier};
use crate::judge::{JudgeRequest, JudgedTexts, NamedJudge, Subject};
use crate::prompt::{Material, PromptTemplate};
use crate::reply::{AskedSeveral, ReplyError, read_list, read_pair};
use crate::verifiers::reply_schema::object;
use crate::verifiers::shown::{conversation, shown_reference, without_thinking};

/// What makes requests and asks them.
pub(super) struct PairRequests {
    pub(super) judge: Arc<NamedJudge>,
    pub(super) prompt: PromptTemplate,
    pub(super) settings: PairwiseVerifier,
    pub(super) questions: Vec<PairQuestion>,
    /// Whether the reference is what is compared, and so is not shown beside.
    pub(super) hides_reference: bool,
}

/// One question about some texts.
#[derive(Clone, Copy)]
pub(super) struct Question<'a> {
    /// The sample whose prompt, reference and row count.
    pub(super) sample: &'a Sample,
    /// What is compared, in the order in which it is shown.
    pub(super) texts: &'a [&'a str],
    pub(super) asked: &'a PairQuestion,
    /// Whether a pair is shown in the other order.
    pub(super) swapped: bool,
    pub(super) vote: u32,
}

/// What came of a question that may have been asked again.
pub(super) struct Asking<T> {
    pub(super) read: Result<T, Fault>,
    pub(super) usage: Usage,
    pub(super) calls: u64,
}

/// What a judge said, and why.
pub(super) struct Said<T> {
    pub(super) value: T,
    pub(super) reasons: String,
}

impl PairRequests {
    /// What the judge sees of a completion.
    pub(super) fn completion(&self, sample: &Sample) -> String {
        without_thinking(sample.completion().to_owned(), self.settings.thinking)
    }

    /// The questions about one pair, the votes and the orders counted; at least 1.
    pub(super) fn calls(&self) -> usize {
        let orders = if self.settings.both_orders { 2 } else { 1 };
        (self.questions.len() * orders * self.settings.votes as usize).max(1)
    }

    /// Whether the replies are in the row of a sample, which has room for one opponent.
    pub(super) fn reads_column(&self) -> bool {
        let identity = self.judge.judge.identity();
        identity.get("kind").and_then(Value::as_str) == Some("column")
    }

    /// Asks about a pair: the strength, above 0 for the text that is shown first.
    pub(super) async fn pair(&self, question: Question<'_>) -> Asking<Said<f64>> {
        let graded = self.settings.graded;
        let shape = if graded {
            json!({ "type": "string", "enum": ["A>>B", "A>B", "A=B", "B>A", "B>>A"] })
        } else {
            json!({ "type": "string", "enum": ["A", "B", "tie"] })
        };
        let words = if graded {
            "\"verdict\": \"A>>B\" or \"A>B\" or \"A=B\" or \"B>A\" or \"B>>A\""
        } else {
            "\"verdict\": \"A\" or \"B\" or \"tie\""
        };
        let form = Form { members: json!({ "verdict": shape }), words: words.to_owned() };
        self.ask(question, &form, |reply, asked| {
            let verdict = read_pair(reply, asked, graded)?;
            let sign = verdict.reply.winner.sign();
            let value = verdict.reply.strength.filter(|_| graded).unwrap_or(sign);
            Ok(Said { value, reasons: verdict.reasons })
        })
        .await
    }

    /// Asks for a score of each text.
    pub(super) async fn list(&self, question: Question<'_>) -> Asking<Said<Vec<f64>>> {
        let count = question.texts.len();
        let score = json!({ "type": "integer", "minimum": 1, "maximum": 10 });
        let scores =
            json!({ "type": "array", "minItems": count, "maxItems": count, "items": score });
        let members = json!({ "principles": { "type": "string" }, "scores": scores });
        let words = format!("\"scores\": [{count} numbers]");
        self.ask(question, &Form { members, words }, |reply, asked| {
            let verdict = read_list(reply, asked, count)?;
            Ok(Said { value: verdict.scores, reasons: verdict.reasons })
        })
        .await
    }

    async fn ask<T>(
        &self,
        question: Question<'_>,
        form: &Form,
        read: impl Fn(&crate::JudgeReply, AskedSeveral<'_>) -> Result<T, ReplyError>,
    ) -> Asking<T> {
        let (mut usage, mut calls) = (Usage::default(), 0);
        let mut last = Fault::internal("nothing was asked");
        for again in 0..=self.settings.asks_again {
            let vote = question.vote + again * self.settings.votes;
            let (request, code, material) = match self.request(Question { vote, ..question }, form)
            {
                Ok(request) => request,
                Err(fault) => return Asking { read: Err(fault), usage, calls },
            };
            calls += 1;
            let reply = match self.judge.judge.ask(request).await {
                Ok(reply) => reply,
                Err(fault) => return Asking { read: Err(fault), usage, calls },
            };
            usage += reply.usage;
            match read(&reply, AskedSeveral { code: &code, material: &material.texts() }) {
                Ok(read) => return Asking { read: Ok(read), usage, calls },
                Err(error) => last = Fault::new(FaultKind::Upstream, error.to_string()),
            }
        }
        Asking { read: Err(last), usage, calls }
    }

    fn material(&self, question: Question<'_>) -> Material {
        let sample = question.sample;
        let is_shown = self.settings.show_reference && !self.hides_reference;
        let reference = sample.reference().filter(|_| is_shown).and_then(shown_reference);
        Material {
            prompt: conversation(sample.prompt_content()),
            reference: reference.unwrap_or_default(),
            completions: question.texts.iter().map(|text| (*text).to_owned()).collect(),
        }
    }

    fn request(
        &self,
        question: Question<'_>,
        form: &Form,
    ) -> Result<(JudgeRequest, String, Material), Fault> {
        let Question { asked, vote, swapped, sample, .. } = question;
        let material = self.material(question).shown();
        let words = ["compare", asked.text.as_str(), form.words.as_str()];
        let rendered = self.prompt.render(&material, &words, |code| {
            json!({
                "question": asked.text,
                "graded": self.settings.graded,
                "shape": form.shape(code),
            })
        });
        let rendered = rendered.map_err(Fault::bad_input)?;
        let mut sampling = self.judge.sampling.clone();
        sampling.seed = sampling.seed.wrapping_add(u64::from(vote));
        let material = material.given;
        let mut texts = material.completions.iter();
        let texts = JudgedTexts {
            prompt: material.prompt.clone(),
            completion: texts.next().cloned().unwrap_or_default(),
            other: texts.next().cloned(),
            reference: material.reference.clone(),
            question: asked.text.clone(),
        };
        let subject = Subject { criterion: asked.name.clone(), swapped };
        let schema = form.schema(&rendered.code);
        let sample = sample.clone();
        let messages = rendered.messages;
        let request = JudgeRequest { messages, schema, sampling, vote, texts, sample, subject };
        Ok((request, rendered.code, material))
    }
}

/// The form of a reply: the members beside the code and the reasons, as a schema and in words.
struct Form {
    members: Value,
    words: String,
}

impl Form {
    /// The JSON Schema. Members are in the order of their names, which is the order in which they are
    /// wanted: what is said for it before the verdict.
    fn schema(&self, code: &str) -> Value {
        let mut properties = self.members.as_object().cloned().unwrap_or_default();
        properties.insert("code".to_owned(), json!({ "type": "string", "enum": [code] }));
        properties.insert("reasons".to_owned(), json!({ "type": "string" }));
        object(&properties)
    }

    fn shape(&self, code: &str) -> String {
        let principles = self.members.get("principles").map_or("", |_| "\"principles\": \"...\", ");
        let words = &self.words;
        format!("{{\"code\": \"{code}\", {principles}\"reasons\": \"...\", {words}}}")
    }
}
