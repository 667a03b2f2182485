//! The files of a model: held to their digests, and made into what runs.

use std::fs;
use std::path::{Component, Path, PathBuf};

use assay_verifiers::canonical;
use sha2::{Digest as _, Sha256};

use super::options::ModelOptions;
use super::proof::Proofs;
use crate::backend::{Backend, GraphFile};
use crate::compatibility::Compatibility;
use crate::digests::{self, KnownDigests, VerifyDigests, from_hex};
use crate::error::ModelError;
use crate::files;
use crate::forward::Forward;
use crate::graph::GraphInfo;
use crate::manifest::{self, Graph, Manifest, Precision, Role};
use crate::schedule::{Queue, QueueLimits};
use crate::steps::Splitter;
use crate::template::Template;
use crate::tokens::Encoder;

/// The most texts of the longest length that are ever put together.
const WIDTH_MAX: usize = 1_024;
/// The longest tokenizer and the longest template, in bytes.
const TOKENIZER_BYTES_MAX: u64 = 512 << 20;
const TEMPLATE_BYTES_MAX: u64 = 1 << 20;
/// Memory for the rows of texts that a graph computed before.
const MEMO_BYTES: usize = 64 << 20;

/// Reads the files of a folder, and nothing outside it.
pub(super) struct Folder<'a> {
    /// Where it lies.
    pub(super) root: &'a Path,
    /// How the model is run.
    pub(super) options: &'a ModelOptions,
}

/// What reads the texts of a model.
pub(super) struct Texts {
    pub(super) encoder: Encoder,
    pub(super) template: Template,
    pub(super) splitter: Splitter,
    /// Of the files that they are made of.
    pub(super) digests: Vec<[u8; 32]>,
}

/// The graphs of a model, ready to run.
pub(super) struct Graphs {
    pub(super) model: Queue,
    /// What an implicit model is measured against.
    pub(super) reference: Option<Queue>,
    /// Of their files.
    pub(super) digests: Vec<[u8; 32]>,
}

