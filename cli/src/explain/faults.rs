//! The rows of a run with faults, by the kind of the fault.

use std::collections::BTreeMap;

use assay::verifiers::{Fault, FaultKind, Outcome, Scored};
use serde::Serialize;

use super::listing::{ListedRow, ListedRun};
use crate::exit::Failure;
use crate::output::{self, count};
use crate::text::inline;

/// Reasons of one kind that are told apart; rows with others are counted.
const REASONS_MAX: usize = 1000;

/// What failed in a run.
#[derive(Default, Serialize)]
struct FaultList {
    /// Rows of the run.
    rows: u64,
    /// Rows with a fault of any kind.
    rows_with_faults: u64,
    kinds: BTreeMap<FaultKind, FaultsOfKind>,
}

/// Everything that failed in one way.
#[derive(Default, Serialize)]
struct FaultsOfKind {
    rows: u64,
    /// Verdicts that failed, by their rewards.
    rewards: BTreeMap<String, u64>,
    /// The reasons, those that came first in front.
    reasons: Vec<FaultReason>,
    /// Faults whose reasons are not listed.
    unlisted: u64,
}

/// A reason, and the first row that has it.
#[derive(Serialize)]
struct FaultReason {
    why: String,
    faults: u64,
    row: u64,
    id: String,
    /// The reward that failed; null where it is the whole row.
    reward: Option<String>,
}

/// Prints the faults of a run.
pub(super) fn list(run: &ListedRun, shown: usize, json: bool) -> Result<(), Failure> {
    let mut list = FaultList::default();
    for row in run.rows()? {
        list.add(&row?);
    }
    if json {
        output::json(&list)?;
    } else {
        output::text(&list.text(shown));
    }
    Ok(())
}

impl FaultList {
    fn add(&mut self, listed: &ListedRow) {
        self.rows += 1;
        let found = faults(&listed.scored);
        self.rows_with_faults += u64::from(!found.is_empty());
        let mut seen: Vec<FaultKind> = Vec::new();
        for (reward, fault) in found {
            let kind = self.kinds.entry(fault.kind).or_default();
            if !seen.contains(&fault.kind) {
                seen.push(fault.kind);
                kind.rows += 1;
            }
            if let Some(reward) = reward {
                *kind.rewards.entry(reward.to_owned()).or_default() += 1;
            }
            kind.add(listed, reward, fault);
        }
    }

    fn text(&self, shown: usize) -> String {
        if self.kinds.is_empty() {
            return format!("{} rows, none with a fault\n", count(self.rows));
        }
        let (rows, faulty) = (count(self.rows), count(self.rows_with_faults));
        let mut text = format!("{rows} rows, {faulty} with faults\n");
        for (kind, faults) in &self.kinds {
            text.push_str(&format!("\n{kind}  {}", rows_of(faults.rows)));
            let of =
                |(name, faults): (&String, &u64)| format!("{} {}", inline(name), count(*faults));
            let rewards: Vec<String> = faults.rewards.iter().map(of).collect();
            if !rewards.is_empty() {
                text.push_str(&format!(": {}", rewards.join(", ")));
            }
            text.push('\n');
            for reason in faults.reasons.iter().take(shown) {
                text.push_str(&reason.text());
            }
            let hidden: u64 = faults.reasons.iter().skip(shown).map(|reason| reason.faults).sum();
            if hidden + faults.unlisted > 0 {
                let more = count(hidden + faults.unlisted);
                let help = if hidden > 0 { "; --full lists them" } else { "" };
                text.push_str(&format!("  {more} more for other reasons{help}\n"));
            }
        }
        text
    }
}

impl FaultsOfKind {
    fn add(&mut self, listed: &ListedRow, reward: Option<&str>, fault: &Fault) {
        let same =
            |known: &&mut FaultReason| known.why == fault.why && known.reward.as_deref() == reward;
        if let Some(known) = self.reasons.iter_mut().find(same) {
            known.faults += 1;
        } else if self.reasons.len() < REASONS_MAX {
            self.reasons.push(FaultReason {
                why: fault.why.to_string(),
                faults: 1,
                row: listed.row,
                id: listed.scored.id.clone(),
                reward: reward.map(str::to_owned),
            });
        } else {
            self.unlisted += 1;
        }
    }
}

impl FaultReason {
    fn text(&self) -> String {
        let reward =
            self.reward.as_ref().map_or_else(String::new, |name| format!("  {}", inline(name)));
        let more = match self.faults {
            1 => String::new(),
            faults => format!("  (the first of {})", count(faults)),
        };
        let (row, id, why) = (self.row, inline(&self.id), inline(&self.why));
        format!("  row {row}  {id}{reward}: {why}{more}\n")
    }
}

/// What failed in a row: verdicts, or the row as a whole where that is not their doing.
fn faults(scored: &Scored) -> Vec<(Option<&str>, &Fault)> {
    let mut found: Vec<(Option<&str>, &Fault)> = Vec::new();
    for (name, verdict) in scored.verdicts.iter() {
        if let Outcome::Failed(fault) = &verdict.outcome {
            found.push((Some(name), fault));
        }
    }
    if let (true, Outcome::Failed(fault)) = (found.is_empty(), &scored.outcome) {
        found.push((None, fault));
    }
    found
}

fn rows_of(rows: u64) -> String {
    if rows == 1 { "1 row".to_owned() } else { format!("{} rows", count(rows)) }
}
