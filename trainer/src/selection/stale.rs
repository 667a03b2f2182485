//! `stale`: rollouts of a policy that is too old.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::error::TrainerError;
use crate::selection::outcome::{DropReason, Fates, Selection};
use crate::selection::policy::{Selector, SelectorSettings};
use crate::selection::rollouts::{RolloutBatch, at};
use crate::selection::state::SelectionState;

/// Drops rollouts whose oldest token was made by a policy more than `age_max` versions before the newest
/// of the batch, or before the version that is trained, where it is given.
///
/// `scope = "group"` drops the others of their group with them, so that a group is compared as it was
/// sampled.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StaleFilter {
    /// How many versions old a rollout may be.
    age_max: u64,
    /// What is dropped with a rollout that is too old.
    #[serde(default)]
    scope: StaleScope,
}

/// What is dropped with a rollout that is too old.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StaleScope {
    /// Nothing.
    #[default]
    Rollout,
    /// The others of its group.
    Group,
}

impl SelectorSettings for StaleFilter {
    fn check(&self) -> Result<(), TrainerError> {
        Ok(())
    }
}

impl Selector for StaleFilter {
    fn select(
        &self,
        batch: &RolloutBatch<'_>,
        state: &SelectionState,
    ) -> Result<Selection, TrainerError> {
        batch.check()?;
        let versions = batch.need("versions", batch.versions)?;
        let newest = versions.iter().copied().max().unwrap_or_default();
        let now = batch.version.unwrap_or(newest);
        let is_stale = |row: usize| now.saturating_sub(at(versions, row)) > self.age_max;
        let mut fates = Fates::new(batch);
        for members in batch.groups.iter() {
            let whole = self.scope == StaleScope::Group && members.rows().any(is_stale);
            fates.drop_all(members.rows().filter(|row| whole || is_stale(*row)), DropReason::Stale);
        }
        Ok(fates.selection(state.next()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::groups::Groups;
    use crate::selection::testing::{built, check_fates, kept_rows};

    #[test]
    fn old_rollouts_are_dropped() {
        let groups = Groups::of_size(6, 2).unwrap();
        let mut batch = RolloutBatch::new(&groups, &[1.0, 0.0, 1.0, 0.0, f64::NAN, 0.0]).unwrap();
        batch.versions = Some(&[7, 4, 5, 6, 7, 7]);
        for (settings, version, kept) in [
            (json!({"age_max": 2}), None, vec![0, 2, 3, 5]),
            (json!({"age_max": 2, "scope": "group"}), None, vec![2, 3, 5]),
            (json!({"age_max": 2}), Some(8), vec![0, 3, 5]),
            (json!({"age_max": 0}), Some(7), vec![0, 5]),
            (json!({"age_max": 9}), Some(8), vec![0, 1, 2, 3, 5]),
        ] {
            batch.version = version;
            let selector = built("stale", settings.clone());
            let chosen = selector.select(&batch, &SelectionState::default()).unwrap();
            check_fates(&batch, &chosen);
            assert_eq!(kept_rows(&chosen), kept, "{settings} at {version:?}");
        }
        batch.versions = None;
        let error =
            built("stale", json!({"age_max": 1})).select(&batch, &SelectionState::default());
        assert!(error.unwrap_err().to_string().starts_with("versions: not given"));
    }
}
