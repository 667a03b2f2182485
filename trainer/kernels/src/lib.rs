//! What a decoder computes, forward and backward, on slices of `f32`: matrix products, norms, rotary
//! positions, attention, `SwiGLU`, log-probabilities.
//!
//! A row of a result depends on its own row of the input alone, by the same operations in the same
//! order whatever the other rows and the number of threads are.

#![expect(
    clippy::inline_always,
    reason = "what is not inlined into `eval` has no vector instructions"
)]
#![expect(clippy::indexing_slicing, reason = "matrices are made with their shapes checked")]

pub mod attention;
pub mod buffers;
pub mod decoding;
pub mod matmul;
pub mod norm;
pub mod outer;
pub mod rope;
pub mod scores;
pub mod simd;
pub mod swiglu;
mod tiles;
