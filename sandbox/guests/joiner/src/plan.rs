//! Which modules are joined.

use crate::core::Core;
use crate::error::JoinError;
use crate::parts::{Instance, Origin, Parts};

/// Which instances are joined.
pub(crate) struct Plan<'a> {
    /// What is known of the module of each instance; `None` for bags of exports.
    pub(crate) cores: Vec<Option<Core<'a>>>,
    /// What the rest of the component takes from the joined module.
    pub(crate) taken: Vec<Origin<'a>>,
}

impl<'a> Plan<'a> {
    pub(crate) fn new(parts: &Parts<'a>) -> Result<Self, JoinError> {
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

    pub(crate) fn core(&self, instance: u32) -> Option<&Core<'a>> {
        self.cores.get(instance as usize)?.as_ref()
    }

    pub(crate) fn is_joined(&self, instance: u32) -> bool {
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
    pub(crate) fn joined(&self) -> impl Iterator<Item = (u32, &Core<'a>)> {
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
