//! What an engine is made of, as the Python package hands it over: enough to make it again in another
//! process.

use std::path::PathBuf;
use std::sync::Arc;

use assay::engine::Document;
use assay::setup::Environment;
use assay::{Engine, EngineError};
use pyo3::prelude::*;

use crate::error;
use crate::verifier::PythonVerifier;

/// The parts of an engine.
#[derive(FromPyObject)]
pub(crate) struct Spec {
    /// The name of the configuration in messages.
    name: String,
    /// Its text: TOML or JSON.
    text: String,
    /// The folder whose files settings may name.
    folder: PathBuf,
    /// Further folders whose files settings may name.
    allow_paths: Vec<PathBuf>,
    /// Settings by their dotted paths, over those of the text.
    settings: Vec<(String, String)>,
    jobs: Option<usize>,
    cache: bool,
    cache_dir: Option<PathBuf>,
    judge_store: Option<PathBuf>,
    replay: bool,
}

/// The parts of an engine, and what this machine adds to them.
#[derive(FromPyObject)]
pub(crate) struct Here {
    spec: Spec,
    /// Folders that may hold the guests of the sandbox.
    assets: Vec<PathBuf>,
    /// Where the package `onnxruntime` has its library.
    onnxruntime: Option<PathBuf>,
}

/// A configuration with settings over it.
fn document(
    environment: &Environment,
    name: &str,
    text: &str,
    settings: &[(String, String)],
) -> Result<Document, EngineError> {
    let mut document = environment.document_of(name, text)?;
    for (path, value) in settings {
        document.set(path, value)?;
    }
    Ok(document)
}

/// The names of the rewards of a configuration, for which no model is loaded.
#[pyfunction]
pub(crate) fn reward_names(spec: Spec) -> PyResult<Vec<String>> {
    let Spec { name, text, settings, .. } = spec;
    let document = document(&Environment::read(), &name, &text, &settings);
    let document = document.map_err(error::of_engine)?;
    let config = document.config().map_err(|error| error::of_engine(error.into()))?;
    Ok(config.rewards.into_iter().map(|reward| reward.name).collect())
}

impl Here {
    /// Builds the engine. Takes long: models are loaded, and guests compiled.
    pub(crate) fn build(&self, verifiers: &[Arc<PythonVerifier>]) -> Result<Engine, EngineError> {
        let (environment, spec) = (self.environment(), &self.spec);
        let document = document(&environment, &spec.name, &spec.text, &spec.settings)?;
        let builder = environment.builder_in(&spec.folder, document, spec.allow_paths.clone());
        let mut builder = verifiers
            .iter()
            .fold(builder, |builder, one| builder.register(one.id(), one.builder()));
        if let Some(jobs) = spec.jobs {
            builder = builder.jobs(jobs);
        }
        if let Some(folder) = &spec.cache_dir {
            builder = builder.cache_dir(folder.clone());
        }
        if !spec.cache {
            builder = builder.no_cache();
        }
        if let Some(folder) = &spec.judge_store {
            builder = builder.judge_store(store(folder, spec.replay)?);
        }
        builder.build()
    }

    fn environment(&self) -> Environment {
        let mut environment = Environment::read();
        environment.assets.extend(self.assets.iter().cloned());
        environment.add_ort_library("the package onnxruntime", self.onnxruntime.clone());
        environment
    }
}

/// The store of replies of judges.
fn store(
    folder: &std::path::Path,
    replay: bool,
) -> Result<Arc<assay::rubrics::judge::ReplyStore>, EngineError> {
    use assay::rubrics::judge::{ReplyStore, StoreMode};
    let mode = if replay { StoreMode::Replay } else { StoreMode::Record };
    let store = ReplyStore::open(folder, mode);
    let store = store.map_err(|error| std::io::Error::other(error.to_string()))?;
    Ok(Arc::new(store))
}
