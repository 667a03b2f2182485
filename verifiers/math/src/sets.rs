//! Sets of real numbers: unions of intervals, solutions of relations, families over integers.

pub(crate) mod family;
pub(crate) mod inequality;
pub(crate) mod region;
pub(crate) mod relation;
pub(crate) mod solve;

pub(crate) use family::{
    Family, Parameter, Range, joined, natural_numbers, progression, same_family, whole_numbers,
};
pub(crate) use inequality::solve_inequality;
pub(crate) use region::{Interval, Region, complement, intersection, union};
pub(crate) use relation::{
    Relation, Sign, cleared, constant_at, solved_for, stated_value, varying_part,
};
pub(crate) use solve::solution;
