//! A model: its folder, loaded, proved by its golden pairs, and ready to score.

mod folder;
mod form;
mod golden;
mod options;
mod proof;
mod rendered;
mod shortened;
mod submitted;

use std::future::Future;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use assay_verifiers::stats::mean;
use assay_verifiers::{Digest, canonical};

use crate::backend::Backend;
use crate::consensus::{consensus, votes};
use crate::error::{ModelError, guarded};
use crate::generation::{SamplingParams, StopCondition};
use crate::manifest::{self, Manifest, ModelKind, OnOverflow};
use crate::schedule::Queue;
use crate::score::ModelOutput;
use crate::steps::Splitter;
use crate::template::{Template, View};
use crate::tokens::{Encoder, Tokens};
use folder::Folder;
use form::Form;
pub use options::ModelOptions;
use proof::Proofs;
use submitted::{Answered, Submitted};

/// The fewest texts for which another thread is started.
const READ_MIN: usize = 16;
/// The most texts of a list that are handed in at once.
const WINDOW: usize = 1_024;

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
    /// What the texts of the template have in common, once it was asked for.
    form: OnceLock<Result<Form, String>>,
    splitter: Splitter,
    /// Where what the model writes comes to its end.
    stops: StopCondition,
    /// Threads that tokenise long lists.
    workers: usize,
    queue: Queue,
    /// What an implicit model is measured against.
    reference: Option<Queue>,
}

