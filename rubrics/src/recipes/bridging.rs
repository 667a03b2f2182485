//! Bridging: a text is good where raters who usually disagree both find it good.
//!
//! "Birdwatch: Crowd Wisdom and Bridging Algorithms can Inform Understanding and Reduce the Spread of
//! Misinformation" (Wojcik et al. 2022), section on the matrix factorisation; as a reward: "Scaling
//! Human Judgment in Community Notes with LLMs" (2025). The rating of text n by rater u is modelled as
//! `m + b_u + b_n + f_u f_n`; `b_n` is what is left of a rating when the views of the raters, `f`, are
//! taken out. The loss is
//! `sum (r - model)^2 + li (m^2 + sum b_u^2 + sum b_n^2) + lf (sum f_u^2 + sum f_n^2)`.

mod fit;
mod model;

pub use fit::Bridging;
pub use model::{BridgedText, BridgingFit, BridgingRating, HelpfulStatus};
