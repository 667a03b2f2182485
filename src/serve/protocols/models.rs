//! What the protocols of model servers share: texts become samples, and what a profile says of them becomes
//! scores.
//!
//! The score of a text is the reward of the first verifier of the profile that asks a model, the same that
//! `/v1/verify` gives for the same sample; in a profile that asks none it is the reward of the profile. It
//! is as the model folder and the settings have it: `calibration` and `threshold` are applied, and nothing
//! else is, no sigmoid either.

use assay_verifiers::canonical::{digest_parts, hex};
use assay_verifiers::{Aspect, Content, Lane, Message, Reward, Sample, Verdict};

use crate::engine::{Plan, Planned, Rows};
use crate::serve::prelude::*;

/// What the identity of a verifier calls the model that it asks.
const MODEL: &str = "model";
/// What its evidence calls the vector of a text that is compared with none.
const VECTOR: &str = "vector";
/// What a model without names for its classes calls the only one.
pub(super) const ONLY_LABEL: &str = "LABEL_0";

/// The most bytes that the copies of a text may have, one for each text that it goes with.
const COPIES_BYTES_MAX: usize = 128 << 20;

/// A text, or several.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a text or a list of texts")]
pub(super) enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl OneOrMany {
    pub(super) fn into_vec(self) -> Vec<String> {
        match self {
            Self::One(text) => vec![text],
            Self::Many(texts) => texts,
        }
    }
}

/// What is scored.
pub(super) enum Input {
    /// A text by itself: to a model the whole text that it reads, as the caller rendered it; to other
    /// verifiers a completion without a prompt.
    Text(String),
    /// A prompt and its completion; for an embedding model the two texts that it compares.
    Pair(String, String),
    /// A conversation, whose last message is the completion.
    Messages(Vec<Message>),
}

/// The number of tokens that the models read.
#[expect(clippy::struct_field_names, reason = "the protocols have these names")]
#[derive(Clone, Copy, Serialize, JsonSchema)]
pub(super) struct TokenUsage {
    prompt_tokens: u64,
    total_tokens: u64,
    completion_tokens: u64,
}

/// What became of an input.
pub(super) struct Score {
    pub(super) reward: f64,
    /// The rewards of the steps, by a process model.
    pub(super) steps: Vec<f64>,
    /// The name that the model has for what the reward is.
    pub(super) label: String,
}

impl Score {
    /// The rewards of the steps, where there are steps, else the reward.
    pub(super) fn values(self) -> Vec<f64> {
        if self.steps.is_empty() { vec![self.reward] } else { self.steps }
    }
}

/// All scores of a request.
pub(super) struct Scores {
    pub(super) all: Vec<Score>,
    pub(super) usage: TokenUsage,
    /// The name of the profile.
    pub(super) profile: String,
    /// What the answer is known by; the same for the same inputs.
    pub(super) id: String,
}

/// What a model makes of texts.
pub(super) struct Vectors {
    pub(super) all: Vec<Vec<f64>>,
    pub(super) usage: TokenUsage,
    /// The name of the profile.
    pub(super) profile: String,
    /// Whether each has one value, which is the reward.
    pub(super) are_rewards: bool,
}

/// Inputs that were judged.
struct Judged {
    judge: Judge,
    scored: Vec<Scored>,
    /// Which of them are texts alone.
    are_texts: Vec<bool>,
    /// The field in which they came.
    field: &'static str,
}

/// The reward that is the score.
struct Judge {
    profile: Arc<Profile>,
    /// The first reward that asks a model: its name, and whether it compares two texts.
    model: Option<(String, bool)>,
}

/// Scores inputs, which came as the field `field`, by the profile of the path, else by the one that is
/// called `model`, else by the first. A request of which one input has no score is refused.
pub(super) async fn score(
    asked: &Asked,
    model: Option<&str>,
    field: &'static str,
    inputs: Vec<Input>,
) -> Result<Scores, ApiError> {
    let parts: Vec<Vec<u8>> = inputs.iter().flat_map(Input::parts).collect();
    let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
    let mut id = hex(&digest_parts(&parts));
    id.truncate(32);
    let judged = judged(asked, model, field, inputs).await?;
    let all = judged.each(Judge::score)?;
    Ok(Scores { all, usage: judged.usage(), profile: judged.judge.profile.name.clone(), id })
}

/// What a profile makes of a conversation that a chat template has rendered already.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// No model reads it: the response is judged by itself.
    Response,
    /// A model reads the whole text.
    Text,
    /// A model would read it rendered once more, and other rewards want the response.
    Twice,
}

impl Reading {
    pub(super) fn of(profile: &Arc<Profile>) -> Self {
        let plan = profile.engine.plan();
        match Judge::by(Arc::clone(profile)).model {
            None => Self::Response,
            Some(_) if rewards_alone(plan).all(asks_model) => Self::Text,
            Some(_) => Self::Twice,
        }
    }
}

