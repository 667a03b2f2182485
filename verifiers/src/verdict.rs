//! The verdict: an outcome, and the evidence for it.

pub(crate) mod form;
mod parts;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::fault::Fault;
use crate::ordered::OrderedMap;
use crate::sample::Message;
pub use parts::{Component, Components, Step, Usage};

/// A finite number: what a scored sample earns. Most verifiers stay in 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Reward(f64);

impl Reward {
    /// What a wrong answer earns.
    pub const ZERO: Self = Self(0.0);
    /// What a right answer earns.
    pub const ONE: Self = Self(1.0);

    /// A reward, unless `value` is not finite. A negative zero becomes zero.
    pub fn new(value: f64) -> Option<Self> {
        value.is_finite().then_some(Self(value + 0.0))
    }

    /// 1 for right and 0 for wrong.
    pub fn graded(right: bool) -> Self {
        if right { Self::ONE } else { Self::ZERO }
    }

    /// The number.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl From<Reward> for f64 {
    fn from(reward: Reward) -> Self {
        reward.0
    }
}

impl TryFrom<f64> for Reward {
    type Error = &'static str;

    fn try_from(value: f64) -> Result<Self, Self::Error> {
        Self::new(value).ok_or("a reward must be finite")
    }
}

/// The outcome of judging a sample. A wrong answer is `Scored(0)`; a missing reference is
/// `Abstained`; anything that prevented the judgement is `Failed`.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// The sample was judged.
    Scored(Reward),
    /// The verifier does not apply to this sample, for the reason given.
    Abstained(Cow<'static, str>),
    /// The sample could not be judged. Never a reward.
    Failed(Fault),
}

impl Outcome {
    /// The reward, where there is one.
    pub fn reward(&self) -> Option<Reward> {
        match self {
            Self::Scored(reward) => Some(*reward),
            Self::Abstained(_) | Self::Failed(_) => None,
        }
    }

    /// Why there is no reward.
    pub fn why(&self) -> Option<&str> {
        match self {
            Self::Scored(_) => None,
            Self::Abstained(why) => Some(why),
            Self::Failed(fault) => Some(&fault.why),
        }
    }

    /// `scored`, `abstained` or `failed`, as the run format writes it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Scored(_) => "scored",
            Self::Abstained(_) => "abstained",
            Self::Failed(_) => "failed",
        }
    }
}

/// What led to an outcome, in the order in which it was noted. Keys are part of the run format.
///
/// `extracted` (text) and `span` (byte offsets into the completion, end excluded) say what was
/// judged; `reason` is a short fixed word that says why.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Evidence(OrderedMap<Value>);

impl Evidence {
    /// The longest text that is kept whole, in bytes. Longer ones are cut: evidence points at the
    /// sample, it does not copy it.
    pub const TEXT_BYTES_MAX: usize = 512;

    /// Notes one thing. Long texts are cut at a character and end in an ellipsis.
    pub fn push(&mut self, key: &'static str, value: impl Into<Value>) {
        let value = match value.into() {
            Value::String(text) if text.len() > Self::TEXT_BYTES_MAX => Value::String(cut(&text)),
            value => value,
        };
        self.0.push(key, value);
    }

    /// The first value noted under `key`.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    /// Every note, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter()
    }

    /// Whether nothing was noted.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn cut(text: &str) -> String {
    let end = text.floor_char_boundary(Evidence::TEXT_BYTES_MAX);
    format!("{}…", text.get(..end).unwrap_or_default())
}

/// The outcome of one verifier on one sample, with its evidence.
///
/// As JSON: `outcome`, then `reward` or `fault` and `why`, then `evidence`, `components`, `steps`
/// and `usage` where there are any.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "form::VerdictForm")]
pub struct Verdict {
    /// What came of it.
    pub outcome: Outcome,
    /// What led to it.
    pub evidence: Evidence,
    /// Its parts by name: the criteria of a rubric, the objectives of a model.
    pub components: Components,
    /// The rewards of the steps of the completion, in their order.
    pub steps: Vec<Step>,
    /// What it took.
    pub usage: Usage,
}

impl Verdict {
    /// A judged sample.
    pub fn scored(reward: Reward) -> Self {
        Outcome::Scored(reward).into()
    }

    /// A judged sample that is right (1) or wrong (0).
    pub fn graded(right: bool) -> Self {
        Self::scored(Reward::graded(right))
    }

    /// A sample to which the verifier does not apply.
    pub fn abstained(why: impl Into<Cow<'static, str>>) -> Self {
        Outcome::Abstained(why.into()).into()
    }

    /// A sample without the reference that the verifier needs.
    pub fn no_reference() -> Self {
        Self::abstained("the sample has no reference")
    }

    /// A sample that could not be judged.
    pub fn failed(fault: Fault) -> Self {
        Outcome::Failed(fault).into()
    }

    /// Adds a note to the evidence.
    #[must_use]
    pub fn with(mut self, key: &'static str, value: impl Into<Value>) -> Self {
        self.evidence.push(key, value);
        self
    }

    /// Notes the text that was judged and where it stands in the completion.
    #[must_use]
    pub fn with_extracted(self, text: &str, span: (usize, usize)) -> Self {
        self.with("extracted", text).with("span", vec![span.0, span.1])
    }

    /// Notes as `unread` the types of the parts of `message` that are not text: a check that reads
    /// text alone did not see them.
    #[must_use]
    pub fn with_unread(self, message: Option<&Message>) -> Self {
        let unread = message.map(|message| message.content.unread()).into_iter().flatten();
        let unread: Vec<&str> = unread.collect();
        if unread.is_empty() { self } else { self.with("unread", unread) }
    }

    /// Notes the fixed word that says why.
    #[must_use]
    pub fn because(self, reason: &'static str) -> Self {
        self.with("reason", reason)
    }
}

impl From<Outcome> for Verdict {
    fn from(outcome: Outcome) -> Self {
        Self {
            outcome,
            evidence: Evidence::default(),
            components: Components::default(),
            steps: Vec::new(),
            usage: Usage::default(),
        }
    }
}

impl From<Result<Verdict, Fault>> for Verdict {
    fn from(result: Result<Verdict, Fault>) -> Self {
        result.unwrap_or_else(Self::failed)
    }
}
