//! LLaMA-Factory: `POST /v1/score/evaluation`, for its PPO with `reward_model_type: api`.
//!
//! A message is the prompt and the response as its tokenizer wrote both: what a reward model reads. Rules
//! have no answer to read there, and no reference.

use assay_verifiers::Sample;

use super::super::payload::Payload;
use super::models::Reading;
use crate::serve::prelude::*;

/// What LLaMA-Factory sends.
#[derive(Deserialize, JsonSchema)]
struct ScoreRequest {
    /// Prompt and response of each sample, as one text.
    messages: Vec<String>,
}

/// What it gets.
#[derive(Serialize, JsonSchema)]
struct ScoreReply {
    object: &'static str,
    /// The name of the profile.
    model: String,
    /// The reward of each sample.
    scores: Vec<f64>,
}

pub(super) fn router() -> Router<Arc<Shared>> {
    Router::new().route("/v1/score/evaluation", post(scores))
}

pub(super) fn operations() -> Vec<Operation> {
    vec![Operation::judged(
        "/v1/score/evaluation",
        "LLaMA-Factory: rewards of texts by a reward model",
        schema::<ScoreRequest>,
        schema::<ScoreReply>,
    )]
}

async fn scores(
    asked: Asked,
    Payload(request): Payload<ScoreRequest>,
) -> Result<Json<ScoreReply>, ApiError> {
    let profile = asked.profile(None)?;
    profile.check_grouped("texts without prompts have no groups")?;
    if Reading::of(&profile) != Reading::Text {
        return Err(ApiError::abstained(
            "LLaMA-Factory sends prompt and response as one text, so that rules cannot know the response: \
             all rewards of the profile must be those of models",
        ));
    }
    let texts = request.messages.into_iter();
    let samples = texts.map(|text| Sample::builder(text).rendered().build());
    let judged = asked.score(samples.collect()).await?;
    let reward = |(at, one): (usize, &Scored)| {
        one.reward().ok_or_else(|| ApiError::unscored(one).at(format!("messages[{at}]")))
    };
    let scores = ApiError::all(judged.iter().enumerate().map(reward))?;
    Ok(Json(ScoreReply { object: "score.evaluation", model: profile.name.clone(), scores }))
}
