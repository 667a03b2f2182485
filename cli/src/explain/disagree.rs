//! The rows of a run on which its reward and a label disagree, or two of its rewards.

use std::collections::BTreeMap;
use std::path::PathBuf;

use assay::engine::{RIGHT_FROM, UnreadLabels, label_truth};
use assay::verifiers::{Reward, Scored};
use serde::Serialize;

use super::listing::{ListedRow, ListedRun, same_row};
use crate::exit::Failure;
use crate::output::{self, count};
use crate::summary::unread_text;
use crate::text::inline;

/// Rows that are held of one kind of disagreement; all are counted.
const HELD_MAX: usize = 10_000;

/// What disagrees in a run.
#[derive(Serialize)]
struct DisagreeList {
    /// Rows of the run.
    rows: u64,
    /// The rewards against the labels; null where there are none.
    labels: Option<AgainstLabels>,
    /// Pairs of rewards that disagree on a row.
    rewards: Vec<RewardPair>,
}

/// The combined reward against a column.
#[derive(Default, Serialize)]
struct AgainstLabels {
    column: String,
    agree: u64,
    /// Rows that are right by their label, and earned less than 0.5.
    unpaid: Disagreeing,
    /// Rows that are wrong by their label, and earned 0.5 or more.
    paid: Disagreeing,
    /// Rows with a label, and without a reward.
    unscored: u64,
    /// Rows without a label that says right or wrong.
    unlabelled: u64,
    /// Those of them whose label is neither right nor wrong.
    #[serde(flatten)]
    unread: UnreadLabels,
}

/// Two rewards of a row, of which one accepts.
#[derive(Serialize)]
struct RewardPair {
    accepts: String,
    rejects: String,
    #[serde(flatten)]
    found: Disagreeing,
}

/// Rows that disagree in one way.
#[derive(Default, Serialize)]
struct Disagreeing {
    rows: u64,
    first: Vec<DisagreeingRow>,
}

/// A row, and the numbers that are compared: the reward, or that which accepts and that which does
/// not.
#[derive(Serialize)]
struct DisagreeingRow {
    row: u64,
    id: String,
    rewards: Vec<f64>,
}

/// Prints what disagrees. Labels come from `column` of the data, or are those that the run was compared
/// with.
pub(super) fn list(
    run: &ListedRun,
    data: &[PathBuf],
    column: Option<&str>,
    shown: usize,
    json: bool,
) -> Result<(), Failure> {
    let own = run.agreement().map(|labels| labels.column);
    let names: Vec<String> = run.rewards().into_iter().map(|(name, _)| name).collect();
    let Some(column) = column.map(str::to_owned).or(own) else {
        if !data.is_empty() {
            return Err(Failure::usage("DATA are read for their labels: add --labels COLUMN"));
        }
        if names.len() < 2 {
            let why = "--disagree: the run has one reward and no labels: --labels COLUMN names the \
                       column of the data that says right or wrong";
            return Err(Failure::usage(why));
        }
        return print(&compared(run, data, None)?, shown, json);
    };
    print(&compared(run, data, Some(&column))?, shown, json)
}

fn print(list: &DisagreeList, shown: usize, json: bool) -> Result<(), Failure> {
    if json {
        output::json(list)?;
    } else {
        output::text(&list.text(shown));
    }
    Ok(())
}

/// Goes through the rows once, and through those of the data beside them.
fn compared(
    run: &ListedRun,
    data: &[PathBuf],
    column: Option<&str>,
) -> Result<DisagreeList, Failure> {
    let mut labels = column
        .map(|column| AgainstLabels { column: column.to_owned(), ..AgainstLabels::default() });
    let mut of_data = column.map(|column| run.labelled(data, column)).transpose()?;
    let mut rows = 0;
    let mut pairs: BTreeMap<(String, String), Disagreeing> = BTreeMap::new();
    for listed in run.rows()? {
        let listed = listed?;
        rows += 1;
        note_pairs(&mut pairs, &listed);
        let (Some(labels), Some(of_data)) = (&mut labels, &mut of_data) else { continue };
        // Rows that were left out, or that another shard scored, are passed over.
        let row = loop {
            match of_data.next().transpose()? {
                Some(row) if row.index + 1 < listed.row => {}
                row => break row.filter(|row| row.index + 1 == listed.row),
            }
        };
        let Some(row) = row else {
            let (row, id) = (listed.row, inline(&listed.scored.id));
            let why = format!(
                "the data are not the rows that were scored: they have no row {row} (id \"{id}\")"
            );
            return Err(Failure::usage(why));
        };
        same_row(&row, &listed)?;
        labels.unread.add(row.label.as_ref(), listed.row, &listed.scored.id);
        labels.add(row.label.as_ref().and_then(label_truth), &listed);
    }
    let rewards = pairs
        .into_iter()
        .map(|((accepts, rejects), found)| RewardPair { accepts, rejects, found })
        .collect();
    Ok(DisagreeList { rows, labels, rewards })
}

