//! Readers of what judges write.

pub mod pair;
