//! Rubrics: criteria, the judges that answer them, and how answers become a reward.
//!
//! A [`Rubric`] lists criteria. A [`Judge`] is a language model that answers them; code, reward
//! models and earlier rewards may answer them too. [`aggregate`] turns the answers into one reward.
//! A rubric is read from our own format or from those of others ([`formats`]).

pub mod aggregate;
pub mod agreement;
pub mod compare;
pub mod formats;
pub mod http;
pub mod judge;
pub mod prompt;
pub mod reply;
pub mod rubric;
pub mod template;
pub mod verifiers;
pub mod votes;

pub use judge::{Judge, JudgeReply, JudgeRequest};
pub use rubric::{AnswerKind, Criterion, Rubric, RubricError};
