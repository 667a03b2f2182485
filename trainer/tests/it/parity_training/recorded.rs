//! Trainings as `benches/parity/trl_training.py` recorded them, and the settings of ours that are to do the
//! same.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;

use assay_trainer::advantages::{AdvantageConfig, Estimator};
use assay_trainer::config::{LrScheduler, OptimizerConfig};
use assay_trainer::losses::{self, PolicyLoss};
use assay_trainer::policy::{self, folder::PolicyFolder};
use assay_trainer::ragged::Ragged;
use serde::Deserialize;
use serde_json::json;

/// A training.
#[derive(Deserialize)]
pub(crate) struct RecordedTraining {
    pub(crate) model: String,
    pub(crate) settings: TrlSettings,
    pub(crate) tasks: Vec<RecordedTask>,
    pub(crate) generations: Vec<Generation>,
    pub(crate) updates: Vec<RecordedUpdate>,
    pub(crate) weights: BTreeMap<String, FinalWeights>,
}

/// What `GRPOConfig` was given; what it was not has the default of TRL 1.16.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct TrlSettings {
    pub(crate) loss_type: String,
    pub(crate) scale_rewards: String,
    pub(crate) beta: f64,
    pub(crate) epsilon_high: f64,
    pub(crate) entropy_coef: f64,
    pub(crate) num_iterations: usize,
    pub(crate) gradient_accumulation_steps: usize,
    /// By default the steps of accumulation.
    pub(crate) steps_per_generation: Option<usize>,
    pub(crate) mask_truncated_completions: bool,
    pub(crate) temperature: f64,
    pub(crate) num_generations: usize,
    pub(crate) per_device_train_batch_size: usize,
    pub(crate) max_completion_length: usize,
    pub(crate) learning_rate: f64,
    pub(crate) lr_scheduler_type: String,
    pub(crate) warmup_steps: u64,
    pub(crate) weight_decay: f64,
    pub(crate) adam_beta1: f64,
    pub(crate) adam_beta2: f64,
    pub(crate) adam_epsilon: f64,
    pub(crate) max_grad_norm: f64,
}

/// A prompt, and what the reward looks for.
#[derive(Clone, Deserialize)]
pub(crate) struct RecordedTask {
    pub(crate) prompt: String,
    pub(crate) answer: String,
}

/// What was sampled at one time, group after group.
#[derive(Clone, Deserialize)]
pub(crate) struct Generation {
    /// One for each group.
    pub(crate) prompts: Vec<String>,
    /// The same as tokens.
    pub(crate) prompt_ids: Ragged<u32>,
    pub(crate) completions: Ragged<u32>,
    pub(crate) rewards: Vec<Option<f64>>,
    pub(crate) advantages: Vec<f64>,
}

/// An update of the weights, and what is logged of it.
#[derive(Clone, Deserialize)]
pub(crate) struct RecordedUpdate {
    pub(crate) generation: usize,
    pub(crate) batches: Vec<RecordedBatch>,
    pub(crate) loss: f64,
    pub(crate) grad_norm: f64,
    pub(crate) learning_rate: f64,
    pub(crate) entropy: f64,
    pub(crate) kl: Option<f64>,
    #[serde(rename = "clip_ratio/region_mean")]
    pub(crate) clipped: f64,
    /// What is logged of the generation, in the first update with it.
    #[serde(flatten)]
    pub(crate) of_generation: BTreeMap<String, f64>,
}

/// A batch whose gradient is added to those of the update.
#[derive(Clone, Deserialize)]
pub(crate) struct RecordedBatch {
    pub(crate) rows: Vec<usize>,
    pub(crate) loss: f64,
}

/// What a tensor is known by after the last update.
#[derive(Deserialize)]
pub(crate) struct FinalWeights {
    pub(crate) norm: f64,
    pub(crate) moved: f64,
    pub(crate) against_cosines: f64,
    pub(crate) decays: bool,
}

impl Default for TrlSettings {
    fn default() -> Self {
        Self {
            loss_type: "dapo".to_owned(),
            scale_rewards: "group".to_owned(),
            beta: 0.0,
            epsilon_high: 0.2,
            entropy_coef: 0.0,
            num_iterations: 1,
            gradient_accumulation_steps: 1,
            steps_per_generation: None,
            mask_truncated_completions: false,
            temperature: 1.0,
            num_generations: 8,
            per_device_train_batch_size: 8,
            max_completion_length: 512,
            learning_rate: 1e-6,
            lr_scheduler_type: "linear".to_owned(),
            warmup_steps: 0,
            weight_decay: 0.0,
            adam_beta1: 0.9,
            adam_beta2: 0.999,
            adam_epsilon: 1e-8,
            max_grad_norm: 1.0,
        }
    }
}

