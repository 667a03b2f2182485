//! A call of a tool, and the calls of a completion.

use std::ops::Range;

use crate::format::Format;
use crate::value::{Object, Value};

/// A call of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The tool.
    pub name: String,
    /// The arguments that have names.
    pub arguments: Object,
    /// The arguments of a call of Python that have none.
    pub positional: Vec<Value>,
    /// The bytes of the text that hold the call, or the JSON that it is a part of; empty where it
    /// comes from a message.
    pub span: Range<usize>,
}

/// The calls of a completion.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calls {
    /// The calls in their order.
    pub calls: Vec<Call>,
    /// Their notation. `None` where the text has no calls.
    pub format: Option<Format>,
}
