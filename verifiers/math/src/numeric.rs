//! Ball arithmetic, evaluation at points, and sampling: what proves that two values differ.

pub(crate) mod ball;
pub(crate) mod complex;
pub(crate) mod evaluate;
mod far;
mod functions;
pub(crate) mod sampling;

pub(crate) use evaluate::Near;
pub(crate) use sampling::near_zero;
