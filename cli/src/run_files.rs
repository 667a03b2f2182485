//! The JSON files of a run folder that is only read, and the names of what is written.

use std::fmt::Display;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use assay::data::{Columns, Row, escape, open_regular, read_regular};
use assay::engine::runs::{
    InputFile, MANIFEST, RunError, RunManifest, TIMINGS, check_lines, check_verdicts, hash_file,
};
use assay::verifiers::code::Code;
use assay::verifiers::from_value;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::exit::Failure;
use super::output;

/// Reads a file of the run in `dir`.
pub(super) fn json<T: DeserializeOwned>(dir: &Path, name: &str) -> Result<T, Failure> {
    let path = dir.join(name);
    let shown = path.display();
    let bytes = read_regular(&path)
        .map_err(|error| Failure::usage(format!("{shown}: {error}; it is not a run folder")))?;
    serde_json::from_slice(&bytes)
        .map_err(|error| Failure::outside(Code::Damaged, format!("{shown} is damaged: {error}")))
}

/// The columns of the data, as the resolved configuration of a run names them; the default ones where
/// nothing is known of it.
pub(super) fn columns(config: &Value, run: impl Display) -> Result<Columns, Failure> {
    match config.get("data") {
        None | Some(Value::Null) => Ok(Columns::default()),
        Some(data) => from_value(data).map_err(|error| {
            Failure::outside(Code::Damaged, format!("{run}: [data] is damaged: {error}"))
        }),
    }
}

/// The manifest of a run whose lines are as it left them; says so where the run is not complete.
pub(super) fn manifest(run: &Path) -> Result<RunManifest, Failure> {
    checked(run, check_lines)
}

/// The same of a run of which the verdicts alone are read.
pub(super) fn verdicts_manifest(run: &Path) -> Result<RunManifest, Failure> {
    checked(run, check_verdicts)
}

fn checked(
    run: &Path,
    check: impl FnOnce(&Path, &RunManifest) -> Result<(), RunError>,
) -> Result<RunManifest, Failure> {
    let manifest: RunManifest = json(run, MANIFEST)?;
    if manifest.complete {
        check(run, &manifest)?;
    } else {
        output::note(&format!("{}: the run is not complete", run.display()));
    }
    Ok(manifest)
}

/// The number of each row of a run over the whole input, from 0.
pub(super) fn row_numbers(
    run: &Path,
) -> Result<impl Iterator<Item = Result<u64, Failure>> + use<>, Failure> {
    /// What a line of timings says of its row.
    #[derive(Deserialize)]
    struct Timing {
        row: u64,
    }
    let timings = run.join(TIMINGS);
    let file = open_regular(&timings).map_err(Failure::io(&timings))?;
    let lines = BufReader::with_capacity(1 << 18, file).split(b'\n');
    Ok(lines.map(move |line| {
        let line = line.map_err(Failure::io(&timings))?;
        let timing: Timing = serde_json::from_slice(&line).map_err(|error| {
            let why = format!("{}: damaged: {error}", timings.display());
            Failure::outside(Code::Damaged, why)
        })?;
        Ok(timing.row)
    }))
}

/// The file of an input, where it has the bytes that were scored.
pub(super) fn input_file(run: &Path, input: &InputFile) -> Option<PathBuf> {
    input_places(run, input).into_iter().find(|path| is_input(path, input))
}

/// Files that may be an input, by their sizes: at its path, and at a relative path seen from a folder above the
/// run.
pub(super) fn input_places(run: &Path, input: &InputFile) -> Vec<PathBuf> {
    let own = Path::new(&input.path);
    let run = run.canonicalize().ok().filter(|_| own.is_relative());
    let above = run.iter().flat_map(|run| run.ancestors().skip(1)).map(|folder| folder.join(own));
    let mut places: Vec<PathBuf> = std::iter::once(own.to_owned()).chain(above).collect();
    places.retain(|path| {
        path.metadata().is_ok_and(|meta| meta.is_file() && meta.len() == input.bytes)
    });
    places
}

/// Whether a file has the bytes of an input.
pub(super) fn is_input(path: &Path, input: &InputFile) -> bool {
    hash_file(path).is_ok_and(|(sha256, _)| Some(sha256) == input.sha256)
}

/// What `row` of the data is, where it is not the row that a run scored as `id`: its place, and both ids.
pub(super) fn other_row(row: &Row, id: &str) -> Option<String> {
    let own = match &row.sample {
        Ok(sample) => sample.id().to_owned(),
        Err(_) => format!("row-{}", row.index + 1),
    };
    let (place, have, wanted) = (&row.place, escape(&own), escape(id));
    (own != id).then(|| format!("{place} has id \"{have}\", the run has \"{wanted}\" there"))
}

/// A share of rows, from 0 to 1.
pub(super) fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "expected a share from 0 to 1, as in 0.05".to_owned())
}

/// A reward.
pub(super) fn reward(text: &str) -> Result<f64, String> {
    let reward = text.parse().ok().filter(|reward: &f64| reward.is_finite());
    reward.ok_or_else(|| "expected a finite number, as in 0.5".to_owned())
}

/// A folder in which verdicts are kept.
pub(super) fn cache_folder(text: &str) -> Result<PathBuf, String> {
    if text.starts_with(['~', '$']) {
        return Err("no shell expanded it: write the whole path, as in /home/ME/cache".to_owned());
    }
    Ok(text.into())
}

/// The run folder that `-o` names.
pub(super) fn folder_out(text: &str) -> Result<PathBuf, String> {
    match text {
        _ if Path::new(text).is_file() => {
            Err("it is a file, and a run is a folder: name one, as in `-o run`".to_owned())
        }
        "-" => Err("a run is a folder, and does not fit into standard output: name one, as in \
                    `-o run`; its rows are then in run/verdicts.jsonl"
            .to_owned()),
        _ => Ok(text.into()),
    }
}

/// The file that `-o` names.
pub(super) fn file_out(text: &str) -> Result<PathBuf, String> {
    match text {
        "-" => {
            Err("to print to standard output leave -o out; a file of that name is `-o ./-`"
                .to_owned())
        }
        _ => Ok(text.into()),
    }
}
