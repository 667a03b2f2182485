//! The settings of an aggregate.

use assay_verifiers::prelude::*;

/// How the answers become a reward.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct Aggregation {
    /// The formula.
    #[default(How::WeightedMean)]
    pub how: How,
    /// Bounds of the reward; none by default, so that defects may make it negative.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clip: Option<[f64; 2]>,
    /// The range that is mapped to 0 to 1 before `clip`, as `[1, 10]` for an implicit rating.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<[f64; 2]>,
    /// The reward is 1 from here on and 0 below, in place of the number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    /// The reward behind a gate that is not passed.
    pub floor: f64,
    /// What becomes of a sample of which a criterion was not answered.
    pub on_missing: OnMissing,
    /// The greatest share of the criteria that `renormalise` may go without.
    #[default(0.2)]
    pub missing_max: f64,
    /// Saturates each share: `u(s) = (1 - exp(-k * s)) / (1 - exp(-k))`, where this is k.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saturation: Option<f64>,
    /// What pairs of criteria earn together.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub interactions: Vec<Interaction>,
    /// Spreads rewards near the top.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top: Option<TopRange>,
    /// The expression of `how = "expression"`: the share of each criterion under its name, its number
    /// as `value.NAME`, and `()` where there is no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expression: Option<String>,
}

/// The formula.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// The sum of points times share over the sum of the points.
    #[default]
    WeightedMean,
    /// The sum of points times share over the sum of the positive points.
    PositivePoints,
    /// The sum of points times share over the sum of the absolute points.
    AbsolutePoints,
    /// The sum of points times share.
    Sum,
    /// The number that the one criterion was answered.
    Value,
    /// The least share.
    Min,
    /// The product of the shares.
    Product,
    /// An expression over the shares.
    Expression,
}

/// What becomes of a sample of which a criterion was not answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnMissing {
    /// It has no reward.
    #[default]
    Unscored,
    /// The others make the reward, unless more than `missing_max` of the criteria are missing.
    Renormalise,
}

/// What two criteria earn together: `gain * share(a) * share(b)`. A positive gain is a synergy, a
/// negative one a conflict.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Interaction {
    /// The names of the two criteria.
    pub between: [String; 2],
    /// What they earn together where both shares are 1.
    pub gain: f64,
}

/// Spreads rewards near the top: `s` from `from` on becomes
/// `from + (1 - from) * ((s - from) / (1 - from)) ^ power`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct TopRange {
    /// Where the top begins, below 1.
    #[default(0.7)]
    pub from: f64,
    /// Below 1 it lifts what is near `from`, above 1 it lowers it.
    #[default(0.5)]
    pub power: f64,
}
