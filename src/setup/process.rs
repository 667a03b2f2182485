//! What the process was started with.

use std::env;
use std::path::PathBuf;

/// A variable that is set to something.
pub(super) fn variable(name: &str) -> Option<PathBuf> {
    env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// The file of the program.
pub(super) fn program() -> Option<PathBuf> {
    env::current_exe().ok().and_then(|path| path.canonicalize().ok())
}
