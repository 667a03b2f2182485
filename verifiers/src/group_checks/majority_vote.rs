//! `majority_vote`: the answer agrees with that of the majority of the group.

use super::answers::{Answer, AnswerKind, AnswerReader, Ballot};
use super::members::{among_known, scored};
use crate::extract::Policy;
use crate::prelude::*;
use crate::stats::float;

/// Right when the answer is the one that most members of the group give: the pseudo-label of TTRL.
///
/// "TTRL: Test-Time Reinforcement Learning", section "Majority Voting Reward Function": the answer
/// of each member is read, the most frequent one stands in for the label, and a member earns 1 if
/// its answer equals it, else 0. No reference is needed, and none is looked at. A member without an
/// answer does not vote and earns 0. Where no answer has enough votes, every member abstains: a
/// vote that nobody won is not a label. Rewards are 0 or 1; with `on_tie = "fractional"` a share
/// between them.
#[derive(Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct MajorityVote {
    /// What kind of answer votes: `math`, `choice` or `text`.
    answers: AnswerKind,
    /// Where the answer is looked for, as in the check `math`. Options are looked for everywhere.
    extract: Policy,
    /// What becomes of a tie: `fractional`, each of the k answers with most votes earns 1/k, which
    /// is the mean of a tie broken at random; `abstain`, every member abstains; `first`, the answer
    /// that comes first in the order of the rows wins, as in TTRL.
    on_tie: OnTie,
    /// The fewest votes that make a majority. With 1, a group without any agreement has one, too.
    #[default(2)]
    votes_min: u32,
    /// The least share of the members (those without an answer are counted) that makes a majority,
    /// from 0 to 1.
    share_min: f64,
    #[serde(skip)]
    reader: Option<AnswerReader>,
}

/// What becomes of a tie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum OnTie {
    /// Each of the answers earns its share.
    #[default]
    Fractional,
    /// Every member abstains.
    Abstain,
    /// The answer that comes first in the order of the rows wins.
    First,
}

impl GroupCheck for MajorityVote {
    const ID: &'static str = "majority_vote";
    const VERSION: u32 = 3;

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        if self.votes_min == 0 {
            return Err(BuildError::new("votes_min", "a majority has at least 1 vote"));
        }
        if !(0.0..=1.0).contains(&self.share_min) {
            let message = format!("share_min is {}; it goes from 0 to 1", self.share_min);
            return Err(BuildError::new("share_min", message));
        }
        self.reader = Some(AnswerReader::new(self.answers, self.extract)?);
        Ok(())
    }

    fn check_group(&self, group: &Group<'_>, meter: &mut Meter<'_>) -> Result<Vec<Verdict>, Fault> {
        let reader = self.reader.as_ref();
        let reader = reader.ok_or_else(|| Fault::internal("majority_vote was not loaded"))?;
        let answers = reader.read(group, meter)?;
        among_known(answers, |answers| self.judge(&answers, meter))
    }
}

impl MajorityVote {
    fn judge(
        &self,
        answers: &[Option<Answer>],
        meter: &mut Meter<'_>,
    ) -> Result<Vec<Verdict>, Fault> {
        let ballot = Ballot::count(answers, self.answers, meter)?;
        let most = ballot.classes.iter().map(|class| class.votes).max().unwrap_or_default();
        let share = if answers.is_empty() { 0.0 } else { float(most) / float(answers.len()) };
        let winners: Vec<usize> = self.winners(&ballot, most);
        let lost = |why: String| {
            let verdict = || Verdict::abstained(why.clone()).with("votes", most);
            Ok(answers.iter().map(|_| verdict()).collect())
        };
        if (most as u64) < u64::from(self.votes_min) || share < self.share_min {
            return lost(format!("the most frequent answer has {most} of {} votes", answers.len()));
        }
        if winners.len() > 1 && self.on_tie == OnTie::Abstain {
            return lost(format!("{} answers have {most} votes each", winners.len()));
        }
        let mut shown: Vec<&str> = winners
            .iter()
            .filter_map(|class| ballot.classes.get(*class))
            .map(|class| class.text.as_str())
            .collect();
        shown.sort_unstable();
        let label = shown.first().copied().unwrap_or_default();
        let judged = |(answer, class): (&Option<Answer>, &Option<usize>)| {
            let wins = class.is_some_and(|class| winners.contains(&class));
            let reason = match (answer, wins, winners.len()) {
                (None, ..) => "no-answer",
                (_, false, _) => "minority",
                (_, true, 1) => "majority",
                (_, true, _) => "tie",
            };
            let verdict = scored(if wins { 1.0 / float(winners.len()) } else { 0.0 });
            let verdict = match answer {
                Some(answer) => answer.noted(verdict),
                None => verdict,
            };
            verdict.with("majority", label).with("votes", most).with("share", share).because(reason)
        };
        Ok(answers.iter().zip(&ballot.class_of).map(judged).collect())
    }

    /// The answers that share the victory.
    fn winners(&self, ballot: &Ballot, most: usize) -> Vec<usize> {
        let classes = ballot.classes.iter().enumerate();
        let tied = classes.filter(|(_, class)| class.votes == most);
        if self.on_tie == OnTie::First {
            let first = tied.min_by_key(|(_, class)| class.first);
            return first.map(|(at, _)| at).into_iter().collect();
        }
        tied.map(|(at, _)| at).collect()
    }
}
