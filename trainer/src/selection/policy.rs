//! What a selection policy must be able to do.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::error::TrainerError;
use crate::selection::outcome::Selection;
use crate::selection::rollouts::RolloutBatch;
use crate::selection::state::SelectionState;

/// A selection policy: which rollouts of a batch are trained on.
pub trait Selector: Send + Sync {
    /// Selects from a batch. What is kept from batch to batch comes in as `state` and goes out in
    /// [`Selection::state`], so that a call is a function; the randomness of a policy is drawn from
    /// the seed in the state, and from the names of rollouts and prompts.
    ///
    /// # Errors
    /// Numbers that the policy needs and that are missing, or do not fit together.
    fn select(
        &self,
        batch: &RolloutBatch<'_>,
        state: &SelectionState,
    ) -> Result<Selection, TrainerError>;

    /// Whether it reads [`RolloutBatch::curves`], so that somebody has to keep them.
    fn reads_curves(&self) -> bool {
        false
    }
}

/// The settings of a kind of selection, which are its policy.
pub trait SelectorSettings: Selector + DeserializeOwned + JsonSchema + 'static {
    /// Fails where a setting is out of range.
    ///
    /// # Errors
    /// The setting, what it is and what it had to be.
    fn check(&self) -> Result<(), TrainerError>;
}
