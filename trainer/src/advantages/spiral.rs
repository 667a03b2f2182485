//! `spiral`: a running mean of the rewards of each role as its baseline.

use super::batch::EstimatorState;
use crate::advantages::prelude::*;
use crate::statistics::sum_sorted;

/// Role-conditioned advantage estimation: `A = r - b` for the baseline `b` of the role before the
/// rollout, then `b = decay b + (1 - decay) r`. Baselines begin at 0; the state holds one for each
/// role. A role may name a game too. It needs `roles`.
///
/// With `update = "rollout"`, as in the source, rollouts follow one another and their order matters;
/// with `"batch"`, all read the baseline that the batch began with, and it is moved once, by their
/// mean.
///
/// Source: "SPIRAL: Self-Play on Zero-Sum Games Incentivizes Reasoning via Multi-Agent Multi-Turn
/// Reinforcement Learning", as in its repository, `train_spiral.py`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct Spiral {
    /// What is kept of the baseline, 0 to 1.
    #[default(0.95)]
    pub decay: f64,
    /// When the baseline moves.
    pub update: BaselineUpdate,
}

/// When a running baseline moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BaselineUpdate {
    /// After each rollout.
    #[default]
    Rollout,
    /// After the batch, by the mean of the rewards of the role.
    Batch,
}

impl EstimatorSettings for Spiral {
    fn check(&self) -> Result<(), TrainerError> {
        within("decay", self.decay, 0.0..=1.0)
    }
}

impl Estimator for Spiral {
    fn estimate(&self, batch: &RewardBatch<'_>) -> Result<Advantages, TrainerError> {
        let report = report(batch)?;
        let roles = batch.needed("spiral", "roles", batch.roles)?;
        let mut state = batch.state.cloned().unwrap_or_default();
        let mut values = batch.rewards.to_vec();
        let scored = values.iter_mut().zip(roles).filter(|(reward, _)| !reward.is_nan());
        for (value, role) in scored {
            let baseline = state.0.entry(role.clone()).or_insert_with(|| vec![0.0]);
            let before = baseline.first().copied().unwrap_or(0.0);
            if self.update == BaselineUpdate::Rollout {
                *baseline = vec![self.decay * before + (1.0 - self.decay) * *value];
            }
            *value -= before;
        }
        if self.update == BaselineUpdate::Batch {
            self.move_once(&mut state, batch.rewards, roles);
        }
        rewrite(batch, &mut values, |advantage| advantage)?;
        Ok(Advantages { values: AdvantageValues::Rollouts(values), report, state })
    }
}

impl Spiral {
    fn move_once(&self, state: &mut EstimatorState, rewards: &[f64], roles: &[String]) {
        for (role, baseline) in &mut state.0 {
            let of_role = |(reward, own): (&f64, &String)| {
                (own == role && !reward.is_nan()).then_some(*reward)
            };
            let own: Vec<f64> = rewards.iter().zip(roles).filter_map(of_role).collect();
            if own.is_empty() {
                continue;
            }
            let count = float(own.len());
            let before = baseline.first().copied().unwrap_or(0.0);
            let mean = sum_sorted(own) / count;
            *baseline = vec![self.decay * before + (1.0 - self.decay) * mean];
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::advantages::batch::EstimatorState;
    use crate::advantages::testing::{assert_close, estimated_with, of_rollouts};

    fn played(settings: &str, state: &'static EstimatorState) -> (Vec<f64>, Vec<(String, f64)>) {
        let config = format!("kind = \"spiral\"\n{settings}");
        let roles = Box::leak(Box::new(["a", "b", "a", "a"].map(str::to_owned)));
        let rewards = &[1.0, -1.0, 1.0, f64::NAN];
        let advantages = estimated_with(&config, rewards, 4, |mut batch| {
            batch.roles = Some(roles);
            batch.state = Some(state);
            batch
        });
        let state = advantages.state.0.iter().map(|(role, kept)| (role.clone(), kept[0])).collect();
        (of_rollouts(advantages), state)
    }

    #[test]
    fn a_role_is_compared_with_what_it_earned_before() {
        let empty = Box::leak(Box::new(EstimatorState::default()));
        let (values, state) = played("", empty);
        assert_close(&values, &[1.0, -1.0, 0.95, 0.0]);
        let (names, kept): (Vec<String>, Vec<f64>) = state.into_iter().unzip();
        assert_eq!(names, ["a", "b"]);
        assert_close(&kept, &[0.95 * 0.05 + 0.05, -0.05]);
    }

    #[test]
    fn a_state_is_carried_on() {
        let kept = [("a".to_owned(), vec![0.5]), ("c".to_owned(), vec![0.25])];
        let kept = Box::leak(Box::new(EstimatorState(kept.into_iter().collect())));
        let (values, state) = played("decay = 0.5\nupdate = \"batch\"", kept);
        assert_close(&values, &[0.5, -1.0, 0.5, 0.0]);
        let (names, kept): (Vec<String>, Vec<f64>) = state.into_iter().unzip();
        assert_eq!(names, ["a", "b", "c"]);
        assert_close(&kept, &[0.75, -0.5, 0.25]);
    }
}
