//! Why a model cannot be used.

use std::any::Any;
use std::borrow::Cow;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use assay_verifiers::code::Code;
use assay_verifiers::{Fault, FaultKind};

/// What is wrong with a model folder, or with what a model did.
///
/// Every message names the folder, the file or key in it, and what was found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// A file is missing or cannot be read.
    #[error("{file}: {why}")]
    File {
        /// The file.
        file: String,
        /// What the system said.
        why: String,
    },
    /// A key of the manifest says what cannot be.
    #[error("{file}: {key}: {why}")]
    Manifest {
        /// The manifest.
        file: String,
        /// The key, as a dotted path.
        key: String,
        /// What is wrong with it.
        why: String,
    },
    /// A file is not the one that the manifest names.
    #[error("{file}: its SHA-256 is {found}; the manifest says {expected}")]
    Digest {
        /// The file.
        file: String,
        /// What the manifest says.
        expected: String,
        /// What it is.
        found: String,
    },
    /// The graph does not fit, or the backend refuses it.
    #[error("{file}: {why}")]
    Graph {
        /// The graph.
        file: String,
        /// What does not fit.
        why: String,
    },
    /// No backend can run the model here.
    #[error("{0}")]
    Backend(String),
    /// A golden pair does not come out.
    #[error("{file}: golden[{at}]: {why}")]
    Golden {
        /// The manifest.
        file: String,
        /// Which pair, from 0.
        at: usize,
        /// What came out instead.
        why: String,
    },
    /// A text does not fit into the model.
    #[error("{0}")]
    Input(Cow<'static, str>),
    /// The backend failed while it ran.
    #[error("{0}")]
    Run(String),
    /// The backend had not enough memory.
    #[error("out of memory: {0}")]
    Memory(String),
    /// The run was stopped.
    #[error("stopped")]
    Stopped,
}

impl ModelError {
    /// The code of the error, where it ends a command.
    pub const fn code(&self) -> Code {
        match self {
            Self::File { .. } => Code::UnreadableFile,
            Self::Digest { .. } => Code::Damaged,
            Self::Backend(_) => Code::FeatureOff,
            Self::Memory(_) => Code::Limit,
            Self::Stopped => Code::Stopped,
            Self::Manifest { .. }
            | Self::Graph { .. }
            | Self::Golden { .. }
            | Self::Input(_)
            | Self::Run(_) => Code::BadValue,
        }
    }

    pub(crate) fn file(path: &Path, why: impl Display) -> Self {
        Self::File { file: path.display().to_string(), why: why.to_string() }
    }

    pub(crate) fn graph(path: &Path, why: impl Display) -> Self {
        Self::Graph { file: path.display().to_string(), why: why.to_string() }
    }
}

/// Runs `work` of a library, and turns its panic into an error: a graph or a tokenizer that it did
/// not expect costs the text, not the process.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T, ModelError>) -> Result<T, ModelError> {
    let told = |panic: &(dyn Any + Send)| {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or(panic.downcast_ref::<String>().map(String::as_str));
        ModelError::Run(format!("panicked: {}", text.unwrap_or("no message")))
    };
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(told(&*panic)))
}

impl From<ModelError> for Fault {
    fn from(error: ModelError) -> Self {
        let kind = match &error {
            ModelError::Input(_) => FaultKind::BadInput,
            ModelError::Memory(_) => FaultKind::OutOfMemory,
            ModelError::Stopped => FaultKind::Timeout,
            _ => FaultKind::BadModel,
        };
        Self::new(kind, error.to_string())
    }
}
