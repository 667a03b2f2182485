//! What is said of a run as a whole. Rows are added one by one, and none is kept but those that are named.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::figures::{Correlation, Histogram, Spread, Top, float};
use crate::groups::Groups;
use crate::line::{OutcomeWord, PartLine, PlacedRow};
use crate::text::cut_text;

/// Parts with figures of their own.
const PARTS_MAX: usize = 24;
/// Parts that are correlated with each other.
const CORRELATED_MAX: usize = 12;
/// Reasons of one part that are told apart.
const REASONS_MAX: usize = 20;
/// Kinds of faults that are told apart, over all parts.
const FAULTS_MAX: usize = 100;
/// Rows that are named of one kind.
const NAMED_MAX: usize = 10;
/// Bytes of a name.
const NAME_BYTES_MAX: usize = 60;
/// Lengths are counted by powers of two.
const LENGTHS: usize = 33;

/// A row that is named.
#[derive(Clone)]
pub(crate) struct RowName {
    at: u64,
    number: u64,
    id: String,
}

impl RowName {
    fn new(row: &PlacedRow<'_>) -> Self {
        let id = cut_text(&row.line.id, NAME_BYTES_MAX);
        Self { at: row.at, number: row.number, id }
    }

    fn json(&self, value: f64) -> Value {
        json!({ "at": self.at, "number": self.number, "id": self.id, "value": value })
    }
}

/// The figures of one reward.
#[derive(Clone, Default)]
struct Figures {
    outcomes: [u64; 3],
    spread: Spread,
    histogram: Histogram,
    reasons: BTreeMap<String, u64>,
    other_reasons: u64,
}

impl Figures {
    fn add(&mut self, outcome: OutcomeWord, reward: Option<f64>) {
        let [scored, abstained, failed] = &mut self.outcomes;
        *match outcome {
            OutcomeWord::Scored => scored,
            OutcomeWord::Abstained => abstained,
            OutcomeWord::Failed => failed,
        } += 1;
        if let Some(reward) = reward.filter(|reward| reward.is_finite()) {
            self.spread.add(reward);
            self.histogram.add(reward);
        }
    }

    fn add_reason(&mut self, reason: &str) {
        if let Some(count) = self.reasons.get_mut(reason) {
            *count += 1;
        } else if self.reasons.len() < REASONS_MAX && reason.len() <= NAME_BYTES_MAX {
            self.reasons.insert(reason.to_owned(), 1);
        } else {
            self.other_reasons += 1;
        }
    }

    fn json(&self) -> Value {
        let [scored, abstained, failed] = self.outcomes;
        let mut reasons: Vec<(&String, &u64)> = self.reasons.iter().collect();
        reasons.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        json!({
            "scored": scored, "abstained": abstained, "failed": failed,
            "figures": self.spread.json(), "histogram": self.histogram.json(),
            "reasons": reasons, "other_reasons": self.other_reasons,
        })
    }
}

/// Rows with one fault.
#[derive(Clone, Default)]
struct FaultRows {
    rows: u64,
    first: Vec<u64>,
}

/// Lengths of completions against the reward.
#[derive(Clone)]
pub(crate) struct Lengths {
    rows: u64,
    correlation: Correlation,
    /// Rows and their rewards by the power of two.
    bins: Vec<Spread>,
}

impl Default for Lengths {
    fn default() -> Self {
        let bins = vec![Spread::default(); LENGTHS];
        Self { rows: 0, correlation: Correlation::default(), bins }
    }
}

impl Lengths {
    /// A row of so many characters.
    pub(crate) fn add(&mut self, length: u64, reward: Option<f64>) {
        self.rows += 1;
        let Some(reward) = reward else { return };
        self.correlation.add(float(length), reward);
        let bin = (u64::BITS - length.leading_zeros()) as usize;
        if let Some(bin) = self.bins.get_mut(bin.min(LENGTHS - 1)) {
            bin.add(reward);
        }
    }

    /// `null` where no length is known.
    pub(crate) fn json(&self) -> Value {
        if self.rows == 0 {
            return Value::Null;
        }
        let low = |at: usize| if at == 0 { 0 } else { 1_u64 << (at - 1) };
        let bins = self.bins.iter().enumerate().filter(|(_, bin)| bin.count > 0);
        let bins = bins.map(|(at, bin)| json!([low(at), bin.count, bin.mean()]));
        let (rows, bins) = (self.rows, bins.collect::<Vec<_>>());
        json!({ "rows": rows, "correlation": self.correlation.get(), "bins": bins })
    }
}

/// What is said of a run as a whole.
pub(crate) struct Overview {
    rows: u64,
    total: Figures,
    parts: Vec<(String, Figures)>,
    /// Verdicts of parts beyond the most.
    left_out: u64,
    /// By the name of the part, which is empty for the row, and the fault.
    faults: BTreeMap<(String, String), FaultRows>,
    /// For each pair of parts, the second before the first.
    correlations: Vec<Correlation>,
    groups: Groups,
    slowest: Top<RowName>,
    tokens: Top<RowName>,
    fuel: Top<RowName>,
    pub(crate) lengths: Lengths,
}

