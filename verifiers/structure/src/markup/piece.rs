//! The pieces of a document.

use std::borrow::Cow;
use std::ops::Range;

/// The most attributes of an element, and the most namespaces in scope.
pub const ATTRIBUTES_MAX: usize = 256;

/// A part of a document. `Open` and `Close` are balanced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece<'t> {
    /// An element begins.
    Open(Tag<'t>),
    /// Character data, references decoded. Outside of the root none is kept.
    Text(Cow<'t, str>),
    /// The innermost element ends.
    Close,
}

/// The start tag of an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag<'t> {
    /// Its name, in HTML in lower case.
    pub name: Cow<'t, str>,
    /// Names and values, in order; references decoded.
    pub attributes: Vec<(Cow<'t, str>, Cow<'t, str>)>,
    /// Its bytes in the text.
    pub span: Range<usize>,
}

impl Tag<'_> {
    /// The value of an attribute.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(have, _)| have == name).map(|(_, value)| value.as_ref())
    }
}
