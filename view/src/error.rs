//! Why a run cannot be shown.

use std::io;
use std::path::Path;

/// Why a run cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// A file cannot be read or written: its name, and what the system says.
    #[error("{0}: {1}")]
    Io(String, #[source] io::Error),
    /// A folder that is not a run folder, or a file of one that is damaged: its name, and what is wrong with it.
    #[error("{0}: {1}")]
    Damaged(String, String),
    /// The rows of the data cannot be read.
    #[error("{0}")]
    Data(Box<dyn std::error::Error + Send + Sync>),
}

impl ViewError {
    pub(crate) fn io(file: &Path, source: io::Error) -> Self {
        Self::Io(file.display().to_string(), source)
    }

    pub(crate) fn damaged(file: &Path, why: impl Into<String>) -> Self {
        Self::Damaged(file.display().to_string(), why.into())
    }
}