impl Default for Overview {
    fn default() -> Self {
        let top = || Top::new(NAMED_MAX);
        Self {
            rows: 0,
            total: Figures::default(),
            parts: Vec::new(),
            left_out: 0,
            faults: BTreeMap::new(),
            correlations: vec![Correlation::default(); CORRELATED_MAX * (CORRELATED_MAX - 1) / 2],
            groups: Groups::default(),
            slowest: top(),
            tokens: top(),
            fuel: top(),
            lengths: Lengths::default(),
        }
    }
}

impl Overview {
    pub(crate) fn add(&mut self, row: &PlacedRow<'_>) {
        let line = &row.line;
        let reward = line.reward.filter(|_| line.outcome == OutcomeWord::Scored);
        if self.groups.is_next(line.group.as_ref().map(|group| &*group.0)) {
            self.close_group();
        }
        self.groups.add(row, reward);
        self.rows += 1;
        self.total.add(line.outcome, reward);
        if let Some(fault) = &line.fault {
            self.add_fault("", &fault.0, row.at);
        }
        let (mut tokens, mut fuel) = (0_u64, 0.0);
        let mut rewards = [None; CORRELATED_MAX];
        for (name, part) in &line.verdicts.0 {
            if let Some(fault) = &part.fault {
                self.add_fault(name, &fault.0, row.at);
            }
            tokens = tokens.saturating_add(part.usage.tokens.unwrap_or(0));
            fuel += part.evidence.fuel.as_ref().and_then(Value::as_f64).unwrap_or(0.0);
            if let Some(at) = self.add_part(name, part)
                && let Some(place) = rewards.get_mut(at)
            {
                *place = part.reward;
            }
        }
        self.correlate(&rewards);
        let name = || RowName::new(row);
        if let Some(us) = row.us.filter(|us| *us > 0) {
            self.slowest.add(float(us), name);
        }
        if tokens > 0 {
            self.tokens.add(float(tokens), name);
        }
        if fuel > 0.0 {
            self.fuel.add(fuel, name);
        }
    }

    /// All rows were added.
    pub(crate) fn finish(&mut self) {
        self.close_group();
    }

    fn close_group(&mut self) {
        self.groups.close();
        self.total.spread.close_group();
        for (_, figures) in &mut self.parts {
            figures.spread.close_group();
        }
    }

    /// The place of the part.
    fn add_part(&mut self, name: &str, part: &PartLine<'_>) -> Option<usize> {
        let at = self.parts.iter().position(|(own, _)| own == name).unwrap_or(self.parts.len());
        if at == self.parts.len() {
            if at == PARTS_MAX {
                self.left_out += 1;
                return None;
            }
            self.parts.push((name.to_owned(), Figures::default()));
        }
        let (_, figures) = self.parts.get_mut(at)?;
        figures.add(part.outcome, part.reward);
        if let Some(reason) = part.evidence.reason.as_ref().and_then(Value::as_str) {
            figures.add_reason(reason);
        }
        Some(at)
    }

    fn add_fault(&mut self, part: &str, fault: &str, at: u64) {
        let key = (cut_text(part, NAME_BYTES_MAX), cut_text(fault, NAME_BYTES_MAX));
        if self.faults.len() >= FAULTS_MAX && !self.faults.contains_key(&key) {
            return;
        }
        let rows = self.faults.entry(key).or_default();
        rows.rows += 1;
        if rows.first.len() < NAMED_MAX {
            rows.first.push(at);
        }
    }

    fn correlate(&mut self, rewards: &[Option<f64>; CORRELATED_MAX]) {
        let mut pairs = self.correlations.iter_mut();
        for (second, y) in rewards.iter().enumerate() {
            for x in rewards.iter().take(second) {
                let Some(pair) = pairs.next() else { return };
                if let (Some(x), Some(y)) = (x, y) {
                    pair.add(*x, *y);
                }
            }
        }
    }

    /// Everything, with the weights of the parts as `config` has them.
    pub(crate) fn json(&self, config: &Value) -> Value {
        let weights = config.get("reward").and_then(Value::as_array);
        let weight = |name: &str| {
            let own = |reward: &&Value| reward.get("name").and_then(Value::as_str) == Some(name);
            weights?.iter().find(own)?.get("weight").cloned()
        };
        let parts = self.parts.iter().map(|(name, figures)| {
            let short = cut_text(name, NAME_BYTES_MAX);
            json!({ "name": short, "weight": weight(name), "reward": figures.json() })
        });
        let faults = self.faults.iter().map(|((part, fault), rows)| {
            json!({ "part": part, "fault": fault, "rows": rows.rows, "first": rows.first })
        });
        let count = self.parts.len().min(CORRELATED_MAX);
        let pairs = self.correlations.iter().take(count * count.saturating_sub(1) / 2);
        let top = |top: &Top<RowName>| {
            top.rows().iter().map(|(value, row)| row.json(*value)).collect::<Vec<_>>()
        };
        json!({
            "rows": self.rows, "total": self.total.json(), "parts": parts.collect::<Vec<_>>(),
            "left_out": self.left_out, "faults": faults.collect::<Vec<_>>(),
            "correlations": pairs.map(Correlation::get).collect::<Vec<_>>(),
            "groups": self.groups.json(), "lengths": self.lengths.json(),
            "slowest": top(&self.slowest), "tokens": top(&self.tokens), "fuel": top(&self.fuel),
        })
    }

    /// The groups whose rewards differ most: the place of each in the run and in the file, and its rows.
    pub(crate) fn widest_groups(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        self.groups.widest()
    }
}
