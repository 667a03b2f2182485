//! How the answers to the criteria of a rubric become one reward.
//!
//! | `how` | reward | source |
//! |---|---|---|
//! | `weighted_mean` | `sum(w * s) / sum(w)` | "Rubrics as Rewards", explicit aggregation; `PaperBench`, section on grading |
//! | `positive_points` | `sum(w * s) / sum(w where w > 0)` | "`HealthBench`", section on scoring; `ResearchRubrics` |
//! | `absolute_points` | `sum(w * s) / sum(abs(w))` | ports of "Rubrics as Rewards" |
//! | `sum` | `sum(w * s)` | |
//! | `value` | the number that the one criterion was answered | "Prometheus 2", direct assessment; `BiGGen-Bench` |
//! | `min`, `product` | the least share; the product of shares | |
//! | `expression` | a rhai expression over the shares by name | `OpenAI` graders, `multi` |
//!
//! `w` are the points and `s` the share of each criterion at the top; the share of a criterion with
//! criteria below it is the weighted mean of theirs.

mod combine;
mod expression;
mod shape;

pub use crate::rubric::{Aggregation, How, Interaction, OnMissing, TopRange};
pub use combine::Aggregated;
