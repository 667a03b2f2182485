//! How a training batch is filled with groups of several batches.

use crate::selection::outcome::replay_held;
use crate::selection::prelude::*;
use crate::selection::state::HeldGroup;

/// What becomes of groups too many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Surplus {
    /// They are dropped.
    #[default]
    Drop,
    /// They are held for the next training batch.
    Hold,
}

/// A training batch that is full.
pub(crate) struct Filled {
    /// The groups of this batch that could be trained on.
    pub(crate) usable: Vec<usize>,
    /// How many groups are trained on, at most.
    pub(crate) wanted: usize,
    /// What becomes of the others.
    pub(crate) surplus: Surplus,
}

/// Trains on the groups that were held, then on those of this batch, as many as are wanted.
pub(crate) fn train(
    batch: &RolloutBatch<'_>,
    filled: &Filled,
    mut fates: Fates,
    mut after: SelectionState,
) -> Selection {
    let old = after.held.len().min(filled.wanted);
    let replayed: Vec<_> = after.held.drain(..old).flat_map(replay_held).collect();
    let new = (filled.wanted - old).min(filled.usable.len());
    let rest = filled.usable.split_at(new).1;
    let mut released = Vec::new();
    match filled.surplus {
        Surplus::Hold => hold(batch, rest, &mut fates, &mut after),
        Surplus::Drop => {
            released.extend(after.held.drain(..).flat_map(|group| group.ids));
            for group in rest {
                fates.drop_all(batch.groups.members(*group).rows(), DropReason::Surplus);
            }
        }
    }
    Selection { replayed, released, ..fates.selection(after) }
}

/// Holds groups of this batch.
pub(crate) fn hold(
    batch: &RolloutBatch<'_>,
    groups: &[usize],
    fates: &mut Fates,
    after: &mut SelectionState,
) {
    let number = after.batches;
    for group in groups {
        let members = batch.groups.members(*group);
        let rows = members.rows().filter(|row| fates.is_kept(*row));
        let ids = rows.map(|row| batch.id(row, number).into_owned()).collect();
        let prompt = batch.prompt(*group, number).into_owned();
        after.held.push_back(HeldGroup { prompt, ids, batch: number });
        members.rows().for_each(|row| fates.hold(row));
    }
}
