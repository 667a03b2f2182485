//! What a run came to: counts, means, faults, and agreement with labels.

use std::collections::BTreeMap;

use assay_verifiers::FaultKind;
use assay_verifiers::canonical;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::batch::{Batch, Reason, RowLabel, RowReason, Tallied};
use super::cache::CacheCounts;
use super::group_figures::{GroupCounts, GroupFigures, GroupTally};

/// The most characters of a label that is shown.
const LABEL_MAX: usize = 60;
/// Disagreements that are listed; the rest are counted.
const DISAGREEMENTS_MAX: usize = 10_000;

/// The contents of `summary.json`. Everything but `cache` and `judges` follows from the rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Rows in the output.
    pub rows: u64,
    /// Rows that were left out because they could not be read (`--bad-rows skip`).
    pub skipped: u64,
    /// Rows that earn although a reward abstained because they have no reference.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unreferenced: u64,
    /// Groups of two rows or more, where there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<GroupCounts>,
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
    #[serde(skip)]
    open: OpenGroup,
}

/// The group in hand, and those before it.
#[derive(Clone, Debug, Default, PartialEq)]
struct OpenGroup {
    key: u64,
    rows: u64,
    counts: GroupCounts,
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
    /// The least reward of the scored rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// The greatest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// Failed rows by fault.
    pub faults: BTreeMap<FaultKind, u64>,
    /// The first row of each fault.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub first_faults: BTreeMap<FaultKind, RowReason>,
    /// The first row on which it abstained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_abstained: Option<RowReason>,
    /// The reward within groups, where groups have two members or more with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within_groups: Option<GroupFigures>,
    #[serde(skip)]
    sum: f64,
    #[serde(skip)]
    in_groups: GroupTally,
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
    /// Those of them whose label is neither right nor wrong.
    #[serde(flatten)]
    pub unread: UnreadLabels,
    /// The rows that disagree, at most 10,000 of them.
    pub disagreements: Vec<Disagreement>,
}

/// Labels that are neither right nor wrong.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UnreadLabels {
    /// How many there are.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unread: u64,
    /// The first of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_unread: Option<UnreadLabel>,
}

/// A label that is neither right nor wrong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnreadLabel {
    /// The number of the row over the whole input, from 0.
    pub row: u64,
    /// The id of the sample.
    pub id: String,
    /// The label, or the beginning of a long one.
    pub label: String,
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
            self.unread.add(of.label.as_ref(), of.row, &of.id);
            return;
        };
        let accepted = reward.map(|reward| reward >= RIGHT_FROM);
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
        self.unread.absorb(part.unread);
        self.disagreements.extend(part.disagreements);
        self.disagreements.sort_by_key(|one| one.row);
        self.disagreements.truncate(DISAGREEMENTS_MAX);
    }
}

impl UnreadLabels {
    /// Counts the label of a row, where it has one that says neither.
    pub fn add(&mut self, label: Option<&Value>, row: u64, id: &str) {
        let says_neither = |label: &&Value| !label.is_null() && label_truth(label).is_none();
        let Some(label) = label.filter(says_neither) else { return };
        self.unread += 1;
        self.first_unread.get_or_insert_with(|| UnreadLabel {
            row,
            id: id.to_owned(),
            label: label.to_string().chars().take(LABEL_MAX).collect(),
        });
    }

