//! The settings of the check.

use crate::prelude::*;

/// Where the answer is looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// The last box or announced answer; without one, a bare answer or the number that ends the
    /// last sentence.
    #[default]
    Auto,
    /// `\boxed{}` and its like only.
    Boxed,
    /// Announced answers only: "the answer is", `#### 18`, `"answer": "18"`, `<answer>`.
    Anchor,
    /// The last number of the text.
    LastNumber,
    /// The whole text is the answer.
    Whole,
}

/// How numbers written as decimals are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Decimals {
    /// Within half a unit of the last digit of a reference that was written as a decimal.
    #[default]
    ReferenceDigits,
    /// Never rounded.
    Exact,
    /// Within this share of the reference, where one side was written as a decimal.
    Relative(f64),
}
