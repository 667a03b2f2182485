//! The files of a run folder, which is only read.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::error::ViewError;
use crate::text::{ValueLimits, cut_value};

/// A run folder.
pub(crate) struct RunFiles {
    pub(crate) dir: PathBuf,
    manifest: Value,
    pub(crate) config: Value,
}

impl RunFiles {
    pub(crate) fn open(dir: &Path) -> Result<Self, ViewError> {
        let manifest = read_json(&dir.join("manifest.json"))?;
        let config = read_json(&dir.join("config.resolved.json"))?;
        Ok(Self { dir: dir.to_owned(), manifest, config })
    }

    /// What a page says of the run: its configuration and what made it. Of paths the last part alone.
    pub(crate) fn about(&self) -> Value {
        let limits = ValueLimits { bytes: 2000, values: 400 };
        let real = self.dir.canonicalize().unwrap_or_else(|_| self.dir.clone());
        let inputs = self.manifest.get("inputs").and_then(Value::as_array).into_iter().flatten();
        let input = |input: &Value| {
            let path = input.get("path").and_then(Value::as_str).unwrap_or("?");
            let name = Path::new(path).file_name().map(|name| name.to_string_lossy());
            json!({ "file": name, "bytes": input.get("bytes"), "sha256": input.get("sha256") })
        };
        let manifest = json!({
            "assay": self.manifest.get("assay"), "complete": self.manifest.get("complete"),
            "config_hash": self.manifest.get("config_hash"), "limit": self.manifest.get("limit"),
            "verdicts_sha256": self.manifest.get("verdicts_sha256"),
            "inputs": inputs.take(50).map(input).collect::<Vec<_>>(),
        });
        json!({
            "name": real.file_name().unwrap_or(real.as_os_str()).to_string_lossy(),
            "manifest": cut_value(&manifest, &limits), "config": cut_value(&self.config, &limits),
        })
    }
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
