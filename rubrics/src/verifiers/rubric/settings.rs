//! The settings of the verifier `rubric`.

use assay_verifiers::extract::Thinking;
use assay_verifiers::prelude::*;

use crate::verifiers::judge_choice::JudgeChoice;
use crate::votes::VoteBy;

/// A rubric: criteria with points, answered by a judge, by code or by other rewards, become one
/// reward.
///
/// Each criterion is a component of the verdict, and so is each node of a tree. Criteria that code
/// answers come first; the judge is asked last, and only where no gate (`essential`, `veto`) is
/// closed and every prerequisite (`needs`) is met. The completion is shown to the judge within a
/// fence that it cannot foresee, what is hidden in it is shown as escapes, and the verdict is the
/// last structure of the reply that carries the code of the fence. A judge that does not answer, or
/// answers no verdict, is a fault and no reward. docs/rubrics.md says how points become a reward,
/// formula by formula.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RubricVerifier {
    /// The file of the rubric, of any known format; `column:NAME` for one in each row; or the rubric
    /// itself.
    pub(super) rubric: RubricSource,
    /// The judge: its name among `[judges]`, or its settings. Not needed where code answers every
    /// criterion.
    #[serde(default)]
    pub(super) judge: Option<JudgeChoice>,
    /// How often each question is asked, each time with another seed.
    #[serde(default = "one_vote")]
    pub(super) votes: u32,
    /// How the votes on a criterion become one answer.
    #[serde(default)]
    pub(super) vote_by: VoteBy,
    /// How many criteria are asked at once. One is the most reliable.
    #[serde(default = "one_criterion")]
    pub(super) criteria_per_call: usize,
    /// Take the expected answer by the log-probabilities of the verdict, where the judge gives them,
    /// instead of the verdict ("G-Eval").
    #[serde(default)]
    pub(super) logprobs: bool,
    /// Let the judge say that it cannot tell; the criterion abstains then.
    #[serde(default)]
    pub(super) may_abstain: bool,
    /// How often a question is asked again, with another seed, where no verdict can be read.
    #[serde(default)]
    pub(super) asks_again: u32,
    /// What is done with the thinking of the completion.
    #[serde(default)]
    pub(super) thinking: Thinking,
    /// Show the judge the whole conversation instead of the message that is judged.
    #[serde(default)]
    pub(super) conversation: bool,
    /// A template for the system message, in place of ours: a file, or the text itself; "" leaves it out.
    #[serde(default)]
    pub(super) system_prompt: Option<String>,
    /// A template for the message of the user, in place of ours: a file, or the text itself, which has
    /// `{{ completion }}`, or `{{ answer }}`, the answer that is found in it, or all of it where none is.
    #[serde(default)]
    pub(super) user_prompt: Option<String>,
}

/// Where a rubric stands.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum RubricSource {
    /// A file, or `column:NAME`.
    Named(String),
    /// The rubric itself, of any known format.
    Inline(Value),
}

fn one_vote() -> u32 {
    1
}

fn one_criterion() -> usize {
    1
}

impl RubricVerifier {
    /// Refuses settings out of range.
    pub(super) fn check(&self) -> Result<(), BuildError> {
        if !(1..=1_000).contains(&self.votes) {
            return Err(BuildError::new("votes", "expected 1 to 1000"));
        }
        if self.criteria_per_call == 0 {
            return Err(BuildError::new("criteria_per_call", "expected at least 1"));
        }
        if self.asks_again > 10 {
            return Err(BuildError::new("asks_again", "expected at most 10"));
        }
        Ok(())
    }
}
