//! `assay diagnose`: whether the rewards of a run can be trusted.

mod against;
mod args;
mod cells;
mod comparison_text;
mod data;
mod diagnosis;
mod input;
mod report;
mod series;
mod signals;
mod single;
mod text;
mod view;

use std::path::Path;

use assay::engine::runs::write_atomic;
use assay::verifiers::code::Code;

use super::exit::{Exit, Failure};
use super::output;
pub(super) use args::Args;
use data::DataFiles;
use diagnosis::Diagnosis;
use input::RunInput;
use view::RunView;

/// The file that is written beside a run.
const FILE: &str = "diagnostics.json";

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    args.check()?;
    let mut data = DataFiles::open(&args.with)?;
    let base = args.against.as_deref().map(RunInput::open).transpose()?;
    let base = match &base {
        Some(base) => Some(RunView::new(base, data.of_run(base, args)?, args)?),
        None => None,
    };
    let (mut runs, mut against) = (Vec::new(), Vec::new());
    for path in &args.runs {
        let input = RunInput::open(path)?;
        let view = RunView::new(&input, data.of_run(&input, args)?, args)?;
        let report = single::report(&view, args)?;
        against.extend(base.as_ref().map(|base| against::compare(base, &view, args)).transpose()?);
        if let Some(dir) = input.dir.as_ref().filter(|_| args.writes_beside()) {
            let first = against.len().saturating_sub(1);
            let alone =
                Diagnosis::new(std::slice::from_ref(&report), against.split_at(first).1, None);
            write(&dir.join(FILE), &alone)?;
        }
        runs.push(report);
    }
    let series = (runs.len() > 1).then(|| series::series(&runs, args));
    let all = Diagnosis::new(&runs, &against, series.as_ref());
    if let Some(file) = &args.output {
        write(file, &all)?;
    }
    if args.json {
        output::json(&all)?;
    } else {
        output::text(&text::text(&all));
    }
    Ok(Exit::Ok)
}

fn write(file: &Path, diagnosis: &Diagnosis<'_>) -> Result<(), Failure> {
    let mut text = serde_json::to_string_pretty(diagnosis).map_err(anyhow::Error::from)?;
    text.push('\n');
    write_atomic(file, text.as_bytes()).map_err(|error| {
        let why = format!("{}: {error}; --no-write writes no file", file.display());
        Failure::outside(Code::Unwritable, why)
    })
}
