//! The facade from outside. One binary, because each one more is linked with everything that the
//! workspace depends on; only what needs a process of its own is another (`hostile_memory.rs`).

mod advantages;
mod axum;
mod cli;
mod crash;
mod determinism;
mod diagnose;
mod embedding;
mod eval_judge;
mod groups;
mod hostile;
mod judges;
mod lanes;
mod models;
mod place;
mod readme;
mod replay;
mod rubrics;
mod shards;
mod suites;
mod support;
mod tidy;
#[cfg(feature = "train")]
mod train;
