//! Rows of a run with what their rewards were made of: those with the lowest rewards, or one.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use assay::verifiers::{Outcome, Scored, Verdict};
use serde::Serialize;
use serde_json::Value;

use super::find::Wanted;
use super::listing::{ListedRow, ListedRun};
use crate::exit::Failure;
use crate::output::{self, count};
use crate::text::inline;
use crate::verdict;

/// Notes on a verdict that are shown in a line, in characters.
const NOTES_CHARS_MAX: usize = 300;

/// The rows with the lowest rewards.
#[derive(Serialize)]
struct LowestList<'a> {
    /// Rows of the run.
    rows: u64,
    /// Rows with a reward.
    scored: u64,
    lowest: Vec<RowParts<'a>>,
}

/// A row and its parts.
#[derive(Serialize)]
struct RowParts<'a> {
    row: u64,
    #[serde(flatten)]
    scored: &'a Scored,
}

/// A row by its reward: the highest is the greatest, and of those the last.
struct ByReward(f64, ListedRow);

impl Ord for ByReward {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0).then(self.1.row.cmp(&other.1.row))
    }
}

impl PartialOrd for ByReward {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for ByReward {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for ByReward {}

/// Prints the `most` rows with the lowest rewards. No more of them are held at a time.
pub(super) fn list(run: &ListedRun, most: u32, json: bool) -> Result<(), Failure> {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let (mut rows, mut scored) = (0, 0);
    let mut lowest: BinaryHeap<ByReward> = BinaryHeap::new();
    for row in run.rows()? {
        let row = row?;
        rows += 1;
        // The sum makes one zero of both.
        let Some(reward) = row.scored.reward().map(|reward| reward + 0.0) else { continue };
        scored += 1;
        lowest.push(ByReward(reward, row));
        if lowest.len() > most {
            lowest.pop();
        }
    }
    let lowest = lowest.into_sorted_vec();
    if json {
        let parts =
            lowest.iter().map(|ByReward(_, row)| RowParts { row: row.row, scored: &row.scored });
        let lowest = parts.collect();
        output::json(&LowestList { rows, scored, lowest })?;
        return Ok(());
    }
    let weights = run.rewards();
    for ByReward(_, row) in &lowest {
        output::text(&text(row, &weights));
    }
    let unscored = match rows - scored {
        0 => String::new(),
        others => format!("; {} others have no reward", count(others)),
    };
    let shown = count(lowest.len() as u64);
    output::note(&format!("the {shown} lowest of {} rewards{unscored}", count(scored)));
    Ok(())
}

/// Prints one row of the run, as it was judged.
pub(super) fn one(run: &ListedRun, wanted: &Wanted, json: bool) -> Result<(), Failure> {
    let (mut found, mut rows, mut shared): (Option<ListedRow>, u64, u64) = (None, 0, 0);
    for row in run.rows()? {
        let row = row?;
        rows += 1;
        let is_wanted = match wanted {
            Wanted::Id(id) => row.scored.id == *id,
            Wanted::Row(index) => row.row == index + 1,
        };
        if is_wanted {
            shared += 1;
            found.get_or_insert(row);
        }
    }
    let Some(row) = found else {
        let what = match wanted {
            Wanted::Id(id) => format!("has id {}", inline(id)),
            Wanted::Row(index) => format!("is row {}", index + 1),
        };
        return Err(Failure::usage(format!("none of the {rows} rows of the run {what}")));
    };
    if json {
        output::json(&RowParts { row: row.row, scored: &row.scored })?;
    } else {
        output::text(&text(&row, &run.rewards()));
    }
    if shared > 1 {
        let (id, at) = (inline(&row.scored.id), row.row);
        output::note(&format!("{shared} rows have id {id}; this is row {at}"));
    }
    Ok(())
}

/// A row, and a line for each of its parts.
fn text(row: &ListedRow, weights: &[(String, Value)]) -> String {
    let outcome = match &row.scored.outcome {
        Outcome::Scored(reward) => format!("reward {}", reward.get()),
        other => verdict::outcome(other),
    };
    let mut parts = Vec::new();
    for (name, verdict) in row.scored.verdicts.iter() {
        let weight = weights.iter().find(|(have, _)| have == name).map(|(_, weight)| weight);
        parts.push((inline(name), part(verdict, weight)));
    }
    let head = format!("row {}  {}  {outcome}\n", row.row, inline(&row.scored.id));
    format!("{head}{}", verdict::columns(&parts, "  "))
}

fn part(verdict: &Verdict, weight: Option<&Value>) -> String {
    let mut text = verdict::outcome(&verdict.outcome);
    if let Some(weight) = weight.filter(|weight| !weight.is_null()) {
        text.push_str(&format!(", weight {}", inline(&weight.to_string())));
    }
    let notes = verdict::notes(verdict, "").into_iter().filter(|(key, _)| key != "span");
    let notes: Vec<String> = notes.map(|(key, note)| format!("{key} {note}")).collect();
    if notes.is_empty() {
        return text;
    }
    let notes = notes.join(", ");
    match notes.char_indices().nth(NOTES_CHARS_MAX) {
        Some((end, _)) => format!("{text}; {}…", &notes[..end]),
        None => format!("{text}; {notes}"),
    }
}
