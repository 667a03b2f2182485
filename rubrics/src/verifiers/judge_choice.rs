//! Which judge a verifier asks.

use std::sync::Arc;

use assay_verifiers::prelude::*;

use crate::judge::{JudgeConfig, JudgeSet, NamedJudge};

/// Which judge is asked.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum JudgeChoice {
    /// By its name.
    Named(String),
    /// By its settings.
    Inline(Box<JudgeConfig>),
}

impl JudgeChoice {
    /// The judge.
    ///
    /// # Errors
    /// What is wrong with it, at the setting `judge`.
    pub(super) fn of(&self, judges: &JudgeSet) -> Result<Arc<NamedJudge>, BuildError> {
        let judge = match self {
            Self::Named(name) => judges.get(name),
            Self::Inline(config) => judges.inline(config),
        };
        judge.map_err(|error| BuildError::new("judge", error.message))
    }
}
