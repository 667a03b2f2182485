//! `model.toml`: what a model folder says of itself. `docs/model-folder.md` documents every key.

mod read;

use std::collections::BTreeMap;

use assay_verifiers::Pattern;
use assay_verifiers::stats::Aggregate;
use serde::{Deserialize, Serialize};
use smart_default::SmartDefault;

/// The name of the manifest in its folder.
pub const FILE: &str = "model.toml";

/// What a model folder says of itself.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// 1.
    pub version: u32,
    /// Free text, shown in evidence.
    pub name: String,
    /// What the model judges.
    pub kind: ModelKind,
    /// Where the weights came from.
    pub source: Option<String>,
    /// Their licence.
    pub licence: Option<String>,
    /// The graphs.
    #[serde(rename = "graph")]
    pub graphs: Vec<Graph>,
    /// The tokenizer.
    pub tokenizer: TokenizerFile,
    /// How a sample becomes a text.
    pub template: TemplateFile,
    /// How a completion becomes steps.
    #[serde(default)]
    pub steps: Steps,
    /// How values of the graph become a score.
    #[serde(default)]
    pub score: Score,
    /// What the model takes.
    pub limits: TextLimits,
    /// How the model writes.
    #[serde(default)]
    pub generate: Generate,
    /// What must come out.
    #[serde(default, rename = "golden")]
    pub goldens: Vec<Golden>,
}

/// What a model judges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelKind {
    /// A completion, by one score (or one of several labels).
    Outcome,
    /// Every step of a completion.
    Process,
    /// Which of two completions is better.
    Pairwise,
    /// By writing, or by the first token that it would write.
    Generative,
    /// By the log-probability ratio of two models.
    Implicit,
    /// By a vector.
    Embedding,
}

/// One ONNX graph.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Graph {
    /// The file.
    pub file: String,
    /// Its SHA-256, in hexadecimal.
    pub sha256: String,
    /// Files with external weights.
    #[serde(default)]
    pub data: Vec<DataFile>,
    /// What the graph is for.
    #[serde(default)]
    pub role: Role,
    /// How exact its numbers are.
    #[serde(default)]
    pub precision: Precision,
    /// Names of inputs, where they are not the standard ones.
    #[serde(default)]
    pub inputs: BTreeMap<String, String>,
    /// Names of outputs, where they are not the standard ones.
    #[serde(default)]
    pub outputs: BTreeMap<String, String>,
    /// The shape of past keys and values, where the graph takes them.
    pub past: Option<PastShape>,
}

impl Graph {
    /// The name of an input in the graph.
    pub fn input<'a>(&'a self, standard: &'a str) -> &'a str {
        self.inputs.get(standard).map_or(standard, String::as_str)
    }

    /// The name of an output in the graph.
    pub fn output<'a>(&'a self, standard: &'a str) -> &'a str {
        self.outputs.get(standard).map_or(standard, String::as_str)
    }
}

/// A file with external weights.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataFile {
    /// The file.
    pub file: String,
    /// Its SHA-256, in hexadecimal.
    pub sha256: String,
}

/// What a graph is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// It judges.
    #[default]
    Model,
    /// What an implicit model is measured against.
    Reference,
}

/// How exact the numbers of a graph are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    /// 32-bit floats: a score does not depend on the batch.
    #[default]
    Fp32,
    /// 16-bit floats.
    Fp16,
    /// 16-bit floats of the other kind, computed in 32 bits.
    Bf16,
    /// 8-bit integers with ranges found at run time: a score depends on the batch.
    Int8,
    /// Weights in blocks of 8-bit integers, computed in floats.
    Int8Blocks,
    /// Weights in blocks of 4-bit integers, computed in floats.
    Int4Blocks,
}

/// The shape of past keys and values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PastShape {
    /// Layers, each with a key and a value.
    pub layers: usize,
    /// Heads of keys and values.
    pub heads: usize,
    /// Numbers a head.
    pub head_dim: usize,
}

/// The tokenizer.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenizerFile {
    /// The file.
    pub file: String,
    /// Its SHA-256, in hexadecimal.
    pub sha256: String,
    /// Whether the tokenizer adds its own special tokens around the text.
    #[serde(default)]
    pub add_special_tokens: bool,
    /// Drop the second of two leading BOS tokens.
    #[serde(default)]
    pub strip_bos: bool,
    /// Special tokens, as the template calls them.
    #[serde(default)]
    pub tokens: BTreeMap<String, String>,
    /// What pads a batch.
    #[serde(default)]
    pub pad_token_id: u32,
}

/// The template.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TemplateFile {
    /// The file with the template.
    pub file: Option<String>,
    /// The template itself.
    pub text: Option<String>,
    /// The file with the chat template of the tokenizer.
    pub chat: Option<String>,
    /// What the template sees as `system`.
    pub system: String,
}

/// How a completion becomes steps.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Steps {
    /// Where a step ends.
    pub split: Split,
    /// The separator, or the regular expression.
    pub pattern: String,
}

/// Where a step ends.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Split {
    /// At an empty line.
    #[default]
    BlankLine,
    /// At the end of a line.
    Newline,
    /// At a separator.
    Separator,
    /// At a match of a regular expression.
    Regex,
    /// Where a sentence turns to another thought: "Wait, ...", "Alternatively, ...".
    Thoughts,
}

