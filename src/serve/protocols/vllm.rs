//! `vLLM`: `POST /classify`, `/score` and `/pooling` of reward models, and `GET /v1/models`, by which
//! clients learn what to call the model.
//!
//! A conversation (`messages`) is a prompt whose last message is the completion. A text alone is what the
//! model reads, as the caller rendered it: special tokens in it count, so that a caller who does not
//! keep a completion from writing them sends `messages`. Scores are those of `/v1/verify`; activations that a request asks for
//! (`use_activation`, `softmax`) are those of the model folder instead.

use assay_verifiers::Message;
use axum::routing::get;

use super::super::payload::Payload;
use super::super::shared::Told;
use super::embeddings::{EncodingFormat, Written};
use super::models::{self, Input, OneOrMany, TokenUsage};
use crate::serve::prelude::*;
use crate::setup::unix_seconds;

/// Texts as the model reads them, or a conversation.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default)]
struct InputRequest {
    /// The profile, where one is called so.
    model: Option<String>,
    /// Texts as the model reads them, rendered by the caller. Token ids are not taken.
    input: Option<OneOrMany>,
    /// The same by the name that `SGLang` has for it; `/classify` answers as `SGLang` does then.
    text: Option<OneOrMany>,
    /// A conversation. The last message is the completion.
    #[schemars(with = "Option<Vec<serde_json::Map<String, serde_json::Value>>>")]
    messages: Option<Vec<Message>>,
    /// How the answer of `/pooling` is written.
    encoding_format: Option<EncodingFormat>,
}

/// Pairs: prompts and completions. One prompt goes with every completion.
#[derive(Deserialize, JsonSchema)]
struct ScoreRequest {
    /// The profile, where one is called so.
    #[serde(default)]
    model: Option<String>,
    /// The prompts.
    #[serde(alias = "data_1", alias = "queries")]
    text_1: OneOrMany,
    /// The completions.
    #[serde(alias = "data_2", alias = "documents", alias = "items")]
    text_2: OneOrMany,
}

/// A list, as each of the paths gives it.
#[derive(Serialize, JsonSchema)]
struct ListReply<T> {
    id: String,
    /// `list`.
    object: &'static str,
    /// Seconds since 1970.
    created: u64,
    /// The profile.
    model: String,
    data: Vec<T>,
    usage: TokenUsage,
}

/// What is served.
#[derive(Serialize, JsonSchema)]
struct ModelsReply {
    /// `list`.
    object: &'static str,
    /// The profiles, the first one first.
    data: Vec<ModelCard>,
}

/// A profile, as a model.
#[derive(Serialize, JsonSchema)]
struct ModelCard {
    /// The name of the profile.
    id: String,
    /// `model`.
    object: &'static str,
    /// Seconds since 1970.
    created: u64,
    /// `assay`.
    owned_by: &'static str,
}

/// The class of a text. There is one: the reward.
#[derive(Serialize, JsonSchema)]
struct Classified {
    index: usize,
    /// What the model calls the reward.
    label: String,
    /// The reward.
    probs: Vec<f64>,
    /// 1.
    num_classes: usize,
}

/// What `/classify` answers.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum ClassifyReply {
    List(ListReply<Classified>),
    /// `SGLang`'s, for one `text`.
    One(Embedded),
    /// `SGLang`'s, for a list of them.
    Many(Vec<Embedded>),
}

/// What `SGLang` says of a text.
#[derive(Serialize, JsonSchema)]
struct Embedded {
    /// The reward; by a process model the reward of each step.
    embedding: Vec<f64>,
    meta_info: MetaInfo,
}

#[derive(Serialize, JsonSchema)]
struct MetaInfo {
    id: String,
}

/// The score of a pair.
#[derive(Serialize, JsonSchema)]
struct Scored {
    index: usize,
    /// `score`.
    object: &'static str,
    /// The reward.
    score: f64,
}

/// What a model says of a text.
#[derive(Serialize, JsonSchema)]
struct Pooled {
    index: usize,
    /// `pooling`.
    object: &'static str,
    /// The reward; by a process model the reward of each step.
    data: Written,
}

pub(super) fn router() -> Router<Arc<Shared>> {
    Router::new()
        .route("/classify", post(classify))
        .route("/score", post(score))
        .route("/v1/score", post(score))
        .route("/pooling", post(pooling))
        .route("/v1/models", get(models))
}