impl RecordedTraining {
    /// Reads a training by its name.
    pub(crate) fn read(name: &str) -> Self {
        let mut text = String::new();
        let file = File::open(folder().join(format!("{name}.json.gz"))).unwrap();
        flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    /// The decoder before the first update, and its tokenizer.
    pub(crate) fn policy(&self) -> PolicyFolder {
        policy::folder::load(&folder().join(&self.model)).unwrap()
    }

    /// The answer to a prompt.
    pub(crate) fn answer(&self, prompt: &str) -> &str {
        &self.tasks.iter().find(|task| task.prompt == prompt).unwrap().answer
    }
}

impl TrlSettings {
    /// Batches that the completions of a generation are divided into.
    pub(crate) fn batches(&self) -> usize {
        self.steps_per_generation.unwrap_or(self.gradient_accumulation_steps)
    }

    /// Updates with each generation: where there are more, the ratio is not 1.
    pub(crate) fn updates_per_generation(&self) -> usize {
        self.num_iterations * self.batches() / self.gradient_accumulation_steps
    }

    /// Our loss of this `loss_type`, with the preset of TRL.
    pub(crate) fn loss(&self) -> PolicyLoss {
        let mut table = json!({
            "kind": self.loss_type,
            "preset": "trl-1.16",
            "eps_high": self.epsilon_high,
        });
        if self.beta != 0.0 {
            table["kl"] = json!({"coefficient": self.beta});
        }
        if self.entropy_coef != 0.0 {
            table["entropy"] = json!({"coefficient": self.entropy_coef});
        }
        losses::build(serde_json::from_value(table).unwrap()).unwrap()
    }

    /// Our estimator for this `scale_rewards`, with the preset of TRL.
    pub(crate) fn estimator(&self) -> Box<dyn Estimator> {
        let table = match self.scale_rewards.as_str() {
            "none" => json!({"kind": "dr_grpo", "preset": "trl-1.16"}),
            scale => json!({"kind": "grpo", "preset": "trl-1.16", "scale": scale}),
        };
        serde_json::from_value::<AdvantageConfig>(table).unwrap().build().unwrap()
    }

    /// Our settings of the optimizer.
    pub(crate) fn optimizer(&self) -> OptimizerConfig {
        let (lr_scheduler_type, warmup_steps) = match self.lr_scheduler_type.as_str() {
            "linear" => (LrScheduler::Linear, self.warmup_steps),
            "cosine" => (LrScheduler::Cosine, self.warmup_steps),
            "constant_with_warmup" => (LrScheduler::Constant, self.warmup_steps),
            // Transformers has no warm-up here, whatever `warmup_steps` says.
            "constant" => (LrScheduler::Constant, 0),
            other => panic!("no schedule is called {other}"),
        };
        OptimizerConfig {
            learning_rate: self.learning_rate,
            lr_scheduler_type,
            warmup_steps,
            adam_beta1: self.adam_beta1,
            adam_beta2: self.adam_beta2,
            adam_epsilon: self.adam_epsilon,
            weight_decay: self.weight_decay,
            max_grad_norm: self.max_grad_norm,
        }
    }
}

/// The reward of `benches/parity/training_models.py`: half for the answer at the start, an eighth for
/// each digit among the first four characters, less 1/64 for each character. There is none where the
/// second character is a question mark.
pub(crate) fn reward(completion: &str, answer: &str) -> Option<f64> {
    if completion.chars().nth(1) == Some('?') {
        return None;
    }
    let count = |found: usize| f64::from(u32::try_from(found).unwrap());
    let digits = completion.chars().take(4).filter(char::is_ascii_digit).count();
    let right = f64::from(completion.starts_with(answer));
    Some(0.5 * right + count(digits) / 8.0 - count(completion.chars().count()) / 64.0)
}

/// The rows of a ragged table, in this order.
pub(crate) fn rows_of<T: Copy>(ragged: &Ragged<T>, rows: &[usize]) -> Ragged<T> {
    rows.iter().map(|row| ragged.row(*row).to_vec()).collect()
}

/// The bits of numbers, to be compared: rewards are exact.
pub(crate) fn bits(rewards: &[Option<f64>]) -> Vec<Option<u64>> {
    rewards.iter().map(|reward| reward.map(|reward| (reward + 0.0).to_bits())).collect()
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../fixtures/parity/training")
}
