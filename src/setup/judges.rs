//! Judges of this environment: keys from its variables, models of its folders.

use std::sync::Arc;

use assay_reward_models::manifest::ModelKind;
use assay_reward_models::model::{Judgement, Model};
use assay_reward_models::models::RunSettings;
use assay_reward_models::template::View;
use assay_reward_models::{ModelError, Models};
use assay_rubrics::judge::{Judge, JudgeConfig, JudgeReply, JudgeRequest};
use assay_verifiers::{BuildError, Fault, Files, Message, Pending, Usage, canonical, check};
use serde_json::{Value, json};

use crate::engine::ConfigFolder;

/// A generative reward model of this machine as a judge. Its scheduler batches the questions with
/// whatever else the model is asked.
struct ModelJudge {
    model: Arc<Model>,
}

/// The judge of a model folder.
///
/// # Errors
/// A folder that may not be read, or a model that is not generative.
pub(super) fn of_folder(
    models: &Models,
    files: &ConfigFolder,
    config: &JudgeConfig,
) -> Result<Arc<dyn Judge>, BuildError> {
    let refuse = |why: String| BuildError::new("folder", why);
    let named = config.folder.as_deref().unwrap_or_default();
    let run: RunSettings =
        check::settings(Value::Object(config.run.clone())).map_err(|error| error.within("run"))?;
    let folder = files.folder(named).map_err(|why| BuildError::unreadable("folder", why))?;
    let model = models.load(&folder, &run).map_err(|error| refuse(error.to_string()))?;
    let kind = model.manifest.kind;
    if kind != ModelKind::Generative {
        return Err(refuse(format!("is of kind {kind:?}; expected generative").to_lowercase()));
    }
    Ok(Arc::new(ModelJudge { model }))
}

impl Judge for ModelJudge {
    fn identity(&self) -> Value {
        let model = &self.model;
        json!({
            "kind": "model",
            "model": canonical::hex(&model.digest),
            "backend": model.backend,
        })
    }

    fn ask(&self, request: JudgeRequest) -> Pending<Result<JudgeReply, Fault>> {
        let pending = self.model.start(&view(&self.model, request));
        let model = Arc::clone(&self.model);
        Box::pin(async move { reply(&model, pending.await.map_err(fault)?) })
    }
}

/// What the model reads. A template with a place for the completion has a prompt of its own: the
/// criterion stands where it has a place for it, else behind the task. Any other gets the
/// conversation as it would be sent to a server.
fn view(model: &Model, request: JudgeRequest) -> View {
    if !model.reads("completion") {
        let messages = request.messages.into_iter();
        let messages = messages.map(|message| Message::new(message.role, message.content));
        return View { messages: messages.collect(), ..View::default() };
    }
    let texts = request.texts;
    let (task, question) = if model.reads("question") {
        (texts.prompt, texts.question)
    } else {
        ([texts.prompt, texts.question].join("\n\n"), String::new())
    };
    View {
        messages: vec![Message::new("user", task.trim())],
        completion: texts.completion,
        reference: texts.reference,
        question,
        ..View::default()
    }
}

/// A reply: what the model wrote, or the probability of yes where it writes nothing.
fn reply(model: &Model, judgement: Judgement) -> Result<JudgeReply, Fault> {
    let written: usize = judgement.rows.generated.iter().map(Vec::len).sum();
    let tokens = u64::try_from(judgement.tokens + written).unwrap_or(u64::MAX);
    let usage = Usage { tokens, calls: 1 };
    if let Some(text) = judgement.texts.into_iter().next() {
        return Ok(JudgeReply { text, usage, ..JudgeReply::default() });
    }
    let yes = judgement.scores.last().copied().filter(|score| (0.0..=1.0).contains(score));
    let missing = || ModelError::Input(format!("{}: no probability of yes", model.name()).into());
    let yes = Some(yes.ok_or_else(missing).map_err(fault)?);
    Ok(JudgeReply { yes, usage, ..JudgeReply::default() })
}

fn fault(error: ModelError) -> Fault {
    error.into()
}
