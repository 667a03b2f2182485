//! The rubric: criteria with points, and how the answers to them become a reward.

mod aggregation;
mod aggregation_check;
mod check;
mod fill;
mod read;
mod types;

pub use aggregation::{Aggregation, How, Interaction, OnMissing, TopRange};
pub use check::{CRITERIA_MAX, DEPTH_MAX};
pub use types::{
    Answer, AnswerChoice, AnswerKind, Answers, Criterion, Example, Rubric, RubricError, Scale,
};
