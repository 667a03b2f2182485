//! What an operation on canonical forms needs, in one line: `use crate::algebra::prelude::*`.

pub(super) use dashu_ratio::RBig;

pub(super) use super::context::Context;
pub(super) use super::exponent::Exp;
pub(super) use super::poly::{Atom, Canon, Kind, Mono, Poly, negated};
pub(super) use super::power::pow;
pub(super) use crate::number::small;
pub(super) use crate::stop::Stop;
