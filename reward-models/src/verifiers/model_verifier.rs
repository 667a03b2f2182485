//! The trait of verifiers that ask a model, and what they share.

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;

use assay_verifiers::check::settings;
use assay_verifiers::{
    Aspect, AsyncVerifier, BuildError, Built, Content, Earlier, Fault, FaultKind, Files, Lane,
    Message, Meter, Pending, Reward, Sample, Spec, Usage, Verdict,
};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::error::{ModelError, guarded};
use crate::manifest::{Generate, ModelKind, OnParseFail, ParseFail};
use crate::model::{Judgement, Model};
use crate::models::{Models, RunSettings};
use crate::template::View;
use crate::tokens::Tokens;

/// A verifier that asks a model: its settings are the fields of the type, read by serde.
pub trait ModelVerifier: DeserializeOwned + Serialize + JsonSchema + Send + Sync + 'static {
    /// The id by which a configuration names the verifier.
    const ID: &'static str;

    /// Raised whenever the same sample may get another verdict.
    const VERSION: u32 = 1;

    /// What of an answer it judges.
    const ASPECT: Aspect = Aspect::Other;

    /// What kinds of model it asks.
    const KINDS: &'static [ModelKind];

    /// The folder of the model, and how it is run.
    fn model(&self) -> (&str, &RunSettings);

    /// Refuses settings that do not fit the model.
    ///
    /// # Errors
    /// The setting, and what is wrong with it.
    fn fits(&self, model: &Model) -> Result<(), BuildError> {
        let _ = model;
        Ok(())
    }

    /// The texts that the model reads of a sample.
    ///
    /// # Errors
    /// Why the sample is not judged.
    fn views(&self, model: &Model, sample: &Sample) -> Result<Vec<View>, Verdict>;

    /// The tokens of a sample whose text, or whose prompt alone, its caller rendered.
    ///
    /// # Errors
    /// Why the model reads no such text.
    fn rendered(
        &self,
        model: &Model,
        sample: &Sample,
    ) -> Result<Result<Tokens, ModelError>, Verdict> {
        let Some(prompt) = sample.rendered_prompt() else {
            let text = model.rendered(sample.completion()).map_err(Verdict::abstained)?;
            return Ok(model.text_tokens(&text));
        };
        let views = self.views(model, sample)?;
        let view = views.first().ok_or_else(|| Verdict::abstained("nothing is asked of it"))?;
        let text = model.continued(prompt, view).map_err(Verdict::abstained)?;
        Ok(text.and_then(|text| model.text_tokens(&text)))
    }

    /// What the judgements of the texts come to. There is one of a sample that is rendered.
    ///
    /// # Errors
    /// A fault: the model said what cannot be.
    fn verdict(
        &self,
        model: &Model,
        sample: &Sample,
        judgements: &[Judgement],
    ) -> Result<Verdict, Fault>;
}

struct Ready<M> {
    verifier: M,
    model: Arc<Model>,
}

impl<M: ModelVerifier> AsyncVerifier for Ready<M> {
    fn in_flight_max(&self) -> Option<usize> {
        None
    }

    fn aspect(&self) -> Aspect {
        M::ASPECT
    }

    fn verify(
        self: Arc<Self>,
        sample: &Sample,
        _: Earlier<'_>,
        _: &mut Meter<'_>,
    ) -> Pending<Verdict> {
        let asked = self.asked(sample).map(|(texts, unread)| {
            let started: Vec<_> =
                texts.into_iter().map(|text| self.model.start_tokens(text)).collect();
            (started, unread)
        });
        let sample = sample.clone();
        Box::pin(async move {
            let verdict = match asked {
                Ok((started, unread)) => {
                    let judged = self.judged(&sample, started).await;
                    let judged = judged.unwrap_or_else(|error| Verdict::failed(error.into()));
                    if unread.is_empty() { judged } else { judged.with("unread", unread) }
                }
                Err(known) => known,
            };
            verdict.with("model", self.model.name()).with("backend", self.model.backend.as_str())
        })
    }
}

/// Texts as the model takes them, and the types of the parts that it does not read.
type Texts = (Vec<Result<Tokens, ModelError>>, Vec<String>);

impl<M: ModelVerifier> Ready<M> {
    /// What the model is asked of a sample.
    fn asked(&self, sample: &Sample) -> Result<Texts, Verdict> {
        if sample.is_rendered() {
            let text = || self.verifier.rendered(&self.model, sample);
            let tokens = guarded(|| Ok(text()));
            let tokens = tokens.unwrap_or_else(|error| Ok(Err(error)))?;
            return Ok((vec![tokens], Vec::new()));
        }
        let views = self.verifier.views(&self.model, sample)?;
        let texts = views.iter().map(|view| guarded(|| self.model.tokens(view))).collect();
        Ok((texts, unread_parts(sample, &views)))
    }

    /// What the judgements come to that were started.
    async fn judged<T>(&self, sample: &Sample, started: Vec<T>) -> Result<Verdict, ModelError>
    where
        T: Future<Output = Result<Judgement, ModelError>>,
    {
        let mut judgements = Vec::with_capacity(started.len());
        let mut usage = Usage::default();
        for one in started {
            let judgement = one.await?;
            usage += self::usage(&judgement);
            judgements.push(judgement);
        }
        let verdict = self.verifier.verdict(&self.model, sample, &judgements);
        Ok(Verdict { usage, ..verdict.into() })
    }
}