impl Folder<'_> {
    /// The tokenizer, the template and what splits steps.
    pub(super) fn texts(&self, manifest: &Manifest) -> Result<Texts, ModelError> {
        let named = &manifest.tokenizer;
        let (tokenizer, digest) = self.read(&named.file, &named.sha256)?;
        let mut digests = vec![digest];
        let encoder = Encoder::new(&tokenizer, named)
            .map_err(|why| ModelError::file(&self.root.join(&named.file), why))?;
        drop(tokenizer);
        let template = self.template(manifest, &encoder, &mut digests)?;
        let splitter = Splitter::new(&manifest.steps).map_err(|error| ModelError::Manifest {
            file: self.root.join(manifest::FILE).display().to_string(),
            key: "steps.pattern".to_owned(),
            why: error,
        })?;
        Ok(Texts { encoder, template, splitter, digests })
    }

    /// The graphs, each with a queue of its own.
    pub(super) fn graphs(
        &self,
        manifest: &Manifest,
        backend: &dyn Backend,
    ) -> Result<Graphs, ModelError> {
        let mut digests = Vec::new();
        let mut queue = |role| {
            let graph = manifest.graph(role);
            graph.map(|graph| self.queue(manifest, graph, backend, &mut digests)).transpose()
        };
        let model = queue(Role::Model)?.ok_or_else(|| {
            ModelError::Backend(format!("model \"{}\" has no graph of role model", manifest.name))
        })?;
        let reference = queue(Role::Reference)?;
        Ok(Graphs { model, reference, digests })
    }

    fn path(&self, name: &str) -> Result<PathBuf, ModelError> {
        let path = Path::new(name);
        let plain = path.components().all(|part| matches!(part, Component::Normal(_)));
        if name.is_empty() || !plain {
            return Err(ModelError::file(path, "is outside the folder of the model"));
        }
        let full = self.root.join(path);
        let real =
            |path: &Path| fs::canonicalize(path).map_err(|error| ModelError::file(path, error));
        if !real(&full)?.starts_with(real(self.root)?) {
            return Err(ModelError::file(&full, "leads out of the folder of the model"));
        }
        Ok(full)
    }

    /// The digest of the manifest itself.
    pub(super) fn manifest_digest(&self) -> Result<[u8; 32], ModelError> {
        let path = self.path(manifest::FILE)?;
        let bytes = files::read(&path, u64::MAX)?;
        Ok(Sha256::digest(&bytes).into())
    }

    fn read(&self, name: &str, expected: &str) -> Result<(Vec<u8>, [u8; 32]), ModelError> {
        let path = self.path(name)?;
        let bytes = files::read(&path, TOKENIZER_BYTES_MAX)?;
        let found: [u8; 32] = Sha256::digest(&bytes).into();
        self.hold(&path, expected, found)?;
        Ok((bytes, found))
    }

    /// The digest of a file that may be large.
    fn digest(&self, name: &str, expected: &str) -> Result<(PathBuf, [u8; 32]), ModelError> {
        let path = self.path(name)?;
        let wrong = |error| ModelError::file(&path, error);
        let (mut file, _) = files::open(&path, u64::MAX)?;
        let about = file.metadata().map_err(wrong)?;
        let known = self.options.known_digests.as_deref().map(|folder| KnownDigests { folder });
        let known = known.filter(|_| self.options.verify_digests == VerifyDigests::Once);
        let found = match self.options.verify_digests {
            VerifyDigests::Never => from_hex(expected),
            _ => known.as_ref().and_then(|known| known.find(&path, &about)),
        };
        if let Some(found) = found {
            self.hold(&path, expected, found)?;
            return Ok((path, found));
        }
        let found = digests::of(&mut file).map_err(wrong)?;
        self.hold(&path, expected, found)?;
        if let Some(known) = known {
            known.keep(&path, &about, &found);
        }
        Ok((path, found))
    }

    fn hold(&self, path: &Path, expected: &str, found: [u8; 32]) -> Result<(), ModelError> {
        let found = canonical::hex(&found);
        if self.options.verify_digests == VerifyDigests::Never
            || found.eq_ignore_ascii_case(expected)
        {
            return Ok(());
        }
        let file = path.display().to_string();
        Err(ModelError::Digest { file, expected: expected.to_owned(), found })
    }

    fn template(
        &self,
        manifest: &Manifest,
        encoder: &Encoder,
        digests: &mut Vec<[u8; 32]>,
    ) -> Result<Template, ModelError> {
        let mut text = |name: &String| {
            let path = self.path(name)?;
            let text = files::text(&path, TEMPLATE_BYTES_MAX)?;
            digests.push(Sha256::digest(text.as_bytes()).into());
            Ok(text)
        };
        let named = &manifest.template;
        let template = match (&named.file, &named.text) {
            (Some(name), _) => text(name)?,
            (None, inline) => inline.clone().unwrap_or_default(),
        };
        let chat = named.chat.as_ref().map(text).transpose()?;
        let tokens = manifest.tokenizer.tokens.clone();
        let special = encoder
            .special()
            .map_err(|why| ModelError::file(&self.root.join(&manifest.tokenizer.file), why))?;
        Template::new(&template, chat.as_deref(), &named.system, tokens, special)
    }

    /// The queue of a graph.
    fn queue(
        &self,
        manifest: &Manifest,
        graph: &Graph,
        backend: &dyn Backend,
        digests: &mut Vec<[u8; 32]>,
    ) -> Result<Queue, ModelError> {
        let (path, digest) = self.digest(&graph.file, &graph.sha256)?;
        let mut own = vec![digest];
        for data in &graph.data {
            own.push(self.digest(&data.file, &data.sha256)?.1);
        }
        digests.extend(&own);
        let info = GraphInfo::read(&path)?;
        info.check(&path, manifest, graph)?;
        if self.options.deterministic && (info.dynamic_int8 || graph.precision == Precision::Int8) {
            let why = "its integer ranges depend on the batch; set deterministic = false to run it";
            return Err(ModelError::graph(&path, why));
        }
        let (most, budget) = (manifest.limits.max_tokens, self.options.batch_tokens);
        if budget == 0 {
            return Err(ModelError::Backend("batch_tokens is 0: no text fits".to_owned()));
        }
        let workers = self.options.workers.max(1);
        let forward = Forward::new(manifest, graph, &info, &backend.identity());
        let file = GraphFile::new(path, self.options.threads, &info);
        let failed = |error| match error {
            ModelError::Run(why) => ModelError::graph(&file.path, why),
            error => error,
        };
        let mut sessions = backend.load(&file, workers)?;
        // Dynamic quantisation depends on what else is in the batch; `deterministic` refuses it.
        let is_free = backend.is_accelerated() && !self.options.deterministic;
        let compatibility = if info.dynamic_int8 || is_free {
            Compatibility::default()
        } else {
            own.push(self.manifest_digest()?);
            let (proofs, what) = (Proofs::new(self.options, backend), &format!("{:?}", graph.role));
            if let Some(found) = proofs.find(what, &own) {
                found
            } else {
                let places = manifest.goldens.iter().find_map(|golden| golden.positions.as_ref());
                let found = forward.compatibility(&mut sessions, places.map_or(1, Vec::len));
                let found = found.map_err(failed)?;
                proofs.keep(what, &own, &found);
                found
            }
        };
        let limits = QueueLimits {
            batch_tokens: budget.min(most.saturating_mul(WIDTH_MAX)),
            prefix_bytes: self.options.prefix_bytes,
            // Where the batch decides, equal texts need not get equal scores.
            memo_bytes: if info.dynamic_int8 { 0 } else { MEMO_BYTES },
            compatibility,
        };
        Queue::start(forward, sessions, limits)
            .map_err(|error| ModelError::Backend(error.to_string()))
    }
}
