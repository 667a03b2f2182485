//! Low-rank adapters ("`LoRA`: Low-Rank Adaptation of Large Language Models", section 4.1): the weights of
//! a decoder stay, and `lora_B @ lora_A * lora_alpha / r` is trained in their place.

use assay_kernels::matmul::{matrix, product};
use assay_kernels::simd;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::decoder::linear::{Adapter, Linear, Span};
use super::decoder::model::Decoder;
use super::decoder::weights::LayerWeights;
use super::{Parameters, PolicyError};
use crate::config::LoraConfig;

/// The layers that can have adapters, with what is before them in the name of a tensor.
const MODULES: [(&str, &str); 7] = [
    ("self_attn", "q_proj"),
    ("self_attn", "k_proj"),
    ("self_attn", "v_proj"),
    ("self_attn", "o_proj"),
    ("mlp", "gate_proj"),
    ("mlp", "up_proj"),
    ("mlp", "down_proj"),
];

impl Decoder {
    /// The same decoder with adapters, which alone are trained. As in PEFT `lora_A` is random, uniform
    /// up to one over the root of its inputs, and `lora_B` is 0: at first nothing changes. Tensors are
    /// named as in the files of PEFT.
    ///
    /// # Errors
    /// A rank of 0, a scale that is not finite, a layer that does not exist, no layer at all, a decoder
    /// that has adapters.
    pub fn with_adapters(self, config: &LoraConfig, seed: u64) -> Result<Self, PolicyError> {
        check(config)?;
        if self.has_adapters() {
            return Err(PolicyError::invalid("lora", "the decoder has adapters"));
        }
        let mut parameters = Parameters::default();
        for info in self.weights_of().tensors() {
            let values = Span::of(info).weights(self.weights_of());
            parameters.push(&info.name, &info.shape, values, false);
        }
        let mut random = StdRng::seed_from_u64(seed);
        let mut adapters = Vec::new();
        for (layer, weights) in self.weights.layers.iter().enumerate() {
            for (block, module) in MODULES {
                if !config.target_modules.iter().any(|target| target == module) {
                    continue;
                }
                let slot = Slot::of(&self, weights, module);
                let name = format!("base_model.model.model.layers.{layer}.{block}.{module}");
                let adapter = slot.adapter(config, &name, &mut parameters, &mut random);
                adapters.push((layer, module, adapter));
            }
        }
        let mut decoder = Self::of_parts(self.architecture().clone(), parameters)?;
        for (layer, module, adapter) in adapters {
            if let Some(layer) = decoder.weights.layers.get_mut(layer) {
                linear_mut(layer, module).adapters.push(adapter);
            }
        }
        Ok(decoder)
    }

    /// Whether it has adapters.
    pub fn has_adapters(&self) -> bool {
        self.weights.layers.iter().any(|layer| {
            [&layer.qkv, &layer.output, &layer.gate_up, &layer.down]
                .iter()
                .any(|linear| !linear.adapters.is_empty())
        })
    }

    /// The weights of the decoder, with what its adapters add to them, as a decoder without adapters
    /// has them.
    ///
    /// # Errors
    /// None that a decoder can be in.
    #[expect(clippy::indexing_slicing, reason = "an adapter adds to rows of its layer")]
    pub fn merged(&self) -> Result<Parameters, PolicyError> {
        let base = Self::from_parameters(self.architecture().clone(), self.weights_of())?;
        let mut merged = base.weights_of().clone();
        for (layer, base) in self.weights.layers.iter().zip(&base.weights.layers) {
            let pairs = [
                (&layer.qkv, &base.qkv),
                (&layer.output, &base.output),
                (&layer.gate_up, &base.gate_up),
                (&layer.down, &base.down),
            ];
            for (linear, place) in pairs {
                for adapter in &linear.adapters {
                    let added = adapter.product(self.weights_of(), linear.inputs)?;
                    let start = place.weight.values.start + adapter.first * linear.inputs;
                    simd::add(&mut merged.values_mut()[start..start + added.len()], &added);
                }
            }
        }
        Ok(merged)
    }
}

