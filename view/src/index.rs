//! The index of a run: what rows are filtered and sorted by, and where each is in its file. About 40 bytes a
//! row.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;

use crate::error::ViewError;
use crate::files::RunFiles;
use crate::line::{OutcomeWord, PlacedRow, RowLine};
use crate::overview::Overview;

/// Kinds of faults of a row, and of its parts, that can be filtered by.
const ROW_FAULTS_MAX: usize = 250;
const PART_FAULTS_MAX: usize = 64;
/// What stands for a time that is not known.
const NO_TIME: u32 = u32::MAX;

/// The outcome of a row as it is filtered by: the fault by its place.
const SCORED: u8 = 0;
const ABSTAINED: u8 = 1;
const FAILED: u8 = 2;

/// What is known of all rows.
pub(crate) struct RunIndex {
    path: PathBuf,
    file: File,
    /// Where each row starts in the file, and where the last one ends.
    pub(crate) offsets: Vec<u64>,
    /// NaN where there is none.
    pub(crate) rewards: Vec<f32>,
    outcomes: Vec<u8>,
    us: Vec<u32>,
    /// The number of each row over the whole input; empty where it is its place.
    numbers: Vec<u64>,
    /// The first row of the group of each row.
    pub(crate) groups: Vec<u32>,
    has_groups: bool,
    row_faults: Vec<String>,
    part_faults: Vec<(String, String)>,
    /// For each row the kinds that its parts have, by their places; empty where no part has any.
    part_bits: Vec<u64>,
}

/// What is asked of the fault of a row.
pub(crate) enum FaultFilter {
    Any,
    Row(Option<u8>),
    /// The kinds of part faults that count.
    Parts(u64),
}

impl RunIndex {
    /// One pass over the rows: the index, and what is said of the run as a whole.
    pub(crate) fn read(files: &RunFiles) -> Result<(Self, Overview), ViewError> {
        let path = files.verdicts();
        let file = File::open(&path).map_err(|source| ViewError::io(&path, source))?;
        let mut index = Self {
            path,
            file,
            offsets: vec![0],
            rewards: Vec::new(),
            outcomes: Vec::new(),
            us: Vec::new(),
            numbers: Vec::new(),
            groups: Vec::new(),
            has_groups: false,
            row_faults: Vec::new(),
            part_faults: Vec::new(),
            part_bits: Vec::new(),
        };
        let mut overview = Overview::default();
        let (mut lines, mut timings) = (files.rows()?, files.timings());
        let mut group = None;
        let mut at = 0;
        while let Some((offset, bytes)) = lines.next()? {
            let line: Result<RowLine<'_>, _> = serde_json::from_slice(bytes);
            let line = match line {
                Ok(line) => line,
                Err(why) => return Err(lines.wrong(why)),
            };
            let (number, us) = timings.next();
            let end = offset + bytes.len() as u64 + 1;
            let row = PlacedRow { at, offset, number, us, line };
            overview.add(&row);
            index.add(&row, end, &mut group);
            at += 1;
        }
        overview.finish();
        Ok((index, overview))
    }

    fn add(&mut self, row: &PlacedRow<'_>, end: u64, group: &mut Option<String>) {
        let line = &row.line;
        let at = u32::try_from(row.at).unwrap_or(u32::MAX);
        self.offsets.push(end);
        #[expect(clippy::cast_possible_truncation, reason = "to filter and sort by")]
        self.rewards.push(line.reward.map_or(f32::NAN, |reward| reward as f32));
        let outcome = match (line.outcome, &line.fault) {
            (OutcomeWord::Scored, _) => SCORED,
            (OutcomeWord::Abstained, _) => ABSTAINED,
            (OutcomeWord::Failed, None) => u8::MAX,
            (OutcomeWord::Failed, Some(fault)) => row_fault(&mut self.row_faults, &fault.0),
        };
        self.outcomes.push(outcome);
        let us = row.us.map_or(NO_TIME, |us| u32::try_from(us).unwrap_or(NO_TIME - 1));
        self.us.push(us);
        if row.number != row.at && self.numbers.is_empty() {
            self.numbers = (0..row.at).collect();
        }
        if row.number != row.at || !self.numbers.is_empty() {
            self.numbers.push(row.number);
        }
        let own = line.group.as_ref().map(|group| &*group.0);
        self.has_groups |= own.is_some();
        let first = match (own, self.groups.last()) {
            (Some(own), Some(last)) if group.as_deref() == Some(own) => *last,
            _ => at,
        };
        self.groups.push(first);
        if group.as_deref() != own {
            *group = own.map(str::to_owned);
        }
        self.add_part_faults(row);
    }

