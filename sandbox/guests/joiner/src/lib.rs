//! Joins the core modules of a component into one; a step of building the Python guest.
//!
//! A component that was linked from shared libraries has a core module for each of them. To start
//! it, the engine instantiates every one, looks up the thousands of functions that one takes from
//! another, and fills the table of function pointers at offsets that are known only then. In a
//! joined module calls between libraries are direct and offsets are constants, so that the engine
//! lays out the table when it compiles.
//!
//! The instructions of a module stay, with other indices; reads of globals that nothing writes
//! become their values, and functions that nothing reaches lose their bodies. Modules that need
//! something made from the joined one stay apart.

mod core;
mod error;
mod items;
mod merge;
mod parts;
mod plan;
mod reach;
mod write;

pub use self::error::JoinError;
use self::parts::Parts;
use self::plan::Plan;

/// The same component with its core modules joined, as far as they can be.
///
/// # Errors
/// Bytes that are no component, and what joining does not know.
pub fn join(component: &[u8]) -> Result<Vec<u8>, JoinError> {
    let parts = Parts::read(component)?;
    let plan = Plan::new(&parts)?;
    let merged = merge::merge(&plan)?;
    write::write(&parts, &plan, &merged)
}

#[cfg(test)]
mod tests;
