//! `self_consistency`: how many members of the group give the same answer.

use super::answers::{Answer, AnswerKind, AnswerReader, Ballot};
use super::members::{alone, among_known, scored};
use crate::extract::Policy;
use crate::prelude::*;
use crate::stats::float;

/// The share of the members of the group that give the same answer.
///
/// The soft form of `majority_vote`: the frequency by which "Self-Consistency Improves Chain of
/// Thought Reasoning in Language Models" (section "Self-Consistency over Diverse Reasoning Paths")
/// weighs an answer is the reward of each member that gives it. No reference is needed. A member
/// without an answer earns 0 and counts as one who disagrees. A member alone abstains. Between 0
/// and 1.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SelfConsistency {
    /// What kind of answer is compared: `math`, `choice` or `text`.
    answers: AnswerKind,
    /// Where the answer is looked for, as in the check `math`. Options are looked for everywhere.
    extract: Policy,
    /// Of whom the share is: `all` members, c/n where c of n give the answer; or the `others`,
    /// (c - 1)/(n - 1), so that an answer which nobody shares earns nothing.
    share_of: ShareOf,
    #[serde(skip)]
    reader: Option<AnswerReader>,
}

/// Of whom the share is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ShareOf {
    /// All members, the one that is judged among them.
    All,
    /// The other members.
    #[default]
    Others,
}

impl GroupCheck for SelfConsistency {
    const ID: &'static str = "self_consistency";
    const VERSION: u32 = 3;

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        self.reader = Some(AnswerReader::new(self.answers, self.extract)?);
        Ok(())
    }

    fn check_group(&self, group: &Group<'_>, meter: &mut Meter<'_>) -> Result<Vec<Verdict>, Fault> {
        let reader = self.reader.as_ref();
        let reader = reader.ok_or_else(|| Fault::internal("self_consistency was not loaded"))?;
        let answers = reader.read(group, meter)?;
        among_known(answers, |answers| self.judge(&answers, meter))
    }
}

impl SelfConsistency {
    #[expect(clippy::indexing_slicing, reason = "an answer is of a class of the ballot")]
    fn judge(
        &self,
        answers: &[Option<Answer>],
        meter: &mut Meter<'_>,
    ) -> Result<Vec<Verdict>, Fault> {
        if answers.len() < 2 {
            return Ok(answers.iter().map(|_| alone()).collect());
        }
        let ballot = Ballot::count(answers, self.answers, meter)?;
        let judged = |(answer, class): (&Option<Answer>, &Option<usize>)| {
            let (Some(answer), Some(class)) = (answer, class) else {
                return Verdict::graded(false).because("no-answer");
            };
            let votes = ballot.classes[*class].votes;
            let share = match self.share_of {
                ShareOf::All => float(votes) / float(answers.len()),
                ShareOf::Others => float(votes.saturating_sub(1)) / float(answers.len() - 1),
            };
            answer.noted(scored(share)).with("votes", votes).with("members", answers.len())
        };
        Ok(answers.iter().zip(&ballot.class_of).map(judged).collect())
    }
}
