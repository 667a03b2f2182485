//! The table `[train]` of a configuration.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use smart_default::SmartDefault;

use super::generation::GenerationConfig;
use super::monitor::MonitorConfig;
use super::tool::ToolConfig;

/// How a policy is trained. Rewards, `[advantage]`, `[select]` and `[loss]` are tables of their own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrainConfig {
    /// What is trained.
    pub model: ModelConfig,
    /// The tasks that are trained on: files of rows with a prompt, a reference and metadata.
    pub tasks: Vec<String>,
    /// The tasks that are held out: the policy is evaluated on them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held_out: Vec<String>,
    /// The reward that says whether an answer is right (1) or not (0), by its name, or a list of
    /// names, of which the first that did not abstain says so. It may have a weight of 0. By default
    /// the first reward.
    #[serde(default, deserialize_with = "one_or_many", skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "one_or_many_schema")]
    pub correct: Vec<String>,
    /// Steps: each samples, asks for rewards and updates the policy.
    pub steps: u64,
    /// From which everything random is drawn.
    #[serde(default)]
    pub seed: u64,
    /// Threads; 0 is one for each core.
    #[serde(default)]
    pub threads: usize,
    /// Groups (prompts) of a step.
    #[serde(default = "groups")]
    pub groups: usize,
    /// Completions of a group.
    #[serde(default = "group_size")]
    pub group_size: usize,
    /// How many parts a step is sampled in: the rewards of one are computed while the next is sampled.
    #[serde(default = "parts")]
    pub sampling_parts: usize,
    /// How often the rollouts of a step are gone through.
    #[serde(default = "one")]
    pub epochs: usize,
    /// Updates in each going through, over equal shares of the rollouts.
    #[serde(default = "one")]
    pub minibatches: usize,
    /// Whether nothing of a completion that was cut at the length limit is trained on.
    #[serde(default)]
    pub mask_truncated_completions: bool,
    /// The most tokens of a forward pass: gradients of several are added up before an update.
    #[serde(default = "tokens_per_pass")]
    pub tokens_per_pass: usize,
    /// How completions are sampled.
    #[serde(default)]
    pub generation: GenerationConfig,
    /// A tool that the policy calls within a completion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<ToolConfig>,
    /// How weights are updated.
    #[serde(default)]
    pub optimizer: OptimizerConfig,
    /// Supervised training before the first step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warmup: Option<WarmupConfig>,
    /// How the policy is evaluated.
    #[serde(default)]
    pub evaluation: EvaluationConfig,
    /// What is kept for another day.
    #[serde(default)]
    pub checkpoint: CheckpointConfig,
    /// How the training is watched for a reward that is hacked.
    #[serde(default)]
    pub monitor: MonitorConfig,
}

/// What is trained: a folder of weights, or a new decoder with random ones.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ModelConfig {
    /// A Hugging Face folder of Llama, Qwen2 or Qwen3: `config.json`, weights as safetensors,
    /// `tokenizer.json`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// A decoder with random weights, in place of a folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<NewModelConfig>,
    /// Train low-rank adapters in place of the weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lora: Option<LoraConfig>,
    /// Whether prompts go through the chat template of the folder; by default where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chat: Option<bool>,
}

/// A decoder with random weights, whose tokens are characters. The names are those of `config.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NewModelConfig {
    /// `llama`, `qwen2` or `qwen3`.
    #[serde(default = "llama")]
    pub architecture: String,
    /// The characters that are tokens; by default those of the tasks, of the warm-up and of
    /// what marks calls of a tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alphabet: Option<String>,
    /// The width of the residual stream.
    pub hidden_size: usize,
    /// The width inside of the feed-forward layers.
    pub intermediate_size: usize,
    /// Layers.
    pub num_hidden_layers: usize,
    /// Heads of the queries.
    pub num_attention_heads: usize,
    /// Heads of the keys and values; by default as many as of the queries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub num_key_value_heads: Option<usize>,
    /// The most tokens of a sequence.
    pub max_position_embeddings: usize,
    /// The base of the rotary positions.
    #[serde(default = "rope_theta")]
    pub rope_theta: f64,
    /// Whether the output layer is the embedding.
    #[serde(default = "yes")]
    pub tie_word_embeddings: bool,
    /// The standard deviation of the random weights.
    #[serde(default = "initializer_range")]
    pub initializer_range: f64,
}

