//! assay turns model outputs into rewards that can be trusted.
//!
//! One engine runs every kind of verifier over samples and says, for each, what it earned and
//! why. The library, the command-line tool and every other way in call the same [`Engine`].

pub mod data;
pub mod engine;

pub use assay_reward_models as reward_models;
pub use assay_sandbox as sandbox;
pub use assay_verifiers as verifiers;
pub use engine::{Config, ConfigError, Engine, Plan, Registry, Scored};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
