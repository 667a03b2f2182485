//! A model: its folder, loaded, proved by its golden pairs, and ready to score.

mod golden;

use std::fs;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use assay_verifiers::{Backstop, Digest, Never, canonical};
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};
use sha2::{Digest as _, Sha256};

use crate::ask::Writing;
use crate::backend::{Backend, GraphFile};
use crate::consensus::{consensus, mean, votes};
use crate::error::{ModelError, guarded};
use crate::forward::Forward;
use crate::graph::GraphInfo;
use crate::manifest::{self, Graph, Kind, Manifest, OnOverflow, Precision, Role};
use crate::schedule::plan::Company;
use crate::schedule::{Limits, Queue};
use crate::score::Rows;
use crate::steps::Splitter;
use crate::template::{Template, View};
use crate::tokens::{Encoder, Tokens};

/// How a model is run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Workers, with one thread each.
    pub workers: usize,
    /// The most tokens of a batch, padding included.
    pub batch_tokens: usize,
    /// Memory for keys and values of prompts that texts share, in bytes; 0 computes each text whole.
    pub prefix_bytes: usize,
    /// Refuse what cannot promise the same score in any batch.
    pub deterministic: bool,
    /// Hold files to the digests of the manifest.
    pub verify_digests: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            workers: 1,
            batch_tokens: 512,
            prefix_bytes: 256 << 20,
            deterministic: true,
            verify_digests: true,
        }
    }
}

/// A model that is ready to score.
pub struct Model {
    /// What its folder says of it.
    pub manifest: Manifest,
    /// SHA-256 over the manifest and every file that it names.
    pub digest: Digest,
    /// What runs it, as provenance names it.
    pub backend: String,
    encoder: Arc<Encoder>,
    template: Template,
    splitter: Splitter,
    queue: Queue,
    /// What an implicit model is measured against.
    reference: Option<Queue>,
}

/// What a model says of one text.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// What the graph gave.
    pub rows: Rows,
    /// The score of each position, or of each step.
    pub scores: Vec<f64>,
    /// What the model wrote.
    pub texts: Vec<String>,
    /// Tokens of the text.
    pub tokens: usize,
}

impl Model {
    /// Loads a folder, and proves the model by its golden pairs.
    ///
    /// # Errors
    /// Whatever does not fit: the manifest, a digest, the graph, the backend, a golden pair.
    pub fn load(
        folder: &Path,
        backend: &dyn Backend,
        options: &Options,
    ) -> Result<Self, ModelError> {
        guarded(|| Self::load_unguarded(folder, backend, options))
    }

    fn load_unguarded(
        folder: &Path,
        backend: &dyn Backend,
        options: &Options,
    ) -> Result<Self, ModelError> {
        let manifest = Manifest::read(folder)?;
        let files = Folder { root: folder, options };
        let mut digests = vec![files.manifest_digest()?];
        let (tokenizer, digest) =
            files.read(&manifest.tokenizer.file, &manifest.tokenizer.sha256)?;
        digests.push(digest);
        let tokenizer_path = folder.join(&manifest.tokenizer.file);
        let encoder = Encoder::new(&tokenizer, &manifest.tokenizer)
            .map_err(|why| ModelError::file(&tokenizer_path, why))?;
        drop(tokenizer);
        let template = files.template(&manifest, &encoder, &mut digests)?;
        let splitter = Splitter::new(&manifest.steps).map_err(|error| ModelError::Manifest {
            file: folder.join(manifest::FILE).display().to_string(),
            key: "steps.pattern".to_owned(),
            why: error,
        })?;
        let mut queue = |role| {
            let graph = manifest.graph(role);
            graph.map(|graph| files.queue(&manifest, graph, backend, &mut digests)).transpose()
        };
        let queue_of_model = queue(Role::Model)?.ok_or_else(|| {
            ModelError::Backend(format!("model \"{}\" has no graph of role model", manifest.name))
        })?;
        let reference = queue(Role::Reference)?;
        let parts: Vec<&[u8]> = digests.iter().map(<[u8; 32]>::as_slice).collect();
        let digest = canonical::digest_parts(&parts);
        let backend = backend.identity();
        let model = Self {
            manifest,
            digest,
            backend,
            encoder: Arc::new(encoder),
            template,
            splitter,
            queue: queue_of_model,
            reference,
        };
        model.prove(&folder.join(manifest::FILE))?;
        Ok(model)
    }

