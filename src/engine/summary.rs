//! What a run came to: counts, means, faults, and agreement with labels.

use std::collections::BTreeMap;

use assay_verifiers::FaultKind;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::batch::{Batch, RowLabel, Tallied};
use super::cache::CacheCounts;

/// Disagreements that are listed; the rest are counted.
const DISAGREEMENTS_MAX: usize = 10_000;

/// The contents of `summary.json`. Everything but `cache` and `judges` follows from the rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Rows in the output.
    pub rows: u64,
    /// Rows that were left out because they could not be read (`--bad-rows skip`).
    pub skipped: u64,
    /// The combined reward.
    pub total: Tally,
    /// Each reward, in the order of the configuration.
    pub rewards: Vec<NamedTally>,
    /// The comparison with labels, where one was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<Agreement>,
    /// How the cache fared in the last session of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<CacheCounts>,
    /// What judges were asked in the last session of the run: calls, tries, retries, tokens and
    /// faults, of each judge and of each criterion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judges: Option<Value>,
}

/// Outcomes of one reward.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// Rows with a reward.
    pub scored: u64,
    /// Rows on which it abstained.
    pub abstained: u64,
    /// Rows on which it failed.
    pub failed: u64,
    /// The mean over the scored rows.
    pub mean: Option<f64>,
    /// Failed rows by fault.
    pub faults: BTreeMap<FaultKind, u64>,
    #[serde(skip)]
    sum: f64,
}

/// Outcomes of one reward, with its name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NamedTally {
    /// The reward.
    pub name: String,
    /// Its outcomes.
    #[serde(flatten)]
    pub tally: Tally,
}

/// How rewards agree with labels that say right or wrong.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Agreement {
    /// The column of the labels.
    pub column: String,
    /// Labelled right and rewarded.
    pub true_accepts: u64,
    /// Labelled wrong and not rewarded.
    pub true_rejects: u64,
    /// Labelled wrong, but rewarded.
    pub false_accepts: u64,
    /// Labelled right, but not rewarded.
    pub false_rejects: u64,
    /// Labelled, but without a reward.
    pub unscored: u64,
    /// Rows without a label (missing, null, or neither right nor wrong).
    pub unlabelled: u64,
    /// The rows that disagree, at most 10,000 of them.
    pub disagreements: Vec<Disagreement>,
}

/// A row whose reward does not fit its label.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Disagreement {
    /// The number of the row over the whole input, from 0.
    #[serde(default)]
    pub row: u64,
    /// The id of the sample.
    pub id: String,
    /// What the label says.
    pub label: bool,
    /// What it earned; null where it has no reward.
    pub reward: Option<f64>,
}

impl Agreement {
    /// Rows that were compared: labelled and scored.
    pub fn compared(&self) -> u64 {
        self.agreed() + self.false_accepts + self.false_rejects
    }

    /// Rows that agree.
    pub fn agreed(&self) -> u64 {
        self.true_accepts + self.true_rejects
    }

    /// Share of labelled rows that agree; a labelled row without a reward does not.
    pub fn accuracy(&self) -> f64 {
        ratio(self.agreed(), self.compared() + self.unscored)
    }

    fn add(&mut self, of: &RowLabel, reward: Option<f64>) {
        let Some(label) = of.label.as_ref().and_then(label_truth) else {
            self.unlabelled += 1;
            return;
        };
        let accepted = reward.map(|reward| reward >= 0.5);
        let count = match (label, accepted) {
            (true, Some(true)) => &mut self.true_accepts,
            (false, Some(false)) => &mut self.true_rejects,
            (false, Some(true)) => &mut self.false_accepts,
            (true, Some(false)) => &mut self.false_rejects,
            (_, None) => &mut self.unscored,
        };
        *count += 1;
        if accepted != Some(label) && self.disagreements.len() < DISAGREEMENTS_MAX {
            let (row, id) = (of.row, of.id.clone());
            self.disagreements.push(Disagreement { row, id, label, reward });
        }
    }
}

impl Agreement {
    /// Adds what another part of the run came to.
    fn absorb(&mut self, part: Self) {
        self.true_accepts += part.true_accepts;
        self.true_rejects += part.true_rejects;
        self.false_accepts += part.false_accepts;
        self.false_rejects += part.false_rejects;
        self.unscored += part.unscored;
        self.unlabelled += part.unlabelled;
        self.disagreements.extend(part.disagreements);
        self.disagreements.sort_by_key(|one| one.row);
        self.disagreements.truncate(DISAGREEMENTS_MAX);
    }
}

