//! From the command line to an engine: configuration, flags, files.

use std::path::{Path, PathBuf};
#[cfg(feature = "rubrics")]
use std::sync::Arc;

use assay::Engine;
use assay::engine::{Document, EngineBuilder, Origin};
#[cfg(feature = "rubrics")]
use assay::rubrics::judge::{ReplyStore, StoreMode};
use assay::setup::Environment;
use assay::verifiers::TrainingState;
use clap::Args;
use serde::de::DeserializeOwned;

use super::exit::Failure;
use super::lints;
use super::run_files::cache_folder;

/// The key and the value of a `--set`.
pub(super) fn assignment(set: &str) -> Result<(&str, &str), Failure> {
    let pair = set.split_once('=');
    pair.ok_or_else(|| {
        Failure::usage(format!("--set {set}: expected KEY=VALUE, as in --set combine.how=min"))
    })
}

/// The state in the JSON file of `--state`.
pub(super) fn state<T: DeserializeOwned>(path: &Path) -> Result<T, Failure> {
    let wrong = |why: String| Failure::usage(format!("--state {}: {why}", path.display()));
    let text = assay::data::read_regular(path).map_err(|error| wrong(error.to_string()))?;
    serde_json::from_slice(&text).map_err(|error| wrong(error.to_string()))
}

/// What every verb with a configuration takes.
#[derive(Clone, Debug, Args)]
pub(super) struct ConfigArgs {
    /// The configuration: TOML, or JSON of the same shape
    pub(super) config: PathBuf,
    /// Set a value, as in `--set combine.how=min` or `--set reward.NAME.weight=0.5`
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(super) sets: Vec<String>,
    /// Let the configuration name files below this folder too
    #[arg(long, value_name = "DIR")]
    pub(super) allow_path: Vec<PathBuf>,
}

/// What every verb that runs verifiers takes.
#[derive(Clone, Debug, Args)]
pub(super) struct EngineArgs {
    /// Threads for checks, at most 1,024; by default one a core
    #[arg(short, long, value_name = "N")]
    pub(super) jobs: Option<usize>,
    /// Where verdicts are kept for the next run (or `ASSAY_CACHE_DIR`)
    #[arg(long, value_name = "DIR", value_parser = cache_folder)]
    pub(super) cache_dir: Option<PathBuf>,
    /// Neither look up verdicts nor keep them
    #[arg(long)]
    pub(super) no_cache: bool,
    /// Keep what judges say in this folder, and ask nothing again that it holds
    #[cfg(feature = "rubrics")]
    #[arg(long, value_name = "DIR")]
    pub(super) judge_store: Option<PathBuf>,
    /// Ask no judge: the replies of `--judge-store` alone answer
    #[cfg(feature = "rubrics")]
    #[arg(long, requires = "judge_store")]
    pub(super) replay: bool,
}

/// Where a training stands.
#[derive(Debug, Args)]
pub(super) struct TrainingArgs {
    /// The training step, which `when`, expressions, scheduled weights and shapes see
    #[arg(long, value_name = "N")]
    step: Option<u64>,
    /// What shapes know of the training: JSON with `step`, `values` and `moments`, as a run with
    /// running statistics leaves it in state.json
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
}

impl TrainingArgs {
    /// Reads the state; the step that is given wins over its own.
    pub(super) fn read(&self) -> Result<TrainingState, Failure> {
        let mut training = match &self.state {
            None => TrainingState::default(),
            Some(path) => state(path)?,
        };
        if let Some(step) = self.step {
            training.step = step;
        }
        Ok(training)
    }
}

/// Reads a configuration, sets in it what flags say, and looks whether there are the lints that it allows.
pub(super) fn document(
    environment: &Environment,
    path: &Path,
    sets: &[String],
) -> Result<Document, Failure> {
    let mut document = environment.document(path)?;
    for set in sets {
        let (key, value) = assignment(set)?;
        let (text, start) = (format!("--set {set}"), "--set ".len());
        let origin = Origin { place: "command line", text, key: start..start + key.len() };
        document.set_by(key, value, origin)?;
    }
    lints::allowed(&document, &document.config()?.lint.allow, &[])?;
    Ok(document)
}

impl ConfigArgs {
    /// Reads the configuration: defaults < file < environment < flags.
    pub(super) fn document(&self, environment: &Environment) -> Result<Document, Failure> {
        document(environment, &self.config, &self.sets)
    }

    /// The parts of the engine of a document.
    pub(super) fn builder(&self, environment: &Environment, document: Document) -> EngineBuilder {
        environment.builder(&self.config, document, self.allow_path.clone())
    }
}

impl EngineArgs {
    /// One thread and no cache: for a verdict or two.
    pub(super) fn plain() -> Self {
        Self {
            jobs: Some(1),
            cache_dir: None,
            no_cache: true,
            #[cfg(feature = "rubrics")]
            judge_store: None,
            #[cfg(feature = "rubrics")]
            replay: false,
        }
    }

    /// One thread for each core and no cache: for verdicts that are not asked for again.
    pub(super) fn many() -> Self {
        Self { jobs: None, ..Self::plain() }
    }

    /// Builds an engine of its parts.
    pub(super) fn engine(&self, mut builder: EngineBuilder) -> Result<Engine, Failure> {
        if let Some(jobs) = self.jobs {
            builder = builder.jobs(jobs);
        }
        if let Some(dir) = &self.cache_dir {
            builder = builder.cache_dir(dir.clone());
        }
        if self.no_cache {
            builder = builder.no_cache();
        }
        #[cfg(feature = "rubrics")]
        if let Some(store) = self.store()? {
            builder = builder.judge_store(store);
        }
        Ok(builder.build()?)
    }

    /// The store of replies.
    #[cfg(feature = "rubrics")]
    fn store(&self) -> Result<Option<Arc<ReplyStore>>, Failure> {
        let Some(folder) = &self.judge_store else { return Ok(None) };
        let mode = if self.replay { StoreMode::Replay } else { StoreMode::Record };
        let store = ReplyStore::open(folder, mode);
        Ok(Some(Arc::new(
            store.map_err(|error| Failure::usage(format!("--judge-store: {error}")))?,
        )))
    }
}
