//! The verifiers of this crate.

pub mod string_check;
pub mod text_similarity;
