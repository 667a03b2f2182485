//! Why a run cannot be shown.

use std::io;
use std::path::Path;

/// Why a run cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// A file cannot be read or written.
    #[error("{file}: {source}")]
    Io {
        /// The file.
        file: String,
        /// What the system says.
        source: io::Error,
    },
    /// A folder that is not a run folder, or a file of one that is damaged.
    #[error("{file}: {why}")]
    Damaged {
        /// The file or folder.
        file: String,
        /// What is wrong with it.
        why: String,
    },
    /// The rows of the data cannot be read.
    #[error("{0}")]
    Data(Box<dyn std::error::Error + Send + Sync>),
}

impl ViewError {
    pub(crate) fn io(file: &Path, source: io::Error) -> Self {
        Self::Io { file: file.display().to_string(), source }
    }

    pub(crate) fn damaged(file: &Path, why: impl Into<String>) -> Self {
        Self::Damaged { file: file.display().to_string(), why: why.into() }
    }
}
