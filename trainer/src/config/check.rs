//! Whether the settings of `[train]` are in range.

use super::generation::GenerationConfig;
use super::tool::ToolConfig;
use super::train::{
    EvaluationConfig, LoraConfig, ModelConfig, NewModelConfig, OptimizerConfig, TrainConfig,
    WarmupConfig,
};
use crate::error::TrainerError;

impl TrainConfig {
    /// Fails where a setting is out of range, or two do not go together.
    ///
    /// # Errors
    /// The setting at fault, as a dotted path within `[train]`.
    pub fn check(&self) -> Result<(), TrainerError> {
        self.model.check()?;
        ensure(!self.tasks.is_empty(), "tasks", "no file of tasks is named")?;
        for (setting, value) in [
            ("groups", self.groups),
            ("group_size", self.group_size),
            ("sampling_parts", self.sampling_parts),
            ("epochs", self.epochs),
            ("minibatches", self.minibatches),
            ("tokens_per_pass", self.tokens_per_pass),
        ] {
            positive(setting, value)?;
        }
        within("generation", generation(&self.generation))?;
        let sampled = self.generation.temperature > 0.0;
        ensure(sampled, "generation.temperature", "rollouts are sampled: it must be above 0")?;
        self.tool.as_ref().map_or(Ok(()), |own| within("tool", tool(own)))?;
        within("optimizer", optimizer(&self.optimizer))?;
        self.warmup.as_ref().map_or(Ok(()), |warmup| within("warmup", warmed(warmup)))?;
        within("evaluation", evaluation(&self.evaluation))?;
        within("monitor", self.monitor.check())
    }
}

impl ModelConfig {
    fn check(&self) -> Result<(), TrainerError> {
        match (&self.path, &self.new) {
            (Some(_), None) => {}
            (None, Some(new)) => within("model.new", new_model(new))?,
            (None, None) => {
                let why = "neither `path` (a folder of weights) nor `new` (random ones) is given";
                return Err(TrainerError::setting("model", why));
            }
            (Some(_), Some(_)) => {
                let why = "both `path` and `new` are given: one model is trained";
                return Err(TrainerError::setting("model.new", why));
            }
        }
        self.lora.as_ref().map_or(Ok(()), |lora| within("model.lora", low_rank(lora)))
    }
}

fn new_model(new: &NewModelConfig) -> Result<(), TrainerError> {
    for (setting, value) in [
        ("hidden_size", new.hidden_size),
        ("intermediate_size", new.intermediate_size),
        ("num_hidden_layers", new.num_hidden_layers),
        ("num_attention_heads", new.num_attention_heads),
        ("num_key_value_heads", new.num_key_value_heads.unwrap_or(1)),
        ("max_position_embeddings", new.max_position_embeddings),
    ] {
        positive(setting, value)?;
    }
    above_zero("rope_theta", new.rope_theta)?;
    above_zero("initializer_range", new.initializer_range)
}

fn low_rank(lora: &LoraConfig) -> Result<(), TrainerError> {
    positive("r", lora.r)?;
    above_zero("lora_alpha", lora.lora_alpha)?;
    ensure(!lora.target_modules.is_empty(), "target_modules", "no layer is named")
}

fn generation(config: &GenerationConfig) -> Result<(), TrainerError> {
    positive("max_new_tokens", config.max_new_tokens)?;
    not_negative("temperature", config.temperature)?;
    let nucleus = config.top_p > 0.0 && config.top_p <= 1.0;
    ensure(nucleus, "top_p", &format!("{}: from above 0 to 1", config.top_p))
}

fn tool(config: &ToolConfig) -> Result<(), TrainerError> {
    let is_given = config.source.is_some() != config.file.is_some();
    ensure(is_given, "source", "a program is named by one of `source` and `file`")?;
    for (setting, tags) in [("call", &config.call), ("result", &config.result)] {
        let is_marked = tags.iter().all(|tag| !tag.is_empty());
        ensure(is_marked, setting, "what is before and after it: neither is empty")?;
    }
    let calls = config.max_tool_calling_iterations != Some(0);
    ensure(calls, "max_tool_calling_iterations", "0: at least 1")?;
    positive("max_tool_response_length", config.max_tool_response_length)?;
    ensure(config.fuel > 0, "fuel", "0: at least 1")
}

fn optimizer(config: &OptimizerConfig) -> Result<(), TrainerError> {
    not_negative("learning_rate", config.learning_rate)?;
    for (setting, decay) in [("adam_beta1", config.adam_beta1), ("adam_beta2", config.adam_beta2)] {
        let decays = (0.0..1.0).contains(&decay);
        ensure(decays, setting, &format!("{decay}: from 0 to below 1"))?;
    }
    above_zero("adam_epsilon", config.adam_epsilon)?;
    not_negative("weight_decay", config.weight_decay)?;
    not_negative("max_grad_norm", config.max_grad_norm)
}

