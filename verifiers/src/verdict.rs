//! The verdict: an outcome, and the evidence for it.

use std::borrow::Cow;
use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::fault::Fault;

/// A finite number: what a scored sample earns. Most verifiers stay in 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
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

/// What came of judging a sample. A wrong answer is `Scored(0)`; a missing reference is
/// `Abstained`; whatever stopped us from judging is `Failed`.
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
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence(Vec<(Cow<'static, str>, Value)>);

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
        self.0.push((Cow::Borrowed(key), value));
    }

    /// The first value noted under `key`.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.iter().find(|(have, _)| have == key).map(|(_, value)| value)
    }

    /// Every note, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(key, value)| (key.as_ref(), value))
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

impl Serialize for Evidence {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Evidence {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Ordered;
        impl<'de> Visitor<'de> for Ordered {
            type Value = Evidence;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of evidence")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Evidence, A::Error> {
                let mut notes = Vec::new();
                while let Some((key, value)) = map.next_entry::<String, Value>()? {
                    notes.push((Cow::Owned(key), value));
                }
                Ok(Evidence(notes))
            }
        }
        deserializer.deserialize_map(Ordered)
    }
}

/// The outcome of one verifier on one sample, with its evidence.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// What came of it.
    pub outcome: Outcome,
    /// What led to it.
    pub evidence: Evidence,
}

impl Verdict {
    /// A judged sample.
    pub fn scored(reward: Reward) -> Self {
        Self { outcome: Outcome::Scored(reward), evidence: Evidence::default() }
    }

    /// A judged sample that is right (1) or wrong (0).
    pub fn graded(right: bool) -> Self {
        Self::scored(Reward::graded(right))
    }

    /// A sample to which the verifier does not apply.
    pub fn abstained(why: impl Into<Cow<'static, str>>) -> Self {
        Self { outcome: Outcome::Abstained(why.into()), evidence: Evidence::default() }
    }

    /// A sample without the reference that the verifier needs.
    pub fn no_reference() -> Self {
        Self::abstained("the sample has no reference")
    }

    /// A sample that could not be judged.
    pub fn failed(fault: Fault) -> Self {
        Self { outcome: Outcome::Failed(fault), evidence: Evidence::default() }
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

    /// Notes the fixed word that says why.
    #[must_use]
    pub fn because(self, reason: &'static str) -> Self {
        self.with("reason", reason)
    }
}

impl From<Result<Verdict, Fault>> for Verdict {
    fn from(result: Result<Verdict, Fault>) -> Self {
        result.unwrap_or_else(Self::failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reward_is_finite_and_has_one_zero() {
        assert_eq!(Reward::new(f64::NAN), None);
        assert_eq!(Reward::new(f64::INFINITY), None);
        assert!(Reward::new(-0.0).unwrap().get().is_sign_positive());
    }

    #[test]
    fn evidence_keeps_its_order_through_json() {
        let verdict = Verdict::graded(true).with("z", 1).with("a", "x").because("equal");
        let text = serde_json::to_string(&verdict.evidence).unwrap();
        assert_eq!(text, r#"{"z":1,"a":"x","reason":"equal"}"#);
        assert_eq!(serde_json::from_str::<Evidence>(&text).unwrap(), verdict.evidence);
    }

    #[test]
    fn long_evidence_is_cut_at_a_character() {
        let verdict = Verdict::graded(true).with("text", "é".repeat(400));
        let kept = verdict.evidence.get("text").and_then(Value::as_str).unwrap();
        assert_eq!(kept.chars().count(), 257);
        assert!(kept.ends_with('…'));
    }
}
