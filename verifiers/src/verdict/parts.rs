//! The optional parts of a verdict: components, steps, usage.

use serde::ser::SerializeMap as _;
use serde::{Deserialize, Serialize, Serializer};

use super::evidence::Evidence;
use super::outcome::{NoReward, Outcome, Reward};
use crate::fault::FaultKind;
use crate::ordered::OrderedMap;

/// The parts of a verdict by name, in their order.
pub type Components = OrderedMap<Component>;

/// One part of a verdict: a criterion of a rubric, an objective of a model.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "VerdictForm")]
pub struct Component {
    /// What came of it.
    pub outcome: Outcome,
    /// What led to it.
    pub evidence: Evidence,
}

/// A verdict as it is written. A component is written as a verdict without parts.
#[derive(Deserialize)]
pub(super) struct VerdictForm {
    pub(super) outcome: String,
    pub(super) reward: Option<Reward>,
    pub(super) fault: Option<FaultKind>,
    pub(super) why: Option<String>,
    #[serde(default)]
    pub(super) evidence: Evidence,
    #[serde(default)]
    pub(super) components: Components,
    #[serde(default)]
    pub(super) steps: Vec<Step>,
    #[serde(default)]
    pub(super) usage: Usage,
}

impl TryFrom<VerdictForm> for Component {
    type Error = String;

    fn try_from(form: VerdictForm) -> Result<Self, String> {
        let VerdictForm { outcome, reward, fault, why, evidence, .. } = form;
        Ok(Self { outcome: Outcome::read(&outcome, reward, fault, why)?, evidence })
    }
}

impl Serialize for Component {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.outcome.write(&mut map, NoReward::IsLeftOut)?;
        if !self.evidence.is_empty() {
            map.serialize_entry("evidence", &self.evidence)?;
        }
        map.end()
    }
}

impl From<Outcome> for Component {
    fn from(outcome: Outcome) -> Self {
        Self { outcome, evidence: Evidence::default() }
    }
}

/// The reward of one step of a completion.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Its bytes in the text that was judged, end excluded.
    pub span: (usize, usize),
    /// The message that it is a part of, counted from 0, where several messages were judged, or one that
    /// is not the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<usize>,
    /// Its tokens among the token ids of the sample, end excluded, where they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<(usize, usize)>,
    /// What it earns.
    pub reward: Reward,
}

impl Step {
    /// A step of the text that was judged.
    pub fn new(span: (usize, usize), reward: Reward) -> Self {
        Self { span, turn: None, tokens: None, reward }
    }
}

/// What a verdict took of models and services.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Tokens that were read and written.
    pub tokens: u64,
    /// Texts that a model was asked about, or requests that were sent.
    pub calls: u64,
}

impl Usage {
    /// Whether nothing was used.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, more: Self) {
        self.tokens = self.tokens.saturating_add(more.tokens);
        self.calls = self.calls.saturating_add(more.calls);
    }
}
