//! The configuration: what to judge, with which verifiers, and how rewards become one.

mod bind;
mod serve;

use std::collections::BTreeMap;

use assay_trainer::config::{AdvantageConfig, LossTable, SelectConfig, TrainConfig};
use assay_verifiers::schedule::Schedule;
use assay_verifiers::shaping;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use smart_default::SmartDefault;

use super::scale::{Deviation, Normalise};
use super::turns::JudgedTurn;
use crate::data::{Columns, ReadLimits};
use crate::rubrics::judge::JudgeConfig;

pub use bind::Bind;
pub use serve::ServeConfig;

/// A whole configuration file.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The version of this format: 1.
    #[default(1)]
    pub version: u32,
    /// Which columns of a row mean what.
    #[serde(default)]
    pub data: Columns,
    /// The rewards, in the order in which they are reported.
    #[serde(rename = "reward", default)]
    pub rewards: Vec<RewardConfig>,
    /// The judges that rubrics and comparisons may ask, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub judges: BTreeMap<String, JudgeConfig>,
    /// How the rewards become one.
    #[serde(default)]
    pub combine: CombineConfig,
    /// What one verdict may cost.
    #[serde(default)]
    pub limits: LimitsConfig,
    /// Where verdicts are kept for the next run.
    #[serde(default)]
    pub cache: CacheConfig,
    /// How rewards become advantages: `assay advantages` and trainers read it. It moves no reward.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advantage: Option<AdvantageConfig>,
    /// Which rollouts are trained on: trainers read it. It moves no reward.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub select: Option<SelectConfig>,
    /// What the policy is trained with: trainers read it. It moves no reward.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossTable>,
    /// How a policy is trained: `assay train` reads it. It moves no reward.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub train: Option<TrainConfig>,
    /// Which lints `assay validate` and `assay score` keep to themselves. It moves no reward.
    #[serde(default, skip_serializing_if = "LintConfig::is_default")]
    pub lint: LintConfig,
    /// How the daemon serves: `assay serve` reads it. It moves no reward.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub serve: Option<ServeConfig>,
}

/// Lints: `assay list lints` names them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LintConfig {
    /// The codes of lints that are not wanted, such as `format_only`.
    pub allow: Vec<String>,
}

impl LintConfig {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// One reward: a verifier, its settings and its weight.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RewardConfig {
    /// The name under which it is reported. Unique.
    pub name: String,
    /// The id of the verifier: `assay list checks` names them.
    pub verifier: String,
    /// Its weight in `weighted_sum`: a number, or a schedule over the training step, such as
    /// `{ kind = "linear", from = 0.0, to = 1.0, start = 100, end = 1000 }`. With weight 0 it is
    /// reported and counts for nothing.
    #[serde(default = "one")]
    pub weight: Schedule,
    /// A sample on which it abstains has no reward: what others say of it is not enough. One to which
    /// `when` does not apply keeps its reward.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub required: bool,
    /// A rhai expression over the sample (`meta`, `reference`, `completion`, `prompt`, `id`,
    /// `group`), the training step (`step`, 0 offline) and earlier verdicts (`rewards.NAME`, `verdicts.NAME.outcome`). Where it is
    /// false the verifier abstains and spends nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// The settings of the verifier: `assay show ID` names them.
    #[serde(default)]
    pub config: Map<String, Value>,
    /// How its reward is shaped before rewards become one: `[{ kind = "overlong", ... }]`, applied in
    /// their order. Every `when`, every gate and every other reward sees the reward as it was judged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "shapes_schema")]
    pub shape: Vec<Map<String, Value>>,
    /// Keep verdicts for the next run. By default what is awaited (models, judges) does; rule
    /// checks are cheaper to run again than to look up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<bool>,
    /// The version of the verifier to which the reward is held: another one is an error that says
    /// what changed, so that an upgrade moves no reward in the middle of a training.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pin: Option<u32>,
    /// Which message of a conversation is judged: `last_assistant`, `first_assistant`, `last`,
    /// `each_assistant` (the mean, with a reward for each message as `steps`), or the place of a
    /// message, counted from 0.
    #[serde(default, skip_serializing_if = "JudgedTurn::is_default")]
    pub turn: JudgedTurn,
    /// Fuel for one verdict; by default `limits.fuel`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fuel: Option<u64>,
}

