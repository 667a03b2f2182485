//! Untrusted code in wasmtime: the guests, how candidates are isolated from their tests, and the
//! verifiers that run programs.

#[cfg(all(feature = "c", not(target_os = "linux")))]
compile_error!("the feature `c` needs Linux, which confines the compiler");

pub mod verifiers;

#[cfg(feature = "wasm")]
pub use programs::*;

/// What runs programs. Its files are beside this one.
#[cfg(feature = "wasm")]
#[path = "."]
mod programs {
    pub mod answer;
    pub(crate) mod checker;
    pub mod compare;
    pub mod execute;
    pub mod isolation;
    pub mod languages;
    pub(crate) mod memo;
    mod packed;
    pub mod runtime;
    pub(crate) mod sandbox;
    pub(crate) mod stdio;
    pub(crate) mod stub;
    pub mod suite;
    pub(crate) mod suite_report;
    pub(crate) mod suite_run;
    pub(crate) mod trivial;
    pub mod value;

    pub use packed::pack;
    pub use sandbox::{Sandbox, SandboxConfig};
}

/// In place of the sandbox: this build runs no programs.
#[cfg(not(feature = "wasm"))]
#[derive(Debug, Default)]
pub struct Sandbox;
