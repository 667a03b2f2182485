//! Vectors of texts: `POST /embed` of text-embeddings-inference, and `POST /v1/embeddings` of `OpenAI`, which
//! `SGLang` has for the scores of reward models too.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::super::payload::Payload;
use super::models::{self, OneOrMany, TokenUsage, Vectors};
use crate::serve::prelude::*;

/// Texts to be embedded.
#[derive(Deserialize, JsonSchema)]
pub(super) struct EmbedRequest {
    inputs: OneOrMany,
    /// Whether vectors get the length 1.
    #[serde(default)]
    normalize: Option<bool>,
    /// How many of the first values of a vector are wanted.
    #[serde(default)]
    dimensions: Option<usize>,
}

/// Texts to be embedded.
#[derive(Deserialize, JsonSchema)]
struct EmbeddingsRequest {
    input: OneOrMany,
    /// The profile, where one is called so.
    #[serde(default)]
    model: Option<String>,
    /// How vectors are written.
    #[serde(default)]
    encoding_format: Option<EncodingFormat>,
    /// How many of the first values of a vector are wanted.
    #[serde(default)]
    dimensions: Option<usize>,
}

/// How a vector is written.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum EncodingFormat {
    /// As a list of numbers.
    #[default]
    Float,
    /// As the bytes of floats of 32 bits, the lowest byte first.
    Base64,
}

impl EncodingFormat {
    #[expect(clippy::cast_possible_truncation, reason = "the protocol has floats of 32 bits")]
    pub(super) fn write(self, vector: Vec<f64>) -> Written {
        match self {
            Self::Float => Written::Numbers(vector),
            Self::Base64 => {
                let bytes = vector.iter().flat_map(|value| (*value as f32).to_le_bytes());
                Written::Base64(STANDARD.encode(bytes.collect::<Vec<u8>>()))
            }
        }
    }
}

/// The vectors, in the order of the texts.
#[derive(Serialize, JsonSchema)]
struct EmbeddingsReply {
    /// `list`.
    object: &'static str,
    data: Vec<Embedding>,
    /// The profile.
    model: String,
    usage: TokenUsage,
}

/// The vector of a text.
#[expect(clippy::struct_field_names, reason = "the protocol has these names")]
#[derive(Serialize, JsonSchema)]
struct Embedding {
    /// `embedding`.
    object: &'static str,
    index: usize,
    embedding: Written,
}

/// A vector as it is written. By a reward model it has one value, the reward.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum Written {
    Numbers(Vec<f64>),
    Base64(String),
}

pub(super) fn router() -> Router<Arc<Shared>> {
    Router::new().route("/embed", post(embed)).route("/v1/embeddings", post(embeddings))
}

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::judged(
            "/embed",
            "text-embeddings-inference: the vectors of texts, by an embedding model",
            schema::<EmbedRequest>,
            schema::<Vec<Vec<f64>>>,
        ),
        Operation::judged(
            "/v1/embeddings",
            "OpenAI: the vectors of texts, by an embedding model; SGLang: the rewards of rendered texts",
            schema::<EmbeddingsRequest>,
            schema::<EmbeddingsReply>,
        ),
    ]
}

pub(super) async fn embed(
    asked: Asked,
    Payload(request): Payload<EmbedRequest>,
) -> Result<Json<Vec<Vec<f64>>>, ApiError> {
    let EmbedRequest { inputs, normalize, dimensions } = request;
    let made = models::vectors(&asked, None, "inputs", inputs.into_vec(), false).await?;
    let form = Form { is_unit: normalize.unwrap_or(true), dimensions };
    let vectors = made.all.into_iter().map(|vector| form.of(vector));
    Ok(Json(vectors.collect::<Result<_, _>>()?))
}

async fn embeddings(
    asked: Asked,
    Payload(request): Payload<EmbeddingsRequest>,
) -> Result<Json<EmbeddingsReply>, ApiError> {
    let EmbeddingsRequest { input, model, encoding_format, dimensions } = request;
    let made = models::vectors(&asked, model.as_deref(), "input", input.into_vec(), true).await?;
    let Vectors { all, usage, profile, are_rewards } = made;
    let form = Form { is_unit: !are_rewards, dimensions };
    let mut data = Vec::with_capacity(all.len());
    for (index, vector) in all.into_iter().enumerate() {
        let vector = form.of(vector)?;
        let embedding = encoding_format.unwrap_or_default().write(vector);
        data.push(Embedding { object: "embedding", index, embedding });
    }
    Ok(Json(EmbeddingsReply { object: "list", data, model: profile, usage }))
}

/// How vectors are wanted.
struct Form {
    /// Whether they get the length 1.
    is_unit: bool,
    /// How many values they get.
    dimensions: Option<usize>,
}

impl Form {
    fn of(&self, mut vector: Vec<f64>) -> Result<Vec<f64>, ApiError> {
        if let Some(dimensions) = self.dimensions {
            if !(1..=vector.len()).contains(&dimensions) {
                let message = format!("expected 1 to {}, found {dimensions}", vector.len());
                return Err(ApiError::bad_request(message).at("dimensions"));
            }
            vector.truncate(dimensions);
        }
        let length = vector.iter().map(|value| value * value).sum::<f64>().sqrt();
        if self.is_unit && length > 0.0 {
            for value in &mut vector {
                *value /= length;
            }
        }
        Ok(vector)
    }
}