/// What sees whole groups has no verdict on a sample by itself.
fn rewards_alone(plan: &Plan) -> impl Iterator<Item = &Planned> {
    let alone = |(at, _): &(usize, &Planned)| !plan.group_rewards.contains(at);
    plan.rewards.iter().enumerate().filter(alone).map(|(_, reward)| reward)
}

fn asks_model(reward: &Planned) -> bool {
    reward.built.spec.files.iter().any(|(name, _)| name == MODEL)
}

/// Whether a text that comes alone is embedded, and not scored.
pub(super) fn embeds(asked: &Asked) -> Result<bool, ApiError> {
    Ok(Judge::of(asked, None)?.compares())
}

/// What is served as a model.
pub(super) struct Served {
    /// The name of the profile.
    pub(super) profile: String,
    /// SHA-256 of the folder of the model.
    pub(super) digest: Option<String>,
    /// Whether texts are embedded, and not scored.
    pub(super) embeds: bool,
}

/// What a profile serves as a model.
pub(super) fn served(profile: Arc<Profile>) -> Served {
    let judge = Judge::by(profile);
    let name = judge.model.as_ref().map(|(name, _)| name.as_str());
    let mut rewards = judge.profile.engine.plan().rewards.iter();
    let reward = rewards.find(|reward| Some(reward.name.as_str()) == name);
    let mut files = reward.into_iter().flat_map(|reward| &reward.built.spec.files);
    let digest = files.find(|(name, _)| name == MODEL).map(|(_, digest)| hex(digest));
    Served { profile: judge.profile.name.clone(), digest, embeds: judge.compares() }
}

/// What a model makes of each text, which came as the field `field`: the vector of an embedding model,
/// where `rewards` allows it else the reward.
pub(super) async fn vectors(
    asked: &Asked,
    model: Option<&str>,
    field: &'static str,
    texts: Vec<String>,
    rewards: bool,
) -> Result<Vectors, ApiError> {
    let judge = Judge::of(asked, model)?;
    if !rewards && !judge.compares() {
        let message =
            format!("no vectors: the profile {} asks no embedding model", judge.profile.name);
        return Err(ApiError::bad_request(message));
    }
    let inputs = texts.into_iter().map(Input::Text).collect();
    let judged = judged(asked, model, field, inputs).await?;
    let are_rewards = !judged.judge.compares();
    let all = judged.each(|judge, scored, is_text| match judge.vector(scored) {
        Some(vector) => Ok(vector),
        None => judge.score(scored, is_text).map(|score| vec![score.reward]),
    })?;
    let profile = judged.judge.profile.name.clone();
    Ok(Vectors { all, usage: judged.usage(), profile, are_rewards })
}

async fn judged(
    asked: &Asked,
    model: Option<&str>,
    field: &'static str,
    inputs: Vec<Input>,
) -> Result<Judged, ApiError> {
    let judge = Judge::of(asked, model)?;
    let count = inputs.len();
    if count == 0 {
        return Err(ApiError::bad_request("expected at least one").at(field));
    }
    asked.check_count(count)?;
    let are_texts: Vec<bool> = inputs.iter().map(|one| matches!(one, Input::Text(_))).collect();
    if judge.model.is_none() && count == 1 {
        judge.profile.check_alone()?;
    } else if judge.model.is_none() && are_texts.contains(&true) {
        judge
            .profile
            .check_grouped("texts without prompts have no groups: send pairs, or messages")?;
    }
    let samples = inputs
        .into_iter()
        .enumerate()
        .map(|(at, input)| judge.sample(input).map_err(|error| error.at(place(field, count, at))));
    let samples: Vec<Sample> = samples.collect::<Result<_, _>>()?;
    let _permits = asked.enter(count).await?;
    let scored = asked.judge(&judge.profile, Rows::of_samples(samples), 0).await;
    Ok(Judged { judge, scored, are_texts, field })
}

/// Refuses a text that goes with so many others that its copies would fill the memory.
pub(super) fn check_copies(text: &str, count: usize) -> Result<(), ApiError> {
    if text.len().saturating_mul(count) <= COPIES_BYTES_MAX {
        return Ok(());
    }
    let message = format!("{} bytes that go with {count} texts each are too many", text.len());
    Err(ApiError::new(ErrorKind::TooLarge, message))
}

fn place(field: &str, count: usize, at: usize) -> String {
    if count == 1 { field.to_owned() } else { format!("{field}[{at}]") }
}

impl Judged {
    /// What is made of each input; an error names the place of the first that has none.
    fn each<T>(
        &self,
        made: impl Fn(&Judge, &Scored, bool) -> Result<T, ApiError>,
    ) -> Result<Vec<T>, ApiError> {
        let one = |(at, (scored, is_text)): (usize, (&Scored, &bool))| {
            let refused = |error: ApiError| error.at(place(self.field, self.scored.len(), at));
            made(&self.judge, scored, *is_text).map_err(refused)
        };
        ApiError::all(self.scored.iter().zip(&self.are_texts).enumerate().map(one))
    }

