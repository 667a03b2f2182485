//! The serialized form of outcomes, verdicts and components: JSON lines, Parquet, caches and every
//! API derive from it.

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};

use super::{Component, Components, Evidence, Outcome, Reward, Step, Usage, Verdict};
use crate::fault::{Fault, FaultKind};

/// A verdict as it is written.
#[derive(Deserialize)]
pub(crate) struct VerdictForm {
    pub(crate) outcome: String,
    pub(crate) reward: Option<Reward>,
    pub(crate) fault: Option<FaultKind>,
    pub(crate) why: Option<String>,
    #[serde(default)]
    evidence: Evidence,
    #[serde(default)]
    components: Components,
    #[serde(default)]
    steps: Vec<Step>,
    #[serde(default)]
    usage: Usage,
}

impl Outcome {
    /// Reads an outcome from the members that [`Outcome::write`] writes.
    pub(crate) fn read(
        name: &str,
        reward: Option<Reward>,
        fault: Option<FaultKind>,
        why: Option<String>,
    ) -> Result<Self, String> {
        let why = || why.ok_or_else(|| format!("{name} without \"why\""));
        match name {
            "scored" => {
                reward.map(Self::Scored).ok_or_else(|| "scored without a reward".to_owned())
            }
            "abstained" => Ok(Self::Abstained(why()?.into())),
            "failed" => {
                let kind = fault.ok_or_else(|| "failed without a fault".to_owned())?;
                Ok(Self::Failed(Fault::new(kind, why()?)))
            }
            other => Err(format!("outcome \"{other}\": expected scored, abstained or failed")),
        }
    }

    /// Writes `outcome`, then `reward`, or `why` with the `fault` before it.
    pub(crate) fn write<M: SerializeMap>(
        &self,
        map: &mut M,
        null: NoReward,
    ) -> Result<(), M::Error> {
        map.serialize_entry("outcome", self.name())?;
        if self.reward().is_some() || null == NoReward::IsNull {
            map.serialize_entry("reward", &self.reward())?;
        }
        match self {
            Self::Scored(_) => Ok(()),
            Self::Abstained(why) => map.serialize_entry("why", why),
            Self::Failed(fault) => {
                map.serialize_entry("fault", &fault.kind)?;
                map.serialize_entry("why", &fault.why)
            }
        }
    }
}

/// How an outcome without a reward is written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoReward {
    /// As `"reward": null`.
    IsNull,
    /// Not at all.
    IsLeftOut,
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

impl TryFrom<VerdictForm> for Verdict {
    type Error = String;

    fn try_from(form: VerdictForm) -> Result<Self, String> {
        let outcome = Outcome::read(&form.outcome, form.reward, form.fault, form.why)?;
        let VerdictForm { evidence, components, steps, usage, .. } = form;
        Ok(Self { outcome, evidence, components, steps, usage })
    }
}
