//! text-embeddings-inference: `POST /predict`, `/similarity` and `/rerank`; `/rerank` also as `Jina` and
//! `vLLM` have it, by the field that is there. `POST /` is one of these, and `GET /info` tells which.
//!
//! A pair is a prompt and its completion. Scores are those of `/v1/verify`, whatever `raw_scores` says: the
//! model folder decides whether they are probabilities. `/embed` is in `embeddings.rs`.

use std::collections::BTreeMap;

use axum::extract::State;
use axum::response::IntoResponse as _;
use axum::routing::get;
use schemars::SchemaGenerator;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::super::payload::{JsonBytes, Payload, parse};
use super::super::shared::Told;
use super::embeddings::{EmbedRequest, embed};
use super::models::{self, Input, ONLY_LABEL, Score, Served, TokenUsage};
use crate::serve::prelude::*;

/// Texts to be classified.
#[derive(Deserialize, JsonSchema)]
struct PredictRequest {
    inputs: PredictInputs,
}

/// A text, `[text]`, `[prompt, completion]`, or a list of such lists. A text alone is what the model reads,
/// as the caller rendered it.
#[derive(Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "expected a text, [text], [prompt, completion], or a list of such lists"
)]
enum PredictInputs {
    One(String),
    Sequence(Vec<String>),
    Batch(Vec<Vec<String>>),
}

/// A list for one input, a list of such lists for a batch.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum PredictReply {
    One(Vec<Prediction>),
    Batch(Vec<Vec<Prediction>>),
}

/// The class of a text. There is one: the reward.
#[derive(Serialize, JsonSchema)]
struct Prediction {
    /// The reward.
    score: f64,
    /// What the model calls it.
    label: String,
}

/// A text and those that are compared with it.
#[derive(Deserialize, JsonSchema)]
struct SimilarityRequest {
    inputs: SimilarityInputs,
}

/// A text and those that are compared with it.
#[derive(Deserialize, JsonSchema)]
struct SimilarityInputs {
    source_sentence: String,
    sentences: Vec<String>,
}

/// Completions of one prompt, to be put in order.
#[derive(Deserialize, JsonSchema)]
struct RerankRequest {
    /// The prompt.
    query: String,
    /// The completions, as text-embeddings-inference names them.
    #[serde(default)]
    texts: Option<Vec<String>>,
    /// The completions, as `Jina` and `vLLM` name them.
    #[serde(default)]
    documents: Option<Vec<Document>>,
    /// Whether the reply has the texts, where the request has `texts`.
    #[serde(default)]
    return_text: Option<bool>,
    /// Whether the reply has the texts, where the request has `documents`; by default it has.
    #[serde(default)]
    return_documents: Option<bool>,
    /// How many of the best the reply has, where the request has `documents`; 0 is all.
    #[serde(default)]
    top_n: Option<usize>,
    /// The profile, where one is called so.
    #[serde(default)]
    model: Option<String>,
}

/// A text, or an object that holds it.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a text, or an object with a `text`")]
enum Document {
    Text(String),
    Object { text: String },
}

/// The best first.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum RerankReply {
    /// Where the request has `texts`.
    Texts(Vec<RankedText>),
    /// Where the request has `documents`.
    Documents(RankedDocuments),
}

/// A text of `texts`.
#[derive(Serialize, JsonSchema)]
struct RankedText {
    /// Its place in the request.
    index: usize,
    /// The reward.
    score: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

/// The reply to `documents`.
#[derive(Serialize, JsonSchema)]
struct RankedDocuments {
    id: String,
    /// The profile.
    model: String,
    usage: TokenUsage,
    results: Vec<RankedDocument>,
}

/// A text of `documents`.
#[derive(Serialize, JsonSchema)]
struct RankedDocument {
    /// Its place in the request.
    index: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    document: Option<DocumentText>,
    /// The reward.
    relevance_score: f64,
}

/// The text of a document.
#[derive(Serialize, JsonSchema)]
struct DocumentText {
    text: String,
}

/// What a request to the base URL has: that says which path is meant.
#[derive(Deserialize)]
struct RootRequest<'a> {
    query: Option<IgnoredAny>,
    #[serde(borrow)]
    inputs: Option<&'a RawValue>,
}

/// What is served, as text-embeddings-inference tells it.
#[derive(Serialize, JsonSchema)]
struct InfoReply {
    /// The profile.
    model_id: String,
    /// SHA-256 of the folder of the model.
    model_sha: Option<String>,
    model_dtype: &'static str,
    model_type: ModelType,
    /// The most samples that are judged at once.
    max_concurrent_requests: usize,
    /// The most bytes of a body, which no text exceeds: what the model itself takes is told by its refusal.
    max_input_length: usize,
    /// The same.
    max_batch_tokens: usize,
    /// Always null: as many as fit.
    max_batch_requests: Option<usize>,
    /// The most inputs of a request.
    max_client_batch_size: usize,
    /// False: a text that is too long is refused.
    auto_truncate: bool,
    /// Always 1: texts are read in the threads that judge.
    tokenization_workers: usize,
    /// The version of assay.
    version: &'static str,
    /// Always null.
    sha: Option<&'static str>,
    /// Always null.
    docker_label: Option<&'static str>,
}

