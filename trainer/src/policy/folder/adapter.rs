//! The adapters of a decoder, in the layout of PEFT.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::json;

use super::write::{self, Tensor};
use crate::policy::PolicyError;
use crate::policy::decoder::Decoder;
use crate::policy::decoder::linear::Adapter;
use crate::policy::files;

/// What the names of adapters begin with.
const PREFIX: &str = "base_model.";

/// Writes `adapter_config.json` and `adapter_model.safetensors`; nothing where there are no adapters.
pub(super) fn save(folder: &Path, decoder: &Decoder) -> Result<(), PolicyError> {
    let Some(adapter) = first(decoder) else { return Ok(()) };
    let parameters = decoder.weights_of();
    let (mut tensors, mut modules) = (Vec::new(), BTreeSet::new());
    for info in parameters.tensors().iter().filter(|info| info.name.starts_with(PREFIX)) {
        let values = parameters.values_of(info);
        tensors.push((info.name.clone(), Tensor { shape: info.shape.clone(), values }));
        modules.extend(info.name.split('.').rev().nth(2));
    }
    write::tensors(&folder.join("adapter_model.safetensors"), tensors)?;
    let config = json!({
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": null,
        "r": adapter.rank,
        "lora_alpha": alpha(adapter),
        "lora_dropout": 0.0,
        "target_modules": modules,
        "bias": "none",
        "fan_in_fan_out": false,
        "inference_mode": true,
    });
    files::write_json(&folder.join("adapter_config.json"), &config)
}

/// One of the adapters, which all have one rank and one scale.
fn first(decoder: &Decoder) -> Option<&Adapter> {
    let layers = decoder.weights.layers.iter();
    let mut linears =
        layers.flat_map(|layer| [&layer.qkv, &layer.output, &layer.gate_up, &layer.down]);
    linears.find_map(|linear| linear.adapters.first())
}

/// `lora_alpha`, from the scale of `lora_alpha / r`, which is `f32`.
fn alpha(adapter: &Adapter) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a rank is far below 2^52")]
    let alpha = f64::from(adapter.scale) * adapter.rank as f64;
    (alpha * 1e5).round() / 1e5
}
