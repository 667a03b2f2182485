//! Markup, read strictly into a flat list of pieces: XML 1.0 with namespaces, and HTML.
//!
//! The internal subset of a document type, and with it every entity that a text could declare, is
//! refused: expansion is bounded by the text. HTML follows the syntax of the HTML Standard (void
//! elements, optional end tags, raw text, unquoted attributes), and refuses what a browser repairs.

mod dialect;
mod piece;
mod read;

use crate::Break;
use crate::fold::is_blank;
pub use piece::{ATTRIBUTES_MAX, Piece, Tag};

/// Reads a well-formed XML document: one root, namespaces bound. Linear in the text, but for the
/// attributes of one element, which are compared with each other.
pub fn xml(text: &str) -> Result<Vec<Piece<'_>>, Break> {
    read::read(text, false)
}

/// Reads an HTML document or fragment, elements balanced. Linear as [`xml`] is.
pub fn html(text: &str) -> Result<Vec<Piece<'_>>, Break> {
    read::read(text, true)
}

/// The start tags of a document, in order.
pub fn tags<'p, 't>(pieces: &'p [Piece<'t>]) -> impl Iterator<Item = &'p Tag<'t>> {
    pieces.iter().filter_map(|piece| match piece {
        Piece::Open(tag) => Some(tag),
        _ => None,
    })
}

/// The first of `required` elements that a document lacks or leaves without text, attributes and
/// elements within it, or the first tag of a `forbidden` one. Linear in the pieces times the names.
pub fn elements(
    pieces: &[Piece<'_>],
    required: &[String],
    forbidden: &[String],
) -> Result<(), Break> {
    if let Some(tag) = tags(pieces).find(|tag| forbidden.iter().any(|name| *name == tag.name)) {
        return Err(Break::new("forbidden-element", tag.name.as_ref(), tag.span.clone()));
    }
    let holds = |name: &String| {
        pieces.iter().zip(pieces.iter().skip(1)).any(|(piece, next)| match piece {
            Piece::Open(tag) if *name == tag.name => {
                !tag.attributes.is_empty()
                    || match next {
                        Piece::Text(text) => !is_blank(text),
                        Piece::Open(_) => true,
                        Piece::Close => dialect::is_void(name),
                    }
            }
            _ => false,
        })
    };
    match required.iter().find(|name| !holds(name)) {
        Some(name) => Err(Break::new("missing-element", name.as_str(), 0..0)),
        None => Ok(()),
    }
}

/// Whether the root of a document has a name.
pub fn root(pieces: &[Piece<'_>], name: &str) -> Result<(), Break> {
    match tags(pieces).next() {
        Some(tag) if tag.name != name => {
            Err(Break::new("root", tag.name.as_ref(), tag.span.clone()))
        }
        _ => Ok(()),
    }
}
