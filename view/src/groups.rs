//! Groups of a run: rows of one group that follow each other.

use serde_json::{Value, json};

use crate::figures::{Histogram, Spread, Top};
use crate::line::PlacedRow;
use crate::text::cut_text;

/// Groups that are named.
const NAMED_MAX: usize = 10;
const NAME_BYTES_MAX: usize = 120;

/// The figures of all groups.
pub(crate) struct Groups {
    current: Option<Current>,
    count: u64,
    rows: u64,
    /// Groups of one row.
    single: u64,
    /// Groups of two rewards or more that are all equal.
    flat: u64,
    deviations: Histogram,
    widest: Top<GroupName>,
}

/// The group in hand.
struct Current {
    name: String,
    at: u64,
    offset: u64,
    rows: u64,
    rewards: Spread,
}

struct GroupName {
    name: String,
    at: u64,
    offset: u64,
    rows: u64,
    mean: Option<f64>,
}

impl Default for Groups {
    fn default() -> Self {
        Self {
            current: None,
            count: 0,
            rows: 0,
            single: 0,
            flat: 0,
            deviations: Histogram::default(),
            widest: Top::new(NAMED_MAX),
        }
    }
}

impl Groups {
    /// Whether a row of this group begins another than that in hand. One without a group is by itself.
    pub(crate) fn is_next(&self, group: Option<&str>) -> bool {
        match (&self.current, group) {
            (Some(current), Some(group)) => current.name != group,
            _ => true,
        }
    }

    pub(crate) fn add(&mut self, row: &PlacedRow<'_>, reward: Option<f64>) {
        let Some(group) = &row.line.group else { return };
        let current = self.current.get_or_insert_with(|| Current {
            name: group.0.clone().into_owned(),
            at: row.at,
            offset: row.offset,
            rows: 0,
            rewards: Spread::default(),
        });
        current.rows += 1;
        if let Some(reward) = reward {
            current.rewards.add(reward);
        }
    }

    /// The group in hand is whole.
    pub(crate) fn close(&mut self) {
        let Some(current) = self.current.take() else { return };
        let Current { name, at, offset, rows, rewards } = current;
        self.count += 1;
        self.rows += rows;
        self.single += u64::from(rows == 1);
        let Some(deviation) = rewards.std() else { return };
        // Computed from equal rewards, it is exactly 0.
        self.flat += u64::from(deviation == 0.0);
        self.deviations.add(deviation);
        if deviation > 0.0 {
            let name = || GroupName {
                name: cut_text(&name, NAME_BYTES_MAX),
                at,
                offset,
                rows,
                mean: rewards.mean(),
            };
            self.widest.add(deviation, name);
        }
    }

    /// `null` where no row has a group.
    pub(crate) fn json(&self) -> Value {
        if self.count == 0 {
            return Value::Null;
        }
        let widest = self.widest.rows().iter().map(|(deviation, group)| {
            let GroupName { name, at, rows, mean, .. } = group;
            json!({ "group": name, "at": at, "rows": rows, "mean": mean, "std": deviation })
        });
        let widest = widest.collect::<Vec<_>>();
        json!({
            "groups": self.count, "rows": self.rows, "single": self.single, "flat": self.flat,
            "deviations": self.deviations.json(), "widest": widest,
        })
    }

    /// The place in the run and in the file, and the rows, of the groups with the largest deviation.
    pub(crate) fn widest(&self) -> impl Iterator<Item = (u64, u64, u64)> {
        self.widest.rows().iter().map(|(_, group)| (group.at, group.offset, group.rows))
    }
}