    fn usage(&self) -> TokenUsage {
        let verdicts = self.scored.iter().flat_map(|one| one.verdicts.iter());
        let tokens = verdicts.map(|(_, verdict)| verdict.usage.tokens).sum();
        TokenUsage { prompt_tokens: tokens, total_tokens: tokens, completion_tokens: 0 }
    }
}

impl Input {
    /// Everything that it consists of.
    fn parts(&self) -> Vec<Vec<u8>> {
        match self {
            Self::Text(text) => vec![b"text".to_vec(), text.as_bytes().to_vec()],
            Self::Pair(one, two) => {
                vec![b"pair".to_vec(), one.as_bytes().to_vec(), two.as_bytes().to_vec()]
            }
            Self::Messages(messages) => {
                let text = |one: &Message| one.to_value().to_string().into_bytes();
                let kind = std::iter::once(b"messages".to_vec());
                kind.chain(messages.iter().map(text)).collect()
            }
        }
    }
}

impl Judge {
    fn of(asked: &Asked, model: Option<&str>) -> Result<Self, ApiError> {
        let profiles = asked.shared.profiles.load();
        let named = model.filter(|model| profiles.iter().any(|profile| profile.name == *model));
        Ok(Self::by(asked.profile(named).map_err(|error| error.at("model"))?))
    }

    fn by(profile: Arc<Profile>) -> Self {
        let model = rewards_alone(profile.engine.plan()).find(|reward| asks_model(reward));
        let compares =
            |lane: &Lane| matches!(lane, Lane::Awaited(own) if own.aspect() == Aspect::Likeness);
        let model = model.map(|one| (one.name.clone(), compares(&one.built.lane)));
        Self { profile, model }
    }

    /// Whether the model compares two texts: the first of a pair is its reference.
    fn compares(&self) -> bool {
        self.model.as_ref().is_some_and(|(_, compares)| *compares)
    }

    fn sample(&self, input: Input) -> Result<Sample, ApiError> {
        let compares = self.compares();
        Ok(match input {
            // What is in `/v1/verify` for a conversation is never taken for its rendering.
            Input::Text(text) if self.model.is_some() => Sample::builder(text).rendered().build(),
            Input::Text(text) => Sample::builder(text).build(),
            Input::Pair(one, two) if compares => Sample::builder(two).reference(one).build(),
            Input::Pair(one, two) => Sample::builder(two).prompt(one).build(),
            Input::Messages(mut messages) => {
                let last = messages.pop().filter(|last| last.role == "assistant");
                let Some(last) = last else {
                    let message = "the last message is the completion: one of the assistant";
                    return Err(ApiError::bad_request(message));
                };
                let prompt = Content::Messages(messages);
                Sample::builder(Content::Messages(vec![last])).prompt(prompt).build()
            }
        })
    }

    /// What the model makes of a text that is compared with none.
    fn vector(&self, scored: &Scored) -> Option<Vec<f64>> {
        let (name, _) = self.model.as_ref()?;
        let vector = scored.verdict(name)?.evidence.get(VECTOR)?.as_array()?;
        vector.iter().map(Value::as_f64).collect()
    }

    fn score(&self, scored: &Scored, is_text: bool) -> Result<Score, ApiError> {
        let Some((name, _)) = &self.model else {
            let reward = scored.reward().ok_or_else(|| ApiError::unscored(scored))?;
            return Ok(Score { reward, steps: Vec::new(), label: ONLY_LABEL.to_owned() });
        };
        let verdict = scored.verdict(name).ok_or_else(|| ApiError::unscored(scored))?;
        let reward = match &verdict.outcome {
            Outcome::Scored(reward) => reward.get(),
            Outcome::Failed(fault) => return Err(ApiError::fault(fault)),
            Outcome::Abstained(why) => {
                let hint = if is_text { "; send pairs, or messages" } else { "" };
                let message = format!("no reward: {name} abstained: {why}{hint}");
                return Err(ApiError::abstained(message));
            }
        };
        let steps = verdict.steps.iter().map(|step| step.reward.get()).collect();
        Ok(Score { reward, steps, label: label(verdict, reward, name) })
    }
}

/// The label of the model whose value the reward is; without labels the word of `transformers`, and where
/// the reward is made of them, the name of the reward.
fn label(verdict: &Verdict, reward: f64, name: &str) -> String {
    let components = &verdict.components;
    let is_it = |outcome: &Outcome| {
        components.len() == 1 || outcome.reward().map(Reward::get) == Some(reward)
    };
    let mut labels = components.iter();
    match labels.find(|(_, component)| is_it(&component.outcome)) {
        Some((label, _)) => label.to_owned(),
        None if components.is_empty() => ONLY_LABEL.to_owned(),
        None => name.to_owned(),
    }
}
