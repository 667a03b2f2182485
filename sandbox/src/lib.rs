//! Untrusted code in wasmtime: the guests, the rooms they run in, and the verifiers that run
//! programs.

#[cfg(all(feature = "c", not(target_os = "linux")))]
compile_error!("the feature `c` needs Linux, which confines the compiler");

pub mod answer;
pub mod compare;
pub mod languages;
mod once;
mod places;
pub mod rooms;
pub mod runtime;
mod stdio;
mod stub;
pub mod suite;
mod trial;
mod trivial;
pub mod verifiers;

pub use places::{Places, Sandbox};
