//! The verdict: an outcome, the evidence for it, and its parts. Its serialized form is the only one: JSON
//! lines, Parquet, caches and every API derive from it.

mod evidence;
pub(crate) mod outcome;
mod parts;

use std::borrow::Cow;

use serde::ser::SerializeMap as _;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use crate::fault::Fault;
use crate::language::standing::Against;
use crate::sample::Message;
pub use evidence::Evidence;
use outcome::NoReward;
pub use outcome::{Outcome, Reward};
use parts::VerdictForm;
pub use parts::{Component, Components, Step, Usage};

/// The outcome of one verifier on one sample, with its evidence.
///
/// As JSON: `outcome`, then `reward` or `fault` and `why`, then `evidence`, `components`, `steps`
/// and `usage` where there are any.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "VerdictForm")]
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

    /// Why a verifier abstains that needs a reference.
    pub const NO_REFERENCE: &'static str = "the sample has no reference";

    /// A sample without the reference that the verifier needs.
    pub fn no_reference() -> Self {
        Self::abstained(Self::NO_REFERENCE)
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

    /// Notes why an answer does not stand, and where the completion says so.
    #[must_use]
    pub(crate) fn against(self, Against { reason, span: (from, to) }: Against) -> Self {
        self.with("against", vec![from, to]).because(reason)
    }

    /// Notes the text that was judged and where it is in the completion.
    #[must_use]
    pub fn with_extracted(mut self, text: &str, span: (usize, usize)) -> Self {
        self.evidence.push_text("extracted", text);
        self.with("span", vec![span.0, span.1])
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

impl TryFrom<VerdictForm> for Verdict {
    type Error = String;

    fn try_from(form: VerdictForm) -> Result<Self, String> {
        let VerdictForm { outcome, reward, fault, why, evidence, components, steps, usage } = form;
        let outcome = Outcome::read(&outcome, reward, fault, why)?;
        Ok(Self { outcome, evidence, components, steps, usage })
    }
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.outcome.write(&mut map, NoReward::IsLeftOut)?;
        if !self.evidence.is_empty() {
            map.serialize_entry("evidence", &self.evidence)?;
        }
        if !self.components.is_empty() {
            map.serialize_entry("components", &self.components)?;
        }
        if !self.steps.is_empty() {
            map.serialize_entry("steps", &self.steps)?;
        }
        if !self.usage.is_none() {
            map.serialize_entry("usage", &self.usage)?;
        }
        map.end()
    }
}
