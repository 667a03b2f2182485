//! Files of a guest, in memory: those that it is given, and those that it writes. None is a file of the
//! machine. They outlive the guest, however that ended, so that what it wrote can be read.

pub(super) mod component;
mod file;
mod memory;
pub(super) mod program;
#[cfg(test)]
mod tests;
mod tree;

pub use self::file::{FILES_BYTES_MAX, FileError};
pub use self::memory::MemoryFiles;