    /// Its name and the beginning of its digest, as evidence shows them.
    pub fn name(&self) -> String {
        let digest: String = canonical::hex(&self.digest).chars().take(12).collect();
        format!("{}@{digest}", self.manifest.name)
    }

    /// The steps of a completion, each with its bytes in it.
    pub fn steps<'a>(&self, completion: &'a str) -> Vec<(&'a str, (usize, usize))> {
        self.splitter.steps(completion)
    }

    /// The tokens of a text.
    ///
    /// # Errors
    /// A template that fails on it, or a text that is too long.
    pub fn tokens(&self, view: &View) -> Result<Tokens, ModelError> {
        let tokens = self.encoder.tokens(&self.template.text(view)?)?;
        let most = self.manifest.limits.max_tokens;
        let over = tokens.ids.len().saturating_sub(most);
        if over == 0 {
            return Ok(tokens);
        }
        if self.manifest.limits.on_overflow == OnOverflow::TruncatePromptLeft
            && let Some(tokens) = self.shortened(view, over)?
        {
            return Ok(tokens);
        }
        let count = tokens.ids.len();
        Err(ModelError::Input(
            format!("the text has {count} tokens; the model takes {most}").into(),
        ))
    }

    /// The tokens of a text of which the prompt loses its beginning; `None` where that is not
    /// enough.
    fn shortened(&self, view: &View, mut over: usize) -> Result<Option<Tokens>, ModelError> {
        let mut view = view.clone();
        while let Some(last) = view.messages.last_mut() {
            let prompt = self.encoder.plain(&last.content)?;
            let Some((from, _)) = prompt.get_offsets().get(over) else { return Ok(None) };
            let kept = last.content.get(*from..).unwrap_or_default().to_owned();
            if kept.len() >= last.content.len() {
                return Ok(None);
            }
            last.content = kept;
            let tokens = self.encoder.tokens(&self.template.text(&view)?)?;
            over = tokens.ids.len().saturating_sub(self.manifest.limits.max_tokens);
            if over == 0 {
                return Ok(Some(tokens));
            }
        }
        Ok(None)
    }

    /// The scores of the `steps` steps of a text; `None` where nothing in what the model wrote tells
    /// them.
    pub fn step_scores(&self, judgement: &Judgement, steps: usize) -> Option<Vec<f64>> {
        if self.manifest.writes() {
            return consensus(&self.manifest.generate, &judgement.texts, steps);
        }
        Some(judgement.scores.clone())
    }

    /// The score of a whole text of `steps` steps: the mean of what was voted, or the aggregate of
    /// its positions. `None` where there is nothing to tell it from.
    pub fn score(&self, judgement: &Judgement, steps: usize) -> Option<f64> {
        if self.manifest.kind == Kind::Generative && self.manifest.writes() {
            return mean(&votes(&self.manifest.generate, &judgement.texts));
        }
        self.manifest.score.aggregate.of(&self.step_scores(judgement, steps)?)
    }

    /// Judges texts as the kind of the model asks: one judgement each, in their order.
    pub fn judge(&self, views: &[View]) -> Vec<Result<Judgement, ModelError>> {
        self.judge_within(views, &Never)
    }

    /// The same, up to the moment when `backstop` expires: what is not judged by then is
    /// [`ModelError::Stopped`], and what runs for nobody else is stopped.
    pub fn judge_within(
        &self,
        views: &[View],
        backstop: &dyn Backstop,
    ) -> Vec<Result<Judgement, ModelError>> {
        let tokens: Vec<Result<Tokens, ModelError>> =
            views.par_iter().map(|view| guarded(|| self.tokens(view))).collect();
        self.judge_tokens(tokens, backstop)
    }

    fn judge_tokens(
        &self,
        tokens: Vec<Result<Tokens, ModelError>>,
        backstop: &dyn Backstop,
    ) -> Vec<Result<Judgement, ModelError>> {
        let marks: Vec<Vec<usize>> = tokens
            .iter()
            .map(|tokens| {
                tokens.as_ref().map(|tokens| tokens.positions.clone()).unwrap_or_default()
            })
            .collect();
        let asked = |tokens: Result<Tokens, ModelError>| Ok(Arc::new(self.asked(tokens?)));
        let tokens: Vec<Result<Arc<Tokens>, ModelError>> = tokens.into_iter().map(asked).collect();
        let good: Vec<Arc<Tokens>> = tokens.iter().flatten().map(Arc::clone).collect();
        let reference = self.reference.as_ref().map(|queue| queue.submit(good.clone()));
        let mut rows = self.queue.submit(good).wait(backstop).into_iter();
        let mut references = reference.map(|ticket| ticket.wait(backstop).into_iter());
        let judge = |(tokens, marks): (Result<Arc<Tokens>, ModelError>, Vec<usize>)| {
            let tokens = tokens?;
            let rows = rows.next().unwrap_or(Err(ModelError::Stopped))?;
            let reference = references.as_mut().and_then(Iterator::next).transpose()?;
            self.judgement(&tokens, &marks, rows, reference.as_ref())
        };
        tokens.into_iter().zip(marks).map(judge).collect()
    }

    /// The tokens, with what is asked of them.
    fn asked(&self, tokens: Tokens) -> Tokens {
        let generate = &self.manifest.generate;
        match self.manifest.kind {
            Kind::Implicit => tokens.likelihoods(),
            Kind::Generative | Kind::Process if self.manifest.writes() => {
                let (encoder, stop) = (Arc::clone(&self.encoder), generate.stop.clone());
                let stops = move |ids: &[u32]| {
                    let ended = |text: String| stop.iter().any(|stop| text.contains(stop));
                    !stop.is_empty() && encoder.decode(ids).is_ok_and(ended)
                };
                // The same text gets the same random numbers wherever it stands.
                let own = tokens.ids.iter().flat_map(|id| id.to_le_bytes()).collect::<Vec<u8>>();
                let own = canonical::digest_parts(&[b"seed", &own]);
                let own = own.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
                let writing = Writing {
                    votes: generate.votes,
                    tokens_max: generate.max_new_tokens,
                    temperature: generate.temperature,
                    top_p: generate.top_p,
                    seed: generate.seed ^ own,
                    ends: generate.eos_token_ids.clone(),
                    stops: Arc::new(stops),
                };
                Tokens { writing: Some(writing), ..tokens }
            }
            Kind::Embedding => {
                let positions = (0..tokens.ids.len()).collect();
                Tokens { positions, ..tokens }
            }
            _ => tokens,
        }
    }

    fn judgement(
        &self,
        tokens: &Tokens,
        marks: &[usize],
        mut rows: Rows,
        reference: Option<&Rows>,
    ) -> Result<Judgement, ModelError> {
        let written = rows.written.iter().map(|ids| self.encoder.decode(ids));
        let texts = written.collect::<Result<Vec<_>, _>>()?;
        let scores = match self.manifest.kind {
            Kind::Embedding => {
                rows.special.clone_from(&tokens.special);
                Vec::new()
            }
            Kind::Generative | Kind::Process if self.manifest.writes() => Vec::new(),
            Kind::Implicit => self.step_ratios(marks, &rows, reference)?,
            _ => self.manifest.score.of(&rows)?,
        };
        Ok(Judgement { rows, scores, texts, tokens: tokens.ids.len() })
    }

    /// For each step, the sum of the log-probabilities of its tokens, less those of the reference
    /// model.
    ///
    /// Source: "Free Process Rewards without Process Labels", the implicit process reward; the scale
    /// `beta` is `[score] calibration.scale`.
    fn step_ratios(
        &self,
        marks: &[usize],
        rows: &Rows,
        reference: Option<&Rows>,
    ) -> Result<Vec<f64>, ModelError> {
        let first = marks.first().copied().unwrap_or(0);
        let sum = |rows: &Rows, from: usize, to: usize| -> f64 {
            let likelihoods = rows.likelihoods.get(from - first..to - first).unwrap_or_default();
            likelihoods.iter().map(|likelihood| likelihood.log_prob).sum()
        };
        let step = |pair: &[usize]| {
            let &[from, to] = pair else { return Ok(0.0) };
            if from < first || to < from {
                return Err(ModelError::Input("the marks of the template do not rise".into()));
            }
            let less = reference.map_or(0.0, |rows| sum(rows, from, to));
            self.manifest.score.calibrated(sum(rows, from, to) - less)
        };
        marks.windows(2).map(step).collect()
    }
}

