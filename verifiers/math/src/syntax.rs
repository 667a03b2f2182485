//! From characters to the syntax tree: lexer, parser, and the words and units that they know.

pub(crate) mod ast;
pub(crate) mod calendar;
pub(crate) mod characters;
pub(crate) mod commands;
pub(crate) mod environments;
pub(crate) mod lexer;
pub(crate) mod markup;
pub(crate) mod measure;
pub(crate) mod nouns;
pub mod number_words;
pub(crate) mod parser;
pub(crate) mod symbols;
pub mod text;
pub(crate) mod token;
pub(crate) mod unit_pieces;
pub(crate) mod unit_reader;
pub(crate) mod unit_runs;
pub(crate) mod unit_table;
pub mod units;
pub(crate) mod words;

pub(crate) use ast::{ClockForm, Id, Join, Node, Operator, Rel, Tree, Written};
pub(crate) use calendar::Calendar;
pub(crate) use characters::cleaned;
pub use symbols::is_minus;
pub use text::{plain_text, trimmed};
pub(crate) use token::Commas;