/// Low-rank adapters ("`LoRA`: Low-Rank Adaptation of Large Language Models", section 4.1). The names are
/// those of PEFT.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct LoraConfig {
    /// The rank of an adapter.
    #[default(8)]
    pub r: usize,
    /// An adapter is scaled by `lora_alpha / r`.
    #[default(16.0)]
    pub lora_alpha: f64,
    /// The layers that get one: `q_proj`, `k_proj`, `v_proj`, `o_proj`, `gate_proj`, `up_proj`,
    /// `down_proj`.
    #[default(["q_proj", "v_proj"].map(str::to_owned).to_vec())]
    pub target_modules: Vec<String>,
}

/// `AdamW` ("Decoupled Weight Decay Regularization", algorithm 2), and the learning rate over the steps.
/// The names are those of `TrainingArguments` of transformers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct OptimizerConfig {
    /// The learning rate after its warm-up.
    #[default(1e-6)]
    pub learning_rate: f64,
    /// How the rate goes on after its warm-up.
    pub lr_scheduler_type: LrScheduler,
    /// Updates over which the rate rises from 0.
    pub warmup_steps: u64,
    /// The decay of the first moment.
    #[default(0.9)]
    pub adam_beta1: f64,
    /// The decay of the second moment.
    #[default(0.999)]
    pub adam_beta2: f64,
    /// What is added to the root of the second moment.
    #[default(1e-8)]
    pub adam_epsilon: f64,
    /// Weight decay, times the learning rate; norms and biases have none.
    pub weight_decay: f64,
    /// The greatest norm of the gradient of an update; 0 is not a bound.
    #[default(1.0)]
    pub max_grad_norm: f64,
}

/// How the learning rate goes on after its warm-up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LrScheduler {
    /// It stays.
    Constant,
    /// It falls to 0 on a line.
    #[default]
    Linear,
    /// It falls to 0 on half a cosine.
    Cosine,
}

/// Supervised training on demonstrations: rows with a prompt and a completion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WarmupConfig {
    /// Files of demonstrations.
    pub data: Vec<String>,
    /// Updates.
    pub steps: u64,
    /// Demonstrations of an update.
    #[serde(default = "batch_size")]
    pub batch_size: usize,
    /// How weights are updated.
    #[serde(default)]
    pub optimizer: OptimizerConfig,
}

/// How the policy is evaluated on the tasks that are held out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct EvaluationConfig {
    /// After so many steps each; 0 is before the first and after the last alone.
    pub every: u64,
    /// Completions that are sampled of each task for pass@k and support shrinkage, before the first
    /// step and after the last; 0 is none.
    pub samples: usize,
    /// The k of pass@k.
    #[default(vec![1, 8])]
    pub k: Vec<usize>,
    /// At most so many tasks, the first ones; 0 is all.
    pub tasks_max: usize,
}

/// What is kept for another day.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct CheckpointConfig {
    /// After so many steps each; 0 is after the last alone.
    pub every: u64,
    /// How many are kept, the newest; 0 is all.
    #[default(2)]
    pub keep: usize,
}

fn llama() -> String {
    "llama".to_owned()
}

fn rope_theta() -> f64 {
    10_000.0
}

fn yes() -> bool {
    true
}

fn initializer_range() -> f64 {
    0.02
}

fn batch_size() -> usize {
    64
}

fn groups() -> usize {
    32
}

fn group_size() -> usize {
    8
}

fn parts() -> usize {
    4
}

fn one() -> usize {
    1
}

fn tokens_per_pass() -> usize {
    16_384
}

/// A text, or a list of texts.
fn one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a name or a list of names")]
    enum Names {
        One(String),
        Many(Vec<String>),
    }
    Ok(match Names::deserialize(deserializer)? {
        Names::One(name) => vec![name],
        Names::Many(names) => names,
    })
}

fn one_or_many_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }]
    })
}
