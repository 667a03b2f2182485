//! The vocabulary of assay, and its rule checks.
//!
//! A [`Verifier`] judges a [`Sample`] within a [`Meter`] and answers with a [`Verdict`]: it either
//! scored the sample, abstained, or failed with a [`Fault`]. A fault is never a reward, and the
//! types keep the two apart.
//!
//! This crate does no I/O: no files, no clock, no environment, no runtime. What a verifier needs
//! from outside (a script, a schema, a tokenizer) is handed to it as bytes through [`Files`] when
//! the configuration is built.

pub mod afterthought;
mod build_error;
pub mod canonical;
pub mod cases;
pub mod check;
pub mod checks;
pub mod code;
pub mod column_path;
pub mod deviation;
pub mod entry;
pub mod extract;
pub mod formula;
pub mod from_value;
pub mod group_check;
pub mod group_checks;
#[cfg(feature = "jinja")]
pub mod jinja;
pub mod language;
#[cfg(feature = "tasks")]
mod likeness;
mod measure;
pub mod ordered;
pub mod pattern;
mod plain;
pub mod prelude;
pub mod recipe;
pub mod registry;
pub mod sample;
pub mod schedule;
pub mod scored;
pub mod script;
pub mod shape;
pub mod shaping;
pub mod stats;
#[cfg(feature = "tasks")]
mod text_parts;
pub mod tokenizer;
pub mod toml_bounds;
pub mod training_state;
pub mod verdict;
pub mod verifier;

pub use assay_math::{self as math, fault, meter, words};
pub use build_error::BuildError;
pub use canonical::Digest;
pub use check::{Check, Files, NoFiles};
pub use deviation::Std;
pub use fault::{Fault, FaultKind};
pub use from_value::{check_value, from_value};
pub use group_check::GroupCheck;
pub use meter::{Cancellation, Meter, Never};
pub use ordered::OrderedMap;
pub use pattern::Pattern;
pub use sample::{Content, Message, MessageContent, Sample, SampleBuilder, ToolCall, Turn};
pub use schedule::Schedule;
pub use scored::{Scored, Verdicts};
pub use shape::{BuiltShape, Shape, ShapeMember, Shaped};
pub use training_state::{RunningMoments, TrainingState};
pub use verdict::{Component, Components, Evidence, Outcome, Reward, Step, Usage, Verdict};
pub use verifier::{
    Aspect, AsyncGroupVerifier, AsyncVerifier, Built, Earlier, Group, GroupVerifier, Lane, Member,
    Pending, Slip, Spec, Trivial, Verifier,
};
