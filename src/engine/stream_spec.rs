//! How a dataset is read, and how reading it ends.

use assay_verifiers::Scored;
use assay_verifiers::TrainingState;

use super::ErrorFields;
use super::shard::Shard;
use crate::data::{DataError, RowError};
use assay_verifiers::code::Code;

/// What becomes of a row that cannot be read as a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BadRows {
    /// The run stops there; rows before it are kept.
    #[default]
    Stop,
    /// The row is left out and counted.
    Skip,
    /// The row is reported as failed with `BadInput`.
    Fault,
}

/// What to do with lines that an earlier session wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resume {
    /// They stand: go on after them.
    KeepLines,
    /// Write all lines anew, and judge again those with a fault.
    RetryFaults,
}

/// How a dataset is to be read.
pub struct StreamSpec {
    /// What becomes of rows that cannot be read.
    pub bad_rows: BadRows,
    /// The most rows of input that are read.
    pub limit: Option<u64>,
    /// The part of the rows that is judged; by default all of them.
    pub shard: Option<Shard>,
    /// Where the training stands.
    pub training: TrainingState,
    /// The lines that an earlier session wrote, in order.
    pub earlier: Box<dyn Iterator<Item = Result<OldRow, String>> + Send>,
    /// What to do with them.
    pub mode: Resume,
}

/// Why a stream ended early. Rows before the end were handed on.
#[derive(Debug, thiserror::Error)]
pub enum StreamError<E> {
    /// The data cannot be read on.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A row cannot be read, and bad rows stop the run.
    #[error("{0}")]
    Row(RowError),
    /// The lines of the earlier session do not belong to these data.
    #[error("{0}")]
    Earlier(String),
    /// A group that cannot be judged in one piece.
    #[error("{0}")]
    Group(String),
    /// The sink of the batches failed.
    #[error(transparent)]
    Sink(E),
    /// A defect of ours.
    #[error("internal: {0}")]
    Internal(String),
}

impl<E> StreamError<E> {
    /// What is wrong.
    pub fn code(&self) -> Code {
        match self {
            Self::Data(error) => error.code(),
            Self::Row(error) => error.code(),
            Self::Earlier(_) => Code::OtherRun,
            Self::Group(_) => Code::ScatteredGroup,
            Self::Sink(_) => Code::Unwritable,
            Self::Internal(_) => Code::Internal,
        }
    }

    /// Which file and row are at fault.
    pub fn fields(&self) -> ErrorFields {
        match self {
            Self::Data(error) => error.into(),
            Self::Row(RowError { place, .. }) => ErrorFields {
                file: place.file.to_string(),
                line: usize::try_from(place.row).ok(),
                ..ErrorFields::default()
            },
            _ => ErrorFields::default(),
        }
    }
}

/// How a stream ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Every row was read.
    EndOfData,
    /// The limit was reached.
    Limit,
    /// It was asked to stop.
    Stopped,
}

/// A line that an earlier session wrote.
pub struct OldRow {
    /// Its bytes, without the line end.
    pub line: Vec<u8>,
    /// What it says.
    pub scored: Scored,
}
