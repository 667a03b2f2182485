//! Schedulers: which rollouts are decoded when.
//!
//! A scheduler is a state machine without a clock: the caller tells it what has happened, and it says
//! what to start or to stop. It can be written down between any two events, and goes on where it was.

pub mod accumulator;
pub mod length_batches;
pub mod micro_groups;
pub mod partial;
pub mod resets;
pub mod staleness;

pub use accumulator::GroupAccumulator;
pub use length_batches::length_batches;
pub use micro_groups::{
    CompletedGroup, DecodeOrder, MicroGroupSettings, MicroGroups, MicroJob, SlotRefill,
};
pub use partial::{
    OnExpired, PartialBatch, PartialGroup, PartialJob, PartialRollout, PartialRollouts,
    PartialSettings, PartialStart, TokenSegment,
};
pub use resets::{ResetMonitor, ResetReason, ResetSettings};
pub use staleness::{GateSettings, StalenessGate, may_submit};

#[cfg(test)]
mod tests;
