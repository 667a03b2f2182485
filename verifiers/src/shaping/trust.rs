//! `trust`: a reward of the thinking counts as far as it agrees with the outcome.

use crate::shape::group;
use crate::shape::member::other;
use crate::shape::prelude::*;
use crate::shape::settings::{fixed, right};

/// `o + w t`, with the reward as the outcome `o`, another as the score `t` of the thinking, and
/// `w = weight exp(-step / decay_steps)`, times `exp(mu_right - mu_wrong)` where the right samples of
/// the group think worse on average than the others.
///
/// Where every outcome of the group is at least `all_right`, or every one at most `all_wrong`, the
/// thinking does not count; neither does that of a sample whose outcome is below `least_outcome`. A
/// mean over nobody is 0. For both in 0 to 1 between 0 and 1 + weight comes out. Source:
/// "SophiaVL-R1: Reinforcing MLLMs Reasoning with Thinking Reward", section on Trust-GRPO, and its
/// code, from which the thresholds are.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Trust {
    /// The reward that scores the thinking.
    thinking: String,
    /// The steps in which the weight falls to 1/e.
    decay_steps: f64,
    /// The weight at step 0.
    #[serde(default = "weight")]
    weight: Schedule,
    /// The least outcome of a right sample.
    #[serde(default = "right")]
    correct_at: f64,
    /// The outcome from which on all samples of a group are right.
    #[serde(default = "all_right")]
    all_right: f64,
    /// The outcome up to which all are wrong.
    #[serde(default = "all_wrong")]
    all_wrong: f64,
    /// The least outcome whose thinking counts.
    #[serde(default = "least_outcome")]
    least_outcome: f64,
    /// Whose thinking makes the means.
    #[serde(default)]
    means: Means,
}

/// Whose thinking makes the means of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Means {
    /// That of every sample, as in the paper.
    #[default]
    All,
    /// That of samples below the least outcome is 0 there too.
    Paid,
}

impl Shape for Trust {
    const KIND: &'static str = "trust";

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        positive("decay_steps", self.decay_steps)?;
        never_negative("weight", &self.weight)
    }

    fn reads(&self) -> Vec<&str> {
        vec![&self.thinking]
    }

    fn is_group(&self) -> bool {
        true
    }

    fn shape(
        &self,
        members: &[ShapeMember<'_>],
        state: &TrainingState,
        _: &mut Meter<'_>,
    ) -> Result<Vec<Shaped>, Fault> {
        let mut scores = Vec::new();
        for member in members {
            scores.push(match group::of_member(other(member, &self.thinking))? {
                Ok(Ok((_, score))) => Ok(score),
                Ok(Err(why)) => Err(Shaped::skipped(0.0, why)),
                Err(why) => Err(Shaped::failed(why)),
            });
        }
        let known: Vec<(f64, f64)> = members
            .iter()
            .zip(&scores)
            .filter_map(|(member, score)| member.reward().zip(score.as_ref().ok().copied()))
            .collect();
        let weight = if self.is_one_sided(members) { 0.0 } else { self.weight(&known, state.step) };
        Ok(group::each(members, |at, _, reward| match scores.get(at) {
            Some(Ok(score)) => {
                Shaped::new(reward + weight * self.paid(reward, *score)).with("weight", weight)
            }
            Some(Err(without)) if without.reward.is_finite() => {
                Shaped { reward, ..without.clone() }
            }
            Some(Err(failed)) => failed.clone(),
            None => Shaped::new(reward),
        }))
    }
}

impl Trust {
    /// Whether all outcomes of the group are right, or all are wrong.
    fn is_one_sided(&self, members: &[ShapeMember<'_>]) -> bool {
        let range = group::range(&group::rewards(members));
        range.is_none_or(|(low, high)| low >= self.all_right || high <= self.all_wrong)
    }

    /// The weight of the thinking, given outcomes and scores.
    fn weight(&self, known: &[(f64, f64)], step: u64) -> f64 {
        let counted = |(outcome, score): &(f64, f64)| match self.means {
            Means::All => *score,
            Means::Paid => self.paid(*outcome, *score),
        };
        let (right, wrong): (Vec<_>, Vec<_>) =
            known.iter().partition(|(outcome, _)| *outcome >= self.correct_at);
        let mean = |side: Vec<(f64, f64)>| {
            let scores: Vec<f64> = side.iter().map(counted).collect();
            group::mean(&scores).unwrap_or_default()
        };
        #[expect(clippy::cast_precision_loss, reason = "no training has 2^53 steps")]
        let age = step as f64 / self.decay_steps;
        let agreement = (mean(right) - mean(wrong)).min(0.0);
        self.weight.at(step) * (agreement - age).exp()
    }

    fn paid(&self, outcome: f64, score: f64) -> f64 {
        if outcome < self.least_outcome { 0.0 } else { score }
    }
}

fn weight() -> Schedule {
    fixed(0.3)
}

fn all_right() -> f64 {
    0.9
}

fn all_wrong() -> f64 {
    0.1
}

fn least_outcome() -> f64 {
    0.2
}
