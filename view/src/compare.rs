//! Two runs, row by row: what moved, the largest moves first.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::error::ViewError;
use crate::line::RowLine;
use crate::opened::OpenedRun;

/// A row that moved: its places in both runs, and by how much.
type MovedRow = ((usize, usize), Option<f64>);

/// What moved between two runs.
pub(crate) struct Comparison {
    moved: Vec<MovedRow>,
    both: usize,
}

impl Comparison {
    /// Rows meet at one place of both runs if their ids agree, else by id.
    pub(crate) fn new(a: &OpenedRun, b: &OpenedRun) -> Result<Self, ViewError> {
        let mut left: BTreeSet<(u64, usize)> = b.index.ids.iter().copied().zip(0..).collect();
        let (mut moved, mut both) = (Vec::new(), 0);
        for (at, id) in a.index.ids.iter().enumerate() {
            let first = left.range((*id, 0)..=(*id, usize::MAX)).next().copied();
            let here = left.take(&(*id, at));
            let Some((_, place)) = here.or_else(|| left.take(&first?)) else { continue };
            both += 1;
            let (line, other) = (a.file.line(at)?, b.file.line(place)?);
            let (Some(line), Some(other)) = (line, other) else { break };
            if line == other {
                continue;
            }
            let (row, other) = (parsed(&line)?, parsed(&other)?);
            let is_same = row.outcome == other.outcome && row.reward == other.reward;
            if !is_same || row.verdicts != other.verdicts {
                let delta = row.reward.zip(other.reward).map(|(a, b)| b - a);
                moved.push(((at, place), delta));
            }
        }
        // The largest moves first; then those that came or went; then those of the same reward. The bits of
        // floats that are not negative are in their order.
        let size = |delta: Option<f64>| match delta {
            Some(0.0) => (0, 0),
            Some(delta) => (2, delta.abs().to_bits()),
            None => (1, 0),
        };
        moved.sort_by_key(|(places, delta)| (Reverse(size(*delta)), *places));
        Ok(Self { moved, both })
    }

    /// A page of the rows that moved.
    pub(crate) fn page(
        &self,
        (a, b): (&OpenedRun, &OpenedRun),
        (offset, limit): (usize, usize),
    ) -> Result<Value, ViewError> {
        let mut rows = Vec::new();
        for ((at, place), delta) in self.moved.iter().skip(offset).take(limit) {
            rows.push(json!({ "a": a.listed(*at)?, "b": b.listed(*place)?, "delta": delta }));
        }
        let count = |wanted: Ordering| {
            let of = |moved: &&MovedRow| moved.1.is_some_and(|d| d.total_cmp(&0.0) == wanted);
            self.moved.iter().filter(of).count()
        };
        Ok(json!({
            "total": self.moved.len(), "both": self.both,
            "only_a": a.index.len() - self.both, "only_b": b.index.len() - self.both,
            "up": count(Ordering::Greater), "down": count(Ordering::Less), "rows": rows,
        }))
    }
}

fn parsed(line: &[u8]) -> Result<RowLine<'_>, ViewError> {
    serde_json::from_slice(line).map_err(|why| ViewError::Data(Box::new(why)))
}
