//! Untrusted code in wasmtime: the guests, how candidates are isolated from their tests, and the
//! verifiers that run programs.

#[cfg(all(feature = "c", not(target_os = "linux")))]
compile_error!("the feature `c` needs Linux, which confines the compiler");

#[cfg(feature = "wasm")]
pub mod answer;
#[cfg(feature = "wasm")]
pub mod compare;
#[cfg(feature = "wasm")]
pub mod isolation;
#[cfg(feature = "wasm")]
pub mod languages;
#[cfg(feature = "wasm")]
mod memo;
#[cfg(feature = "wasm")]
pub mod runtime;
#[cfg(feature = "wasm")]
mod sandbox;
#[cfg(feature = "wasm")]
mod stdio;
#[cfg(feature = "wasm")]
mod stub;
#[cfg(feature = "wasm")]
pub mod suite;
#[cfg(feature = "wasm")]
mod suite_report;
#[cfg(feature = "wasm")]
mod suite_run;
#[cfg(feature = "wasm")]
mod trivial;
#[cfg(feature = "wasm")]
pub mod value;
pub mod verifiers;

#[cfg(feature = "wasm")]
pub use sandbox::{Sandbox, SandboxConfig};

/// In place of the sandbox: this build runs no programs.
#[cfg(not(feature = "wasm"))]
#[derive(Debug, Default)]
pub struct Sandbox;