    fn absorb(&mut self, part: Self) {
        self.unread += part.unread;
        let unread = self.first_unread.take().into_iter().chain(part.first_unread);
        self.first_unread = unread.min_by_key(|one| one.row);
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

/// From here on a reward, or a label that is a number, says right.
pub const RIGHT_FROM: f64 = 0.5;

/// What a label says: a truth value, a number (right from 0.5 on), or the words for it.
pub fn label_truth(label: &Value) -> Option<bool> {
    match label {
        Value::Bool(label) => Some(*label),
        Value::Number(number) => number.as_f64().map(|number| number >= RIGHT_FROM),
        Value::String(text) => match text.trim().to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" | "correct" | "right" => Some(true),
            "false" | "0" | "no" | "incorrect" | "wrong" => Some(false),
            text => {
                let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
                number.map(|number| number >= RIGHT_FROM)
            }
        },
        _ => None,
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
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
    fn add(&mut self, outcome: Tallied, is_grouped: bool) {
        match outcome {
            Tallied::Scored(reward) => {
                self.scored += 1;
                self.sum += reward;
                self.min = Some(self.min.map_or(reward, |least| least.min(reward)));
                self.max = Some(self.max.map_or(reward, |most| most.max(reward)));
                if is_grouped {
                    self.in_groups.add(reward);
                }
            }
            Tallied::Failed(fault) => {
                self.failed += 1;
                *self.faults.entry(fault).or_default() += 1;
            }
            Tallied::Abstained => self.abstained += 1,
            Tallied::Missing => {}
        }
    }

    /// The reward that every scored row has, where there are several of them.
    pub fn constant(&self) -> Option<f64> {
        self.min.filter(|least| self.scored > 1 && self.max == Some(*least))
    }

    /// Keeps a reason, where it is the first of its kind.
    fn note(&mut self, reason: &Reason) {
        match reason.fault {
            Some(fault) => {
                let first = self.first_faults.entry(fault);
                first.or_insert_with(|| reason.example.clone());
            }
            None => {
                self.first_abstained.get_or_insert_with(|| reason.example.clone());
            }
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

    /// SHA-256 of what follows from the rows: of everything but `cache` and `judges`.
    pub(super) fn digest(&self) -> String {
        let own = Self { cache: None, judges: None, ..self.clone() };
        // Keys are text and numbers are finite, so it has a JSON form.
        canonical::hex(&Sha256::digest(serde_json::to_vec(&own).unwrap_or_default()))
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
        self.unreferenced += batch.unreferenced;
        let mut totals = Vec::new();
        let mut groups = batch.groups.iter().copied();
        for row in batch.outcomes.chunks_exact(1 + self.rewards.len()) {
            let Some((total, rewards)) = row.split_first() else { continue };
            let group = groups.next().unwrap_or_default();
            self.enter_group(group);
            self.total.add(*total, group != 0);
            for (reward, outcome) in self.rewards.iter_mut().zip(rewards) {
                reward.tally.add(*outcome, group != 0);
            }
            totals.push(*total);
        }
        for reason in &batch.reasons {
            match reason.reward.checked_sub(1) {
                None => self.total.note(reason),
                Some(at) => {
                    if let Some(reward) = self.rewards.get_mut(at) {
                        reward.tally.note(reason);
                    }
                }
            }
        }
        self.tallies().for_each(Tally::close);
        let Some(labels) = &mut self.labels else { return };
        for (label, total) in batch.labels.iter().zip(totals) {
            let reward = if let Tallied::Scored(reward) = total { Some(reward) } else { None };
            labels.add(label, reward);
        }
    }

    /// Ends the group in hand where the next row is of another one.
    fn enter_group(&mut self, key: u64) {
        if key == 0 || key != self.open.key {
            self.end_group();
            self.open.key = key;
        }
        self.open.rows += u64::from(key != 0);
    }

    fn end_group(&mut self) {
        let rows = std::mem::take(&mut self.open.rows);
        self.open.counts.add(rows);
        if rows > 0 {
            self.tallies().for_each(|tally| tally.in_groups.close());
        }
    }

    /// The rows are at their end: so is the group in hand, and its figures are told.
    pub(super) fn finish(&mut self) {
        self.end_group();
        self.groups = Some(self.open.counts.clone()).filter(|counts| counts.groups > 0);
        self.tallies().for_each(|tally| tally.within_groups = tally.in_groups.figures());
    }

    fn tallies(&mut self) -> impl Iterator<Item = &mut Tally> {
        let rewards = self.rewards.iter_mut().map(|reward| &mut reward.tally);
        std::iter::once(&mut self.total).chain(rewards)
    }

    /// Share of rows that have no reward because of a fault.
    pub fn fault_rate(&self) -> f64 {
        ratio(self.total.failed + self.skipped, self.rows + self.skipped)
    }
}
