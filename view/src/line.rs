//! One line of `verdicts.jsonl` as the aggregates read it: of the evidence, its reason and fuel alone.

use std::borrow::Cow;
use std::fmt;

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
    #[serde(default)]
    pub(crate) reward: Option<f64>,
    #[serde(borrow, default)]
    pub(crate) fault: Option<Word<'a>>,
    #[serde(borrow, default)]
    pub(crate) verdicts: Parts<'a>,
}

/// A row with its places: in the run, in the file, in the input.
pub(crate) struct PlacedRow<'a> {
    /// Its place in the run, from 0.
    pub(crate) at: u64,
    /// Its place in the file, in bytes.
    pub(crate) offset: u64,
    /// Its number over the whole input, from 0.
    pub(crate) number: u64,
    /// What its verdicts took, in microseconds.
    pub(crate) us: Option<u64>,
    pub(crate) line: RowLine<'a>,
}

/// A row without its parts.
#[derive(Deserialize)]
pub(crate) struct RowHead<'a> {
    #[serde(borrow)]
    pub(crate) id: Cow<'a, str>,
    #[serde(default)]
    pub(crate) reward: Option<f64>,
}

/// The verdict of one reward on a row.
#[derive(Deserialize)]
pub(crate) struct PartLine<'a> {
    pub(crate) outcome: OutcomeWord,
    #[serde(default)]
    pub(crate) reward: Option<f64>,
    #[serde(borrow, default)]
    pub(crate) fault: Option<Word<'a>>,
    #[serde(default)]
    pub(crate) evidence: Glance,
    #[serde(default)]
    pub(crate) usage: Spent,
}

/// What is counted of the evidence. Its values are of any type.
#[derive(Default, Deserialize)]
pub(crate) struct Glance {
    #[serde(default)]
    pub(crate) reason: Option<Value>,
    #[serde(default)]
    pub(crate) fuel: Option<Value>,
}

/// What a verdict cost of models.
#[derive(Default, Deserialize)]
pub(crate) struct Spent {
    #[serde(default)]
    pub(crate) tokens: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum OutcomeWord {
    Scored,
    Abstained,
    Failed,
}

/// A text that is borrowed from the line where it has no escapes.
#[derive(Deserialize)]
pub(crate) struct Word<'a>(#[serde(borrow)] pub(crate) Cow<'a, str>);

/// The parts of a row, in their order.
#[derive(Default)]
pub(crate) struct Parts<'a>(pub(crate) Vec<(Cow<'a, str>, PartLine<'a>)>);

impl<'de: 'a, 'a> Deserialize<'de> for Parts<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Parts<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("verdicts by name")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Parts<'de>, A::Error> {
                let mut parts = Vec::new();
                while let Some(Word(name)) = map.next_key()? {
                    parts.push((name, map.next_value()?));
                }
                Ok(Parts(parts))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

/// A line of `timings.jsonl`.
#[derive(Deserialize)]
pub(crate) struct TimingLine {
    /// The number of the row over the whole input, from 0.
    pub(crate) row: u64,
    #[serde(default)]
    us: Microseconds,
}

impl TimingLine {
    /// What all verdicts of the row took, in microseconds.
    pub(crate) fn us(&self) -> u64 {
        self.us.0
    }
}

/// The sum over all verdicts.
#[derive(Default)]
struct Microseconds(u64);

impl<'de> Deserialize<'de> for Microseconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Microseconds;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("microseconds by name")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Microseconds, A::Error> {
                let mut sum = 0_u64;
                while let Some((Word(_), us)) = map.next_entry::<Word<'_>, u64>()? {
                    sum = sum.saturating_add(us);
                }
                Ok(Microseconds(sum))
            }
        }
        deserializer.deserialize_map(Members)
    }
}
