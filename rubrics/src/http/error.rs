//! Why a call failed, in words that do not change from run to run.

use std::time::Duration;

use assay_verifiers::{Fault, FaultKind};

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct HttpError {
    /// `Overloaded` where the endpoint asks for less or is left alone, else `Upstream`.
    pub kind: FaultKind,
    /// The cause: lower case, no final dot, without addresses, times or counts of tries.
    pub message: String,
    /// The status of the answer, where one came.
    pub status: Option<u16>,
    /// What the server said about it, all of it that was read, without the key.
    pub detail: String,
    /// Whether a further try may help.
    pub(super) retry: Retry,
    /// Whether the endpoint is at fault, and not this one request.
    pub(super) is_outage: bool,
}

/// Whether a further try may help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Retry {
    Never,
    /// After a pause that grows from try to try.
    Soon,
    /// After the pause that the server asks for.
    After(Duration),
}

impl HttpError {
    /// The answer is of no use, and another try would bring the same.
    pub fn unusable(message: impl Into<String>) -> Self {
        Self {
            kind: FaultKind::Upstream,
            message: message.into(),
            status: None,
            detail: String::new(),
            retry: Retry::Never,
            is_outage: false,
        }
    }

    /// No complete answer came; another try may bring one.
    pub(super) fn broken(message: impl Into<String>) -> Self {
        Self { retry: Retry::Soon, is_outage: true, ..Self::unusable(message) }
    }

    /// No answer came, and none will come in time.
    pub(super) fn final_outage(message: impl Into<String>) -> Self {
        Self { is_outage: true, ..Self::unusable(message) }
    }

    /// The endpoint is not to be called now.
    pub(super) fn overloaded(message: impl Into<String>) -> Self {
        Self { kind: FaultKind::Overloaded, ..Self::unusable(message) }
    }
}

impl From<HttpError> for Fault {
    fn from(error: HttpError) -> Self {
        Self::new(error.kind, error.message)
    }
}
