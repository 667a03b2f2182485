//! What a run is: enough to know whether a folder holds this run or another.

use std::io::{self, BufRead as _, BufReader};
use std::path::Path;

use assay_verifiers::TrainingState;
use assay_verifiers::canonical;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::data::open_regular;
use crate::engine::shard::Shard;

/// The contents of `manifest.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunManifest {
    /// The version of the run format: 1.
    pub format: u32,
    /// The version of assay that wrote the run.
    pub assay: String,
    /// What the run is of.
    #[serde(flatten)]
    pub identity: Identity,
    /// How rows that cannot be read are treated.
    pub bad_rows: String,
    /// Whether the run reached the end of its data, or the limit.
    pub complete: bool,
    /// The most rows of input that were to be read.
    pub limit: Option<u64>,
    /// Rows in the output, once complete.
    pub rows: Option<u64>,
    /// SHA-256 of the verdict file, once complete.
    pub verdicts_sha256: Option<String>,
    /// SHA-256 of the summary, once complete; of what follows from the rows alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary_sha256: Option<String>,
}

/// What decides every byte of the output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Identity {
    /// SHA-256 of the configuration with every default filled in.
    pub config_hash: String,
    /// The input, file by file.
    pub inputs: Vec<InputFile>,
    /// The part of the run that the folder holds, where it does not hold all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// Where the training stood, where it had begun.
    #[serde(default, skip_serializing_if = "is_start")]
    pub training: TrainingState,
}

/// Whether nothing is known of a training: its step is 0.
fn is_start(training: &TrainingState) -> bool {
    *training == TrainingState::default()
}

/// One file of the input.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct InputFile {
    /// The path as it was given.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// SHA-256 of its bytes; null for a stream that was not read to its end.
    pub sha256: Option<String>,
}

impl PartialEq for InputFile {
    /// A file is its bytes, wherever it lies.
    fn eq(&self, other: &Self) -> bool {
        self.sha256.is_some() && self.sha256 == other.sha256
    }
}

impl Eq for InputFile {}

/// The SHA-256 of a file, in hexadecimal, and its size.
///
/// # Errors
/// A file that cannot be read.
pub fn hash_file(path: &Path) -> io::Result<(String, u64)> {
    let (hasher, bytes) = hasher_of(path)?;
    Ok((canonical::hex(&hasher.finalize()), bytes))
}

/// A hasher that was fed a file, and the size of the file.
pub(super) fn hasher_of(path: &Path) -> io::Result<(Sha256, u64)> {
    let mut reader = BufReader::with_capacity(1 << 20, open_regular(path)?);
    let (mut hasher, mut bytes) = (Sha256::new(), 0);
    loop {
        let read = match reader.fill_buf() {
            Ok([]) => return Ok((hasher, bytes)),
            Ok(buffer) => {
                hasher.update(buffer);
                buffer.len()
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        reader.consume(read);
        bytes += read as u64;
    }
}
