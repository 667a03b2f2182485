//! STUB
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VoteBy {
    #[default]
    Mean,
}
pub fn combine(_: VoteBy, votes: &[Option<f64>]) -> Option<f64> {
    let known: Vec<f64> = votes.iter().flatten().copied().collect();
    (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
}