/// Reads the files of a folder, and nothing outside it.
struct Folder<'a> {
    root: &'a Path,
    options: &'a Options,
}

impl Folder<'_> {
    fn path(&self, name: &str) -> Result<PathBuf, ModelError> {
        let path = Path::new(name);
        let plain = path.components().all(|part| matches!(part, Component::Normal(_)));
        if name.is_empty() || !plain {
            return Err(ModelError::file(path, "lies outside the folder of the model"));
        }
        let full = self.root.join(path);
        let real =
            |path: &Path| fs::canonicalize(path).map_err(|error| ModelError::file(path, error));
        if !real(&full)?.starts_with(real(self.root)?) {
            return Err(ModelError::file(&full, "leads out of the folder of the model"));
        }
        Ok(full)
    }

    fn manifest_digest(&self) -> Result<[u8; 32], ModelError> {
        let path = self.path(manifest::FILE)?;
        let bytes = fs::read(&path).map_err(|error| ModelError::file(&path, error))?;
        Ok(Sha256::digest(&bytes).into())
    }

    fn read(&self, name: &str, expected: &str) -> Result<(Vec<u8>, [u8; 32]), ModelError> {
        let path = self.path(name)?;
        let bytes = fs::read(&path).map_err(|error| ModelError::file(&path, error))?;
        let found: [u8; 32] = Sha256::digest(&bytes).into();
        self.hold(&path, expected, found)?;
        Ok((bytes, found))
    }

    /// The digest of a file that may be large.
    fn digest(&self, name: &str, expected: &str) -> Result<(PathBuf, [u8; 32]), ModelError> {
        let path = self.path(name)?;
        let wrong = |error| ModelError::file(&path, error);
        let mut file = fs::File::open(&path).map_err(wrong)?;
        let (mut hash, mut buffer) = (Sha256::new(), vec![0; 1 << 20]);
        loop {
            let count = file.read(&mut buffer).map_err(wrong)?;
            if count == 0 {
                break;
            }
            hash.update(buffer.get(..count).unwrap_or_default());
        }
        let found = hash.finalize().into();
        self.hold(&path, expected, found)?;
        Ok((path, found))
    }

    fn hold(&self, path: &Path, expected: &str, found: [u8; 32]) -> Result<(), ModelError> {
        let found = canonical::hex(&found);
        if !self.options.verify_digests || found.eq_ignore_ascii_case(expected) {
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
            let text = fs::read_to_string(&path).map_err(|error| ModelError::file(&path, error))?;
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
        Template::new(template, chat, &named.system, tokens, &encoder.special())
    }

    fn queue(
        &self,
        manifest: &Manifest,
        graph: &Graph,
        backend: &dyn Backend,
        digests: &mut Vec<[u8; 32]>,
    ) -> Result<Queue, ModelError> {
        let (path, digest) = self.digest(&graph.file, &graph.sha256)?;
        digests.push(digest);
        for data in &graph.data {
            digests.push(self.digest(&data.file, &data.sha256)?.1);
        }
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
        let file = GraphFile { path, threads: 1 };
        let failed = |error| match error {
            ModelError::Run(why) => ModelError::graph(&file.path, why),
            error => error,
        };
        let mut sessions = backend.load(&file, workers)?;
        let forward = Forward::new(manifest, graph, &info, &backend.identity());
        // Dynamic integers depend on their company by nature; whoever minds sets `deterministic`.
        let company = match sessions.first_mut() {
            Some(session) if !info.dynamic_int8 => {
                let positions =
                    manifest.goldens.iter().find_map(|golden| golden.positions.as_ref());
                forward.company(&mut **session, positions.map_or(1, Vec::len)).map_err(failed)?
            }
            _ => Company::Any,
        };
        let limits = Limits {
            batch_tokens: budget.min(most.saturating_mul(WIDTH_MAX)),
            prefix_bytes: self.options.prefix_bytes,
            company,
        };
        Queue::start(forward, sessions, limits)
            .map_err(|error| ModelError::Backend(error.to_string()))
    }
}

/// The most texts of the longest length that are ever put together.
const WIDTH_MAX: usize = 1_024;
