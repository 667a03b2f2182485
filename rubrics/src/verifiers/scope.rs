//! What the verifiers of this crate are built of, beside their settings.

use std::sync::Arc;

use assay_verifiers::{BuildError, Built, Files};
use serde_json::Value;

use crate::judge::JudgeSet;

/// Builds a verifier by its id and settings.
pub type BuildVerifier = dyn Fn(&str, Value) -> Result<Built, BuildError> + Send + Sync;

/// What the configuration around a rubric offers.
pub struct RubricScope<'a> {
    /// The files that settings may name.
    pub files: &'a dyn Files,
    /// The judges of the configuration.
    pub judges: &'a JudgeSet,
    /// Builds the verifiers that criteria name, which may name files.
    pub verifiers: &'a (dyn Fn(&str, Value) -> Result<Built, BuildError> + 'a),
    /// The same for rubrics that stand in rows: they name no files.
    pub row_verifiers: Arc<BuildVerifier>,
    /// The names of the rewards that are listed before.
    pub earlier: &'a [String],
}