pub(super) fn operations() -> Vec<Operation> {
    let score = |path| {
        let summary = "vLLM: rewards of pairs of a prompt and a completion";
        Operation::judged(path, summary, schema::<ScoreRequest>, schema::<ListReply<Scored>>)
    };
    vec![
        Operation::judged(
            "/classify",
            "vLLM: rewards as the probabilities of the only class",
            schema::<InputRequest>,
            schema::<ClassifyReply>,
        ),
        score("/score"),
        score("/v1/score"),
        Operation::judged(
            "/pooling",
            "vLLM: rewards, by a process model of each step",
            schema::<InputRequest>,
            schema::<ListReply<Pooled>>,
        ),
        Operation {
            is_judged: true,
            ..Operation::get(
                "/v1/models",
                "OpenAI and vLLM: the profiles, as `model` of a request names them",
                (schema::<ModelsReply>, "application/json"),
            )
        },
    ]
}

async fn models(Told(profiles): Told) -> Json<ModelsReply> {
    let created = seconds();
    let card = |profile: Arc<Profile>| {
        let id = profile.name.clone();
        ModelCard { id, object: "model", created, owned_by: "assay" }
    };
    Json(ModelsReply { object: "list", data: profiles.into_iter().map(card).collect() })
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a moment after 1970, in whole seconds"
)]
fn seconds() -> u64 {
    unix_seconds() as u64
}

async fn classify(
    asked: Asked,
    Payload(request): Payload<InputRequest>,
) -> Result<Json<ClassifyReply>, ApiError> {
    let (is_text, is_one) =
        (request.text.is_some(), matches!(request.text, Some(OneOrMany::One(_))));
    let scores = of_input(&asked, request).await?;
    if !is_text {
        let list = reply("classify", scores, |index, one| Classified {
            index,
            label: one.label,
            probs: vec![one.reward],
            num_classes: 1,
        });
        return Ok(Json(ClassifyReply::List(list)));
    }
    let id = scores.id;
    let embedded = |(index, one): (usize, models::Score)| Embedded {
        embedding: one.values(),
        meta_info: MetaInfo { id: format!("{id}-{index}") },
    };
    let mut all: Vec<Embedded> = scores.all.into_iter().enumerate().map(embedded).collect();
    Ok(Json(match all.pop() {
        Some(only) if is_one => ClassifyReply::One(only),
        last => ClassifyReply::Many(all.into_iter().chain(last).collect()),
    }))
}

async fn pooling(
    asked: Asked,
    Payload(request): Payload<InputRequest>,
) -> Result<Json<ListReply<Pooled>>, ApiError> {
    let format = request.encoding_format.unwrap_or_default();
    let scores = of_input(&asked, request).await?;
    Ok(Json(reply("pool", scores, |index, one| Pooled {
        index,
        object: "pooling",
        data: format.write(one.values()),
    })))
}

async fn score(
    asked: Asked,
    Payload(request): Payload<ScoreRequest>,
) -> Result<Json<ListReply<Scored>>, ApiError> {
    let (mut prompts, completions) = (request.text_1.into_vec(), request.text_2.into_vec());
    asked.check_count(completions.len().max(prompts.len()))?;
    let count = completions.len();
    if let [prompt] = prompts.as_slice() {
        models::check_copies(prompt, count).map_err(|error| error.at("text_1"))?;
        prompts = prompts.into_iter().cycle().take(count).collect();
    }
    if prompts.len() != count {
        let message = format!("{count} texts for {} prompts", prompts.len());
        return Err(ApiError::bad_request(message).at("text_2"));
    }
    let pairs = prompts.into_iter().zip(completions);
    let inputs = pairs.map(|(prompt, completion)| Input::Pair(prompt, completion)).collect();
    let scores = models::score(&asked, request.model.as_deref(), "text_2", inputs).await?;
    let pair = |index, one: models::Score| Scored { index, object: "score", score: one.reward };
    Ok(Json(reply("score", scores, pair)))
}

async fn of_input(asked: &Asked, request: InputRequest) -> Result<models::Scores, ApiError> {
    let InputRequest { model, input, text, messages, encoding_format: _ } = request;
    let texts = |texts: OneOrMany| texts.into_vec().into_iter().map(Input::Text).collect();
    let (field, inputs) = match (input, text, messages) {
        (Some(input), None, None) => ("input", texts(input)),
        (None, Some(text), None) => ("text", texts(text)),
        (None, None, Some(messages)) => ("messages", vec![Input::Messages(messages)]),
        _ => {
            let message = "expected either `input` or `messages`";
            return Err(ApiError::bad_request(message).at("input"));
        }
    };
    models::score(asked, model.as_deref(), field, inputs).await
}

fn reply<T>(
    kind: &str,
    scores: models::Scores,
    one: impl Fn(usize, models::Score) -> T,
) -> ListReply<T> {
    let created = seconds();
    let data = scores.all.into_iter().enumerate().map(|(at, score)| one(at, score)).collect();
    let (id, model) = (format!("{kind}-{}", scores.id), scores.profile);
    ListReply { id, object: "list", created, model, data, usage: scores.usage }
}
