//! `hard_mining`: prompts that are sometimes answered wrong are sampled more often.

use assay_verifiers::Reward;

use crate::selection::prelude::*;

/// Weighs prompts by how often they are answered wrong, and drops those that never are (after
/// Fleming-R1: Toward Expert-Level Medical Reasoning via Reinforcement Learning, adaptive hard-sample
/// mining).
///
/// With the share `f` of wrong answers over the last visits of a prompt, its sampling weight is
/// `f (1 - f) + base f`. A prompt that had no wrong answer at its last `solved_after` visits is dropped,
/// with a weight of 0. Prompts are told apart by their names, which must be given.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct HardMining {
    /// Over how many visits the share of wrong answers is taken.
    #[default(8)]
    visits: usize,
    /// After how many visits without a wrong answer a prompt is dropped.
    #[default(3)]
    solved_after: usize,
    /// What keeps prompts that are always answered wrong in play.
    #[default(0.1)]
    base: f64,
    /// A reward from which an answer is right, where pass rates are not given.
    #[default(Reward::RIGHT)]
    pass_at: f64,
}

impl SelectorSettings for HardMining {
    fn check(&self) -> Result<(), TrainerError> {
        for (key, visits) in [("visits", self.visits), ("solved_after", self.solved_after)] {
            within(key, stats::float(visits), 1.0..)?;
        }
        within("base", self.base, 0.0..)
    }
}

impl Selector for HardMining {
    fn select(
        &self,
        batch: &RolloutBatch<'_>,
        state: &SelectionState,
    ) -> Result<Selection, TrainerError> {
        batch.check()?;
        let prompts = batch.need("prompts", batch.prompts)?;
        let mut after = state.next();
        after.steps += 1;
        let mut fates = Fates::new(batch);
        let mut prompt_weights = std::collections::BTreeMap::new();
        for ((group, members), prompt) in batch.groups.iter().enumerate().zip(prompts) {
            let rewards: Vec<f64> = batch.scored(&members).into_iter().map(|(_, r)| r).collect();
            let pass_rate = match batch.pass_rates {
                Some(rates) => rates.get(group).copied().unwrap_or(f64::NAN),
                None => stats::pass_rate(&rewards, self.pass_at),
            };
            if pass_rate.is_nan() {
                fates.drop_all(members.rows(), DropReason::MissingMeasure);
                continue;
            }
            let visits = after.visits.entry(prompt.clone()).or_default();
            visits.push_back(1.0 - pass_rate);
            let surplus = visits.len().saturating_sub(self.visits.max(self.solved_after));
            visits.drain(..surplus);
            let visits: Vec<f64> = visits.iter().rev().copied().collect();
            if self.is_solved(&visits) {
                fates.drop_all(members.rows(), DropReason::Solved);
                prompt_weights.insert(prompt.clone(), 0.0);
            } else {
                prompt_weights.insert(prompt.clone(), self.weight(&visits));
            }
        }
        Ok(Selection { prompt_weights, ..fates.selection(after) })
    }
}

impl HardMining {
    /// Of shares of wrong answers, the last one first.
    fn is_solved(&self, visits: &[f64]) -> bool {
        visits.get(..self.solved_after).is_some_and(|last| last.iter().all(|wrong| *wrong <= 0.0))
    }

    fn weight(&self, visits: &[f64]) -> f64 {
        let wrong = stats::mean(visits.get(..self.visits).unwrap_or(visits));
        wrong * (1.0 - wrong) + self.base * wrong
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::groups::Groups;
    use crate::selection::testing::{built, check_fates, kept_rows, refused};

    #[test]
    fn weights_follow_the_share_of_wrong_answers() {
        let names = ["never", "half", "always"].map(str::to_owned);
        let rewards = [0.0, 0.0, 1.0, 0.0, 1.0, 1.0];
        let groups = Groups::of_size(6, 2).unwrap();
        let batch =
            RolloutBatch { prompts: Some(&names), ..RolloutBatch::new(&groups, &rewards).unwrap() };
        let selector = built("hard_mining", json!({"visits": 2, "solved_after": 3}));
        let mut state = SelectionState::default();
        for visit in 1..=4 {
            let chosen = selector.select(&batch, &state).unwrap();
            check_fates(&batch, &chosen);
            // f of 1, 1/2 and 0: 0 + 0.1, 0.25 + 0.05, and 0.
            for (name, weight) in [("never", 0.1), ("half", 0.3), ("always", 0.0)] {
                assert!((chosen.prompt_weights[name] - weight).abs() < 1e-12, "{name}");
            }
            let kept = if visit < 3 { vec![0, 1, 2, 3, 4, 5] } else { vec![0, 1, 2, 3] };
            assert_eq!(kept_rows(&chosen), kept, "visit {visit}");
            state = chosen.state;
        }
        assert_eq!(state.visits["half"].len(), 3, "no more visits are kept than are needed");
        // A wrong answer brings a prompt back.
        let rewards = [f64::NAN, f64::NAN, 1.0, 1.0, 1.0, 0.0];
        let batch = RolloutBatch { rewards: &rewards, ..batch };
        let chosen = selector.select(&batch, &state).unwrap();
        assert_eq!(kept_rows(&chosen), [2, 3, 4, 5]);
        // Over two visits, f is 1/4 for both: 3/16 + 0.025.
        for name in ["half", "always"] {
            assert!((chosen.prompt_weights[name] - 0.2125).abs() < 1e-12, "{name}");
        }
        assert!(!chosen.prompt_weights.contains_key("never"), "it was not visited");
    }

    #[test]
    fn wrong_settings_are_refused() {
        assert!(refused("hard_mining", json!({"visits": 0})).contains("1 or more"));
        assert!(refused("hard_mining", json!({"base": -1.0})).contains("0 or more"));
    }
}
