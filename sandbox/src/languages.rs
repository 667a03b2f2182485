//! Languages besides Python: each gives programs that read standard input and write standard
//! output.

pub mod javascript;
pub mod module;
