//! The JSON files of a run folder that is only read, and the names of what is written.

use std::fmt::Display;
use std::path::{Path, PathBuf};

use assay::data::{Columns, read_regular};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::exit::Failure;

/// Reads a file of the run in `dir`.
pub(super) fn json<T: DeserializeOwned>(dir: &Path, name: &str) -> Result<T, Failure> {
    let path = dir.join(name);
    let shown = path.display();
    let bytes = read_regular(&path)
        .map_err(|error| Failure::usage(format!("{shown}: {error}; it is no run folder")))?;
    serde_json::from_slice(&bytes)
        .map_err(|error| Failure::Other(anyhow::anyhow!("{shown} is damaged: {error}")))
}

/// The columns of the data, as the resolved configuration of a run names them; the default ones where
/// nothing is known of it.
pub(super) fn columns(config: &Value, run: impl Display) -> Result<Columns, Failure> {
    match config.get("data") {
        None | Some(Value::Null) => Ok(Columns::default()),
        Some(data) => serde_json::from_value(data.clone())
            .map_err(|error| anyhow::anyhow!("{run}: [data] is damaged: {error}").into()),
    }
}

/// The run folder that `-o` names.
pub(super) fn folder_out(text: &str) -> Result<PathBuf, String> {
    match text {
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
