//! The one form of outcomes, verdicts and components outside the program: JSON lines, Parquet,
//! caches and every API derive from it.

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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn there_and_back(verdict: &Verdict) -> String {
        let text = serde_json::to_string(verdict).unwrap();
        assert_eq!(serde_json::from_str::<Verdict>(&text).unwrap(), *verdict);
        text
    }

    #[test]
    fn every_verdict_reads_back_as_it_was() {
        let half = Reward::new(0.5).unwrap();
        let plain = Verdict::scored(half).with("z", 1).because("equal");
        assert_eq!(
            there_and_back(&plain),
            r#"{"outcome":"scored","reward":0.5,"evidence":{"z":1,"reason":"equal"}}"#
        );
        let failed = Verdict::failed(Fault::bad_reference("empty"));
        assert_eq!(
            there_and_back(&failed),
            r#"{"outcome":"failed","fault":"BadReference","why":"empty"}"#
        );
        let mut whole = Verdict::abstained("no");
        whole.components.push("b", Outcome::Scored(half).into());
        whole.components.push("a".to_owned(), Outcome::Failed(Fault::internal("x")).into());
        whole.steps = vec![Step { tokens: Some((0, 3)), turn: Some(1), ..Step::new((0, 9), half) }];
        whole.usage = Usage { tokens: 12, calls: 1 };
        assert_eq!(
            there_and_back(&whole),
            "{\"outcome\":\"abstained\",\"why\":\"no\",\"components\":{\"b\":{\"outcome\":\"scored\",\
             \"reward\":0.5},\"a\":{\"outcome\":\"failed\",\"fault\":\"Internal\",\"why\":\"x\"}},\
             \"steps\":[{\"span\":[0,9],\"turn\":1,\"tokens\":[0,3],\"reward\":0.5}],\
             \"usage\":{\"tokens\":12,\"calls\":1}}"
        );
    }

    #[test]
    fn what_is_no_verdict_is_refused() {
        for value in [
            json!({"outcome": "scored"}),
            json!({"outcome": "scored", "reward": null}),
            json!({"outcome": "failed", "why": "x"}),
            json!({"outcome": "failed", "fault": "Odd", "why": "x"}),
            json!({"outcome": "abstained"}),
            json!({"outcome": "right", "reward": 1}),
            json!({"reward": 1}),
        ] {
            assert!(serde_json::from_value::<Verdict>(value.clone()).is_err(), "{value}");
        }
    }
}
