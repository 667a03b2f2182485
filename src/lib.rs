//! assay turns the outputs of language models into rewards that can be trusted.

pub mod data;
