//! The rows of a run as columns: what they are counted, filtered and sorted by, and where each is in its file.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use assay_verifiers::stats::{float, fnv1a};
use serde_json::Value;

use crate::error::ViewError;
use crate::line::{OutcomeWord, PartLine, RowLine, TimingLine};
use crate::lines::{LinesFile, joined};

/// Parts with figures of their own.
const PARTS_MAX: usize = 24;
/// Reasons of one part that are told apart, and the bytes of one.
const REASONS_MAX: usize = 20;
const REASON_BYTES_MAX: usize = 60;
/// Kinds of faults that are told apart: the bits of a number.
const FAULTS_MAX: usize = 128;
/// Rows that are named of one kind.
pub(crate) const NAMED_MAX: usize = 10;

/// What is known of all rows. Columns of numbers may end early, and have NaN where there is none.
#[derive(Default)]
pub(crate) struct RunIndex {
    /// Digests of the ids.
    pub(crate) ids: Vec<u64>,
    /// The number of each row over the whole input, ascending.
    pub(crate) numbers: Vec<u64>,
    pub(crate) outcomes: Vec<OutcomeWord>,
    /// The rewards and outcomes of the rows themselves.
    pub(crate) total: PartColumn,
    /// What the verdicts of a row took: microseconds, tokens, fuel.
    pub(crate) us: Vec<f64>,
    pub(crate) tokens: Vec<f64>,
    pub(crate) fuel: Vec<f64>,
    /// The first row of the group of each row: rows of one group follow each other.
    pub(crate) groups: Vec<u32>,
    /// Rows that have a group; each of the others is by itself.
    pub(crate) grouped: usize,
    last_group: Option<u64>,
    pub(crate) parts: Vec<PartColumn>,
    /// Verdicts of parts beyond the most.
    pub(crate) left_out: u64,
    pub(crate) faults: Vec<FaultKind>,
    /// For each row its kinds of faults, by their places.
    fault_bits: Vec<u128>,
}

/// The verdicts of one reward.
#[derive(Default)]
pub(crate) struct PartColumn {
    pub(crate) name: String,
    pub(crate) rewards: Vec<f64>,
    /// Rows that are scored, abstained and failed.
    pub(crate) outcomes: [u64; 3],
    pub(crate) reasons: BTreeMap<String, u64>,
    pub(crate) other_reasons: u64,
}

/// A fault of a part, or of rows, whose part has no name.
pub(crate) struct FaultKind {
    pub(crate) part: String,
    pub(crate) fault: String,
    pub(crate) rows: u64,
    /// The places of the first rows.
    pub(crate) first: Vec<usize>,
}

impl RunIndex {
    /// One pass over the rows of a run folder.
    pub(crate) fn read(dir: &Path) -> Result<(Self, LinesFile), ViewError> {
        let path = dir.join("verdicts.jsonl");
        let mut index = Self::default();
        // Without timings, or beyond the last, rows are numbered through.
        let timings = File::open(dir.join("timings.jsonl")).ok();
        let timings = timings.into_iter().flat_map(|file| BufReader::new(file).split(b'\n'));
        let timing = |line: std::io::Result<Vec<u8>>| {
            let TimingLine { row, us } = serde_json::from_slice(&line.ok()?).ok()?;
            Some((row, us.iter().map(|(_, us)| float(*us)).sum()))
        };
        let mut timings = timings.map_while(timing).fuse();
        let file = LinesFile::read(&path, false, |lines| {
            for line in parsed(lines) {
                let line = line.map_err(|why| {
                    let number = index.ids.len() + 1;
                    ViewError::damaged(&path, format!("line {number} is not a verdict row ({why})"))
                })?;
                index.add(&line, timings.next());
            }
            Ok(())
        })?;
        Ok((index, file))
    }

    fn add(&mut self, line: &RowLine<'_>, timing: Option<(u64, f64)>) {
        let at = self.ids.len();
        self.ids.push(fnv1a(0, &line.id));
        self.numbers.push(timing.map_or(at as u64, |(row, _)| row));
        put(&mut self.us, at, timing.map(|(_, us)| us));
        self.outcomes.push(line.outcome);
        let reward = line.reward.filter(|_| line.outcome == OutcomeWord::Scored);
        self.total.add(at, line.outcome, reward);
        let group = line.group.as_ref().map(|group| fnv1a(0, group));
        let place = u32::try_from(at).unwrap_or(u32::MAX);
        let is_same = group.is_some() && group == self.last_group;
        self.groups.push(self.groups.last().copied().filter(|_| is_same).unwrap_or(place));
        self.grouped += usize::from(group.is_some());
        self.last_group = group;
        let mut bits = line.fault.as_ref().map_or(0, |fault| self.add_fault("", fault, at));
        let (mut tokens, mut fuel) = (0.0, 0.0);
        for (name, part) in line.verdicts.iter() {
            bits |= part.fault.as_ref().map_or(0, |fault| self.add_fault(name, fault, at));
            tokens += float(part.usage.tokens.unwrap_or(0));
            fuel += part.evidence.fuel.as_ref().and_then(Value::as_f64).unwrap_or(0.0);
            self.add_part(name, part, at);
        }
        put(&mut self.tokens, at, (tokens > 0.0).then_some(tokens));
        put(&mut self.fuel, at, (fuel > 0.0).then_some(fuel));
        if bits != 0 {
            self.fault_bits.resize(at, 0);
            self.fault_bits.push(bits);
        }
    }