fn warmed(config: &WarmupConfig) -> Result<(), TrainerError> {
    ensure(!config.data.is_empty(), "data", "no file of demonstrations is named")?;
    positive("batch_size", config.batch_size)?;
    within("optimizer", optimizer(&config.optimizer))
}

fn evaluation(config: &EvaluationConfig) -> Result<(), TrainerError> {
    let wrong = config.k.iter().find(|k| **k == 0 || (config.samples > 0 && **k > config.samples));
    let samples = config.samples;
    match wrong {
        Some(0) => Err(TrainerError::setting("k", "pass@0 is not defined")),
        Some(k) if config.k == EvaluationConfig::default().k => {
            let why = format!("{samples}: pass@{k} needs at least {k}, or other `k`");
            Err(TrainerError::setting("samples", why))
        }
        Some(k) => {
            let why = format!("pass@{k} needs at least {k} `samples`, not {samples}");
            Err(TrainerError::setting("k", why))
        }
        None => Ok(()),
    }
}

fn ensure(holds: bool, setting: &str, why: &str) -> Result<(), TrainerError> {
    if holds { Ok(()) } else { Err(TrainerError::setting(setting, format!("`{setting}`: {why}"))) }
}

fn positive(setting: &str, value: usize) -> Result<(), TrainerError> {
    ensure(value > 0, setting, "0: at least 1")
}

fn above_zero(setting: &str, value: f64) -> Result<(), TrainerError> {
    ensure(value.is_finite() && value > 0.0, setting, &format!("{value}: above 0"))
}

fn not_negative(setting: &str, value: f64) -> Result<(), TrainerError> {
    ensure(value.is_finite() && value >= 0.0, setting, &format!("{value}: at least 0"))
}

/// Puts the table `room` before the setting at fault.
fn within(room: &str, checked: Result<(), TrainerError>) -> Result<(), TrainerError> {
    checked.map_err(|error| error.within(room))
}

#[cfg(test)]
mod tests {
    use assay_verifiers::BuildError;

    use super::*;

    const TEXT: &str = "tasks = ['t.jsonl']\nsteps = 2\n[model]\npath = 'm'\n";

    fn read(text: &str) -> TrainConfig {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn settings_out_of_range_are_named() {
        assert_eq!(read(TEXT).check(), Ok(()));
        let cases = [
            (TEXT.replace("'t.jsonl'", ""), "tasks"),
            (format!("group_size = 0\n{TEXT}"), "group_size"),
            (TEXT.replace("path = 'm'", ""), "model"),
            (format!("{TEXT}[model.lora]\nr = 0\n"), "model.lora.r"),
            (format!("{TEXT}[generation]\ntemperature = 0.0\n"), "generation.temperature"),
            (format!("{TEXT}[generation]\ntop_p = 1.5\n"), "generation.top_p"),
            (format!("{TEXT}[tool]\nname = 'a'\n"), "tool.source"),
            (format!("{TEXT}[tool]\nsource = 'a'\nfile = 'a'\n"), "tool.source"),
            (format!("{TEXT}[tool]\nsource = 'a'\ncall = ['', '>']\n"), "tool.call"),
            (format!("{TEXT}[tool]\nsource = 'a'\nfuel = 0\n"), "tool.fuel"),
            (format!("{TEXT}[optimizer]\nadam_beta2 = 1.0\n"), "optimizer.adam_beta2"),
            (format!("{TEXT}[warmup]\nsteps = 1\ndata = []\n"), "warmup.data"),
            (format!("{TEXT}[evaluation]\nsamples = 4\n"), "evaluation.samples"),
            (format!("{TEXT}[evaluation]\nk = [0]\n"), "evaluation.k"),
        ];
        for (text, expected) in cases {
            let Err(TrainerError::Setting(BuildError { setting, .. })) = read(&text).check() else {
                panic!("{text} was taken");
            };
            assert_eq!(setting, expected, "{text}");
        }
    }

    #[test]
    fn one_name_is_a_list_of_one() {
        assert_eq!(read(TEXT).correct, Vec::<String>::new());
        assert_eq!(read(&format!("correct = 'a'\n{TEXT}")).correct, ["a"]);
        assert_eq!(read(&format!("correct = ['a', 'b']\n{TEXT}")).correct, ["a", "b"]);
        let wrong = toml::from_str::<TrainConfig>(&format!("correct = 1\n{TEXT}")).unwrap_err();
        assert!(wrong.message().contains("a list of names"), "{wrong}");
    }
}
