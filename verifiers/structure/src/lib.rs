//! The structure of texts, as pure functions: no I/O, no clock, deterministic to the bit.
//!
//! Formats are read strictly, and a text that breaks one says where ([`Break`]): [`markup`] (XML,
//! HTML), [`svg`], [`csv`], [`latex`], [`markdown`]; [`format`](mod@format) reads any data
//! format to one JSON value, and `code` programs, where its feature is on. [`table`] compares tables of four notations, [`formula`] LaTeX formulas,
//! [`answer`], [`date`] and [`quantity`] short answers. The other modules each judge one kind of text:
//! [`citation`], [`boolean`], [`calculator`], [`timeline`], [`gui`], [`confidence`], [`phrase`], [`pii`], [`proof`].
//!
//! Functions whose time is linear in their input say so. All others take `pay`, which is called with
//! about one unit for each elementary step (1 to 10 ns) before the step is done.

pub mod answer;
pub mod assignment;
pub mod boolean;
pub mod calculator;
pub mod citation;
#[cfg(feature = "code")]
pub mod code;
pub mod confidence;
pub mod csv;
pub mod date;
pub mod fold;
pub mod format;
pub mod formula;
pub mod gui;
#[cfg(feature = "json-schema")]
pub mod json_schema;
pub mod latex;
pub mod markdown;
pub mod markup;
pub mod number;
pub mod phrase;
pub mod pii;
mod place;
pub mod proof;
pub mod quantity;
pub mod schema_paths;
pub mod svg;
pub mod table;
pub mod timeline;
mod token;

pub use place::Break;

/// Whether a list of words between blanks has a word.
pub(crate) fn has_word(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|one| one == word)
}

/// How deep elements, values, groups and brackets may nest in any text.
pub const DEPTH_MAX: usize = 128;
