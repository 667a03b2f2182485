//! The judge: a language model that answers questions about a completion.

mod budget;
mod column;
mod config;
mod dry;
mod metered;
mod openai;
mod recorded;
mod report;
mod set;
mod store;

use assay_verifiers::canonical::{self, Digest};
use assay_verifiers::{Fault, Pending, Sample, Usage};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub use column::ColumnJudge;
pub use config::{JudgeApi, JudgeConfig, Structured, TokensMember};
pub use dry::DryJudge;
pub use openai::{OpenAiJudge, OpenAiSettings};
pub use recorded::RecordedJudge;
pub use report::{JudgeCounters, JudgeCounts, JudgeReport, StoreCounts, SubjectCounts};
pub use set::{JudgeParts, JudgeSet, NamedJudge};
pub use store::{DiskReplyFile, ReplyFile, ReplyStore, StoreError, StoreMode};

/// Answers questions about completions: a server, a model on this machine, or a record of replies.
pub trait Judge: Send + Sync {
    /// What decides a reply beside the request, such as the name of the model: part of the identity
    /// of every verdict. Never a key.
    fn identity(&self) -> Value;

    /// Asks once. Retries are the judge's own affair, within one deadline; dropping the future gives
    /// the request up.
    fn ask(&self, request: JudgeRequest) -> Pending<Result<JudgeReply, Fault>>;
}

/// One question to a judge.
#[derive(Clone, Debug)]
pub struct JudgeRequest {
    /// The conversation that is sent, the answer of the judge to follow.
    pub messages: Vec<ChatMessage>,
    /// The JSON Schema of the reply.
    pub schema: Value,
    /// How the reply is generated.
    pub sampling: JudgeSampling,
    /// Which vote of several this is, from 0.
    pub vote: u32,
    /// The texts apart, for judges with a prompt of their own. No part of the digest: the messages
    /// hold them.
    pub texts: JudgedTexts,
    /// The sample that is judged, for judges whose replies are in its row. No part of the digest.
    pub sample: Sample,
    /// What is asked, as reports name it: a criterion, or a pair and its order. No part of the digest.
    pub subject: Subject,
}

/// A message of a conversation with a judge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChatMessage {
    /// `system` or `user`.
    pub role: &'static str,
    /// The text.
    pub content: String,
}

/// How a reply is generated.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JudgeSampling {
    /// 0 takes the likeliest token.
    pub temperature: f64,
    /// The seed that the judge is asked to use; it differs from vote to vote.
    pub seed: u64,
    /// The most tokens of the reply.
    pub tokens_max: u32,
    /// How many of the likeliest tokens are asked for at each place; 0 asks for none.
    pub top_logprobs: u32,
}

/// The texts of a request, as they came.
#[derive(Clone, Debug, Default)]
pub struct JudgedTexts {
    /// What the completion answers.
    pub prompt: String,
    /// What is judged.
    pub completion: String,
    /// The other completion of a pair, shown second.
    pub other: Option<String>,
    /// The reference answer.
    pub reference: String,
    /// What is asked.
    pub question: String,
}

/// What is asked, as reports name it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subject {
    /// The criterion; of several at once, their names joined by commas.
    pub criterion: String,
    /// Whether the two completions of a pair are shown in the other order.
    pub swapped: bool,
}

/// What a judge said.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JudgeReply {
    /// What it wrote.
    pub text: String,
    /// Its tokens, where log-probabilities were asked for and given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tokens: Vec<ReplyToken>,
    /// The probability of yes among yes and no, from a judge that writes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub yes: Option<f64>,
    /// Why it ended, such as `stop` or `length`; empty where the judge does not say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub finish_reason: String,
    /// What it took.
    #[serde(default)]
    pub usage: Usage,
}

/// A token of a reply, with the likeliest tokens at its place.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplyToken {
    /// Its text.
    pub text: String,
    /// The likeliest tokens with their log-probabilities.
    pub top: Vec<(String, f64)>,
}

impl JudgeRequest {
    /// The digest under which the reply is kept: of everything that decides it. `model` names who is
    /// asked.
    pub fn digest(&self, model: &Value) -> Digest {
        canonical::digest(&json!({
            "judge": model,
            "messages": self.messages,
            "schema": self.schema,
            "sampling": self.sampling,
            "vote": self.vote,
        }))
    }

    /// The bytes of its texts, for estimates.
    pub fn bytes(&self) -> usize {
        self.messages.iter().map(|message| message.content.len()).sum()
    }
}
