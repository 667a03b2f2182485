//! The configurations that are served side by side, and how requests choose one.

use std::sync::Arc;

use super::error::{ApiError, ErrorKind};
use super::metrics::{Metrics, ProfileMetrics};
use crate::engine::{Engine, Planned};

/// Where the paths are that name the profile.
pub(crate) const BY_PROFILE: &str = "/profiles/{profile}";

/// A configuration at work.
pub(crate) struct Profile {
    pub(crate) name: String,
    pub(crate) engine: Engine,
    pub(crate) metrics: ProfileMetrics,
}

impl Profile {
    /// Refuses a sample that comes alone, where samples of a group are compared: it would be compared with none.
    pub(crate) fn check_alone(&self) -> Result<(), ApiError> {
        self.check_grouped(
            "this request has one: send groups as a list, or serve a profile for it that compares nothing",
        )
    }

    /// Refuses samples of which no groups are known, for the reason `lack`, where rewards that weigh something at
    /// any step compare the samples of a group.
    pub(crate) fn check_grouped(&self, lack: &str) -> Result<(), ApiError> {
        let weighs = |reward: &Planned| reward.weight.bounds() != (0.0, 0.0);
        let Some(comparison) = self.engine.plan().compares(weighs) else { return Ok(()) };
        let message = format!(
            "in the profile {}, {comparison} compares the samples of a group, and {lack}",
            self.name
        );
        Err(ApiError::bad_request(message))
    }
}

/// All of them. The first one answers who names none.
pub(crate) struct Profiles {
    all: Vec<Arc<Profile>>,
}

impl Profiles {
    pub(crate) fn new(engines: Vec<(String, Engine)>, metrics: &Metrics) -> Self {
        let profile = |(name, engine): (String, Engine)| {
            let metrics = metrics.of_profile(&name, &engine.plan().names);
            Arc::new(Profile { name, engine, metrics })
        };
        Self { all: engines.into_iter().map(profile).collect() }
    }

    /// The profile called `name`, by default the first.
    pub(crate) fn get(&self, name: Option<&str>) -> Result<Arc<Profile>, ApiError> {
        let found = match name {
            None => self.all.first(),
            Some(name) => self.all.iter().find(|profile| profile.name == name),
        };
        found.cloned().ok_or_else(|| {
            let names: Vec<&str> = self.all.iter().map(|profile| profile.name.as_str()).collect();
            let message = format!("no such profile; there are: {}", names.join(", "));
            ApiError::new(ErrorKind::NotFound, message)
        })
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<Profile>> {
        self.all.iter()
    }
}
