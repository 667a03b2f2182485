//! A fitted model of ratings, and what it says of a text.

use serde::{Deserialize, Serialize};

/// One rating.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BridgingRating {
    /// The rater, counted from 0.
    pub rater: usize,
    /// The text, counted from 0.
    pub text: usize,
    /// 1 for helpful, 0.5 for somewhat, 0 for not.
    pub value: f64,
}

/// What the ratings of a text come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HelpfulStatus {
    /// `b >= 0.40` and `abs(f) < 0.50`.
    Helpful,
    /// `b < -0.05 - 0.8 abs(f)`.
    NotHelpful,
    /// Neither.
    Undecided,
    /// Fewer ratings than are needed.
    #[default]
    TooFew,
}

/// A text in the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct BridgedText {
    /// `b_n`: the reward.
    pub intercept: f64,
    /// `f_n`: which view it speaks to. Its sign means nothing by itself.
    pub factor: f64,
    /// How many ratings it has.
    pub ratings: usize,
    /// What they come to.
    pub status: HelpfulStatus,
}

impl BridgedText {
    /// A text with its status; `ratings_min` ratings are needed for one.
    pub(super) fn new(intercept: f64, factor: f64, ratings: usize, ratings_min: usize) -> Self {
        let status = match () {
            () if ratings < ratings_min => HelpfulStatus::TooFew,
            () if intercept >= 0.40 && factor.abs() < 0.50 => HelpfulStatus::Helpful,
            () if intercept < -0.05 - 0.8 * factor.abs() => HelpfulStatus::NotHelpful,
            () => HelpfulStatus::Undecided,
        };
        Self { intercept, factor, ratings, status }
    }

    /// The reward of the text, `b_n`. `None` where it has too few ratings.
    pub fn reward(&self) -> Option<f64> {
        (self.status != HelpfulStatus::TooFew).then_some(self.intercept)
    }
}

/// A fitted model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BridgingFit {
    /// `m`.
    pub mean: f64,
    /// `b_u` and `f_u` of each rater.
    pub raters: Vec<(f64, f64)>,
    /// The texts.
    pub texts: Vec<BridgedText>,
    /// The loss, the least of all seeds.
    pub loss: f64,
    /// Whether the raters have but one view, so that all factors are 0 and each `b_n` is a regularised
    /// mean: nothing is bridged.
    pub one_sided: bool,
}
