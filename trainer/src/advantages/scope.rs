//! `scope`: repaired trajectories join the group, and are credited for what was written anew.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::batch::{Advantages, Estimator, EstimatorState, RewardBatch};
use super::conventions::EstimatorSettings;
use super::grpo::Grpo;
use super::tokens;
use crate::error::TrainerError;

/// Step-wise correction: a wrong rollout whose prefix is good enough is continued by a guide from the
/// step before its first wrong one (the selection `scope_repair` says where). The repaired trajectory
/// joins its group as one more rollout, and the tokens before its start have the advantage 0. It needs
/// `starts`, 0 for rollouts that are not repaired, and `mask` or `lengths`; one rollout of a group may
/// be repaired.
///
/// Source: SCOPE (step-wise correction for on-policy exploration).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ScopeRetries {
    /// How rewards relate to their group: settings of `grpo`.
    pub group: Grpo,
}

impl EstimatorSettings for ScopeRetries {
    fn check(&self) -> Result<(), TrainerError> {
        self.group.check()
    }
}

impl Estimator for ScopeRetries {
    fn estimate(&self, batch: &RewardBatch<'_>) -> Result<Advantages, TrainerError> {
        let starts = batch.needed("scope", "starts", batch.starts)?;
        for (at, group) in batch.groups.iter().enumerate() {
            let is_repaired = |row: &usize| starts.get(*row).is_some_and(|start| *start > 0);
            let repaired = group.rows().filter(is_repaired).count();
            if repaired > 1 {
                let have = format!("{repaired} repaired rollouts in group {at}");
                return Err(TrainerError::input("starts", have, "one at most"));
            }
        }
        let mut values = vec![0.0; batch.rewards.len()];
        let report = self.group.estimate_into(batch, &mut values)?;
        let values = tokens::credited(batch, "scope", values)?;
        Ok(Advantages { values, report, state: EstimatorState::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::ScopeRetries;
    use crate::Groups;
    use crate::advantages::batch::{Estimator as _, RewardBatch};
    use crate::advantages::testing::{estimated_with, of_tokens, rows};

    #[test]
    fn a_repaired_trajectory_is_credited_for_its_suffix() {
        let config = "kind = \"scope\"\ngroup = { std = \"biased\", eps = 0 }";
        let values = of_tokens(estimated_with(config, &[0.0, 1.0], 2, |mut batch| {
            batch.lengths = Some(&[2, 4]);
            batch.starts = Some(&[0, 3]);
            batch
        }));
        assert_eq!(values, rows(&[&[-1.0, -1.0], &[0.0, 0.0, 0.0, 1.0]]));
    }

    #[test]
    fn one_rollout_of_a_group_is_repaired() {
        let groups = Groups::of_size(2, 2).unwrap();
        let mut batch = RewardBatch::new(&groups, &[0.0, 1.0]).unwrap();
        batch.lengths = Some(&[2, 4]);
        let error = ScopeRetries::default().estimate(&batch).unwrap_err().to_string();
        assert_eq!(error, "starts: not given, expected what the estimator \"scope\" needs");
        batch.starts = Some(&[1, 3]);
        let error = ScopeRetries::default().estimate(&batch).unwrap_err().to_string();
        assert_eq!(error, "starts: 2 repaired rollouts in group 0, expected one at most");
    }
}
