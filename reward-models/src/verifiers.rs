//! The verifiers that ask a model, one file each. A new one costs its file, its fixture file and
//! one word here.

mod model_verifier;

use std::sync::Arc;

use assay_verifiers::checks::VerifierInfo;
use assay_verifiers::{BuildError, Built, Files};
use serde_json::Value;

use crate::models::Models;
pub use model_verifier::ModelVerifier;

/// A verifier, as the registry knows it.
pub struct Entry {
    /// What is known of it.
    pub about: VerifierInfo,
    /// Builds it from settings.
    pub build: fn(&Arc<Models>, Value, &dyn Files) -> Result<Built, BuildError>,
}

/// Declares the modules and lists the verifiers. A module, its file, its fixture file and the id
/// of its verifier share one name.
macro_rules! verifiers {
    (
        samples: $($module:ident :: $verifier:ident),* ;
        groups: $($group_module:ident :: $group_verifier:ident),* $(;)?
    ) => {
        $(pub mod $module;)*
        $(pub mod $group_module;)*

        /// Every verifier of this crate: those of single samples, then those of groups, each in the
        /// order of their ids.
        pub static ALL: &[Entry] = &[$(Entry {
            about: VerifierInfo::new::<$module::$verifier>(
                <$module::$verifier as ModelVerifier>::ID,
                <$module::$verifier as ModelVerifier>::VERSION,
                include_str!(concat!(
                    env!("CARGO_MANIFEST_DIR"), "/../fixtures/checks/", stringify!($module), ".toml"
                )),
            ),
            build: model_verifier::build::<$module::$verifier>,
        },)* $(Entry {
            about: VerifierInfo::new::<$group_module::$group_verifier>(
                $group_module::ID,
                $group_module::VERSION,
                include_str!(concat!(
                    env!("CARGO_MANIFEST_DIR"), "/../fixtures/checks/", stringify!($group_module),
                    ".toml"
                )),
            ),
            build: $group_module::build,
        }),*];
    };
}

verifiers! {
    samples:
        embedding_model::EmbeddingModel,
        generative_model::GenerativeModel,
        likelihood_model::LikelihoodModel,
        outcome_model::OutcomeModel,
        preference_model::PreferenceModel,
        process_model::ProcessModel;
    groups:
        embedding_diversity::EmbeddingDiversity;
}
