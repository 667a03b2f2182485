//! Trees of files in memory, and the answers that change them, as pure functions: no I/O, no clock.
//!
//! A [`FileTree`] is read from JSON or from a tar and holds safe paths alone. [`proposal`] finds what an
//! answer proposes: a unified diff ([`diff`]), search/replace blocks ([`blocks`]), or final files. A proposal
//! that does not apply is refused, with its file and its place.
//!
//! Functions whose time is linear in their input say so. All others take `pay`, which is called with about
//! one unit for each line or 64 bytes compared, before they are.

pub mod blocks;
pub mod diff;
mod lines;
mod named;
pub mod proposal;
mod quoted;
mod refused;
pub mod tar;
mod tree;

pub use proposal::Proposal;
pub use refused::{Refused, Unapplied};
pub use tree::{BYTES_MAX, FILES_MAX, FileTree, PATH_BYTES_MAX, safe_path};
