//! assay turns model outputs into rewards that can be trusted.
//!
//! One engine runs every kind of verifier over samples and says, for each, what it earned and
//! why. The library, the command-line tool and every other way in call the same [`Engine`].

#[doc(hidden)]
pub mod built_in;
mod clock;
pub mod data;
pub mod engine;
#[cfg(feature = "groups")]
pub mod recipes;
#[cfg(feature = "serve")]
pub mod serve;
/// In place of the daemon, which this build is without: what a configuration says of it.
#[cfg(not(feature = "serve"))]
pub mod serve {
    pub use crate::engine::{Bind, ServeConfig};
}
pub mod setup;
#[cfg(feature = "train")]
pub mod training;

#[cfg(feature = "models")]
pub use assay_reward_models as reward_models;
#[cfg(feature = "rubrics")]
pub use assay_rubrics as rubrics;
#[cfg(any(feature = "sandbox", feature = "sql"))]
pub use assay_sandbox as sandbox;
pub use assay_trainer as trainer;
pub use assay_verifiers as verifiers;
pub use assay_verifiers::{Sample, Scored, TrainingState, Verdict};
pub use engine::{Config, ConfigError, Engine, EngineError, Plan, Registry, ScoreOptions};

/// In place of the reward models, which this build is without.
#[cfg(not(feature = "models"))]
pub mod reward_models {
    /// In place of what loads models: there are none.
    #[derive(Debug, Default)]
    pub struct Models;
}

/// In place of rubrics, which this build is without.
#[cfg(not(feature = "rubrics"))]
pub mod rubrics {
    /// In place of judges.
    pub mod judge {
        use schemars::JsonSchema;
        use serde::{Deserialize, Serialize};
        use serde_json::{Map, Value};

        /// In place of the settings of a judge: any.
        #[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
        #[serde(transparent)]
        pub struct JudgeConfig(Map<String, Value>);

        /// In place of what judges are made of: nothing.
        #[derive(Clone, Debug, Default)]
        pub struct JudgeParts {}
    }
}

/// In place of the sandbox, which this build is without.
#[cfg(not(any(feature = "sandbox", feature = "sql")))]
pub mod sandbox {
    /// In place of what runs programs: there are none.
    #[derive(Debug, Default)]
    pub struct Sandbox;
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
