//! What a kind of selection needs, in one line: `use crate::selection::prelude::*`.

pub(crate) use crate::advantages::conventions::Std;
pub(crate) use crate::prelude::*;
pub(crate) use crate::selection::outcome::{
    DropReason, Fates, RolloutRequest, Selection, StoredPart, StoredRollout,
};
pub(crate) use crate::selection::policy::{Selector, SelectorSettings};
pub(crate) use crate::selection::rollouts::RolloutBatch;
pub(crate) use crate::selection::state::SelectionState;
pub(crate) use crate::selection::stats;
