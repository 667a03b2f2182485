//! The verifiers that a configuration can name.

use std::collections::BTreeMap;

use assay_verifiers::checks;
use assay_verifiers::{BuildError, Built, Files};
use serde_json::Value;

/// Makes a verifier from its settings.
pub type Builder = Box<dyn Fn(Value, &dyn Files) -> Result<Built, BuildError> + Send + Sync>;

/// Verifiers by id. The crates each bring theirs; a program may add its own.
#[derive(Default)]
pub struct Registry {
    builders: BTreeMap<String, Builder>,
}

impl Registry {
    /// Everything that this build brings.
    pub fn standard() -> Self {
        let mut registry = Self::default();
        for entry in checks::ALL {
            registry.register(entry.id, Box::new(entry.build));
        }
        registry
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
}