fn check(config: &LoraConfig) -> Result<(), PolicyError> {
    if config.r == 0 {
        return Err(PolicyError::invalid("lora.r", "0, expected at least 1"));
    }
    if !config.lora_alpha.is_finite() {
        let message = format!("{}, expected a finite number", config.lora_alpha);
        return Err(PolicyError::invalid("lora.lora_alpha", message));
    }
    if config.target_modules.is_empty() {
        return Err(PolicyError::invalid("lora.target_modules", "empty, expected at least one"));
    }
    for target in &config.target_modules {
        if !MODULES.iter().any(|(_, module)| module == target) {
            let known = MODULES.map(|(_, module)| module).join("`, `");
            let message = format!("`{target}` is not one of `{known}`");
            return Err(PolicyError::invalid("lora.target_modules", message));
        }
    }
    Ok(())
}

fn linear_mut<'a>(layer: &'a mut LayerWeights, module: &str) -> &'a mut Linear {
    match module {
        "o_proj" => &mut layer.output,
        "gate_proj" | "up_proj" => &mut layer.gate_up,
        "down_proj" => &mut layer.down,
        _ => &mut layer.qkv,
    }
}

/// The part of a layer that an adapter adds to.
struct Slot {
    inputs: usize,
    first: usize,
    outputs: usize,
}

impl Slot {
    fn of(decoder: &Decoder, layer: &LayerWeights, module: &str) -> Self {
        let architecture = decoder.architecture();
        let (query, key) = (architecture.query_size(), architecture.key_size());
        let inner = architecture.intermediate_size;
        let (linear, first, outputs) = match module {
            "q_proj" => (&layer.qkv, 0, query),
            "k_proj" => (&layer.qkv, query, key),
            "v_proj" => (&layer.qkv, query + key, key),
            "gate_proj" => (&layer.gate_up, 0, inner),
            "up_proj" => (&layer.gate_up, inner, inner),
            "down_proj" => (&layer.down, 0, layer.down.outputs),
            _ => (&layer.output, 0, layer.output.outputs),
        };
        Self { inputs: linear.inputs, first, outputs }
    }

    /// Adds the tensors of an adapter.
    fn adapter(
        &self,
        config: &LoraConfig,
        name: &str,
        parameters: &mut Parameters,
        random: &mut StdRng,
    ) -> Adapter {
        #[expect(clippy::cast_precision_loss, reason = "widths and ranks are far below 2^24")]
        let (inputs, rank) = (self.inputs as f32, config.r as f64);
        let bound = 1.0 / inputs.sqrt();
        let down: Vec<f32> = (0..config.r * self.inputs)
            .map(|_| bound * (2.0 * random.random::<f32>() - 1.0))
            .collect();
        let mut push = |kind: &str, shape: [usize; 2], values: &[f32]| {
            let id = parameters.push(&format!("{name}.{kind}.weight"), &shape, values, true);
            parameters.info(id).map(Span::of).unwrap_or_default()
        };
        #[expect(clippy::cast_possible_truncation, reason = "weights are f32")]
        let scale = (config.lora_alpha / rank) as f32;
        Adapter {
            first: self.first,
            outputs: self.outputs,
            rank: config.r,
            scale,
            down: push("lora_A", [config.r, self.inputs], &down),
            up: push("lora_B", [self.outputs, config.r], &[]),
        }
    }
}

impl Adapter {
    /// `scale * lora_B @ lora_A`, `[outputs, inputs]`.
    fn product(&self, parameters: &Parameters, inputs: usize) -> Result<Vec<f32>, PolicyError> {
        let up = matrix(self.up.weights(parameters), self.outputs, self.rank)?;
        let down = matrix(self.down.weights(parameters), self.rank, inputs)?;
        let mut out = vec![0.0; self.outputs * inputs];
        product(up, down, &mut out, 0.0)?;
        Ok(out.into_iter().map(|value| value * self.scale).collect())
    }
}

#[cfg(test)]
#[expect(clippy::cast_precision_loss, reason = "numbers of a test are small")]
mod tests {
    use super::*;
    use crate::policy::PolicyModel;
    use crate::policy::decoder::testing::{Tied, gradients, loss, sequences, tiny};

    fn config(targets: &[&str]) -> LoraConfig {
        let target_modules = targets.iter().map(|target| (*target).to_owned()).collect();
        LoraConfig { r: 3, lora_alpha: 6.0, target_modules }
    }

    fn all() -> LoraConfig {
        config(&MODULES.map(|(_, module)| module))
    }

    /// Adapters of which both parts are random.
    fn adapted(family: &str, config: &LoraConfig) -> Decoder {
        let mut decoder = tiny(family, Tied::Yes).with_adapters(config, 3).unwrap();
        for info in decoder.parameters().tensors().to_vec() {
            if info.name.contains("lora_B") {
                let values = &mut decoder.parameters_mut().values_mut()[info.range];
                let rows = values.iter_mut().enumerate();
                rows.for_each(|(at, value)| *value = ((at * 37) % 19) as f32 / 50.0 - 0.2);
            }
        }
        decoder
    }