    fn add_part(&mut self, name: &str, part: &PartLine, at: usize) {
        let place = self.parts.iter().position(|own| own.name == name).unwrap_or(self.parts.len());
        if place == self.parts.len() && place < PARTS_MAX {
            self.parts.push(PartColumn { name: name.to_owned(), ..PartColumn::default() });
        }
        let Some(column) = self.parts.get_mut(place) else {
            self.left_out += 1;
            return;
        };
        column.add(at, part.outcome, part.reward);
        let Some(reason) = part.evidence.reason.as_ref().and_then(Value::as_str) else { return };
        if let Some(count) = column.reasons.get_mut(reason) {
            *count += 1;
        } else if column.reasons.len() < REASONS_MAX && reason.len() <= REASON_BYTES_MAX {
            column.reasons.insert(reason.to_owned(), 1);
        } else {
            column.other_reasons += 1;
        }
    }

    /// The bit of a kind of fault; none beyond the most.
    fn add_fault(&mut self, part: &str, fault: &str, at: usize) -> u128 {
        let is_own = |kind: &FaultKind| kind.part == part && kind.fault == fault;
        let place = self.faults.iter().position(is_own).unwrap_or(self.faults.len());
        if place == self.faults.len() && place < FAULTS_MAX {
            let (part, fault) = (part.to_owned(), fault.to_owned());
            self.faults.push(FaultKind { part, fault, rows: 0, first: Vec::new() });
        }
        let Some(kind) = self.faults.get_mut(place) else { return 0 };
        kind.rows += 1;
        if kind.first.len() < NAMED_MAX {
            kind.first.push(at);
        }
        1 << place
    }

    /// How many rows there are.
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    /// The row with this number, where the run has it.
    pub(crate) fn place(&self, number: u64) -> Option<usize> {
        self.numbers.binary_search(&number).ok()
    }

    /// Which rows have a fault of a part, or of rows; `*` is any.
    #[cfg(feature = "serve")]
    pub(crate) fn with_fault(&self, part: &str, fault: &str) -> impl Fn(usize) -> bool {
        let is_own = |kind: &FaultKind| kind.part == part && (fault == "*" || kind.fault == fault);
        let own = self.faults.iter().enumerate().filter(|(_, kind)| is_own(kind));
        let kinds = own.fold(0, |bits, (place, _)| bits | 1_u128 << place);
        move |at| self.fault_bits.get(at).is_some_and(|own| own & kinds != 0)
    }
}

impl PartColumn {
    fn add(&mut self, at: usize, outcome: OutcomeWord, reward: Option<f64>) {
        put(&mut self.rewards, at, reward);
        if let Some(rows) = self.outcomes.get_mut(outcome as usize) {
            *rows += 1;
        }
    }
}

fn put(column: &mut Vec<f64>, at: usize, value: Option<f64>) {
    if let Some(value) = value {
        column.resize(at, f64::NAN);
        column.push(value);
    }
}

/// The lines, parsed by two threads.
fn parsed(lines: &[u8]) -> impl Iterator<Item = serde_json::Result<RowLine<'_>>> {
    let (half, _) = lines.split_at(lines.len() / 2);
    let half = memchr::memrchr(b'\n', half).map_or(0, |end| end + 1);
    let (first, second) = lines.split_at(half);
    let (first, second) = std::thread::scope(|scope| {
        let second = scope.spawn(|| each(second));
        (each(first), joined(second))
    });
    first.into_iter().chain(second)
}

fn each(lines: &[u8]) -> Vec<serde_json::Result<RowLine<'_>>> {
    let mut from = 0;
    let line = |end| {
        let line = lines.get(from..=end);
        from = end + 1;
        line.map(serde_json::from_slice)
    };
    memchr::memchr_iter(b'\n', lines).filter_map(line).collect()
}