impl AgainstLabels {
    fn add(&mut self, label: Option<bool>, listed: &ListedRow) {
        match (label, listed.scored.reward()) {
            (None, _) => self.unlabelled += 1,
            (Some(_), None) => self.unscored += 1,
            (Some(label), Some(reward)) => match (label, reward >= RIGHT_FROM) {
                (true, false) => self.unpaid.add(listed, vec![reward]),
                (false, true) => self.paid.add(listed, vec![reward]),
                _ => self.agree += 1,
            },
        }
    }
}

/// Notes each two rewards of a row of which one accepts and the other does not.
fn note_pairs(pairs: &mut BTreeMap<(String, String), Disagreeing>, listed: &ListedRow) {
    let (accepting, rejecting): (Vec<_>, Vec<_>) =
        rewards(&listed.scored).partition(|(_, reward)| *reward >= RIGHT_FROM);
    for (accepts, high) in &accepting {
        for (rejects, low) in &rejecting {
            let pair = ((*accepts).to_owned(), (*rejects).to_owned());
            pairs.entry(pair).or_default().add(listed, vec![*high, *low]);
        }
    }
}

fn rewards(scored: &Scored) -> impl Iterator<Item = (&str, f64)> {
    let reward = |(name, verdict): (_, &assay::Verdict)| {
        Some((name, verdict.outcome.reward().map(Reward::get)?))
    };
    scored.verdicts.iter().filter_map(reward)
}

impl Disagreeing {
    fn add(&mut self, listed: &ListedRow, rewards: Vec<f64>) {
        self.rows += 1;
        if self.first.len() < HELD_MAX {
            let id = listed.scored.id.clone();
            self.first.push(DisagreeingRow { row: listed.row, id, rewards });
        }
    }

    /// The rows, a line each; `names` says what their numbers are.
    fn text(&self, names: &[&str], shown: usize) -> String {
        let mut text = String::new();
        for row in self.first.iter().take(shown) {
            let numbers = names.iter().zip(&row.rewards);
            let numbers: Vec<String> =
                numbers.map(|(name, reward)| format!("{} {reward}", inline(name))).collect();
            let (at, id) = (row.row, inline(&row.id));
            text.push_str(&format!("    row {at}  {id}  {}\n", numbers.join(", ")));
        }
        let hidden = self.rows.saturating_sub(self.first.len().min(shown) as u64);
        if hidden > 0 {
            text.push_str(&format!("    {} more\n", count(hidden)));
        }
        text
    }
}

impl DisagreeList {
    fn text(&self, shown: usize) -> String {
        let mut text = String::new();
        if let Some(labels) = &self.labels {
            let differ = labels.paid.rows + labels.unpaid.rows;
            let compared = count(labels.agree + differ);
            text.push_str(&format!(
                "reward and label {}: {} of {compared} rows disagree; {} labelled rows have no \
                 reward, {} rows no label\n",
                inline(&labels.column),
                count(differ),
                count(labels.unscored),
                count(labels.unlabelled)
            ));
            if let Some(unread) = unread_text(&labels.unread, 1) {
                text.push_str(&format!("  {unread}\n"));
            }
            let kinds = [
                ("paid, wrong by the label", &labels.paid),
                ("unpaid, right by the label", &labels.unpaid),
            ];
            for (what, found) in kinds {
                if found.rows > 0 {
                    text.push_str(&format!("  {what}: {}\n", count(found.rows)));
                    text.push_str(&found.text(&["reward"], shown));
                }
            }
        }
        if self.rewards.is_empty() {
            let rows = count(self.rows);
            text.push_str(&format!("no two rewards disagree on any of {rows} rows\n"));
        } else {
            text.push_str("rewards (one is 0.5 or more, the other less)\n");
        }
        for pair in &self.rewards {
            let (accepts, rejects) = (inline(&pair.accepts), inline(&pair.rejects));
            let rows = count(pair.found.rows);
            text.push_str(&format!("  {accepts} accepts, {rejects} does not: {rows}\n"));
            text.push_str(&pair.found.text(&[&pair.accepts, &pair.rejects], shown));
        }
        text
    }
}
