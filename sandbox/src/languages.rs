//! Languages besides Python: each gives programs that read standard input and write standard
//! output.

#[cfg(feature = "c")]
pub mod c;
pub mod javascript;
pub mod module;
pub(crate) mod python;
