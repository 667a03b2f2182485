//! How a policy is improved: what each objective has to say.

use crate::error::TrainerError;
use crate::losses::ratio::RatioSettings;
use crate::losses::terms::Terms;
use crate::losses::tokens::TrainedTokens;

/// How a policy is improved: a term of the loss for each token, before any weight.
///
/// An objective reads the log-probabilities twice: `live`, which the gradient goes through, and
/// `fixed`, which it does not go through (a stop-gradient). Both have the same values in training.
pub trait Objective: Send + Sync {
    /// Fails where a setting is out of range.
    ///
    /// # Errors
    /// Names the setting.
    fn check(&self) -> Result<(), TrainerError> {
        Ok(())
    }

    /// The terms of the tokens.
    ///
    /// # Errors
    /// Numbers that the objective needs and that the batch does not have.
    fn terms(&self, tokens: &TrainedTokens<'_>) -> Result<Terms, TrainerError>;

    /// The ratio of the objective, which a divergence penalty may be multiplied by.
    fn ratio(&self) -> RatioSettings {
        RatioSettings::default()
    }

    /// Whether the objective itself takes in the importance weights, so that its terms are not
    /// multiplied by them.
    fn weighs_importance(&self) -> bool {
        false
    }

    /// Whether the objective itself leaves out the tokens of lesser entropy.
    fn selects_top(&self) -> bool {
        false
    }
}