/// The sum of two reports: numbers are added, and of anything else the first stays.
fn added(mut sum: Value, part: Value) -> Value {
    match (&mut sum, part) {
        (Value::Object(members), Value::Object(part)) => {
            for (key, value) in part {
                let member = members.entry(key).or_insert(Value::Null);
                *member = added(member.take(), value);
            }
        }
        (Value::Number(number), Value::Number(part)) => {
            if let (Some(one), Some(other)) = (number.as_u64(), part.as_u64()) {
                *number = one.saturating_add(other).into();
            }
        }
        (Value::Null, part) => sum = part,
        _ => {}
    }
    sum
}

/// What a label says: a truth value, a number (right from 0.5 on), or the words for it.
pub fn label_truth(label: &Value) -> Option<bool> {
    match label {
        Value::Bool(label) => Some(*label),
        Value::Number(number) => number.as_f64().map(|number| number >= 0.5),
        Value::String(text) => match text.to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" | "correct" | "right" => Some(true),
            "false" | "0" | "no" | "incorrect" | "wrong" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of rows are far below 2^53")]
fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[expect(clippy::cast_precision_loss, reason = "counts of rows are far below 2^53")]
fn mean(sum: f64, count: u64) -> f64 {
    sum / count as f64
}

impl Tally {
    fn add(&mut self, outcome: Tallied) {
        match outcome {
            Tallied::Scored(reward) => {
                self.scored += 1;
                self.sum += reward;
            }
            Tallied::Failed(fault) => {
                self.failed += 1;
                *self.faults.entry(fault).or_default() += 1;
            }
            Tallied::Abstained => self.abstained += 1,
            Tallied::Missing => {}
        }
    }

    fn close(&mut self) {
        self.mean = (self.scored > 0).then(|| mean(self.sum, self.scored));
    }
}

impl Summary {
    /// An empty summary of rewards of these names, compared with labels where a column is named.
    pub fn new(names: &[String], labels: Option<&str>) -> Self {
        let reward = |name: &String| NamedTally { name: name.clone(), tally: Tally::default() };
        let against =
            |column: &str| Agreement { column: column.to_owned(), ..Agreement::default() };
        let labels = labels.map(against);
        Self { rewards: names.iter().map(reward).collect(), labels, ..Self::default() }
    }

    /// An empty summary of the same rewards and labels.
    pub(super) fn emptied(&self) -> Self {
        let names: Vec<String> = self.rewards.iter().map(|reward| reward.name.clone()).collect();
        Self::new(&names, self.labels.as_ref().map(|labels| labels.column.as_str()))
    }

    /// Adds what the verdict lines of another part of the run do not say: rows that were skipped,
    /// labels, and what the cache and judges were asked.
    pub(super) fn absorb(&mut self, part: Self) {
        self.skipped += part.skipped;
        if let (Some(labels), Some(part)) = (&mut self.labels, part.labels) {
            labels.absorb(part);
        }
        if let Some(part) = part.cache {
            *self.cache.get_or_insert_default() += part;
        }
        if let Some(part) = part.judges {
            self.judges = Some(added(self.judges.take().unwrap_or_default(), part));
        }
    }

    /// Counts the rows of a batch.
    pub fn add(&mut self, batch: &Batch) {
        self.rows += batch.rows as u64;
        self.skipped += batch.skipped.len() as u64;
        let mut totals = Vec::new();
        for row in batch.outcomes.chunks_exact(1 + self.rewards.len()) {
            let Some((total, rewards)) = row.split_first() else { continue };
            self.total.add(*total);
            for (reward, outcome) in self.rewards.iter_mut().zip(rewards) {
                reward.tally.add(*outcome);
            }
            totals.push(*total);
        }
        self.total.close();
        self.rewards.iter_mut().for_each(|reward| reward.tally.close());
        let Some(labels) = &mut self.labels else { return };
        for (label, total) in batch.labels.iter().zip(totals) {
            let reward = if let Tallied::Scored(reward) = total { Some(reward) } else { None };
            labels.add(label, reward);
        }
    }

    /// Share of rows that have no reward because of a fault.
    pub fn fault_rate(&self) -> f64 {
        ratio(self.total.failed + self.skipped, self.rows + self.skipped)
    }
}
