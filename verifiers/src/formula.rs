//! Formulas: how a reward, an advantage or a weight is computed from columns of numbers.
//!
//! A formula is written in the syntax of rhai: `let` statements, then an expression. It has no loops and
//! no side effects. Every value is a number (f64) or a column of numbers over one [`Axis`]: the groups of
//! a batch, the rows of a group, the steps of a row. Operators and functions work element by element, and
//! a value of a shorter axis is repeated along a longer one. `mean(x)` and its like reduce a column: one
//! over rows to a number for each group, one over steps to a number for each row.
//!
//! ```
//! use assay_verifiers::formula::{Axis, Formula, FormulaScope, Frame};
//!
//! let scope = FormulaScope::new([("r", Axis::Row)], [("reward", Axis::Row)]);
//! let formula = Formula::compile("let centred = r - mean(r); centred / 2", &scope).unwrap();
//! let frame = Frame::new(vec![vec![1.0, 0.0, 0.0, 1.0].into()], vec![4], Vec::new());
//! let values = formula.run(&frame).unwrap();
//! assert_eq!(values.output("reward"), Some(&[0.25, -0.25, -0.25, 0.25][..]));
//! ```
//!
//! A number may be missing: a reward that abstained, a column that a row does not have. What is computed
//! of a missing number is missing; reductions leave it out. [`MISSING`] marks it.

mod blame;
mod compile;
mod elementwise;
pub mod functions;
mod prune;
mod run;
mod segments;
mod shown;
mod tree;

pub use run::Values;
pub use shown::with_numbers;
pub use tree::{
    Axis, Formula, FormulaError, FormulaInput, FormulaScope, Frame, MISSING, Setting, is_missing,
};
