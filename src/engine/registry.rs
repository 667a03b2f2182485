//! Which verifiers there are: id to builder. The only place where the engine learns of them.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;

#[cfg(feature = "rubrics")]
use assay_verifiers::NoFiles;
use assay_verifiers::checks::VerifierInfo;
use assay_verifiers::registry;
use assay_verifiers::{BuildError, Built, Earlier, Files, Sample, Verdict};
use serde_json::Value;

use super::build_context::BuildContext;
use super::closure;
use crate::reward_models::Models;
use crate::sandbox::Sandbox;

/// Makes a verifier from its settings.
pub type Builder = Box<dyn Fn(Value, &dyn Files) -> Result<Built, BuildError> + Send + Sync>;

/// What builds a verifier.
#[derive(Clone)]
enum Maker {
    /// Settings and files are enough.
    Own(Arc<Builder>),
    /// It asks judges and other verifiers.
    #[cfg(feature = "rubrics")]
    Rubrics(&'static crate::rubrics::verifiers::Entry),
}

/// The verifiers of each feature, those of this build among them.
const OF_FEATURES: [(&str, &[&str]); 4] = [
    (
        "models",
        &[
            "embedding_model",
            "generative_model",
            "likelihood_model",
            "outcome_model",
            "preference_model",
            "process_model",
            "embedding_diversity",
        ],
    ),
    ("rubrics", &["external_checker", "pairwise", "rubric", "string_check", "text_similarity"]),
    (
        "sandbox",
        &["program_output", "python_check", "repo_tests", "stdin_stdout", "unit_tests", "wasm"],
    ),
    ("sql", &["sql"]),
];

/// Verifiers by id. The crates each bring theirs; a program may add its own.
#[derive(Clone, Default)]
pub struct Registry {
    makers: BTreeMap<String, Maker>,
    about: BTreeMap<&'static str, &'static VerifierInfo>,
}

impl Registry {
    /// Everything that this build brings, with a sandbox and models that know of no folder.
    pub(super) fn default_parts() -> Self {
        Self::standard(&Arc::default(), &Arc::default())
    }

    /// Everything that this build brings. Verifiers that run programs share `sandbox`, whose
    /// guests are loaded when the first of them is built; those that ask a model share `models`.
    pub fn standard(sandbox: &Arc<Sandbox>, models: &Arc<Models>) -> Self {
        let mut registry = Self::default();
        for entry in registry::ALL {
            registry.bring(&entry.about, Box::new(entry.build));
        }
        #[cfg(any(feature = "sandbox", feature = "sql"))]
        for entry in crate::sandbox::verifiers::ALL {
            let sandbox = Arc::clone(sandbox);
            let build = move |settings, files: &dyn Files| (entry.build)(&sandbox, settings, files);
            registry.bring(&entry.about, Box::new(build));
        }
        #[cfg(feature = "models")]
        for entry in crate::reward_models::verifiers::ALL {
            let models = Arc::clone(models);
            let build = move |settings, files: &dyn Files| (entry.build)(&models, settings, files);
            registry.bring(&entry.about, Box::new(build));
        }
        #[cfg(feature = "rubrics")]
        for entry in crate::rubrics::verifiers::CHECKS {
            registry.bring(&entry.about, Box::new(entry.build));
        }
        #[cfg(feature = "rubrics")]
        for entry in crate::rubrics::verifiers::ALL {
            registry.about.insert(entry.about.id, &entry.about);
            registry.makers.insert(entry.about.id.to_owned(), Maker::Rubrics(entry));
        }
        // What is left out shares nothing.
        let _ = (sandbox, models);
        registry
    }

