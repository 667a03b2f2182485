//! Votes: several answers of judges to one criterion become one.
//!
//! A vote without a value is an abstention: it is left out, and never counted as 0. Where fewer votes
//! than needed have a value there is no answer.
//!
//! ```
//! use assay_rubrics::votes::{Vote, VoteBy, combine};
//!
//! let votes = [Vote::new(1.0), Vote::abstained(), Vote::new(0.0), Vote::new(1.0)];
//! assert_eq!(combine(VoteBy::Majority, &votes, 2), Some(1.0));
//! assert_eq!(combine(VoteBy::Majority, &votes, 4), None);
//! ```

mod by;
mod critiques;
mod vote;

pub use by::{VoteBy, combine};
pub use critiques::{critique_similarity, critique_weights};
pub use vote::Vote;