/// What the model does.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ModelType {
    /// It embeds texts.
    Embedding {
        /// Always `mean`, as clients know the ways: how tokens become a vector is up to the model folder.
        pooling: &'static str,
    },
    /// It scores pairs, and texts.
    Reranker {
        /// Its classes.
        id2label: BTreeMap<&'static str, &'static str>,
        label2id: BTreeMap<&'static str, u32>,
    },
}

/// The paths of the reranker. The versions are those of `Jina` and of `Cohere`.
const RERANK: [&str; 3] = ["/rerank", "/v1/rerank", "/v2/rerank"];

/// The base URL alone.
pub(super) fn base() -> Router<Arc<Shared>> {
    Router::new().route("/", post(root))
}

pub(super) fn router() -> Router<Arc<Shared>> {
    let own = base()
        .route("/info", get(info))
        .route("/predict", post(predict))
        .route("/similarity", post(similarity));
    RERANK.into_iter().fold(own, |all, path| all.route(path, post(rerank)))
}

pub(super) fn operations() -> Vec<Operation> {
    let rerank = |path| {
        Operation::judged(
            path,
            "text-embeddings-inference (`texts`), Jina and vLLM (`documents`): completions of a prompt, the best first",
            schema::<RerankRequest>,
            schema::<RerankReply>,
        )
    };
    let mut all = vec![
        Operation::judged(
            "/",
            "text-embeddings-inference: as `/rerank` with a `query`, as `/similarity` with `inputs` that are an object, else as `/embed` by an embedding model and as `/predict` by any other",
            root_request,
            root_reply,
        ),
        Operation {
            is_judged: true,
            ..Operation::get(
                "/info",
                "text-embeddings-inference: what is served",
                (schema::<InfoReply>, "application/json"),
            )
        },
        Operation::judged(
            "/predict",
            "text-embeddings-inference: rewards of texts or pairs",
            schema::<PredictRequest>,
            schema::<PredictReply>,
        ),
        Operation::judged(
            "/similarity",
            "text-embeddings-inference: the nearness of texts to one, by an embedding model",
            schema::<SimilarityRequest>,
            schema::<Vec<f64>>,
        ),
    ];
    all.extend(RERANK.map(rerank));
    all
}

fn root_request(generator: &mut SchemaGenerator) -> Value {
    json!({ "anyOf": [
        schema::<PredictRequest>(generator), schema::<EmbedRequest>(generator),
        schema::<SimilarityRequest>(generator), schema::<RerankRequest>(generator),
    ] })
}

fn root_reply(generator: &mut SchemaGenerator) -> Value {
    json!({ "anyOf": [
        schema::<PredictReply>(generator), schema::<Vec<Vec<f64>>>(generator),
        schema::<Vec<f64>>(generator), schema::<RerankReply>(generator),
    ] })
}

async fn root(asked: Asked, JsonBytes(bytes): JsonBytes) -> Result<Response, ApiError> {
    let RootRequest { query, inputs } = parse(&bytes)?;
    if query.is_some() {
        return Ok(rerank(asked, Payload(parse(&bytes)?)).await?.into_response());
    }
    if inputs.is_some_and(|inputs| inputs.get().starts_with('{')) {
        return Ok(similarity(asked, Payload(parse(&bytes)?)).await?.into_response());
    }
    if models::embeds(&asked)? {
        return Ok(embed(asked, Payload(parse(&bytes)?)).await?.into_response());
    }
    Ok(predict(asked, Payload(parse(&bytes)?)).await?.into_response())
}

async fn info(
    State(shared): State<Arc<Shared>>,
    Told(profiles): Told,
) -> Result<Json<InfoReply>, ApiError> {
    let none = || ApiError::new(ErrorKind::NotFound, "no profile");
    let profile = profiles.into_iter().next().ok_or_else(none)?;
    let Served { profile, digest, embeds } = models::served(profile);
    let model_type = if embeds {
        ModelType::Embedding { pooling: "mean" }
    } else {
        let (id2label, label2id) = ([("0", ONLY_LABEL)].into(), [(ONLY_LABEL, 0)].into());
        ModelType::Reranker { id2label, label2id }
    };
    Ok(Json(InfoReply {
        model_id: profile,
        model_sha: digest,
        model_dtype: "float32",
        model_type,
        max_concurrent_requests: shared.config.in_flight_max,
        max_input_length: shared.config.body_bytes_max,
        max_batch_tokens: shared.config.body_bytes_max,
        max_batch_requests: None,
        max_client_batch_size: shared.config.samples_max,
        auto_truncate: false,
        tokenization_workers: 1,
        version: env!("CARGO_PKG_VERSION"),
        sha: None,
        docker_label: None,
    }))
}

