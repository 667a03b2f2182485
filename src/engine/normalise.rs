//! Normalisation over the group: of each reward before they become one, or of the one that they became.

use assay_verifiers::{Cancellation, Fault, Outcome, Reward, Verdict};

use super::combine::Combiner;
use super::scale::Normalise;

impl Combiner {
    /// The outcomes of the samples of one prompt at a training step. The verdicts of each are in the
    /// order of the rewards.
    pub(super) fn combine_group(
        &self,
        members: &[&[Verdict]],
        step: u64,
        limit: Option<&dyn Cancellation>,
    ) -> Vec<Outcome> {
        let one = |verdicts: &&[Verdict]| self.combine_within(verdicts, step, limit);
        let alone = || members.iter().map(one).collect();
        match self.normalise {
            Normalise::None => alone(),
            Normalise::SumThen => self.sum_then_normalise(alone()),
            Normalise::ThenSum => self.normalise_then_sum(members, step, limit),
        }
    }

    fn sum_then_normalise(&self, outcomes: Vec<Outcome>) -> Vec<Outcome> {
        let rewards: Vec<f64> = outcomes.iter().map(number).collect();
        let normalised = self.scale.normalised(&rewards);
        let replaced = |(outcome, reward): (Outcome, f64)| match outcome {
            Outcome::Scored(_) => scored(reward),
            other => other,
        };
        outcomes.into_iter().zip(normalised).map(replaced).collect()
    }

    fn normalise_then_sum(
        &self,
        members: &[&[Verdict]],
        step: u64,
        limit: Option<&dyn Cancellation>,
    ) -> Vec<Outcome> {
        // A sample without a reward takes part in no mean.
        let counts: Vec<Option<Outcome>> =
            members.iter().map(|verdicts| self.unrewarded(verdicts, step)).collect();
        let parts = members.iter().map(|verdicts| verdicts.len()).max().unwrap_or_default();
        let mut rewards = vec![Vec::with_capacity(parts); members.len()];
        for part in 0..parts {
            let own = |(verdicts, out): (&&[Verdict], &Option<Outcome>)| match (
                out,
                verdicts.get(part),
            ) {
                (None, Some(verdict)) => number(&verdict.outcome),
                _ => f64::NAN,
            };
            let own: Vec<f64> = members.iter().zip(&counts).map(own).collect();
            let normalised = self.scale.normalised(&own);
            for (reward, row) in normalised.into_iter().zip(&mut rewards) {
                row.push((!reward.is_nan()).then_some(reward));
            }
        }
        let sum = |((verdicts, out), rewards): ((&&[Verdict], Option<Outcome>), Vec<_>)| {
            out.unwrap_or_else(|| self.total(&rewards, self.standing(verdicts, step), step, limit))
        };
        members.iter().zip(counts).zip(rewards).map(sum).collect()
    }
}

/// The reward, NaN where there is none.
fn number(outcome: &Outcome) -> f64 {
    outcome.reward().map_or(f64::NAN, Reward::get)
}

fn scored(reward: f64) -> Outcome {
    match Reward::new(reward) {
        Some(reward) => Outcome::Scored(reward),
        None => Outcome::Failed(Fault::trap("the normalised reward is not a finite number")),
    }
}