/// The types of the parts that no model of texts reads, of the prompt where it is read and of the
/// completion.
fn unread_parts(sample: &Sample, views: &[View]) -> Vec<String> {
    let prompt = views.first().map(|view| view.messages.as_slice()).unwrap_or_default();
    let messages = prompt.iter().chain(sample.completion_message());
    messages.flat_map(|message| message.content.unread()).map(str::to_owned).collect()
}

pub(super) fn build<M: ModelVerifier>(
    models: &Arc<Models>,
    given: Value,
    files: &dyn Files,
) -> Result<Built, BuildError> {
    let verifier: M = settings(given)?;
    let model = load(models, verifier.model(), M::KINDS, files)?;
    verifier.fits(&model)?;
    let spec = spec(M::ID, M::VERSION, &verifier, &model)?;
    Ok(Built::new(spec, Lane::Awaited(Arc::new(Ready { verifier, model }))))
}

/// The model of a folder, which is of one of `kinds`.
///
/// # Errors
/// A folder that cannot be used, a broken model, and one of another kind.
pub(super) fn load(
    models: &Models,
    (folder, run): (&str, &RunSettings),
    kinds: &[ModelKind],
    files: &dyn Files,
) -> Result<Arc<Model>, BuildError> {
    let refused = |why: String| BuildError::new("model", why);
    let unreadable = |why| BuildError::unreadable("model", why);
    let folder: PathBuf = files.folder(folder).map_err(unreadable)?;
    let model =
        models.load(&folder, run).map_err(|error: ModelError| refused(error.to_string()))?;
    let kind = model.manifest.kind;
    if !kinds.contains(&kind) {
        return Err(refused(format!("is of kind {kind:?}; expected {kinds:?}").to_lowercase()));
    }
    Ok(model)
}

/// The identity of a verifier that asks `model`.
///
/// # Errors
/// Settings that cannot be written.
pub(super) fn spec(
    id: &'static str,
    version: u32,
    verifier: &impl Serialize,
    model: &Model,
) -> Result<Spec, BuildError> {
    let written = serde_json::to_value(verifier)
        .map_err(|error| BuildError::new("", format!("settings cannot be written: {error}")))?;
    let digests = vec![
        ("model".to_owned(), model.digest),
        (
            model.backend.clone(),
            assay_verifiers::canonical::digest_parts(&[model.backend.as_bytes()]),
        ),
    ];
    Ok(Spec { files: digests, ..Spec::new(id, version, written) })
}

/// What a judgement took.
pub(super) fn usage(judgement: &Judgement) -> Usage {
    let written: usize = judgement.rows.generated.iter().map(Vec::len).sum();
    let tokens = u64::try_from(judgement.tokens + written).unwrap_or(u64::MAX);
    Usage { tokens, calls: 1 }
}

/// The messages of a prompt: a text is one message of the user.
fn messages(prompt: &Content) -> Vec<Message> {
    match prompt {
        Content::Messages(messages) => messages.clone(),
        Content::Text(text) => vec![Message::new("user", text.as_str())],
    }
}

/// The last score of a text.
///
/// # Errors
/// A model that gave none.
pub(super) fn last_score(judgement: &Judgement) -> Result<f64, Fault> {
    let missing = || Fault::new(FaultKind::BadModel, "the model gave no score");
    judgement.scores.last().copied().ok_or_else(missing)
}

/// A score as a reward, or as 1 and 0 at a threshold.
///
/// # Errors
/// A score that is not finite.
pub(super) fn reward(score: f64, threshold: Option<f64>) -> Result<Reward, Fault> {
    let odd =
        || Fault::new(FaultKind::BadModel, format!("the score is {score}, not a finite number"));
    let reward = Reward::new(score).ok_or_else(odd)?;
    Ok(threshold.map_or(reward, |threshold| Reward::graded(score >= threshold)))
}

/// What the model wrote first.
pub(super) fn critique(judgement: &Judgement) -> &str {
    judgement.texts.first().map_or("", String::as_str)
}

/// What becomes of a sample of which no critique can be read, as the manifest says.
///
/// # Errors
/// Where the manifest calls that a fault of the model.
pub(super) fn unread(
    generate: &Generate,
    judgement: &Judgement,
    threshold: Option<f64>,
) -> Result<Verdict, Fault> {
    let why = "no critique holds a score";
    let verdict = match generate.on_parse_fail {
        OnParseFail::Score(score) => {
            Verdict::scored(reward(score, threshold)?).with("score", score)
        }
        OnParseFail::Word(ParseFail::Abstain) => Verdict::abstained(why),
        OnParseFail::Word(ParseFail::Fail) => return Err(Fault::new(FaultKind::BadModel, why)),
    };
    Ok(verdict.with("critique", critique(judgement)))
}

/// Refuses a threshold that is not a number.
///
/// # Errors
/// The setting.
pub(super) fn finite(threshold: Option<f64>) -> Result<(), BuildError> {
    if threshold.is_some_and(|threshold| !threshold.is_finite()) {
        return Err(BuildError::new("threshold", "not a finite number"));
    }
    Ok(())
}

/// What every model reads of a sample.
///
/// # Errors
/// A sample without a prompt: what a model would say of it is not a judgement.
pub(super) fn view(sample: &Sample) -> Result<View, Verdict> {
    let messages = messages(sample.prompt_content());
    // The last message may be one that only calls a tool.
    if messages.iter().all(|message| message.text().is_empty()) {
        return Err(Verdict::abstained("the sample has no prompt"));
    }
    Ok(View {
        messages,
        completion: sample.completion().to_owned(),
        reference: sample.reference_text().map(std::borrow::Cow::into_owned).unwrap_or_default(),
        ..View::default()
    })
}
