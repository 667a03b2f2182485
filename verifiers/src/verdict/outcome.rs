//! The outcome: scored with a reward, abstained, or failed with a fault.

use std::borrow::Cow;

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize};

use crate::fault::{Fault, FaultKind};

/// A finite number: what a scored sample earns. Most verifiers stay in 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Reward(f64);

impl Reward {
    /// What a wrong answer earns.
    pub const ZERO: Self = Self(0.0);
    /// What a right answer earns.
    pub const ONE: Self = Self(1.0);
    /// The least number of a right answer, where no setting says otherwise: an answer is right from
    /// this on, never above it alone.
    pub const RIGHT: f64 = 0.5;

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