/// How rewards become one.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct CombineConfig {
    /// The rule.
    #[default(CombineBy::WeightedSum)]
    pub how: CombineBy,
    /// Bounds of the combined reward.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clamp: Option<[f64; 2]>,
    /// What an abstained reward is in the sum of `weighted_sum` and `gate`. By default `zero`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_abstain: Option<OnAbstain>,
    /// What becomes of a sample one of whose verdicts failed.
    #[default(OnFault::Mask)]
    pub on_fault: OnFault,
    /// What `on_fault = "floor"` pays. By default the lower clamp, else 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floor: Option<f64>,
    /// The expression of `how = "expression"`: rewards by name, `()` where one abstained, and the
    /// training step as `step`, 0 offline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expression: Option<String>,
    /// The formula of `how = "formula"`: rewards by name, missing where one abstained, and `step`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub formula: Option<String>,
    /// The recipe whose formula `how = "formula"` takes, in place of `formula`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recipe: Option<String>,
    /// Settings of the recipe.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub settings: Map<String, Value>,
    /// The gates of `how = "gate"`. By default the first reward.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gates: Option<Vec<String>>,
    /// The least reward at which a gate lets the rest count.
    #[default(1.0)]
    pub pass: f64,
    /// Whether a gate that abstained lets the rest count. One that its `when` rules out does.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub open: bool,
    /// Whether rewards are normalised over their group, and when.
    #[serde(skip_serializing_if = "Normalise::is_none")]
    pub normalise: Normalise,
    /// What is added to the standard deviation by which `normalise` divides. By default 1e-6.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eps: Option<f64>,
    /// The standard deviation by which `normalise` divides. By default the unbiased one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub std: Option<Deviation>,
}

/// The rule by which rewards become one. Rewards that abstained take no part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CombineBy {
    /// The sum of weight times reward. Weights are not normalised.
    WeightedSum,
    /// The product of the rewards; weights are not used, except that 0 leaves one out.
    Product,
    /// The least reward; weights are not used, except that 0 leaves one out.
    Min,
    /// 0 unless every gate passes; one that abstained does not. Then the weighted sum of the rest. Behind a gate that does
    /// not pass nothing is run.
    Gate,
    /// A rhai expression over the rewards.
    Expression,
    /// A formula over the rewards, or that of a recipe.
    Formula,
}

impl CombineBy {
    /// Whether the configuration writes how the rewards become one, and no weight is read.
    pub fn is_written(self) -> bool {
        matches!(self, Self::Expression | Self::Formula)
    }
}

/// What an abstained reward is in a weighted sum. One that its `when` rules out is never missed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnAbstain {
    /// It adds nothing, as a reward of 0 would.
    #[default]
    Zero,
    /// Its weight goes to the others, in proportion to theirs.
    Renormalise,
    /// The sample abstains.
    Abstain,
}

/// What becomes of a sample one of whose verdicts failed. Never silently a zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnFault {
    /// The sample has no reward.
    Mask,
    /// No sample of its group has a reward.
    DropGroup,
    /// The sample earns `floor`; its verdicts still show the fault.
    Floor,
}

/// What one verdict may cost.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct LimitsConfig {
    /// Fuel for one verdict of the compute lane: a unit is about a byte looked at.
    #[default(assay_verifiers::Meter::DEFAULT_FUEL)]
    pub fuel: u64,
    /// The wall-clock backstop for one verdict, in milliseconds. Its verdict is a `Timeout` and is
    /// never cached.
    #[default(120_000)]
    pub deadline_ms: u64,
    /// The longest row, in bytes.
    #[default(16 << 20)]
    pub row_bytes_max: u64,
    /// The most bytes that a byte of compressed input may become.
    #[default(200)]
    pub inflate_ratio_max: u64,
}

impl LimitsConfig {
    /// The limits of reading.
    pub fn data(&self) -> ReadLimits {
        ReadLimits {
            row_bytes_max: usize::try_from(self.row_bytes_max).unwrap_or(usize::MAX),
            inflate_ratio_max: self.inflate_ratio_max,
            ..ReadLimits::default()
        }
    }
}

/// Where verdicts are kept.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct CacheConfig {
    /// Whether any verdict is kept.
    #[default(true)]
    pub enabled: bool,
    /// The folder; by default the user's cache folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dir: Option<String>,
}

fn one() -> Schedule {
    Schedule::ONE
}

/// One of the kinds of shaping, for each entry.
fn shapes_schema(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": shaping::schema(generator) })
}

impl RewardConfig {
    /// A reward of weight 1 by a verifier with its default settings.
    pub fn new(name: impl Into<String>, verifier: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            verifier: verifier.into(),
            weight: one(),
            required: false,
            when: None,
            config: Map::new(),
            shape: Vec::new(),
            cache: None,
            pin: None,
            turn: JudgedTurn::default(),
            fuel: None,
        }
    }
}

impl Config {
    /// The JSON Schema of the configuration, for editors.
    pub fn json_schema() -> Value {
        schemars::schema_for!(Self).to_value()
    }
}