    fn add_part_faults(&mut self, row: &PlacedRow<'_>) {
        let mut bits = 0_u64;
        for (name, part) in &row.line.verdicts.0 {
            let Some(fault) = &part.fault else { continue };
            let is_own = |(part, kind): &(String, String)| part == name && *kind == fault.0;
            let place = self.part_faults.iter().position(is_own).unwrap_or_else(|| {
                if self.part_faults.len() < PART_FAULTS_MAX {
                    let kind = (name.clone().into_owned(), fault.0.clone().into_owned());
                    self.part_faults.push(kind);
                }
                self.part_faults.len() - 1
            });
            bits |= 1 << place;
        }
        if bits != 0 || !self.part_bits.is_empty() {
            self.part_bits.resize(self.rewards.len() - 1, 0);
            self.part_bits.push(bits);
        }
    }

    /// How many rows there are.
    pub(crate) fn len(&self) -> usize {
        self.rewards.len()
    }

    /// The line of a row.
    pub(crate) fn line(&self, at: usize) -> Result<Option<Vec<u8>>, ViewError> {
        let (Some(start), Some(end)) = (self.offsets.get(at), self.offsets.get(at + 1)) else {
            return Ok(None);
        };
        read_at(&self.file, *start, *end)
            .map(Some)
            .map_err(|source| ViewError::io(&self.path, source))
    }

    /// The file of the lines.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// The number of a row over the whole input.
    pub(crate) fn number(&self, at: usize) -> u64 {
        self.numbers.get(at).copied().unwrap_or(at as u64)
    }

    /// The row with this number, where the run has it.
    pub(crate) fn place(&self, number: u64) -> Option<usize> {
        if self.numbers.is_empty() {
            return usize::try_from(number).ok().filter(|at| *at < self.len());
        }
        self.numbers.binary_search(&number).ok()
    }

    /// How long the verdicts of a row took, in microseconds.
    pub(crate) fn us(&self, at: usize) -> Option<u32> {
        self.us.get(at).copied().filter(|us| *us != NO_TIME)
    }

    /// Whether rows have groups of their own.
    pub(crate) fn has_groups(&self) -> bool {
        self.has_groups
    }

    /// Whether a row has this outcome.
    pub(crate) fn has_outcome(&self, at: usize, outcome: &str) -> bool {
        self.outcomes.get(at).is_some_and(|own| match outcome {
            "scored" => *own == SCORED,
            "abstained" => *own == ABSTAINED,
            "failed" => *own >= FAILED,
            _ => false,
        })
    }

    /// Rows with a fault: `*` is any. Without a part it is the fault of the row itself.
    pub(crate) fn fault_filter(&self, part: Option<&str>, fault: &str) -> FaultFilter {
        let Some(part) = part else {
            if fault == "*" {
                return FaultFilter::Any;
            }
            let place = self.row_faults.iter().position(|own| own == fault);
            let code = place.and_then(|place| u8::try_from(place).ok());
            return FaultFilter::Row(code.map(|place| FAILED + place));
        };
        let kinds = self.part_faults.iter().enumerate();
        let own = kinds.filter(|(_, (own, kind))| own == part && (fault == "*" || kind == fault));
        FaultFilter::Parts(own.fold(0, |bits, (place, _)| bits | 1 << place))
    }

    /// Whether a row has such a fault.
    pub(crate) fn has_fault(&self, at: usize, filter: &FaultFilter) -> bool {
        match filter {
            FaultFilter::Any => self.has_outcome(at, "failed"),
            FaultFilter::Row(code) => code.is_some() && self.outcomes.get(at).copied() == *code,
            FaultFilter::Parts(bits) => self.part_bits.get(at).is_some_and(|own| own & bits != 0),
        }
    }
}

/// What stands for a fault of a row; the last of its kinds for all beyond the most.
fn row_fault(faults: &mut Vec<String>, fault: &str) -> u8 {
    let place = faults.iter().position(|own| own == fault).unwrap_or_else(|| {
        if faults.len() < ROW_FAULTS_MAX {
            faults.push(fault.to_owned());
        }
        faults.len() - 1
    });
    FAILED + u8::try_from(place).unwrap_or(u8::MAX - FAILED)
}

/// The bytes of a file between two places, without the line end.
pub(crate) fn read_at(file: &File, start: u64, end: u64) -> io::Result<Vec<u8>> {
    let length = usize::try_from(end.saturating_sub(start)).map_err(io::Error::other)?;
    let mut bytes = vec![0; length];
    file.read_exact_at(&mut bytes, start)?;
    while bytes.last().is_some_and(|byte| matches!(byte, b'\n' | b'\r')) {
        bytes.pop();
    }
    Ok(bytes)
}
