//! The rubrics from outside.

<<<<<<< HEAD
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test stops at what it does not expect"
)]

mod agreement;
mod compare;
mod fixtures;
mod pair_replies;
mod recipes;
mod votes;
=======
mod asking;
mod column;
mod http;
mod openai;
mod server;
mod set;
mod store;
>>>>>>> hb
