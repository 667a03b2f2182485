//! Where the guests of the sandbox lie, as the environment tells, and the verifiers that use them.

use std::env;
use std::path::PathBuf;
use std::sync::Arc;

use assay::Registry;
#[cfg(feature = "sandbox")]
use assay::sandbox::{Places, Sandbox, runtime};

#[cfg(feature = "models")]
use super::models;
#[cfg(feature = "sandbox")]
use super::{output, setup::default_cache_dir};

/// Every verifier of this build. Guests and models are loaded when the first verifier that needs
/// one is built.
pub(super) fn registry() -> Registry {
    #[cfg(feature = "sandbox")]
    let sandbox = Arc::new(sandbox());
    #[cfg(not(feature = "sandbox"))]
    let sandbox = Arc::default();
    #[cfg(feature = "models")]
    let models = Arc::new(models::models(&assets()));
    #[cfg(not(feature = "models"))]
    let models = Arc::default();
    Registry::standard(&sandbox, &models)
}

#[cfg(feature = "sandbox")]
fn sandbox() -> Sandbox {
    let options = runtime::Options {
        compiled: default_cache_dir().map(|cache| cache.join("guests")),
        notice: Some(Arc::new(|line: &str| output::note(line))),
        ..runtime::Options::default()
    };
    Sandbox::new(Places { assets: assets(), options })
}

/// Folders with assets: `ASSAY_ASSETS`, next to the program, and the user's data folder.
pub(super) fn assets() -> Vec<PathBuf> {
    let named = env::var_os("ASSAY_ASSETS").map(PathBuf::from);
    let program = env::current_exe().ok().and_then(|path| path.canonicalize().ok());
    // A program in `target/release` has its guests in `target/assets`, an installed one in
    // `share/assay` beside `bin`.
    let beside = program.iter().flat_map(|path| {
        let folders = path.ancestors().skip(1).take(3);
        folders.flat_map(|folder| [folder.join("assets"), folder.join("share/assay")])
    });
    let data = env::var_os("XDG_DATA_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let home = || env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/share"));
    let user = data.or_else(home).map(|data| data.join("assay"));
    named.into_iter().chain(beside).chain(user).collect()
}
