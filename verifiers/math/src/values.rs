//! The values of answers: numbers, points, sets, relations, texts; and arithmetic across them.

pub(crate) mod display;
pub(crate) mod families;
pub(crate) mod matrices;
pub(crate) mod measures;
pub(crate) mod regions;
pub(crate) mod renaming;
pub(crate) mod value;

pub use display::show_value;
pub(crate) use families::{family_of, integers_in, over_integers, repeats};
pub(crate) use matrices::{
    added_arrays, array_product, determinant_of, matrix_power, scaled_array, transposed,
};
pub(crate) use measures::{converted, is_close, measure_parts, measured, measured_alike};
pub(crate) use regions::{points_of, region_of, solutions_named, united};
pub(crate) use renaming::{free_letters, rename_in_value, with_letter};
pub use value::Value;
pub(crate) use value::{Decimal, Letters, Named, Rank, Scalar};
