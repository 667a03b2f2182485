//! Files of a policy: read whole, and written so that a reader sees the old bytes or the new ones.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use serde_json::{Map, Value};

use super::PolicyError;

/// The text of a file; `None` where there is no such file.
pub(super) fn read_text(path: &Path) -> Result<Option<String>, PolicyError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(PolicyError::io(path, error)),
    }
}

/// The object that a JSON file holds; `None` where there is no such file.
pub(super) fn read_object(path: &Path) -> Result<Option<Map<String, Value>>, PolicyError> {
    let Some(text) = read_text(path)? else { return Ok(None) };
    let wrong = |why: String| PolicyError::invalid(path.display().to_string(), why);
    match serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))? {
        Value::Object(object) => Ok(Some(object)),
        _ => Err(wrong("is not a JSON object".to_owned())),
    }
}

/// Writes a value as JSON.
pub(super) fn write_json(path: &Path, value: &Value) -> Result<(), PolicyError> {
    write_atomic(path, format!("{value:#}\n").as_bytes())
}

/// Writes a file by its bytes.
pub(super) fn write_atomic(path: &Path, bytes: &[u8]) -> Result<(), PolicyError> {
    write_renamed(path, |temporary| File::create(temporary)?.write_all(bytes))
}

/// Has a file written under a temporary name in its folder, which is made if need be, and renames it.
pub(super) fn write_renamed(
    path: &Path,
    write: impl FnOnce(&Path) -> io::Result<()>,
) -> Result<(), PolicyError> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| PolicyError::io(folder, error))?;
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".tmp");
    let temporary = path.with_file_name(name);
    let renamed = || {
        write(&temporary)?;
        File::open(&temporary)?.sync_all()?;
        fs::rename(&temporary, path)
    };
    renamed().map_err(|error| PolicyError::io(path, error))
}

/// A file that is not what it has to be.
pub(super) fn invalid(path: &Path, why: &str) -> PolicyError {
    PolicyError::invalid(path.display().to_string(), why)
}