    #[test]
    fn new_adapters_change_nothing_and_are_named_as_in_peft() {
        let base = tiny("qwen2", Tied::No);
        let decoder = base.clone().with_adapters(&config(&["q_proj", "down_proj"]), 1).unwrap();
        let before = base.score(&sequences(), 1.0).unwrap();
        assert_eq!(decoder.score(&sequences(), 1.0).unwrap(), before);
        assert!(decoder.has_adapters() && !base.has_adapters());
        assert_eq!(decoder.merged().unwrap(), *base.parameters());
        let trained: Vec<String> = decoder
            .parameters()
            .tensors()
            .iter()
            .filter(|info| info.trainable)
            .map(|info| format!("{} {:?}", info.name, info.shape))
            .collect();
        assert_eq!(
            trained[..4],
            [
                "base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight [3, 20]",
                "base_model.model.model.layers.0.self_attn.q_proj.lora_B.weight [24, 3]",
                "base_model.model.model.layers.0.mlp.down_proj.lora_A.weight [3, 24]",
                "base_model.model.model.layers.0.mlp.down_proj.lora_B.weight [20, 3]",
            ]
        );
        assert_eq!(trained.len(), 8);
    }

    #[test]
    fn gradients_are_those_of_differences() {
        for family in ["llama", "qwen2", "qwen3"] {
            let mut decoder = adapted(family, &all());
            let (scores, activations) = decoder.forward(&sequences(), 0.8).unwrap();
            let by = gradients(&scores);
            let mut into = decoder.parameters().gradients();
            decoder.backward(activations, &by, &mut into).unwrap();
            assert_eq!(decoder.parameters().trained(), into.values().len());
            for info in decoder.parameters().tensors().to_vec() {
                assert_eq!(info.trainable, info.name.contains("lora"), "{}", info.name);
                if !info.trainable {
                    continue;
                }
                let gradient = into.tensor(&info).to_vec();
                let norm = gradient.iter().map(|x| x * x).sum::<f32>().sqrt();
                assert!(norm > 1e-3, "{family}: {}", info.name);
                let before = decoder.parameters().values()[info.range.clone()].to_vec();
                let mut moved = |by_step: f32| {
                    let values = &mut decoder.parameters_mut().values_mut()[info.range.clone()];
                    for ((value, before), along) in values.iter_mut().zip(&before).zip(&gradient) {
                        *value = before + by_step * along / norm;
                    }
                    loss(&decoder.score(&sequences(), 0.8).unwrap(), &by)
                };
                let slope = (moved(4e-3) - moved(-4e-3)) / 8e-3;
                moved(0.0);
                let wrong = (slope / f64::from(norm) - 1.0).abs();
                assert!(wrong < 1e-2, "{family}: {}: {slope}, not {norm}", info.name);
            }
        }
    }

    #[test]
    fn merged_weights_say_the_same() {
        for family in ["llama", "qwen2", "qwen3"] {
            let decoder = adapted(family, &all());
            let merged = decoder.merged().unwrap();
            let merged = Decoder::from_parameters(decoder.architecture().clone(), &merged).unwrap();
            let pair = [&decoder, &merged].map(|decoder| decoder.score(&sequences(), 1.0).unwrap());
            let pairs = pair[0].log_probs.values().iter().zip(pair[1].log_probs.values());
            let worst = pairs.map(|(one, other)| (one - other).abs()).fold(0.0, f64::max);
            assert!(worst < 1e-4, "{family}: {worst}");
            let base = tiny(family, Tied::Yes).score(&sequences(), 1.0).unwrap();
            assert_ne!(pair[0], base);
        }
    }

    #[test]
    fn what_does_not_fit_is_an_error() {
        let said = |config: &LoraConfig| {
            tiny("llama", Tied::No).with_adapters(config, 0).unwrap_err().to_string()
        };
        assert!(said(&config(&["lm_head"])).contains("`lm_head` is not one of `q_proj`"));
        assert!(said(&config(&[])).contains("empty"));
        assert!(said(&LoraConfig { r: 0, ..all() }).contains("lora.r"));
        assert!(said(&LoraConfig { lora_alpha: f64::NAN, ..all() }).contains("lora_alpha"));
        assert!(adapted("llama", &all()).with_adapters(&all(), 0).is_err());
    }
}
