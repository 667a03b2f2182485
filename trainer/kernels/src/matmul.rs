//! Matrix products. Matrices are row by row in one slice.

use rten_gemm::{GemmExecutor, GemmInputA, GemmInputB, GemmOptions, PackedBMatrix};
use rten_tensor::{Matrix, MatrixLayout, NdTensorView};

/// Shapes that do not fit one another.
#[derive(Debug, thiserror::Error)]
#[error("{what}: {message}")]
pub struct ShapeMismatch {
    /// The matrix, or the product.
    pub what: &'static str,
    /// What its shapes are, and what was expected.
    pub message: String,
}

/// A matrix `[rows, columns]` of the first values of a slice.
///
/// # Errors
/// Fewer values.
pub fn matrix(values: &[f32], rows: usize, columns: usize) -> Result<Matrix<'_>, ShapeMismatch> {
    strided(values, [rows, columns], columns)
}

/// A matrix `[rows, columns]` whose rows begin `stride` values apart.
///
/// # Errors
/// Fewer values.
pub fn strided(
    values: &[f32],
    shape: [usize; 2],
    stride: usize,
) -> Result<Matrix<'_>, ShapeMismatch> {
    NdTensorView::from_slice_with_strides(shape, values, [stride, 1])
        .map_err(|error| ShapeMismatch { what: "matrix", message: format!("{shape:?}: {error}") })
}

/// `out = a @ b + keep * out`; `out` is `[a.rows, b.columns]`.
///
/// # Errors
/// Shapes that do not fit one another.
pub fn product(
    a: Matrix<'_>,
    b: Matrix<'_>,
    out: &mut [f32],
    keep: f32,
) -> Result<(), ShapeMismatch> {
    if a.rows() == 1 {
        return product_of_row(a, b, out, keep);
    }
    multiply(a, GemmInputB::Unpacked(b), out, keep)
}

/// The right side of products, in the order in which they take it. It saves the time to bring it into
/// this order where there is more than one product.
#[derive(Clone)]
pub struct Packed(PackedBMatrix<f32>);

impl std::fmt::Debug for Packed {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Packed({} x {})", self.0.rows(), self.0.cols())
    }
}

impl Packed {
    /// Packs a matrix.
    pub fn new(b: Matrix<'_>) -> Self {
        Self(GemmExecutor::<f32>::new().prepack_b(b))
    }

    /// `out = a @ b + keep * out`, with the same bits as [`product`].
    ///
    /// # Errors
    /// Shapes that do not fit one another.
    pub fn product(&self, a: Matrix<'_>, out: &mut [f32], keep: f32) -> Result<(), ShapeMismatch> {
        multiply(a, GemmInputB::Packed(&self.0), out, keep)
    }
}

fn multiply(
    a: Matrix<'_>,
    b: GemmInputB<'_, f32>,
    out: &mut [f32],
    keep: f32,
) -> Result<(), ShapeMismatch> {
    let options = GemmOptions { beta: keep, ..GemmOptions::default() };
    GemmExecutor::<f32>::new()
        .gemm(out, GemmInputA::Unpacked(a), b, options)
        .map_err(|error| ShapeMismatch { what: "matrix product", message: error.to_string() })
}

/// One row takes the way of many: a product of a vector adds up in another order.
fn product_of_row(
    a: Matrix<'_>,
    b: Matrix<'_>,
    out: &mut [f32],
    keep: f32,
) -> Result<(), ShapeMismatch> {
    let row: Vec<f32> = a.iter().copied().collect();
    let twice = [row.as_slice(), row.as_slice()].concat();
    let mut both = [&*out, &*out].concat();
    product(matrix(&twice, 2, row.len())?, b, &mut both, keep)?;
    out.iter_mut().zip(both).for_each(|(to, from)| *to = from);
    Ok(())
}

#[cfg(test)]
#[expect(clippy::cast_precision_loss, reason = "numbers of a test are small")]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_a_loop_and_a_row_is_the_same_alone() {
        let (rows, depth, columns) = (7, 300, 5);
        let a: Vec<f32> = (0..rows * depth).map(|at| ((at * 37) % 11) as f32 - 5.0).collect();
        let b: Vec<f32> = (0..depth * columns).map(|at| ((at * 53) % 7) as f32 * 0.37).collect();
        let mut out = vec![1.0; rows * columns];
        let right = matrix(&b, depth, columns).unwrap();
        product(matrix(&a, rows, depth).unwrap(), right, &mut out, 1.0).unwrap();
        for row in 0..rows {
            let mut alone = vec![1.0; columns];
            let left = matrix(&a[row * depth..], 1, depth).unwrap();
            product(left, right, &mut alone, 1.0).unwrap();
            assert_eq!(alone, out[row * columns..][..columns]);
            alone.fill(1.0);
            Packed::new(right).product(left, &mut alone, 1.0).unwrap();
            assert_eq!(alone, out[row * columns..][..columns]);
            for column in 0..columns {
                let sum: f32 =
                    (0..depth).map(|at| a[row * depth + at] * b[at * columns + column]).sum();
                assert!((out[row * columns + column] - 1.0 - sum).abs() < 1e-2);
            }
        }
        assert!(matrix(&a, rows, depth + 1).is_err());
        assert!(product(right, right, &mut out, 0.0).is_err());
    }
}
