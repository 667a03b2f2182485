//! A run as it is read: a folder, a file of verdict lines, or a stream of them.

use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use assay::data::open_once;
use assay::engine::runs::{CONFIG, RunManifest, VerdictRows, verdict_rows};
use assay::verifiers::code::Code;
use assay::verifiers::{FaultKind, Outcome, Reward, Scored, Verdict};
use serde_json::Value;

use crate::exit::Failure;
use crate::run_files::{json, verdicts_manifest};

/// A run, and what is known of it.
pub(super) struct RunInput {
    /// As it was named.
    pub(super) name: String,
    /// Its folder, where it has one.
    pub(super) dir: Option<PathBuf>,
    pub(super) manifest: Option<RunManifest>,
    /// The resolved configuration; null where there is none.
    pub(super) config: Value,
    pub(super) rows: Rows,
}

/// The rows of a run, column by column.
#[derive(Default)]
pub(super) struct Rows {
    pub(super) ids: Vec<String>,
    pub(super) groups: Vec<Option<String>>,
    /// The combined reward; NaN where the row was not scored.
    pub(super) total: Vec<f64>,
    pub(super) abstained: usize,
    pub(super) faults: Vec<Option<FaultKind>>,
    /// How many steps the first verdict with steps gives.
    pub(super) steps: Vec<Option<usize>>,
    pub(super) rewards: Vec<Column>,
}

/// One reward, along the rows.
pub(super) struct Column {
    pub(super) name: String,
    /// NaN where it is missing.
    pub(super) rewards: Vec<f64>,
    pub(super) faults: Vec<Option<FaultKind>>,
    /// The answers that were extracted.
    pub(super) answers: Vec<Option<String>>,
}

impl RunInput {
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let name = path.display().to_string();
        if path.is_dir() {
            let (manifest, config) = (verdicts_manifest(path)?, json(path, CONFIG)?);
            let rows = Rows::read(verdict_rows(path)?)?;
            let dir = Some(path.to_owned());
            return Ok(Self { name, dir, manifest: Some(manifest), config, rows });
        }
        let lines: Box<dyn BufRead> = if name == "-" {
            Box::new(BufReader::new(io::stdin()))
        } else {
            let file = open_once(path);
            let missing = |error| Failure::usage(format!("{name}: {error}"));
            Box::new(BufReader::with_capacity(1 << 18, file.map_err(missing)?))
        };
        let rows = Rows::of_lines(&name, lines)?;
        Ok(Self { name, dir: None, manifest: None, config: Value::Null, rows })
    }

    /// The names of the rewards.
    pub(super) fn rewards(&self) -> impl Iterator<Item = &str> {
        self.rows.rewards.iter().map(|column| column.name.as_str())
    }
}

impl Rows {
    fn read(rows: VerdictRows) -> Result<Self, Failure> {
        let mut table = Self::default();
        for row in rows {
            table.push(row?);
        }
        Ok(table)
    }

    fn of_lines(name: &str, lines: impl BufRead) -> Result<Self, Failure> {
        let mut table = Self::default();
        for (at, line) in lines.split(b'\n').enumerate() {
            let line = line?;
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            let row = serde_json::from_slice::<Scored>(&line);
            table.push(row.map_err(|why| {
                let why = format!("{name}:{}: not a verdict row ({why})", at + 1);
                Failure::outside(Code::WrongType, why)
            })?);
        }
        if table.ids.is_empty() {
            let why = format!("{name}: there is no verdict row");
            return Err(Failure::outside(Code::NoRows, why));
        }
        Ok(table)
    }

    pub(super) fn len(&self) -> usize {
        self.ids.len()
    }

    /// The reward of this name.
    pub(super) fn column(&self, name: &str) -> Option<&Column> {
        self.rewards.iter().find(|column| column.name == name)
    }

    fn push(&mut self, row: Scored) {
        let at = self.len();
        self.total.push(row.reward().unwrap_or(f64::NAN));
        self.abstained += usize::from(matches!(row.outcome, Outcome::Abstained(_)));
        self.faults.push(fault(&row.outcome));
        let steps = row.verdicts.iter().map(|(_, verdict)| verdict.steps.len());
        self.steps.push(steps.into_iter().find(|steps| *steps > 0));
        for (name, verdict) in row.verdicts.iter() {
            if let Some(column) = self.rewards.iter_mut().find(|column| column.name == name) {
                column.put(at, verdict);
            } else {
                let mut column = Column::new(name);
                column.put(at, verdict);
                self.rewards.push(column);
            }
        }
        for column in &mut self.rewards {
            column.fill(at + 1);
        }
        self.ids.push(row.id);
        self.groups.push(row.group);
    }
}

impl Column {
    fn new(name: &str) -> Self {
        let name = name.to_owned();
        Self { name, rewards: Vec::new(), faults: Vec::new(), answers: Vec::new() }
    }

    fn put(&mut self, at: usize, verdict: &Verdict) {
        self.fill(at);
        let reward = verdict.outcome.reward().map_or(f64::NAN, Reward::get);
        self.rewards.push(reward);
        self.faults.push(fault(&verdict.outcome));
        let answer = verdict.evidence.get("extracted").and_then(Value::as_str);
        self.answers.push(answer.map(|answer| answer.trim().to_owned()));
    }

    /// Rows without this reward.
    fn fill(&mut self, rows: usize) {
        self.rewards.resize(rows, f64::NAN);
        self.faults.resize(rows, None);
        self.answers.resize(rows, None);
    }
}

fn fault(outcome: &Outcome) -> Option<FaultKind> {
    match outcome {
        Outcome::Failed(fault) => Some(fault.kind),
        Outcome::Scored(_) | Outcome::Abstained(_) => None,
    }
}
