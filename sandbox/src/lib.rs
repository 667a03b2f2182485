//! Untrusted code in wasmtime: the guests, the rooms they run in, and the verifiers that run
//! programs.

#[cfg(all(feature = "c", not(target_os = "linux")))]
compile_error!("the feature `c` needs Linux, which confines the compiler");

#[cfg(feature = "wasm")]
pub mod answer;
#[cfg(feature = "wasm")]
pub mod compare;
#[cfg(feature = "wasm")]
pub mod languages;
#[cfg(feature = "wasm")]
mod once;
#[cfg(feature = "wasm")]
mod places;
#[cfg(feature = "wasm")]
pub mod rooms;
#[cfg(feature = "wasm")]
pub mod runtime;
#[cfg(feature = "wasm")]
mod stdio;
#[cfg(feature = "wasm")]
mod stub;
#[cfg(feature = "wasm")]
pub mod suite;
#[cfg(feature = "wasm")]
mod trial;
#[cfg(feature = "wasm")]
mod trivial;
pub mod verifiers;

#[cfg(feature = "wasm")]
pub use places::{Places, Sandbox};

/// In place of the sandbox: this build runs no programs.
#[cfg(not(feature = "wasm"))]
#[derive(Debug, Default)]
pub struct Sandbox;
