//! One line of `verdicts.jsonl` as the index reads it: of the evidence, its reason and fuel alone.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::Value;

/// A row of the run.
#[derive(Deserialize)]
pub(crate) struct RowLine<'a> {
    #[serde(borrow)]
    pub(crate) id: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(crate) group: Option<Word<'a>>,
    pub(crate) outcome: OutcomeWord,
    pub(crate) reward: Option<f64>,
    #[serde(borrow, default)]
    pub(crate) fault: Option<Word<'a>>,
    #[serde(borrow, default)]
    pub(crate) verdicts: Members<'a, PartLine<'a>>,
}

/// The verdict of one reward on a row.
#[derive(PartialEq, Deserialize)]
pub(crate) struct PartLine<'a> {
    pub(crate) outcome: OutcomeWord,
    pub(crate) reward: Option<f64>,
    #[serde(borrow, default)]
    pub(crate) fault: Option<Word<'a>>,
    #[serde(default)]
    pub(crate) evidence: Glance,
    #[serde(default)]
    pub(crate) usage: Spent,
}

/// What is counted of the evidence. Its values are of any type.
#[derive(Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct Glance {
    pub(crate) reason: Option<Value>,
    pub(crate) fuel: Option<Value>,
}

/// What a verdict cost of models.
#[derive(Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct Spent {
    pub(crate) tokens: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum OutcomeWord {
    Scored,
    Abstained,
    Failed,
}

/// A line of `timings.jsonl`.
#[derive(Deserialize)]
pub(crate) struct TimingLine<'a> {
    /// The number of the row over the whole input, from 0.
    pub(crate) row: u64,
    /// What each verdict took, in microseconds.
    #[serde(borrow, default)]
    pub(crate) us: Members<'a, u64>,
}

/// A text that is borrowed from the line where it has no escapes.
#[derive(PartialEq, Deserialize)]
pub(crate) struct Word<'a>(#[serde(borrow)] pub(crate) Cow<'a, str>);

/// The members of an object, in their order.
#[derive(PartialEq)]
pub(crate) struct Members<'a, T>(pub(crate) Vec<(Cow<'a, str>, T)>);

impl<T> Default for Members<'_, T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de: 'a, 'a, T: Deserialize<'de>> Deserialize<'de> for Members<'a, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ByName<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for ByName<T> {
            type Value = Members<'de, T>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("values by name")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((Word(name), value)) = map.next_entry()? {
                    members.push((name, value));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(ByName(PhantomData))
    }
}
