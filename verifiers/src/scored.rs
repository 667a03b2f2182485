//! The scored sample: its reward and its verdicts, one line of a run.

use std::sync::Arc;

use serde::ser::SerializeMap as _;
use serde::{Deserialize, Serialize, Serializer};
use smart_default::SmartDefault;

use crate::fault::{Fault, FaultKind};
use crate::ordered::OrderedMap;
use crate::verdict::outcome::NoReward;
use crate::verdict::{Outcome, Reward, Verdict};

/// A sample's reward, with the verdicts that it was made of.
///
/// Its serde form is the verdict line: JSON lines, Parquet and every API write and read it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "ScoredForm")]
pub struct Scored {
    /// The id of the sample.
    pub id: String,
    /// The prompt that the sample shares with others, where its row names it.
    pub group: Option<String>,
    /// The combined outcome.
    pub outcome: Outcome,
    /// One verdict a reward, in the order of the configuration. Empty for a row that could not be
    /// read.
    pub verdicts: Verdicts,
    /// Time spent on each verdict, in nanoseconds; 0 where the verifier was not run. Not a part of
    /// the line: the same sample has the same line wherever it is judged.
    pub spent_ns: Vec<u64>,
}

/// Verdicts by the names of their rewards, in the order of the configuration.
#[derive(Clone, Debug, PartialEq, SmartDefault)]
pub struct Verdicts {
    #[default(Arc::new([]))]
    names: Arc<[String]>,
    verdicts: Vec<Verdict>,
}

impl Scored {
    /// A sample that could not be judged at all.
    pub fn failed(id: impl Into<String>, fault: Fault) -> Self {
        Self {
            id: id.into(),
            group: None,
            outcome: Outcome::Failed(fault),
            verdicts: Verdicts::default(),
            spent_ns: Vec::new(),
        }
    }

    /// The combined reward. `None` where the sample was not scored.
    pub fn reward(&self) -> Option<f64> {
        self.outcome.reward().map(Reward::get)
    }

    /// The verdict of the reward called `name`.
    pub fn verdict(&self, name: &str) -> Option<&Verdict> {
        self.verdicts.get(name)
    }

    /// Whether the sample, or any verdict on it, failed.
    pub fn has_fault(&self) -> bool {
        let failed = |outcome: &Outcome| matches!(outcome, Outcome::Failed(_));
        failed(&self.outcome) || self.verdicts.iter().any(|(_, verdict)| failed(&verdict.outcome))
    }
}

impl Verdicts {
    /// Verdicts along the names of their rewards.
    pub fn new(names: Arc<[String]>, verdicts: Vec<Verdict>) -> Self {
        Self { names, verdicts }
    }

    /// The verdict of the reward called `name`.
    pub fn get(&self, name: &str) -> Option<&Verdict> {
        self.iter().find(|(have, _)| *have == name).map(|(_, verdict)| verdict)
    }

    /// Every verdict with the name of its reward, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Verdict)> {
        self.names.iter().map(String::as_str).zip(&self.verdicts)
    }

    /// The verdicts alone, in order.
    pub fn as_slice(&self) -> &[Verdict] {
        &self.verdicts
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.verdicts.is_empty()
    }
}

impl Serialize for Verdicts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl Serialize for Scored {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &self.id)?;
        if let Some(group) = &self.group {
            map.serialize_entry("group", group)?;
        }
        self.outcome.write(&mut map, NoReward::IsNull)?;
        map.serialize_entry("verdicts", &self.verdicts)?;
        map.end()
    }
}

/// A line as it is read.
#[derive(Deserialize)]
struct ScoredForm {
    id: String,
    group: Option<String>,
    outcome: String,
    reward: Option<Reward>,
    fault: Option<FaultKind>,
    why: Option<String>,
    verdicts: OrderedMap<Verdict>,
}

impl TryFrom<ScoredForm> for Scored {
    type Error = String;

    fn try_from(form: ScoredForm) -> Result<Self, String> {
        let outcome = Outcome::read(&form.outcome, form.reward, form.fault, form.why)?;
        let (names, verdicts): (Vec<String>, Vec<Verdict>) =
            form.verdicts.into_iter().map(|(name, verdict)| (name.into_owned(), verdict)).unzip();
        let verdicts = Verdicts::new(names.into(), verdicts);
        let (id, group) = (form.id, form.group);
        Ok(Self { id, group, outcome, verdicts, spent_ns: Vec::new() })
    }
}
