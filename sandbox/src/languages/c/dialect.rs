//! The languages of the compiler.

/// What a source is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// C17 with GNU extensions.
    C,
    /// C++20 with GNU extensions.
    Cpp,
}
