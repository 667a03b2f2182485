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
mod items;
mod merge;
mod parts;
mod reach;
mod write;

use self::core::Core;
use self::parts::{Instance, Origin, Parts};

/// Why the modules of a component cannot be joined.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// The bytes cannot be read.
    #[error(transparent)]
    Wasm(#[from] wasmparser::Error),
    /// It has what joining does not know.
    #[error("{0}")]
    Unknown(String),
}

impl JoinError {
    fn unknown(what: impl Into<String>) -> Self {
        Self::Unknown(what.into())
    }
}

type Encoded<T> = Result<T, wasm_encoder::reencode::Error<JoinError>>;

impl From<wasm_encoder::reencode::Error<JoinError>> for JoinError {
    fn from(error: wasm_encoder::reencode::Error<JoinError>) -> Self {
        use wasm_encoder::reencode::Error;
        match error {
            Error::UserError(error) => error,
            Error::ParseError(error) => Self::Wasm(error),
            other => Self::unknown(other.to_string()),
        }
    }
}

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

fn missing() -> JoinError {
    JoinError::unknown("an item that nothing defines")
}

/// Which instances are joined.
struct Plan<'a> {
    /// What is known of the module of each instance; `None` for bags of exports.
    cores: Vec<Option<Core<'a>>>,
    /// What the rest of the component takes from the joined module.
    taken: Vec<Origin<'a>>,
}

impl<'a> Plan<'a> {
    fn new(parts: &Parts<'a>) -> Result<Self, JoinError> {
        let mut plan = Self { cores: Vec::new(), taken: Vec::new() };
        let mut modules_used = Vec::new();
        for instance in &parts.instances {
            let core = match instance {
                Instance::Bag(_) => None,
                Instance::Module { module, .. } => {
                    if modules_used.contains(module) {
                        return Err(JoinError::unknown("a core module is instantiated twice"));
                    }
                    modules_used.push(*module);
                    let mut core = Core::read(parts.module(*module)?)?;
                    core.origins = parts.imports(instance, &core.imports)?;
                    core.is_joined = core.origins.iter().all(|origin| !plan.waits(parts, *origin));
                    Some(core)
                }
            };
            plan.cores.push(core);
        }
        plan.only_the_last_starts()?;
        plan.taken = plan.taken(parts)?;
        Ok(plan)
    }

    fn core(&self, instance: u32) -> Option<&Core<'a>> {
        self.cores.get(instance as usize)?.as_ref()
    }

    fn is_joined(&self, instance: u32) -> bool {
        self.core(instance).is_some_and(|core| core.is_joined)
    }

    /// Whether something can be had only once the joined module is there. Called for what comes
    /// earlier in the component alone.
    fn waits(&self, parts: &Parts<'a>, origin: Origin<'a>) -> bool {
        match origin {
            Origin::Export { instance, .. } => !self.is_joined(instance),
            Origin::Canonical(at) => {
                parts.canonical_needs(at).is_none_or(|needs| !needs.is_empty())
            }
        }
    }

    /// Segments are written before any start function runs, so an early one would see too much.
    fn only_the_last_starts(&self) -> Result<(), JoinError> {
        let starts: Vec<bool> = self.joined().map(|(_, core)| core.start.is_some()).collect();
        if starts.iter().rev().skip(1).any(|starts| *starts) {
            return Err(JoinError::unknown("a core module has a start function"));
        }
        Ok(())
    }

    /// The joined instances, in order.
    fn joined(&self) -> impl Iterator<Item = (u32, &Core<'a>)> {
        let joined = |core: &&Core<'a>| core.is_joined;
        (0_u32..)
            .zip(&self.cores)
            .filter_map(move |(at, core)| Some((at, core.as_ref().filter(joined)?)))
    }

    fn taken(&self, parts: &Parts<'a>) -> Result<Vec<Origin<'a>>, JoinError> {
        let mut taken = Vec::new();
        for at in 0..parts.canonicals.len() {
            let needs = parts.canonical_needs(at);
            taken.extend(needs.ok_or_else(|| JoinError::unknown("an unknown canonical function"))?);
        }
        for core in self.cores.iter().flatten().filter(|core| !core.is_joined) {
            taken.extend(&core.origins);
        }
        taken.retain(
            |origin| matches!(origin, Origin::Export { instance, .. } if self.is_joined(*instance)),
        );
        taken.sort_unstable();
        taken.dedup();
        Ok(taken)
    }
}

#[cfg(test)]
mod tests;
