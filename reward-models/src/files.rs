//! The files of a model folder. A pipe or a device in the place of one would be read without end.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

use crate::error::ModelError;

/// Opens a file of at most `bytes_max` bytes, which is one, and says how many it has.
pub(crate) fn open(path: &Path, bytes_max: u64) -> Result<(File, u64), ModelError> {
    let wrong = |error| ModelError::file(path, error);
    // Before it is opened: to open a pipe is to wait for its writer.
    let about = fs::metadata(path).map_err(wrong)?;
    if !about.is_file() {
        return Err(ModelError::file(path, "expected a file, found a folder, a pipe or a device"));
    }
    let size = about.len();
    if size > bytes_max {
        let why = format!("it has {size} bytes; at most {bytes_max} are allowed");
        return Err(ModelError::file(path, why));
    }
    Ok((File::open(path).map_err(wrong)?, size))
}

/// Reads such a file.
pub(crate) fn read(path: &Path, bytes_max: u64) -> Result<Vec<u8>, ModelError> {
    let (file, size) = open(path, bytes_max)?;
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    let read = file.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|error| ModelError::file(path, error))?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > bytes_max) {
        let why = format!("it grew beyond the {bytes_max} bytes that are allowed");
        return Err(ModelError::file(path, why));
    }
    Ok(bytes)
}

/// Reads such a file as text.
pub(crate) fn text(path: &Path, bytes_max: u64) -> Result<String, ModelError> {
    let bytes = read(path, bytes_max)?;
    String::from_utf8(bytes).map_err(|error| ModelError::file(path, error.utf8_error()))
}
