//! Canonical forms of expressions, and exact algebra on them: powers, roots, logarithms,
//! trigonometry, calculus, series, the roots of polynomials.

pub(crate) mod approx;
pub(crate) mod context;
pub(crate) mod derivative;
pub(crate) mod display;
pub(crate) mod exponent;
pub(crate) mod functions;
pub(crate) mod integral;
pub(crate) mod isolation;
pub(crate) mod limits;
pub(crate) mod logarithm;
pub(crate) mod poly;
pub(crate) mod power;
mod prelude;
pub(crate) mod radical;
pub(crate) mod radical_limits;
pub(crate) mod roots;
pub(crate) mod series;
pub(crate) mod substitution;
pub(crate) mod trig;
pub(crate) mod univariate;
pub(crate) mod variables;

pub(crate) use approx::{approx, order};
pub use context::Context;
pub(crate) use derivative::derivative;
pub(crate) use display::{TEXT_BYTES_MAX, show};
pub(crate) use exponent::Exp;
pub(crate) use functions::{apply, binomial, factorial, floor_or_ceil, from_digits};
pub(crate) use integral::{antiderivative, integral};
pub(crate) use isolation::middle;
pub(crate) use limits::{Target, limit};
pub(crate) use logarithm::log;
pub(crate) use poly::{Atom, Canon, Kind, Mono, Poly, cofactor, mul_mono, negated};
pub(crate) use power::pow;
pub(crate) use radical::pow_int;
pub(crate) use roots::{Exact, exact_roots};
pub(crate) use series::series;
pub(crate) use substitution::{rename, substitute};
pub(crate) use univariate::Uni;
pub(crate) use variables::{
    added_constant, has_constant, names_in, only_parameter, only_variable, variables,
};
