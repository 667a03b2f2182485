//! Why joining fails.

/// Why the modules of a component cannot be joined.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// The bytes cannot be read.
    #[error(transparent)]
    Wasm(#[from] wasmparser::Error),
    /// It has what joining does not know.
    #[error("{0}")]
    Unknown(String),
}

impl JoinError {
    pub(crate) fn unknown(what: impl Into<String>) -> Self {
        Self::Unknown(what.into())
    }
}

/// The result of an encoder.
pub(crate) type Encoded<T> = Result<T, wasm_encoder::reencode::Error<JoinError>>;

impl From<wasm_encoder::reencode::Error<JoinError>> for JoinError {
    fn from(error: wasm_encoder::reencode::Error<JoinError>) -> Self {
        use wasm_encoder::reencode::Error;
        match error {
            Error::UserError(error) => error,
            Error::ParseError(error) => Self::Wasm(error),
            other => Self::unknown(other.to_string()),
        }
    }
}

/// The error of an index that leads nowhere.
pub(crate) fn missing() -> JoinError {
    JoinError::unknown("an item that nothing defines")
}