async fn predict(
    asked: Asked,
    Payload(request): Payload<PredictRequest>,
) -> Result<Json<PredictReply>, ApiError> {
    let (is_batch, sequences) = match request.inputs {
        PredictInputs::One(text) => (false, vec![vec![text]]),
        PredictInputs::Sequence(sequence) => (false, vec![sequence]),
        PredictInputs::Batch(batch) => (true, batch),
    };
    let inputs = sequences.into_iter().map(input).collect::<Result<_, _>>()?;
    let scores = models::score(&asked, None, "inputs", inputs).await?;
    let mut all = scores.all.into_iter().map(prediction);
    Ok(Json(if is_batch {
        PredictReply::Batch(all.map(|one| vec![one]).collect())
    } else {
        PredictReply::One(all.next().into_iter().collect())
    }))
}

fn prediction(Score { reward, label, .. }: Score) -> Prediction {
    Prediction { score: reward, label }
}

fn input(sequence: Vec<String>) -> Result<Input, ApiError> {
    let count = sequence.len();
    let mut texts = sequence.into_iter();
    match (texts.next(), texts.next(), texts.next()) {
        (Some(text), None, _) => Ok(Input::Text(text)),
        (Some(one), Some(two), None) => Ok(Input::Pair(one, two)),
        _ => {
            let message = format!("expected a text or a pair, found {count} texts");
            Err(ApiError::bad_request(message).at("inputs"))
        }
    }
}

async fn similarity(
    asked: Asked,
    Payload(request): Payload<SimilarityRequest>,
) -> Result<Json<Vec<f64>>, ApiError> {
    let SimilarityInputs { source_sentence, sentences } = request.inputs;
    asked.check_count(sentences.len())?;
    models::check_copies(&source_sentence, sentences.len())
        .map_err(|error| error.at("inputs.source_sentence"))?;
    let pair = |text| Input::Pair(source_sentence.clone(), text);
    let inputs = sentences.into_iter().map(pair).collect();
    let scores = models::score(&asked, None, "inputs.sentences", inputs).await?;
    Ok(Json(scores.all.into_iter().map(|one| one.reward).collect()))
}

async fn rerank(
    asked: Asked,
    Payload(request): Payload<RerankRequest>,
) -> Result<Json<RerankReply>, ApiError> {
    let RerankRequest { query, texts, documents, return_text, return_documents, top_n, model } =
        request;
    let text = |document: Document| match document {
        Document::Text(text) | Document::Object { text } => text,
    };
    let documents: Option<Vec<String>> =
        documents.map(|documents| documents.into_iter().map(text).collect());
    let (is_texts, given, field) = match (texts, documents) {
        (Some(texts), None) => (true, texts, "texts"),
        (None, Some(documents)) => (false, documents, "documents"),
        _ => {
            let message = "expected either `texts` or `documents`";
            return Err(ApiError::bad_request(message).at("texts"));
        }
    };
    asked.check_count(given.len())?;
    models::check_copies(&query, given.len()).map_err(|error| error.at("query"))?;
    let pair = |text: &String| Input::Pair(query.clone(), text.clone());
    let inputs = given.iter().map(pair).collect();
    let scores = models::score(&asked, model.as_deref(), field, inputs).await?;
    let mut ranked: Vec<(usize, f64, String)> = scores
        .all
        .iter()
        .zip(given)
        .enumerate()
        .map(|(at, (score, text))| (at, score.reward, text))
        .collect();
    ranked.sort_by(|one, two| two.1.total_cmp(&one.1));
    if is_texts {
        let texts = ranked.into_iter().map(|(index, score, text)| {
            let text = return_text.unwrap_or(false).then_some(text);
            RankedText { index, score, text }
        });
        return Ok(Json(RerankReply::Texts(texts.collect())));
    }
    ranked.truncate(top_n.filter(|most| *most > 0).unwrap_or(usize::MAX));
    let results = ranked.into_iter().map(|(index, relevance_score, text)| {
        let document = return_documents.unwrap_or(true).then_some(DocumentText { text });
        RankedDocument { index, document, relevance_score }
    });
    let results = results.collect();
    let (id, usage) = (format!("rerank-{}", scores.id), scores.usage);
    let reply = RankedDocuments { id, model: scores.profile, usage, results };
    Ok(Json(RerankReply::Documents(reply)))
}
