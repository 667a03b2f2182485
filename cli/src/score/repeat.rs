//! `assay score --repeat`: whether a run repeats itself, and which rows do not.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Lines};
use std::path::Path;

use assay::engine::runs::{VERDICTS, VerdictForm};
use assay::engine::{CancellationToken, EngineBuilder, FileRun, FileRunSpec};
use assay::verifiers::Scored;

use crate::exit::{Exit, Failure};
use crate::output::{self, count};
use crate::setup::EngineArgs;
use crate::text::inline;

/// Rows that are named.
const NAMED_MAX: u64 = 10;

/// A run that is made again.
pub(super) struct Repeat<'a> {
    /// How it was made.
    pub(super) spec: FileRunSpec,
    pub(super) engine: &'a EngineArgs,
    /// The run that is there.
    pub(super) run: &'a Path,
    /// How often the data are scored in all.
    pub(super) times: u32,
    pub(super) stop: &'a CancellationToken,
}

impl Repeat<'_> {
    /// Scores the data again and again, by a new engine each time, and compares each line with the first run.
    pub(super) fn compare(&self, builder: impl Fn() -> EngineBuilder) -> Result<Exit, Failure> {
        let mut moved = 0;
        for time in 2..=self.times {
            let folder = tempfile::tempdir()?;
            let engine = EngineArgs { no_cache: true, cache_dir: None, ..self.engine.clone() };
            let engine = engine.engine(builder())?;
            let (output, form) = (folder.path().to_owned(), VerdictForm::Jsonl);
            let spec = FileRunSpec { output, form, fresh: true, ..self.spec.clone() };
            let mut run = FileRun::open(spec, &engine, std::process::id())?;
            if !run.run(self.stop, &mut |_| ())?.complete {
                return Ok(Exit::Interrupted);
            }
            moved += differences(self.run, folder.path(), time)?;
        }
        let rows = if moved == 1 { "row differs" } else { "rows differ" };
        output::note(&format!("scored {} times: {} {rows}", self.times, count(moved)));
        Ok(if moved == 0 { Exit::Ok } else { Exit::Threshold })
    }
}

/// How many lines differ; the first of them are named.
fn differences(first: &Path, again: &Path, time: u32) -> Result<u64, Failure> {
    let mut differing = 0;
    let mut again = lines(again)?;
    for line in lines(first)? {
        let (line, other) = (line?, again.next().transpose()?.unwrap_or_default());
        if line == other {
            continue;
        }
        differing += 1;
        if differing <= NAMED_MAX {
            output::note(&told(&line, &other, time));
        }
    }
    Ok(differing + again.count() as u64)
}

/// What differs in a line.
fn told(line: &str, other: &str, time: u32) -> String {
    let read = |line: &str| serde_json::from_str::<Scored>(line).ok();
    let (Some(first), Some(again)) = (read(line), read(other)) else {
        return format!("time {time}: a line that the other run has not");
    };
    let shown = |scored: &Scored| crate::verdict::outcome(&scored.outcome);
    let names =
        first.verdicts.iter().filter(|(name, verdict)| again.verdict(name) != Some(verdict));
    let names: Vec<String> = names.map(|(name, _)| inline(name)).collect();
    let id = inline(&first.id);
    format!("{id}: {}, and {} at time {time} ({})", shown(&first), shown(&again), names.join(", "))
}

fn lines(run: &Path) -> Result<Lines<BufReader<File>>, Failure> {
    let path = run.join(VERDICTS);
    let file = File::open(&path).map_err(Failure::io(&path))?;
    Ok(BufReader::new(file).lines())
}