/// What a model says of one text.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// What the graph gave.
    pub rows: ModelOutput,
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
        options: &ModelOptions,
    ) -> Result<Self, ModelError> {
        guarded(|| Self::load_unguarded(folder, backend, options))
    }

    fn load_unguarded(
        folder: &Path,
        backend: &dyn Backend,
        options: &ModelOptions,
    ) -> Result<Self, ModelError> {
        let manifest = Manifest::read(folder)?;
        let files = Folder { root: folder, options };
        let mut digests = vec![files.manifest_digest()?];
        // A tokenizer takes as long to read as a session takes to pack its weights.
        let (texts, graphs) = std::thread::scope(|scope| {
            let graphs = scope.spawn(|| files.graphs(&manifest, backend));
            (files.texts(&manifest), graphs.join().unwrap_or_else(|panic| resume_unwind(panic)))
        });
        let (texts, graphs) = (texts?, graphs?);
        digests.extend(texts.digests);
        digests.extend(graphs.digests);
        let parts: Vec<&[u8]> = digests.iter().map(<[u8; 32]>::as_slice).collect();
        let digest = canonical::digest_parts(&parts);
        // What nobody measured on this backend is held to what it can do.
        let precision = manifest.graphs.iter().map(|graph| graph.precision);
        let tolerance = precision.map(|one| backend.tolerance(one)).fold(0.0, f64::max);
        let proofs = Proofs::new(options, backend);
        let backend = backend.identity();
        let encoder = Arc::new(texts.encoder);
        let stops = stops(&encoder, manifest.generate.stop.clone());
        let model = Self {
            manifest,
            digest,
            backend,
            encoder,
            stops,
            workers: options.workers.max(1),
            template: texts.template,
            form: OnceLock::new(),
            splitter: texts.splitter,
            queue: graphs.model,
            reference: graphs.reference,
        };
        if proofs.find("golden pairs", &[digest]) != Some(true) {
            model.prove(&folder.join(manifest::FILE), tolerance)?;
            proofs.keep("golden pairs", &[digest], &true);
        }
        Ok(model)
    }

    /// Its name and the beginning of its digest, as evidence shows them.
    pub fn name(&self) -> String {
        let digest: String = canonical::hex(&self.digest).chars().take(12).collect();
        format!("{}@{digest}", self.manifest.name)
    }

    /// Whether its template reads a variable, such as `completion`.
    pub fn reads(&self, variable: &str) -> bool {
        self.template.reads(variable)
    }

    /// The steps of a completion, each with its bytes in it.
    pub fn steps<'a>(&self, completion: &'a str) -> Vec<(&'a str, (usize, usize))> {
        self.splitter.steps(completion)
    }

    /// The texts of these steps, as a [`View`] holds them.
    pub fn step_texts(&self, completion: &str) -> Vec<String> {
        self.steps(completion).into_iter().map(|(step, _)| step.to_owned()).collect()
    }

    /// The tokens of a text.
    ///
    /// # Errors
    /// A template that fails on it, or a text that is too long.
    pub fn tokens(&self, view: &View) -> Result<Tokens, ModelError> {
        let most = self.manifest.limits.max_tokens;
        self.short_enough(&view.completion)?;
        let text = self.template.text(view)?;
        if self.manifest.limits.on_overflow == OnOverflow::Error {
            text.parts.iter().try_for_each(|part| self.short_enough(part))?;
        }
        let tokens = self.encoder.tokens(&text)?;
        let over = tokens.ids.len().saturating_sub(most);
        if over == 0 {
            return Ok(tokens);
        }
        if self.manifest.limits.on_overflow == OnOverflow::TruncatePromptLeft
            && let Some(tokens) = self.shortened(view, over)?
        {
            return Ok(tokens);
        }
        Err(too_long(tokens.ids.len(), most))
    }

    /// Refuses a part of a text that is too long by itself, before all of it is read.
    fn short_enough(&self, part: &str) -> Result<(), ModelError> {
        let most = self.manifest.limits.max_tokens;
        if !self.encoder.exceeds(part, most)? {
            return Ok(());
        }
        let why = format!("the text has more than {most} tokens; the model takes {most}");
        Err(ModelError::Input(why.into()))
    }

    /// The scores of the `steps` steps of a text, NaN of one that critiques leave undecided; `None`
    /// where the generated text has none.
    pub fn step_scores(&self, judgement: &Judgement, steps: usize) -> Option<Vec<f64>> {
        if self.manifest.generates() {
            return consensus(&self.manifest.generate, &judgement.texts, steps);
        }
        Some(judgement.scores.clone())
    }

    /// The score of a whole text of `steps` steps: the mean of what was voted, or the aggregate of
    /// its positions. `None` where there is nothing to tell it from.
    pub fn score(&self, judgement: &Judgement, steps: usize) -> Option<f64> {
        if self.manifest.kind == ModelKind::Generative && self.manifest.generates() {
            return mean(votes(&self.manifest.generate, &judgement.texts));
        }
        let mut scores = self.step_scores(judgement, steps)?;
        scores.retain(|score| !score.is_nan());
        self.manifest.score.aggregate.of(&scores)
    }

    /// Judges texts as the kind of the model asks: one judgement each, in their order. Waits on the
    /// calling thread, and needs no runtime.
    pub fn judge(&self, views: &[View]) -> Vec<Result<Judgement, ModelError>> {
        let mut windows = views.chunks(WINDOW).map(|window| self.submit(self.read(window)));
        let mut judged = Vec::with_capacity(views.len());
        let mut now = windows.next();
        while let Some(window) = now {
            // The next window is read while this one runs.
            now = windows.next();
            let judge = |one: Result<Submitted, ModelError>| {
                self.judgement(pollster::block_on(one?.wait())?)
            };
            judged.extend(window.into_iter().map(judge));
        }
        judged
    }

    /// Starts to judge a text: it is rendered and tokenised at once, on the calling thread, and the
    /// future waits for the rest, in any runtime. Dropping the future gives the text up.
    pub fn start(
        self: &Arc<Self>,
        view: &View,
    ) -> impl Future<Output = Result<Judgement, ModelError>> + Send + use<> {
        self.start_tokens(guarded(|| self.tokens(view)))
    }

    /// The same, of a text that is tokenised already, or could not be.
    pub fn start_tokens(
        self: &Arc<Self>,
        tokens: Result<Tokens, ModelError>,
    ) -> impl Future<Output = Result<Judgement, ModelError>> + Send + use<> {
        let submitted = self.submit(vec![tokens]).pop();
        let model = Arc::clone(self);
        async move { model.judgement(submitted.unwrap_or(Err(ModelError::Stopped))?.wait().await?) }
    }

    /// How many texts the model computed so far: one that equals another is not computed again.
    pub fn computed(&self) -> u64 {
        self.queue.computed()
    }

    /// The tokens, with what is asked of them.
    fn asked(&self, tokens: Tokens) -> Tokens {
        let generate = &self.manifest.generate;
        match self.manifest.kind {
            ModelKind::Implicit => tokens.likelihoods(),
            ModelKind::Generative | ModelKind::Process if self.manifest.generates() => {
                // The same text gets the same random numbers wherever it stands.
                let own = tokens.ids.iter().flat_map(|id| id.to_le_bytes()).collect::<Vec<u8>>();
                let own = canonical::digest_parts(&[b"seed", &own]);
                let own = own.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
                let sampling = SamplingParams {
                    votes: generate.votes,
                    tokens_max: generate.max_new_tokens,
                    temperature: generate.temperature,
                    top_p: generate.top_p,
                    seed: generate.seed ^ own,
                    ends: generate.eos_token_ids.clone(),
                    stops: Arc::clone(&self.stops),
                };
                Tokens { sampling: Some(sampling), ..tokens }
            }
            ModelKind::Embedding => {
                let positions = (0..tokens.ids.len()).collect();
                Tokens { positions, ..tokens }
            }
            _ => tokens,
        }
    }

    /// The tokens of texts, read on as many threads as the model has workers.
    fn read(&self, views: &[View]) -> Vec<Result<Tokens, ModelError>> {
        let read = |views: &[View]| -> Vec<Result<Tokens, ModelError>> {
            views.iter().map(|view| guarded(|| self.tokens(view))).collect()
        };
        let each = views.len().div_ceil(self.workers).max(READ_MIN);
        let (own, others) = views.split_at(each.min(views.len()));
        std::thread::scope(|scope| {
            let others: Vec<_> =
                others.chunks(each).map(|part| scope.spawn(move || read(part))).collect();
            let mut tokens = read(own);
            for part in others {
                tokens.extend(part.join().unwrap_or_else(|panic| resume_unwind(panic)));
            }
            tokens
        })
    }

    /// Hands texts in, as the kind of the model asks.
    fn submit(&self, texts: Vec<Result<Tokens, ModelError>>) -> Vec<Result<Submitted, ModelError>> {
        let mut marks = Vec::with_capacity(texts.len());
        let mut asked = |tokens: Tokens| {
            marks.push(tokens.positions.clone());
            Arc::new(self.asked(tokens))
        };
        let texts: Vec<Result<Arc<Tokens>, ModelError>> =
            texts.into_iter().map(|text| text.map(&mut asked)).collect();
        let good = || texts.iter().flatten().map(Arc::clone).collect();
        let references = self.reference.as_ref().map(|queue| queue.submit(good()));
        let mut references = references.map(Vec::into_iter);
        let mut rows = self.queue.submit(good()).into_iter();
        let mut marks = marks.into_iter();
        let pending = |tokens: Result<Arc<Tokens>, ModelError>| {
            let tokens = tokens?;
            let (Some(rows), Some(marks)) = (rows.next(), marks.next()) else {
                return Err(ModelError::Stopped);
            };
            let reference = references.as_mut().and_then(Iterator::next);
            Ok(Submitted { tokens, marks, rows, reference })
        };
        texts.into_iter().map(pending).collect()
    }

    fn judgement(&self, answered: Answered) -> Result<Judgement, ModelError> {
        let Answered { tokens, marks, mut rows, reference } = answered;
        let written = rows.generated.iter().map(|ids| self.encoder.decode(ids));
        let texts = written.collect::<Result<Vec<_>, _>>()?;
        let scores = match self.manifest.kind {
            ModelKind::Embedding => {
                rows.special.clone_from(&tokens.special);
                Vec::new()
            }
            ModelKind::Generative | ModelKind::Process if self.manifest.generates() => Vec::new(),
            ModelKind::Implicit => self.step_ratios(&marks, &rows, reference.as_ref())?,
            _ => self.manifest.score.of(&rows)?,
        };
        Ok(Judgement { rows, scores, texts, tokens: tokens.ids.len() })
    }

    /// For each step, the sum of the log-probabilities of its tokens, less those of the reference
    /// model.
    ///
    /// Source: "Free Process Rewards without Process Labels", the implicit process reward; the scale
    /// `beta` is `[score] calibration.scale`.
    #[expect(clippy::indexing_slicing, reason = "likelihoods reach from first mark to last")]
    fn step_ratios(
        &self,
        marks: &[usize],
        rows: &ModelOutput,
        reference: Option<&ModelOutput>,
    ) -> Result<Vec<f64>, ModelError> {
        let first = marks.first().copied().unwrap_or(0);
        let sum = |rows: &ModelOutput, from: usize, to: usize| -> f64 {
            let likelihoods = &rows.likelihoods[from - first..to - first];
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

fn too_long(count: usize, most: usize) -> ModelError {
    ModelError::Input(format!("the text has {count} tokens; the model takes {most}").into())
}

/// Whether a continuation has come to one of the texts that end it.
fn stops(encoder: &Arc<Encoder>, stop: Vec<String>) -> StopCondition {
    let encoder = Arc::clone(encoder);
    Arc::new(move |ids| {
        let ended = |text: String| stop.iter().any(|stop| text.contains(stop));
        !stop.is_empty() && encoder.decode(ids).is_ok_and(ended)
    })
}
