//! Two runs, row by row: what moved, the largest moves first.

use std::cmp::Ordering;

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
    only_a: usize,
    only_b: usize,
}

impl Comparison {
    /// Rows meet at one place of both runs if their ids agree, else by id.
    pub(crate) fn new(a: &OpenedRun, b: &OpenedRun) -> Result<Self, ViewError> {
        let mut by_id: Vec<(u64, usize)> = b.index.ids.iter().copied().zip(0..).collect();
        by_id.sort_unstable();
        let mut is_taken = vec![false; b.index.len()];
        let (mut moved, mut both) = (Vec::new(), 0);
        for (at, id) in a.index.ids.iter().enumerate() {
            let of_id = by_id.iter().skip(by_id.partition_point(|(own, _)| own < id));
            let of_id = of_id.take_while(|(own, _)| own == id).map(|(_, place)| *place);
            let here = (b.index.ids.get(at) == Some(id)).then_some(at);
            let mut places = here.into_iter().chain(of_id);
            let Some(place) = places.find(|place| is_taken.get(*place) == Some(&false)) else {
                continue;
            };
            if let Some(is_taken) = is_taken.get_mut(place) {
                *is_taken = true;
            }
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
        moved.sort_by(by_size);
        let (only_a, only_b) = (a.index.len() - both, b.index.len() - both);
        Ok(Self { moved, both, only_a, only_b })
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
            "total": self.moved.len(), "both": self.both, "only_a": self.only_a, "only_b": self.only_b,
            "up": count(Ordering::Greater), "down": count(Ordering::Less), "rows": rows,
        }))
    }
}

/// The largest moves first; then those that came or went; then those of the same reward.
fn by_size(a: &MovedRow, b: &MovedRow) -> Ordering {
    let size = |row: &MovedRow| match row.1 {
        Some(delta) if delta != 0.0 => (2, delta.abs()),
        Some(_) => (0, 0.0),
        None => (1, 0.0),
    };
    let (x, y) = (size(a), size(b));
    y.0.cmp(&x.0).then(y.1.total_cmp(&x.1)).then(a.0.cmp(&b.0))
}

fn parsed(line: &[u8]) -> Result<RowLine<'_>, ViewError> {
    serde_json::from_slice(line).map_err(|why| ViewError::Data(Box::new(why)))
}
