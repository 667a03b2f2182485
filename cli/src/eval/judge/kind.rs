//! Kinds of labels.

use clap::ValueEnum;
use serde::Serialize;

/// What labels of people are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub(super) enum LabelKind {
    /// The place of the better of two `responses` (0 or 1; "tie": neither; null: no label), or `chosen`
    /// and `rejected`, or `response_A` and `response_B` ("A>B", "B>A", "A=B")
    Pairs,
    /// A number
    Levels,
    /// Right or wrong
    Binary,
}
