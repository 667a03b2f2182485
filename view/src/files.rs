//! The files of a run folder, which is only read.

use std::fs;
use std::io;
use std::path::Path;

use serde_json::{Value, json};

use crate::error::ViewError;
use crate::text::cut_value;

/// What a page says of a run and its configuration, in how many bytes of each text, and in how many values.
const ABOUT_MAX: (usize, usize) = (2000, 400);

/// The configuration of a run, and what a page says of it and of what made it. Of paths the last part alone.
pub(crate) fn config_and_about(dir: &Path) -> Result<(Value, Value), ViewError> {
    let manifest = read_json(&dir.join("manifest.json"))?;
    let config = read_json(&dir.join("config.resolved.json"))?;
    let real = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
    let inputs = manifest.get("inputs").and_then(Value::as_array).into_iter().flatten();
    let input = |input: &Value| {
        let path = input.get("path").and_then(Value::as_str).unwrap_or("?");
        let name = Path::new(path).file_name().map(|name| name.to_string_lossy());
        json!({ "file": name, "bytes": input.get("bytes"), "sha256": input.get("sha256") })
    };
    let told = json!({
        "assay": manifest.get("assay"), "complete": manifest.get("complete"),
        "config_hash": manifest.get("config_hash"), "limit": manifest.get("limit"),
        "verdicts_sha256": manifest.get("verdicts_sha256"),
        "inputs": inputs.take(50).map(input).collect::<Vec<_>>(),
    });
    let about = json!({
        "name": real.file_name().unwrap_or(real.as_os_str()).to_string_lossy(),
        "manifest": cut_value(&told, ABOUT_MAX), "config": cut_value(&config, ABOUT_MAX),
    });
    Ok((config, about))
}

fn read_json(path: &Path) -> Result<Value, ViewError> {
    let bytes = fs::read(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => {
            ViewError::damaged(path, "is missing, so that this is not a run folder")
        }
        _ => ViewError::io(path, source),
    })?;
    serde_json::from_slice(&bytes).map_err(|why| ViewError::damaged(path, why.to_string()))
}
