//! Reward models: ONNX graphs with a manifest that says how they are read.
//!
//! A [`manifest::Manifest`] describes a folder; [`model::Model`] loads it, proves it by its golden
//! pairs, and scores texts in batches on a [`backend::Backend`].

pub mod adopt;
pub mod backend;
pub mod benchmarks;
pub mod clip_delta;
pub mod compatibility;
pub mod consensus;
pub mod digests;
pub mod error;
mod files;
pub mod forward;
pub mod generation;
pub mod graph;
pub mod likelihood;
pub mod manifest;
pub mod model;
pub mod models;
mod nearness;
mod preference;
pub mod schedule;
pub mod score;
pub mod special;
pub mod steps;
pub mod template;
pub mod tensor;
pub mod tokens;
pub mod verifiers;

pub use error::ModelError;
pub use models::{Models, OrtDiscovery};
