//! The models of a process: each loaded once, however many rewards ask for it.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use smart_default::SmartDefault;

use crate::backend::library::{self, Library, LibraryPath, Tried};
use crate::backend::ort::{Ort, ProviderSettings};
use crate::backend::rten::Rten;
use crate::backend::{Backend, BackendChoice, Provider};
use crate::digests::VerifyDigests;
use crate::error::ModelError;
use crate::model::{Model, ModelOptions};

/// How a model is run.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema, SmartDefault,
)]
#[serde(deny_unknown_fields, default)]
pub struct RunSettings {
    /// What runs it: `auto` takes ONNX Runtime where its library is found, else `rten`.
    pub backend: BackendChoice,
    /// Execution providers of ONNX Runtime, in order of preference.
    #[default(vec![Provider::Cpu])]
    pub providers: Vec<Provider>,
    /// The next provider is tried where one does not start, instead of an error.
    pub fall_back: bool,
    /// CUDA multiplies 32-bit matrices in `TensorFloat-32`: faster, and off by some 1e-3.
    pub tf32: bool,
    /// Workers, each with a batch of its own; 0 is as many as the cores have threads for, and one where
    /// the first provider is not the processor.
    pub workers: usize,
    /// Threads of a worker, 1 by default. More are slower where many texts wait, and answer a single
    /// text sooner. The workers share those beside their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<NonZeroUsize>,
    /// The most tokens of a batch, padding included. By default 512, and 8192 where the first provider
    /// is not the processor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch_tokens: Option<usize>,
    /// Memory for the keys and values of prompts that texts share, in MiB; 0 computes each text
    /// whole. It counts for models whose graph takes past keys and values. By default 256, and 0 where
    /// the first provider is not the processor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix_mb: Option<usize>,
    /// Refuse models whose score depends on what else is in the batch; where it moves in its last bits,
    /// run each text by itself.
    pub deterministic: bool,
    /// When the files of the model are held to the SHA-256 of its manifest.
    pub verify_digests: VerifyDigests,
}

/// Where the library of ONNX Runtime may lie, and how many cores there are.
pub struct OrtDiscovery {
    /// Places in order of preference.
    pub libraries: Vec<LibraryPath>,
    /// A place that costs something to find out; asked last.
    pub last: Option<fn() -> Option<LibraryPath>>,
    /// Workers of a model that does not say how many.
    pub cores: usize,
    /// The folder in which digests of large files are kept for the next start.
    pub known_digests: Option<PathBuf>,
}

impl Default for OrtDiscovery {
    fn default() -> Self {
        Self { libraries: Vec::new(), last: None, cores: 1, known_digests: None }
    }
}

/// The models of a process.
#[derive(Default)]
pub struct Models {
    discovery: OrtDiscovery,
    found: OnceLock<(Option<Library>, Vec<Tried>)>,
    loaded: Mutex<BTreeMap<(PathBuf, RunSettings), Arc<Model>>>,
}

impl Models {
    /// No model is loaded before it is asked for.
    pub fn new(discovery: OrtDiscovery) -> Self {
        Self { discovery, ..Self::default() }
    }

    /// The library of ONNX Runtime, where there is one, and what was tried on the way to it.
    pub fn library(&self) -> (Option<&Library>, &[Tried]) {
        let (found, tried) = self.found.get_or_init(|| {
            let (found, mut tried) = library::find(&self.discovery.libraries);
            let demanded = tried.iter().any(|tried| tried.place.demanded);
            let last = self.discovery.last.filter(|_| found.is_none() && !demanded);
            let Some(last) = last.and_then(|last| last()) else { return (found, tried) };
            let (found, more) = library::find(&[last]);
            tried.extend(more);
            (found, tried)
        });
        (found.as_ref(), tried)
    }

    /// The model of a folder, ready to score.
    ///
    /// # Errors
    /// No backend, or what the folder lacks.
    pub fn load(&self, folder: &Path, run: &RunSettings) -> Result<Arc<Model>, ModelError> {
        let folder = folder.canonicalize().map_err(|error| ModelError::file(folder, error))?;
        let key = (folder, run.clone());
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(model) = loaded.get(&key) {
            return Ok(Arc::clone(model));
        }
        let on_cpu = run.providers.first().is_none_or(|first| *first == Provider::Cpu);
        let (cores, batch_tokens, prefix_mb) =
            if on_cpu { (self.discovery.cores, 512, 256) } else { (1, 8192, 0) };
        let threads = run.threads.map_or(1, NonZeroUsize::get);
        let options = ModelOptions {
            workers: if run.workers == 0 { (cores / threads).max(1) } else { run.workers },
            threads,
            batch_tokens: run.batch_tokens.unwrap_or(batch_tokens),
            prefix_bytes: run.prefix_mb.unwrap_or(prefix_mb) << 20,
            deterministic: run.deterministic,
            verify_digests: run.verify_digests,
            known_digests: self.discovery.known_digests.clone(),
        };
        let model = Arc::new(Model::load(&key.0, &*self.backend(run)?, &options)?);
        loaded.insert(key, Arc::clone(&model));
        Ok(model)
    }

    pub(crate) fn backend(&self, run: &RunSettings) -> Result<Box<dyn Backend>, ModelError> {
        if run.backend == BackendChoice::Rten {
            return Ok(Box::new(Rten));
        }
        let (found, tried) = self.library();
        match found {
            Some(library) => Ok(Box::new(Ort::new(
                library.environment.clone(),
                library.version.clone(),
                ProviderSettings {
                    providers: run.providers.clone(),
                    fall_back: run.fall_back,
                    tf32: run.tf32,
                },
            ))),
            None if run.backend == BackendChoice::Auto && run.providers == [Provider::Cpu] => {
                Ok(Box::new(Rten))
            }
            None => {
                let tried: Vec<String> = tried.iter().map(told).collect();
                let tried =
                    if tried.is_empty() { "nowhere to look".into() } else { tried.join("; ") };
                Err(ModelError::Backend(format!("no library of ONNX Runtime: {tried}")))
            }
        }
    }
}

fn told(tried: &Tried) -> String {
    let (origin, path) = (tried.place.origin, tried.place.path.display());
    match &tried.outcome {
        Ok(_) => format!("{origin} {path}: loaded"),
        Err(why) => format!("{origin} {path}: {why}"),
    }
}
