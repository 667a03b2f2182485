//! Two runs, row by row: what moved, the largest moves first.

use std::cmp::Ordering;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde_json::{Value, json};

use crate::error::ViewError;
use crate::line::{OutcomeWord, PartLine, RowLine};
use crate::opened::OpenedRun;

/// A row that moved: its places in both runs, and by how much.
struct MovedRow {
    a: u32,
    b: u32,
    delta: Option<f64>,
}

/// What moved between two runs.
pub(crate) struct Comparison {
    moved: Vec<MovedRow>,
    both: u64,
    only_a: u64,
    only_b: u64,
}

impl Comparison {
    pub(crate) fn new(a: &OpenedRun, b: &OpenedRun) -> Result<Self, ViewError> {
        let mut found = Self { moved: Vec::new(), both: 0, only_a: 0, only_b: 0 };
        let mut by_id = None;
        let mut taken = vec![false; b.index.len()];
        for at in 0..a.index.len() {
            let Some(line) = a.index.line(at)? else { break };
            let row = parsed(&line)?;
            // In step while the ids agree, else by id.
            let mut other = b.index.line(at)?.filter(|_| by_id.is_none()).map(|line| (at, line));
            let is_same = match &other {
                Some((_, line)) => parsed(line)?.id == row.id,
                None => false,
            };
            if !is_same {
                let places = match &by_id {
                    Some(places) => places,
                    None => by_id.insert(places_by_id(b)?),
                };
                other = of_id(b, places, &taken, &row.id)?;
            }
            let Some((place, line)) = other else {
                found.only_a += 1;
                continue;
            };
            if let Some(is_taken) = taken.get_mut(place) {
                *is_taken = true;
            }
            found.add((at, &row), (place, &parsed(&line)?));
        }
        found.only_b = taken.iter().filter(|taken| !**taken).count() as u64;
        found.moved.sort_by(by_size);
        Ok(found)
    }

    fn add(&mut self, (at_a, a): (usize, &RowLine<'_>), (at_b, b): (usize, &RowLine<'_>)) {
        self.both += 1;
        if reasons(a, b).is_empty() && a.outcome == b.outcome && a.reward == b.reward {
            return;
        }
        let delta = a.reward.zip(b.reward).map(|(a, b)| b - a);
        if let (Ok(a), Ok(b)) = (u32::try_from(at_a), u32::try_from(at_b)) {
            self.moved.push(MovedRow { a, b, delta });
        }
    }

    /// A page of the rows that moved.
    pub(crate) fn page(
        &self,
        (a, b): (&OpenedRun, &OpenedRun),
        offset: usize,
        limit: usize,
    ) -> Result<Value, ViewError> {
        let mut rows = Vec::new();
        for moved in self.moved.iter().skip(offset).take(limit) {
            let (at_a, at_b) = (moved.a as usize, moved.b as usize);
            let (Some(line_a), Some(line_b)) = (a.index.line(at_a)?, b.index.line(at_b)?) else {
                continue;
            };
            let (row_a, row_b) = (parsed(&line_a)?, parsed(&line_b)?);
            let mut why = reasons(&row_a, &row_b);
            if why.is_empty() {
                why.push("the same verdicts, combined otherwise".to_owned());
            }
            rows.push(json!({
                "id": row_a.id, "a": side(at_a, &row_a), "b": side(at_b, &row_b),
                "delta": moved.delta, "why": why,
            }));
        }
        let count = |wanted: Ordering| {
            let of = |moved: &&MovedRow| moved.delta.is_some_and(|d| d.total_cmp(&0.0) == wanted);
            self.moved.iter().filter(of).count()
        };
        let (up, down) = (count(Ordering::Greater), count(Ordering::Less));
        let total = self.moved.len();
        Ok(json!({
            "total": total, "both": self.both, "only_a": self.only_a, "only_b": self.only_b,
            "up": up, "down": down, "other": total - up - down, "rows": rows,
        }))
    }
}

/// The largest moves first; then those that came or went; then those of the same reward.
fn by_size(a: &MovedRow, b: &MovedRow) -> Ordering {
    let size = |row: &MovedRow| match row.delta {
        Some(delta) if delta != 0.0 => (2, delta.abs()),
        Some(_) => (0, 0.0),
        None => (1, 0.0),
    };
    let (x, y) = (size(a), size(b));
    y.0.cmp(&x.0).then(y.1.total_cmp(&x.1)).then(a.a.cmp(&b.a))
}

fn parsed(line: &[u8]) -> Result<RowLine<'_>, ViewError> {
    serde_json::from_slice(line).map_err(|why| ViewError::Data(Box::new(why)))
}

fn digest(id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}

/// The places of all rows by the digests of their ids.
fn places_by_id(run: &OpenedRun) -> Result<Vec<(u64, u32)>, ViewError> {
    let mut places = Vec::with_capacity(run.index.len());
    for at in 0..run.index.len() {
        let Some(line) = run.index.line(at)? else { break };
        places.push((digest(&parsed(&line)?.id), u32::try_from(at).unwrap_or(u32::MAX)));
    }
    places.sort_unstable();
    Ok(places)
}

/// The first row of this id that has no counterpart yet.
fn of_id(
    run: &OpenedRun,
    places: &[(u64, u32)],
    taken: &[bool],
    id: &str,
) -> Result<Option<(usize, Vec<u8>)>, ViewError> {
    let wanted = digest(id);
    let start = places.partition_point(|(own, _)| *own < wanted);
    for (_, at) in places.iter().skip(start).take_while(|(own, _)| *own == wanted) {
        let at = *at as usize;
        if taken.get(at).copied().unwrap_or(true) {
            continue;
        }
        if let Some(line) = run.index.line(at)?
            && parsed(&line)?.id == id
        {
            return Ok(Some((at, line)));
        }
    }
    Ok(None)
}

fn side(at: usize, row: &RowLine<'_>) -> Value {
    let fault = row.fault.as_ref().map(|fault| &fault.0);
    json!({ "at": at, "outcome": word(row.outcome), "reward": row.reward, "fault": fault })
}

/// What moved, a text for each part.
fn reasons(a: &RowLine<'_>, b: &RowLine<'_>) -> Vec<String> {
    let part = |row: &RowLine<'_>, name: &str| {
        row.verdicts.0.iter().find(|(own, _)| own == name).map(|(_, part)| told(part))
    };
    let later = b.verdicts.0.iter().map(|(name, _)| name);
    let later = later.filter(|name| !a.verdicts.0.iter().any(|(own, _)| own == *name));
    let names = a.verdicts.0.iter().map(|(name, _)| name).chain(later);
    let moved = names.filter_map(|name| {
        let absent = || "not judged".to_owned();
        let from = part(a, name).unwrap_or_else(absent);
        let to = part(b, name).unwrap_or_else(absent);
        (from != to).then(|| format!("{name}: {from} → {to}"))
    });
    moved.collect()
}

fn told(part: &PartLine<'_>) -> String {
    let reason = part.evidence.reason.as_ref().and_then(Value::as_str);
    let because = reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
    match (part.outcome, part.reward, &part.fault) {
        (OutcomeWord::Scored, Some(reward), _) => format!("{reward}{because}"),
        (OutcomeWord::Failed, _, Some(fault)) => format!("failed ({})", fault.0),
        (outcome, ..) => word(outcome).to_owned(),
    }
}

fn word(outcome: OutcomeWord) -> &'static str {
    match outcome {
        OutcomeWord::Scored => "scored",
        OutcomeWord::Abstained => "abstained",
        OutcomeWord::Failed => "failed",
    }
}