/// How values of the graph become a score.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Score {
    /// From values to one number.
    pub transform: Transform,
    /// The class of a softmax, or the id of a token.
    pub index: usize,
    /// Ids of tokens that say yes.
    pub positive: Vec<usize>,
    /// Ids of tokens that say no.
    pub negative: Vec<usize>,
    /// A weight for each value.
    pub weights: Vec<f64>,
    /// Names of the values.
    pub labels: Vec<String>,
    /// From the scores of steps to one.
    pub aggregate: Aggregate,
    /// What happens to a score at the end.
    pub calibration: Calibration,
    /// Where a score must lie.
    pub range: Option<[f64; 2]>,
}

/// From the values of a position to one number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transform {
    /// The value `index`, as it is.
    #[default]
    None,
    /// 1 / (1 + e^-x) of the value `index`.
    Sigmoid,
    /// The softmax over all values, at `index`.
    Softmax,
    /// The share of the tokens `positive` among `positive` and `negative`.
    TokenSoftmax,
    /// The logit of the token `index`.
    TokenLogit,
    /// The sum of values times weights.
    Weighted,
    /// The sum of values times the gates that the graph gives.
    Gated,
}

/// `(score + shift) * scale`, then clipped.
#[derive(Clone, Debug, Deserialize, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct Calibration {
    /// Added first.
    pub shift: f64,
    /// Multiplied then.
    #[default(1.0)]
    pub scale: f64,
    /// The least and the greatest score.
    pub clip: Option<[f64; 2]>,
}

/// What the model takes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TextLimits {
    /// The longest text, in tokens.
    pub max_tokens: usize,
    /// What happens to a longer one.
    #[serde(default)]
    pub on_overflow: OnOverflow,
}

/// What happens to a text that is too long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnOverflow {
    /// The sample cannot be judged.
    #[default]
    Error,
    /// The prompt loses its beginning.
    TruncatePromptLeft,
}

/// How the model writes.
#[derive(Clone, Debug, Deserialize, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct Generate {
    /// One pass, or a text.
    pub mode: Mode,
    /// The most tokens that it writes.
    #[default(512)]
    pub max_new_tokens: usize,
    /// 0 takes the likeliest token.
    pub temperature: f64,
    /// The share of the probability that is sampled from.
    #[default(1.0)]
    pub top_p: f64,
    /// Where the random numbers start.
    pub seed: u64,
    /// How many texts vote.
    #[default(1)]
    pub votes: usize,
    /// Texts that end the writing.
    pub stop: Vec<String>,
    /// Tokens that end the writing.
    pub eos_token_ids: Vec<u32>,
    /// The first group is the score.
    pub parse: Option<Pattern>,
    /// What words of a verdict are worth, in lower case; others are read as numbers.
    pub verdicts: BTreeMap<String, f64>,
    /// Where a score that was written must lie.
    pub parse_range: Option<[f64; 2]>,
    /// What becomes of a text without a score.
    #[default(OnParseFail::Word(ParseFail::Abstain))]
    pub on_parse_fail: OnParseFail,
}

/// How a generative model judges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// By the token that it would write first.
    #[default]
    Verdict,
    /// By a score in the text that it writes.
    Critique,
}

/// What becomes of a text without a score: a word, or the score itself.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum OnParseFail {
    /// A word.
    Word(ParseFail),
    /// The score.
    Score(f64),
}

/// What becomes of a text without a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ParseFail {
    /// The sample is not judged.
    Abstain,
    /// The model is at fault.
    Fail,
}

/// A sample, and what must come out of it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Golden {
    /// The prompt as a text.
    pub prompt: Option<String>,
    /// The prompt as messages.
    pub messages: Vec<assay_verifiers::Message>,
    /// The completion.
    pub completion: String,
    /// The first of two completions.
    pub first: Option<String>,
    /// The second of two completions.
    pub second: Option<String>,
    /// The steps, where they are not split from the completion.
    pub steps: Option<Vec<String>>,
    /// The reference.
    pub reference: Option<String>,
    /// The tokens.
    pub token_ids: Vec<u32>,
    /// Where scores are read.
    pub positions: Option<Vec<usize>>,
    /// What the graph gives at each position.
    pub raw: Option<Vec<Vec<f64>>>,
    /// The standard deviation of each value, where the graph gives it.
    pub uncertainties: Option<Vec<Vec<f64>>>,
    /// The score of each position.
    pub scores: Option<Vec<f64>>,
    /// The score of the whole.
    pub score: Option<f64>,
    /// What greedy decoding writes.
    pub text: Option<String>,
    /// How far a number may be off, as a share of it where it is beyond 1.
    pub tolerance: f64,
}

impl Manifest {
    /// Whether the model judges by what it writes.
    pub fn generates(&self) -> bool {
        matches!(self.kind, ModelKind::Generative | ModelKind::Process)
            && self.generate.mode == Mode::Critique
    }

    /// The graph of a role.
    pub fn graph(&self, role: Role) -> Option<&Graph> {
        self.graphs.iter().find(|graph| graph.role == role)
    }
}