    /// Adds a verifier that is a closure. It sees the sample and the verdicts of the rewards that are
    /// listed before its own, and takes no settings.
    pub fn register_fn<F>(&mut self, id: impl Into<String>, judge: F)
    where
        F: Fn(&Sample, Earlier<'_>) -> Verdict + Send + Sync + 'static,
    {
        let id = id.into();
        let builder = closure::builder(id.clone(), closure::compute(judge));
        self.register(id, Box::new(builder));
    }

    /// Adds a verifier that is an async closure, of which at most `in_flight_max` calls are awaited
    /// at once. It takes no settings.
    pub fn register_async_fn<F, R>(&mut self, id: impl Into<String>, in_flight_max: usize, judge: F)
    where
        F: Fn(Sample) -> R + Send + Sync + 'static,
        R: Future<Output = Verdict> + Send + 'static,
    {
        let id = id.into();
        let builder = closure::builder(id.clone(), closure::awaited(in_flight_max, judge));
        self.register(id, Box::new(builder));
    }

    /// What each version of the verifier `id` behind `version` changed.
    pub(super) fn changes(&self, id: &str, version: u32) -> Vec<String> {
        let Some(about) = self.about(id) else { return Vec::new() };
        let after = about.changes().into_iter().filter(|(number, _)| *number > version);
        after.map(|(number, change)| format!("version {number}: {change}")).collect()
    }

    /// The message for an id under which nothing is registered, without the ids that are known.
    pub fn unknown(&self, id: &str) -> String {
        let feature = OF_FEATURES.iter().find(|(_, ids)| ids.contains(&id));
        match feature {
            Some((feature, _)) if !self.makers.contains_key(id) => format!(
                "no verifier is called \"{id}\" in this build: the feature `{feature}` is off"
            ),
            _ => format!("no verifier is called \"{id}\""),
        }
    }

    /// These verifiers alone, also where settings nest some.
    #[cfg(feature = "serve")]
    pub(crate) fn only(mut self, ids: &[String]) -> Self {
        self.makers.retain(|id, _| ids.contains(id));
        self
    }

    fn bring(&mut self, about: &'static VerifierInfo, builder: Builder) {
        self.register(about.id, builder);
        self.about.insert(about.id, about);
    }

    /// Adds a verifier. The last one registered under an id is used. Its verdicts are kept for the
    /// next run only where the configuration says so: nobody raises its version.
    pub fn register(&mut self, id: impl Into<String>, builder: Builder) {
        let id = id.into();
        self.about.remove(&*id);
        self.makers.insert(id, Maker::Own(Arc::new(builder)));
    }

    /// Builds the verifier registered under `id`; `None` where there is none.
    pub fn build(
        &self,
        id: &str,
        settings: Value,
        context: &BuildContext<'_>,
    ) -> Option<Result<Built, BuildError>> {
        Some(match self.makers.get(id)? {
            Maker::Own(build) => build(settings, context.files),
            #[cfg(feature = "rubrics")]
            Maker::Rubrics(entry) => self.build_of_rubrics(entry, settings, context),
        })
    }

    /// Builds the verifier registered under `id` without a configuration around it: no judges by
    /// name, and no other rewards.
    pub fn build_alone(
        &self,
        id: &str,
        settings: Value,
        files: &dyn Files,
    ) -> Option<Result<Built, BuildError>> {
        #[cfg(feature = "rubrics")]
        let judges = crate::rubrics::judge::JudgeSet::default();
        let context = BuildContext {
            files,
            #[cfg(feature = "rubrics")]
            judges: &judges,
            earlier: &[],
        };
        self.build(id, settings, &context)
    }

    /// Builds a verifier that asks judges and other verifiers.
    #[cfg(feature = "rubrics")]
    fn build_of_rubrics(
        &self,
        entry: &crate::rubrics::verifiers::Entry,
        settings: Value,
        context: &BuildContext<'_>,
    ) -> Result<Built, BuildError> {
        let unknown = |id: &str| Err(BuildError::new("", self.unknown(id)));
        let verifiers = |id: &str, settings: Value| {
            self.build(id, settings, context).unwrap_or_else(|| unknown(id))
        };
        let own = self.clone();
        let row_verifiers = move |id: &str, settings: Value| match own.makers.get(id) {
            Some(Maker::Own(build)) => build(settings, &NoFiles),
            Some(Maker::Rubrics(_)) => Err(BuildError::new("", "a row names no judges")),
            None => Err(BuildError::new("", own.unknown(id))),
        };
        let scope = crate::rubrics::verifiers::RubricScope {
            files: context.files,
            judges: context.judges,
            verifiers: &verifiers,
            row_verifiers: Arc::new(row_verifiers),
            earlier: context.earlier,
        };
        (entry.build)(&scope, settings)
    }

    /// Whether the verifier registered under `id` asks judges.
    #[cfg(feature = "rubrics")]
    pub(super) fn asks_judges(&self, id: &str) -> bool {
        !matches!(self.makers.get(id), None | Some(Maker::Own(_)))
    }

    /// The ids, sorted.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.makers.keys().map(String::as_str)
    }

    /// What is known of the verifier `id`, where this build brings it.
    pub fn about(&self, id: &str) -> Option<&'static VerifierInfo> {
        self.about.get(id).copied()
    }

    /// What is known of every verifier that this build brings, sorted by id.
    pub fn infos(&self) -> impl Iterator<Item = &'static VerifierInfo> {
        self.about.values().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(any(feature = "models", feature = "rubrics", all(feature = "sandbox", feature = "sql")))]
    fn of_feature(feature: &str) -> Vec<&'static str> {
        let found = OF_FEATURES.iter().find(|(known, _)| *known == feature);
        found.map(|(_, ids)| ids.to_vec()).unwrap_or_default()
    }

    #[cfg(all(feature = "sandbox", feature = "sql"))]
    #[test]
    fn the_verifiers_of_the_sandbox_are_known_without_it() {
        let ids: Vec<&str> =
            crate::sandbox::verifiers::ALL.iter().map(|entry| entry.about.id).collect();
        let mut known = [of_feature("sandbox"), of_feature("sql")].concat();
        known.sort_unstable();
        assert_eq!(ids, known);
    }

    #[cfg(feature = "models")]
    #[test]
    fn the_verifiers_of_models_are_known_without_them() {
        let ids: Vec<&str> =
            crate::reward_models::verifiers::ALL.iter().map(|entry| entry.about.id).collect();
        assert_eq!(ids, of_feature("models"));
    }

    #[cfg(feature = "rubrics")]
    #[test]
    fn the_verifiers_of_rubrics_are_known_without_them() {
        let judged = crate::rubrics::verifiers::ALL.iter().map(|entry| entry.about.id);
        let checks = crate::rubrics::verifiers::CHECKS.iter().map(|entry| entry.about.id);
        let mut ids: Vec<&str> = judged.chain(checks).collect();
        ids.sort_unstable();
        assert_eq!(ids, of_feature("rubrics"));
    }

    #[test]
    fn a_verifier_of_a_feature_that_is_off_names_it() {
        let told = Registry::default().unknown("unit_tests");
        assert_eq!(
            told,
            "no verifier is called \"unit_tests\" in this build: the feature `sandbox` is off"
        );
        assert_eq!(Registry::default().unknown("a"), "no verifier is called \"a\"");
    }
}
