//! From verdicts and labels to cases.

use std::collections::BTreeMap;

use assay::rubrics::agreement::{Bootstrap, JudgedPair};
use assay::rubrics::reply::pair::Winner;
use assay::verifiers::{Outcome, Verdict};
use serde::Serialize;
use serde_json::Value;

use super::data::Label;
use super::kind::LabelKind;
use super::statistics::{LevelCase, Measured, PairCase, RightCase, levels, pairs, rights};

/// Rows, and what came of them.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Counts {
    /// Rows with a label.
    pub(super) rows: usize,
    /// Those of them with a reward; of a pair both samples.
    pub(super) judged: usize,
    /// Those on which the judge abstained.
    pub(super) abstained: usize,
    /// Those that failed, by kind.
    pub(super) faults: BTreeMap<String, usize>,
    /// Rows without a label, which are left out.
    pub(super) unlabelled: usize,
}

/// What a judge and people said of the rows.
pub(super) struct Cases {
    pub(super) counts: Counts,
    said: Said,
}

enum Said {
    Pairs(Vec<PairCase>),
    Levels(Vec<LevelCase>),
    Rights(Vec<RightCase>),
}

impl Cases {
    /// Cases of labels; `verdicts` has one for each, of pairs two.
    pub(super) fn of(
        kind: LabelKind,
        labels: &[Label],
        verdicts: &[Option<&Verdict>],
        threshold: f64,
    ) -> Self {
        let mut counts = Counts { rows: labels.len(), ..Counts::default() };
        let each = if kind == LabelKind::Pairs { 2 } else { 1 };
        let rows = labels.iter().zip(verdicts.chunks(each));
        let rows: Vec<_> = rows.inspect(|(_, verdicts)| counts.count(verdicts)).collect();
        let said = match kind {
            LabelKind::Pairs => Said::Pairs(
                rows.iter().filter_map(|(label, verdicts)| of_pair(**label, verdicts)).collect(),
            ),
            LabelKind::Levels => Said::Levels(
                rows.iter().filter_map(|(label, verdicts)| of_level(**label, verdicts)).collect(),
            ),
            LabelKind::Binary => Said::Rights(
                rows.iter()
                    .filter_map(|(label, verdicts)| of_right(**label, verdicts, threshold))
                    .collect(),
            ),
        };
        Self { counts, said }
    }

    /// The statistics, each with an interval.
    pub(super) fn measured(&self, how: Bootstrap, bins: usize) -> Measured {
        match &self.said {
            Said::Pairs(cases) => pairs(cases, how, bins),
            Said::Levels(cases) => levels(cases, how),
            Said::Rights(cases) => rights(cases, how, bins),
        }
    }
}

impl Counts {
    fn count(&mut self, verdicts: &[Option<&Verdict>]) {
        let failed = verdicts.iter().flatten().find_map(|verdict| match &verdict.outcome {
            Outcome::Failed(fault) => Some(fault),
            _ => None,
        });
        if let Some(fault) = failed {
            *self.faults.entry(fault.kind.to_string()).or_default() += 1;
        } else if verdicts.iter().all(|verdict| verdict.is_some_and(|one| reward(one).is_some())) {
            self.judged += 1;
        } else {
            self.abstained += 1;
        }
    }
}

fn reward(verdict: &Verdict) -> Option<f64> {
    match &verdict.outcome {
        Outcome::Scored(reward) => Some(reward.get()),
        _ => None,
    }
}

fn of_pair(label: Label, verdicts: &[Option<&Verdict>]) -> Option<PairCase> {
    let Label::Better(label) = label else { return None };
    let first = verdicts.first().copied().flatten();
    let other = verdicts.get(1).copied().flatten();
    let rewards = first.and_then(reward).zip(other.and_then(reward));
    let preferred = rewards.map(|(first, second)| match first.total_cmp(&second) {
        std::cmp::Ordering::Greater => Winner::First,
        std::cmp::Ordering::Less => Winner::Second,
        std::cmp::Ordering::Equal => Winner::Tie,
    });
    // A verifier of pairs tells what it said in each order.
    let component = first.and_then(|verdict| verdict.components.iter().next());
    let order = |key: &str| {
        let (_, component) = component?;
        match component.evidence.get(key).and_then(Value::as_str)? {
            "won" => Some(Winner::First),
            "lost" => Some(Winner::Second),
            "tie" => Some(Winner::Tie),
            _ => None,
        }
    };
    let swapped = order("shown_second").map(Winner::swapped);
    let orders = JudgedPair { label, shown: order("shown_first"), swapped };
    let share = rewards.map(|(first, _)| first).filter(|share| (0.0..=1.0).contains(share));
    Some(PairCase { label, preferred, orders, share })
}

fn of_level(label: Label, verdicts: &[Option<&Verdict>]) -> Option<LevelCase> {
    let Label::Level(label) = label else { return None };
    let value = verdicts.first().copied().flatten().and_then(|verdict| {
        let reward = reward(verdict)?;
        let mut parts = verdict.components.iter();
        // The one criterion of a rubric tells its own value beside the share of the points.
        let only = parts.next().filter(|_| parts.next().is_none());
        let value = only.and_then(|(_, part)| part.evidence.get("value")?.as_f64());
        Some(value.unwrap_or(reward))
    });
    Some(LevelCase { label, value })
}

fn of_right(label: Label, verdicts: &[Option<&Verdict>], threshold: f64) -> Option<RightCase> {
    let Label::Right(label) = label else { return None };
    let share = verdicts.first().copied().flatten().and_then(reward);
    Some(RightCase { label, share, judged: share.map(|share| share >= threshold) })
}
