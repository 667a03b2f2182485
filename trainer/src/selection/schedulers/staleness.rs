//! The staleness gate of an asynchronous trainer: no more rollouts are begun than can be trained on
//! before they are too old.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::TrainerError;

/// How old rollouts may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GateSettings {
    /// How many rollouts a training batch has.
    pub batch_rollouts: u64,
    /// By how many versions a rollout may be older than the policy that is trained.
    pub staleness_max: u64,
    /// How many rollouts are decoded at once, at most.
    #[serde(default)]
    pub concurrent_max: Option<u64>,
}

/// Whether rollout number `rollouts`, the first being 1, may be begun: it is in training batch
/// `floor((rollouts - 1) / batch_rollouts)`, which is trained at the version of that number, and may be
/// `staleness_max` versions ahead of `version` (`AReaL`: A Large-Scale Asynchronous Reinforcement
/// Learning System for Language Reasoning, equation 3).
pub fn may_submit(rollouts: u64, version: u64, settings: &GateSettings) -> bool {
    let batch = rollouts.saturating_sub(1) / settings.batch_rollouts.max(1);
    batch <= version.saturating_add(settings.staleness_max)
}

/// Counts rollouts and says how many may be begun, as `StalenessManager` of `AReaL` 1.0 does.
///
/// The gate bounds how old a rollout is where batches are trained in the order in which their rollouts
/// were begun. A rollout that is overtaken by others can be older: [`is_stale`](Self::is_stale) tells.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StalenessGate {
    settings: GateSettings,
    version: u64,
    accepted: u64,
    running: u64,
    rejected: u64,
}

impl StalenessGate {
    /// A gate at version 0.
    ///
    /// # Errors
    /// A batch of no rollouts, or none at once.
    pub fn new(settings: GateSettings) -> Result<Self, TrainerError> {
        let sizes = [
            ("batch_rollouts", Some(settings.batch_rollouts)),
            ("concurrent_max", settings.concurrent_max),
        ];
        if let Some((key, _)) = sizes.into_iter().find(|(_, size)| *size == Some(0)) {
            return Err(TrainerError::setting(key, format!("`{key}` is 0, expected at least 1")));
        }
        Ok(Self { settings, version: 0, accepted: 0, running: 0, rejected: 0 })
    }

    /// How many rollouts may be begun now.
    pub fn capacity(&self) -> u64 {
        let GateSettings { batch_rollouts, staleness_max, concurrent_max } = self.settings;
        let batches = staleness_max.saturating_add(self.version).saturating_add(1);
        let young = batches.saturating_mul(batch_rollouts);
        let slots = concurrent_max.unwrap_or(u64::MAX).saturating_sub(self.running);
        young.saturating_sub(self.accepted + self.running).min(slots)
    }

    /// A rollout was begun.
    ///
    /// # Errors
    /// There was no room for it.
    pub fn on_submitted(&mut self) -> Result<(), TrainerError> {
        if self.capacity() == 0 {
            return Err(TrainerError::input("rollouts begun", "no capacity", "at least 1"));
        }
        self.running += 1;
        Ok(())
    }

    /// A rollout is finished, and will be trained on.
    ///
    /// # Errors
    /// None is being decoded.
    pub fn on_accepted(&mut self) -> Result<(), TrainerError> {
        self.end()?;
        self.accepted += 1;
        Ok(())
    }

    /// A rollout is finished, and will not be trained on: another may be begun for it.
    ///
    /// # Errors
    /// None is being decoded.
    pub fn on_rejected(&mut self) -> Result<(), TrainerError> {
        self.end()?;
        self.rejected += 1;
        Ok(())
    }

    /// A rollout that was accepted will not be trained on after all, because it became too old.
    pub fn on_expired(&mut self) {
        self.accepted = self.accepted.saturating_sub(1);
        self.rejected += 1;
    }

    /// The policy has a new version.
    pub fn on_version(&mut self, version: u64) {
        self.version = self.version.max(version);
    }

    /// Training goes on at a version from a checkpoint. What was trained on before counts as accepted,
    /// or the gate would let as many rollouts pass as all the batches before had.
    pub fn on_recovered(&mut self, version: u64) {
        self.version = version;
        self.accepted = version.saturating_mul(self.settings.batch_rollouts);
    }

    /// Whether a rollout that was begun at this version is too old to be trained on now.
    pub fn is_stale(&self, begun: u64) -> bool {
        self.version.saturating_sub(begun) > self.settings.staleness_max
    }

    /// The version of the policy.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Rollouts that are being decoded.
    pub fn running(&self) -> u64 {
        self.running
    }

    /// Rollouts that were finished and not trained on.
    pub fn rejected(&self) -> u64 {
        self.rejected
    }

    fn end(&mut self) -> Result<(), TrainerError> {
        let left = self.running.checked_sub(1);
        let none =
            || TrainerError::input("rollouts finished", "one", "none: none is being decoded");
        self.running = left.ok_or_else(none)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SETTINGS: GateSettings =
        GateSettings { batch_rollouts: 4, staleness_max: 1, concurrent_max: None };

    #[test]
    fn the_bound_is_that_of_the_paper() {
        // Batches 0 and 1 may be begun at version 0, batch 2 at version 1.
        for (rollouts, version, may) in
            [(1, 0, true), (8, 0, true), (9, 0, false), (9, 1, true), (13, 1, false)]
        {
            assert_eq!(may_submit(rollouts, version, &SETTINGS), may, "{rollouts} at {version}");
        }
    }

    #[test]
    fn rejected_rollouts_make_room() {
        let settings = GateSettings { concurrent_max: Some(3), ..SETTINGS };
        let mut gate = StalenessGate::new(settings).unwrap();
        assert_eq!(gate.capacity(), 3);
        for _ in 0..3 {
            gate.on_submitted().unwrap();
        }
        assert!(gate.on_submitted().is_err());
        gate.on_accepted().unwrap();
        gate.on_rejected().unwrap();
        assert_eq!((gate.capacity(), gate.running(), gate.rejected()), (2, 1, 1));
        gate.on_recovered(5);
        gate.on_version(4);
        assert_eq!((gate.version(), gate.is_stale(4), gate.is_stale(3)), (5, false, true));
        assert_eq!(gate.capacity(), 2, "seven rollouts of the batches 5 and 6, but three at once");
        gate.on_rejected().unwrap();
        assert!(gate.on_accepted().is_err());
        assert!(StalenessGate::new(GateSettings { batch_rollouts: 0, ..SETTINGS }).is_err());
    }

    proptest! {
        /// The capacity is how many rollouts the bound of the paper lets begin.
        #[test]
        fn the_capacity_is_the_bound(batch in 1..9_u64, staleness in 0..5_u64, version in 0..5_u64) {
            let settings = GateSettings {
                batch_rollouts: batch, staleness_max: staleness, concurrent_max: None,
            };
            let mut gate = StalenessGate::new(settings).unwrap();
            gate.on_version(version);
            let mut begun = 0;
            while may_submit(begun + 1, version, &settings) {
                prop_assert!(gate.on_submitted().is_ok());
                begun += 1;
            }
            prop_assert_eq!(gate.capacity(), 0);
        }
    }
}
