//! The row that was asked for, with the samples of its group.

use std::path::PathBuf;

use assay::Config;
use assay::data::{Row, Source};
use assay::verifiers::Sample;

use crate::exit::Failure;
use crate::text::inline;

/// Ids that are named when there is none like the one asked for.
const NEAR_MAX: usize = 3;
/// From here on an id is near.
const NEARNESS_MIN: f64 = 0.75;

/// What was asked for.
pub(super) enum Wanted {
    /// The first sample of this id.
    Id(String),
    /// The row of this number over all data, from 0.
    Row(u64),
}

/// The row, and what has to be judged with it.
pub(super) struct Found {
    pub(super) row: Row,
    /// How many rows have its id.
    pub(super) shared: u64,
    /// The samples that are judged together; one, where nothing needs groups.
    pub(super) group: Vec<Sample>,
    /// The place of the sample in its group.
    pub(super) at: usize,
}

/// One pass over the data.
pub(super) struct Search {
    wanted: Wanted,
    grouped: bool,
    rows: u64,
    found: Option<Found>,
    /// The group in hand: complete once another begins.
    group: Vec<Sample>,
    open: bool,
    near: Vec<(f64, String)>,
}

impl Search {
    pub(super) fn new(wanted: Wanted, grouped: bool) -> Self {
        Self {
            wanted,
            grouped,
            rows: 0,
            found: None,
            group: Vec::new(),
            open: false,
            near: Vec::new(),
        }
    }

    pub(super) fn run(mut self, data: &[PathBuf], config: &Config) -> Result<Found, Failure> {
        for block in Source::open(data, &config.limits.data())? {
            for row in block?.rows(&config.data) {
                self.rows += 1;
                self.see(row);
            }
        }
        self.close();
        match self.found.take() {
            Some(found) => Ok(found),
            None => Err(self.missing()),
        }
    }

    fn see(&mut self, row: Row) {
        let Ok(sample) = &row.sample else {
            let bad = format!("row-{}", row.index + 1);
            let wanted = match &self.wanted {
                Wanted::Id(id) => *id == bad,
                Wanted::Row(index) => *index == row.index,
            };
            if wanted && self.found.is_none() {
                self.found = Some(Found { row, shared: 1, group: Vec::new(), at: 0 });
            }
            return;
        };
        if self.group.last().is_some_and(|last| !self.grouped || key(last) != key(sample)) {
            self.close();
        }
        let matches = match (&self.wanted, &self.found) {
            (Wanted::Id(id), _) => sample.id() == id,
            (Wanted::Row(index), None) => *index == row.index,
            (Wanted::Row(_), Some(found)) => {
                found.row.sample.as_ref().is_ok_and(|found| found.id() == sample.id())
            }
        };
        self.group.push(sample.clone());
        match &mut self.found {
            Some(found) => found.shared += u64::from(matches),
            None if matches => {
                self.open = true;
                let at = self.group.len() - 1;
                self.found = Some(Found { row, shared: 1, group: Vec::new(), at });
            }
            None => self.compare(),
        }
    }

    /// The group in hand is whole.
    fn close(&mut self) {
        let group = std::mem::take(&mut self.group);
        if let Some(found) = &mut self.found
            && std::mem::take(&mut self.open)
        {
            found.group = group;
        }
    }

    /// Notes the id of the last sample, where it is among the nearest.
    fn compare(&mut self) {
        let (Wanted::Id(wanted), Some(sample)) = (&self.wanted, self.group.last()) else { return };
        let nearness = strsim::jaro_winkler(wanted, sample.id());
        let least = self.near.last().map_or(NEARNESS_MIN, |(nearness, _)| *nearness);
        if nearness > least || (self.near.len() < NEAR_MAX && nearness > NEARNESS_MIN) {
            self.near.push((nearness, sample.id().to_owned()));
            self.near.sort_by(|a, b| b.0.total_cmp(&a.0));
            self.near.truncate(NEAR_MAX);
        }
    }

    fn missing(&self) -> Failure {
        let rows = self.rows;
        match &self.wanted {
            Wanted::Row(index) => {
                Failure::usage(format!("there is no row {}: the data have {rows} rows", index + 1))
            }
            Wanted::Id(id) => {
                let near: Vec<String> = self.near.iter().map(|(_, id)| inline(id)).collect();
                let help = if near.is_empty() {
                    "--row N takes the N-th row".to_owned()
                } else {
                    format!("did you mean {}?", near.join(", "))
                };
                Failure::usage(format!("none of {rows} rows has id {}\nhelp: {help}", inline(id)))
            }
        }
    }
}

/// What the samples of one prompt share.
fn key(sample: &Sample) -> &str {
    sample.group().unwrap_or_else(|| sample.prompt())
}
