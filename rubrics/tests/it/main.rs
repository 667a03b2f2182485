//! The rubrics from outside.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

mod agreement;
mod asking;
mod column;
mod compare;
mod fixtures;
mod formats;
mod formats_answered;
mod formats_refused;
mod http;
mod injection;
mod judge_replies;
mod openai;
mod pair_replies;
mod pairwise;
mod server;
mod set;
mod similarity;
mod store;
mod support;
mod tls;
mod votes;
