//! The facade from outside. One binary, because each one more is linked with everything that the
//! workspace depends on; only what needs a process of its own is another (`hostile_memory.rs`).

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

mod advantages;
mod audit;
mod axum;
mod bombs;
mod browser;
mod cli;
#[cfg(feature = "otel")]
mod collector;
mod conditions;
mod cookbook;
mod crash;
#[cfg(feature = "serve")]
mod daemon;
mod determinism;
mod diagnose;
mod embedding;
mod eval_benchmarks;
mod eval_judge;
mod explain;
mod field_reports;
mod groups;
mod hostile;
mod judges;
mod kills;
mod lanes;
mod logs;
mod mistakes;
mod models;
mod newcomers;
mod pages;
mod place;
mod plugins;
mod presets;
mod promises;
mod readme;
mod recipes;
mod replay;
mod report;
mod rubrics;
#[cfg(feature = "serve")]
mod serve;
#[cfg(feature = "serve")]
mod serve_files;
#[cfg(feature = "serve")]
mod serve_inline;
#[cfg(feature = "serve")]
mod serve_models;
#[cfg(feature = "serve")]
mod serve_ops;
#[cfg(feature = "serve")]
mod serve_programs;
#[cfg(feature = "serve")]
mod serve_rewards;
#[cfg(feature = "serve")]
mod serve_streams;
mod shards;
mod suites;
mod support;
mod terminal;
mod tidy;
#[cfg(feature = "otel")]
mod traces;
#[cfg(feature = "train")]
mod train;
mod validate;
#[cfg(feature = "serve")]
mod view;

/// The root of the repository. Tests run in the folder of the command's crate.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

fn root() -> &'static std::path::Path {
    std::path::Path::new(ROOT)
}
