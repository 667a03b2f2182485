//! What a part of the parser needs, in one line: `use crate::syntax::parser::prelude::*`.

pub(super) use dashu_ratio::RBig;

pub(super) use super::Parser;
pub(super) use crate::number::small;
pub(super) use crate::stop::Stop;
pub(super) use crate::syntax::ast::{Id, Node, Rel};
pub(super) use crate::syntax::token::{Tok, Token};
