//! Which verifiers there are: id to builder. The only place where the engine learns of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use assay_reward_models::Models;
use assay_sandbox::Sandbox;
use assay_verifiers::checks::{self, About};
use assay_verifiers::{BuildError, Built, Files};
use serde_json::Value;

/// Makes a verifier from its settings.
pub type Builder = Box<dyn Fn(Value, &dyn Files) -> Result<Built, BuildError> + Send + Sync>;

/// Verifiers by id. The crates each bring theirs; a program may add its own.
#[derive(Default)]
pub struct Registry {
    builders: BTreeMap<String, Builder>,
    about: BTreeMap<&'static str, &'static About>,
}

impl Registry {
    /// Everything that this build brings. Verifiers that run programs share `sandbox`, whose
    /// guests are loaded when the first of them is built; those that ask a model share `models`.
    pub fn standard(sandbox: &Arc<Sandbox>, models: &Arc<Models>) -> Self {
        let mut registry = Self::default();
        for entry in checks::ALL {
            registry.bring(&entry.about, Box::new(entry.build));
        }
        for entry in assay_sandbox::verifiers::ALL {
            let sandbox = Arc::clone(sandbox);
            let build = move |settings, files: &dyn Files| (entry.build)(&sandbox, settings, files);
            registry.bring(&entry.about, Box::new(build));
        }
        for entry in assay_reward_models::verifiers::ALL {
            let models = Arc::clone(models);
            let build = move |settings, files: &dyn Files| (entry.build)(&models, settings, files);
            registry.bring(&entry.about, Box::new(build));
        }
        registry
    }

    fn bring(&mut self, about: &'static About, builder: Builder) {
        self.about.insert(about.id, about);
        self.register(about.id, builder);
    }

    /// Adds a verifier. The last one registered under an id is used.
    pub fn register(&mut self, id: impl Into<String>, builder: Builder) {
        self.builders.insert(id.into(), builder);
    }

    /// The builder registered under `id`.
    pub fn get(&self, id: &str) -> Option<&Builder> {
        self.builders.get(id)
    }

    /// The ids, sorted.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.builders.keys().map(String::as_str)
    }

    /// What is known of the verifier `id`, where this build brings it.
    pub fn about(&self, id: &str) -> Option<&'static About> {
        self.about.get(id).copied()
    }

    /// What is known of every verifier that this build brings, sorted by id.
    pub fn abouts(&self) -> impl Iterator<Item = &'static About> {
        self.about.values().copied()
    }
}
