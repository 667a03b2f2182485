//! The rows of the data beside the rows of the run: by their numbers, checked by their ids.

use std::path::{Path, PathBuf};

use assay::data::{CellMembers, Columns, ReadLimits, Source, escape};
use assay::engine::runs::{CONFIG, RunManifest, VerdictRows, verdict_rows};
use assay::verifiers::Scored;
use serde_json::value::RawValue;

use crate::exit::Failure;
use crate::run_files::{columns, json, other_row, row_numbers};

/// Rows that do not fit and are named.
const NAMED_MAX: usize = 5;

/// A row of the data with what came of it.
pub(super) struct JoinedRow<'a> {
    pub(super) members: CellMembers,
    pub(super) scored: &'a Scored,
}

/// What a pass came to.
#[derive(Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) joined: u64,
    /// Rows of the data that the run has not.
    pub(super) unscored: u64,
    /// Rows that are no JSON objects.
    pub(super) unread: u64,
}

/// One pass over both.
pub(super) struct Aligned {
    source: Source,
    columns: Columns,
    rows: VerdictRows,
    /// The number of each row of the run over the whole input.
    numbers: Box<dyn Iterator<Item = Result<u64, Failure>>>,
    next: Option<(u64, Scored)>,
    counts: Counts,
    odd: Vec<String>,
    odd_count: u64,
}

impl Aligned {
    pub(super) fn open(
        run: &Path,
        data: &[PathBuf],
        manifest: &RunManifest,
    ) -> Result<Self, Failure> {
        let most = manifest.rows.and_then(|rows| usize::try_from(rows).ok()).unwrap_or(usize::MAX);
        let mut aligned = Self {
            source: Source::open(data, &ReadLimits::default())?,
            columns: columns(&json(run, CONFIG)?, run.display())?,
            rows: verdict_rows(run)?,
            numbers: Box::new(row_numbers(run)?.take(most)),
            next: None,
            counts: Counts::default(),
            odd: Vec::new(),
            odd_count: 0,
        };
        aligned.advance()?;
        Ok(aligned)
    }

    /// Hands on every row of the data that the run has.
    pub(super) fn each(
        &mut self,
        take: &mut dyn FnMut(&JoinedRow<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        while let Some(block) = self.source.next() {
            let block = block?;
            for (row, text) in block.rows(&self.columns).into_iter().zip(block.objects()) {
                if self.next.as_ref().is_none_or(|(number, _)| *number != row.index) {
                    self.counts.unscored += 1;
                    continue;
                }
                let Some((_, scored)) = self.next.take() else { continue };
                self.advance()?;
                if let Some(what) = other_row(&row, &scored.id) {
                    self.note_odd(what);
                }
                let members = text.and_then(|text| serde_json::from_str(&text).ok());
                self.counts.joined += 1;
                self.counts.unread += u64::from(members.is_none());
                let members = match members {
                    Some(members) => members,
                    None => id_alone(&scored.id)?,
                };
                take(&JoinedRow { members, scored: &scored })?;
            }
        }
        Ok(())
    }

    /// What the pass came to.
    pub(super) fn counts(mut self) -> Result<Counts, Failure> {
        if let Some((number, scored)) = self.next.take() {
            let id = escape(&scored.id);
            self.note_odd(format!("row {} (id \"{id}\") is not in the data", number + 1));
        }
        if self.odd.is_empty() {
            return Ok(self.counts);
        }
        let more = self.odd_count.saturating_sub(self.odd.len() as u64);
        let mut why = format!("--with: not the rows that were scored: {}", self.odd.join("; "));
        if more > 0 {
            why = format!("{why}; and {more} more");
        }
        Err(Failure::usage(why))
    }

    fn advance(&mut self) -> Result<(), Failure> {
        self.next = match (self.numbers.next(), self.rows.next()) {
            (Some(number), Some(scored)) => Some((number?, scored?)),
            _ => None,
        };
        Ok(())
    }

    fn note_odd(&mut self, what: String) {
        self.odd_count += 1;
        if self.odd.len() < NAMED_MAX {
            self.odd.push(what);
        }
    }
}

/// What stands for a row that is not a JSON object.
fn id_alone(id: &str) -> Result<CellMembers, Failure> {
    let id = serde_json::to_string(id).and_then(RawValue::from_string);
    Ok(CellMembers(vec![("id".to_owned(), id.map_err(anyhow::Error::from)?)]))
}
