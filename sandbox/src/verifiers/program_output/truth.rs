//! What is right.

use crate::value::PyValue;

/// What is right.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Truth {
    /// A value that has a literal.
    Value(PyValue),
    /// One that has none, as Python shows it, and the plain value in it, where there is one.
    Shown { text: String, plain: Option<PyValue> },
    /// Text that is printed.
    Printed(String),
    /// The class of an exception.
    Raised(String),
    /// A line, by its number and its text; a reference may give one of them alone.
    Line { number: Option<u32>, text: String },
    /// No line runs any more.
    End,
    /// Names of a type.
    Type(Vec<String>),
}

impl Truth {
    /// The truth as a completion writes it.
    pub(super) fn written(&self) -> Option<String> {
        Some(match self {
            Self::Value(value) => value.to_string(),
            Self::Line { number: Some(number), .. } => number.to_string(),
            Self::Shown { text, .. }
            | Self::Printed(text)
            | Self::Raised(text)
            | Self::Line { number: None, text } => text.clone(),
            Self::End => PyValue::None.to_string(),
            Self::Type(names) => names.first()?.clone(),
        })
    }
}
