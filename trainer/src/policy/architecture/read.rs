//! From `config.json`, and from the settings of a new model.

use serde_json::Value;

use super::{Architecture, DecoderFamily, RopeScaling};
use crate::config::NewModelConfig;
use crate::policy::PolicyError;

impl Architecture {
    /// Reads `config.json`.
    ///
    /// # Errors
    /// A key that is missing, has a value of another type, or asks for what is not supported: another
    /// family, sliding windows, another activation, another kind of rotary positions, quantisation.
    pub fn from_config(config: &Value) -> Result<Self, PolicyError> {
        let keys = Keys { values: config, path: "" };
        let family = DecoderFamily::of_name(keys.text("model_type")?.unwrap_or_default())?;
        refuse_unsupported(&keys)?;
        let num_attention_heads = keys.needed("num_attention_heads")?;
        let hidden_size = keys.needed("hidden_size")?;
        let head_dim = match (keys.size("head_dim")?, family) {
            (Some(width), _) => width,
            (None, DecoderFamily::Qwen3) => 128,
            (None, _) => hidden_size.checked_div(num_attention_heads).unwrap_or(0),
        };
        let attention_bias = keys.flag("attention_bias")?.unwrap_or(false);
        let (rope_theta, rope_scaling) = rope(&keys)?;
        let is_qwen2 = family == DecoderFamily::Qwen2;
        Self {
            family,
            vocab_size: keys.needed("vocab_size")?,
            hidden_size,
            intermediate_size: keys.needed("intermediate_size")?,
            num_hidden_layers: keys.needed("num_hidden_layers")?,
            num_attention_heads,
            num_key_value_heads: keys.size("num_key_value_heads")?.unwrap_or(num_attention_heads),
            head_dim,
            max_position_embeddings: keys.size("max_position_embeddings")?.unwrap_or(2048),
            rms_norm_eps: keys.number("rms_norm_eps")?.unwrap_or(1e-6),
            rope_theta,
            rope_scaling,
            tie_word_embeddings: keys.flag("tie_word_embeddings")?.unwrap_or(false),
            qkv_bias: is_qwen2 || attention_bias,
            output_bias: !is_qwen2 && attention_bias,
            mlp_bias: family == DecoderFamily::Llama && keys.flag("mlp_bias")?.unwrap_or(false),
        }
        .checked()
    }

    /// The shape of a new model over a vocabulary of this size.
    ///
    /// # Errors
    /// Sizes that do not fit one another.
    pub fn of_new(config: &NewModelConfig, vocabulary: usize) -> Result<Self, PolicyError> {
        let family = DecoderFamily::of_name(&config.architecture)?;
        let heads = config.num_attention_heads;
        if heads == 0 || !config.hidden_size.is_multiple_of(heads) {
            let message = format!("{}, expected a multiple of {heads} heads", config.hidden_size);
            return Err(PolicyError::invalid("hidden_size", message));
        }
        Self {
            family,
            vocab_size: vocabulary,
            hidden_size: config.hidden_size,
            intermediate_size: config.intermediate_size,
            num_hidden_layers: config.num_hidden_layers,
            num_attention_heads: heads,
            num_key_value_heads: config.num_key_value_heads.unwrap_or(heads),
            head_dim: config.hidden_size / heads,
            max_position_embeddings: config.max_position_embeddings,
            rms_norm_eps: 1e-6,
            rope_theta: config.rope_theta,
            rope_scaling: RopeScaling::None,
            tie_word_embeddings: config.tie_word_embeddings,
            qkv_bias: family == DecoderFamily::Qwen2,
            output_bias: false,
            mlp_bias: false,
        }
        .checked()
    }
}

fn refuse_unsupported(keys: &Keys) -> Result<(), PolicyError> {
    let activation = keys.text("hidden_act")?.unwrap_or("silu");
    if !["silu", "swish"].contains(&activation) {
        return Err(keys.wrong("hidden_act", "is not supported, expected `silu`"));
    }
    if keys.flag("use_sliding_window")?.unwrap_or(false) {
        return Err(keys.wrong("use_sliding_window", "sliding windows are not supported"));
    }
    if keys.value("quantization_config").is_some() {
        return Err(keys.wrong("quantization_config", "quantised weights are not supported"));
    }
    let kinds = keys.value("layer_types").and_then(Value::as_array);
    if kinds.into_iter().flatten().any(|kind| kind != "full_attention") {
        return Err(keys.wrong("layer_types", "only `full_attention` is supported"));
    }
    Ok(())
}

/// The base of the rotary positions and how they are stretched: `rope_theta` and `rope_scaling`, or
/// `rope_parameters` of transformers 5.
fn rope(keys: &Keys) -> Result<(f64, RopeScaling), PolicyError> {
    let (path, values) = ["rope_parameters", "rope_scaling"]
        .into_iter()
        .find_map(|path| Some((path, keys.value(path)?)))
        .unwrap_or(("rope_scaling", &Value::Null));
    let inner = Keys { values, path };
    let theta = inner.number("rope_theta")?.or(keys.number("rope_theta")?).unwrap_or(10_000.0);
    if let Some(share) = inner.number("partial_rotary_factor")?
        && (share - 1.0).abs() > f64::EPSILON
    {
        return Err(inner.wrong("partial_rotary_factor", "is not supported, expected 1"));
    }
    let kind_key = if inner.value("rope_type").is_some() { "rope_type" } else { "type" };
    let scaling = match inner.text(kind_key)?.unwrap_or("default") {
        "default" => RopeScaling::None,
        "linear" => RopeScaling::Linear { factor: inner.positive("factor")? },
        "llama3" => RopeScaling::Llama3 {
            factor: inner.positive("factor")?,
            low_freq_factor: inner.positive("low_freq_factor")?,
            high_freq_factor: inner.positive("high_freq_factor")?,
            original_max_position_embeddings: inner.needed("original_max_position_embeddings")?,
        },
        _ => {
            let message = "is not supported, expected `default`, `linear` or `llama3`";
            return Err(inner.wrong(kind_key, message));
        }
    };
    Ok((theta, scaling))
}

/// The keys of an object; `null` is the same as missing.
struct Keys<'a> {
    values: &'a Value,
    path: &'static str,
}

impl<'a> Keys<'a> {
    fn value(&self, key: &str) -> Option<&'a Value> {
        self.values.get(key).filter(|value| !value.is_null())
    }

    fn wrong(&self, key: &str, message: &str) -> PolicyError {
        let name =
            if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) };
        match self.value(key) {
            Some(value) => PolicyError::invalid(name, format!("{value}: {message}")),
            None => PolicyError::invalid(name, message),
        }
    }

    fn typed<T>(
        &self,
        key: &str,
        expected: &str,
        read: impl Fn(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, PolicyError> {
        self.value(key)
            .map(|value| read(value).ok_or_else(|| self.wrong(key, expected)))
            .transpose()
    }

    fn text(&self, key: &str) -> Result<Option<&'a str>, PolicyError> {
        self.typed(key, "expected a text", Value::as_str)
    }

    fn flag(&self, key: &str) -> Result<Option<bool>, PolicyError> {
        self.typed(key, "expected true or false", Value::as_bool)
    }

    fn number(&self, key: &str) -> Result<Option<f64>, PolicyError> {
        self.typed(key, "expected a number", Value::as_f64)
    }

    fn size(&self, key: &str) -> Result<Option<usize>, PolicyError> {
        let read = |value: &Value| usize::try_from(value.as_u64()?).ok();
        self.typed(key, "expected a whole number of at least 0", read)
    }

    fn needed(&self, key: &str) -> Result<usize, PolicyError> {
        self.size(key)?.ok_or_else(|| self.wrong(key, "missing"))
    }

    fn positive(&self, key: &str) -> Result<f64, PolicyError> {
        let value = self.number(key)?.ok_or_else(|| self.wrong(key, "missing"))?;
        if value > 0.0 { Ok(value) } else { Err(self.wrong(key, "expected above 0")) }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn config() -> Value {
        json!({
            "model_type": "qwen2", "vocab_size": 32, "hidden_size": 16, "intermediate_size": 24,
            "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
            "hidden_act": "silu", "rope_theta": 1e6, "tie_word_embeddings": true,
            "use_sliding_window": false, "sliding_window": 4096, "rope_scaling": null,
        })
    }

    fn with(key: &str, value: Value) -> Value {
        let mut config = config();
        config[key] = value;
        config
    }

    #[test]
    fn a_config_is_read_and_written_back() {
        let llama3 = json!({"rope_type": "llama3", "rope_theta": 5e5, "factor": 8.0,
            "low_freq_factor": 1.0, "high_freq_factor": 4.0,
            "original_max_position_embeddings": 8192});
        let configs = [
            config(),
            with("model_type", json!("llama")),
            with("model_type", json!("qwen3")),
            with("rope_scaling", json!({"type": "linear", "factor": 2.0})),
            with("rope_parameters", llama3),
        ];
        for config in configs {
            let read = Architecture::from_config(&config).unwrap();
            assert_eq!(Architecture::from_config(&read.to_config()).unwrap(), read, "{config}");
        }
        let qwen = Architecture::from_config(&config()).unwrap();
        assert!(qwen.qkv_bias && !qwen.output_bias && qwen.tie_word_embeddings);
        assert_eq!((qwen.head_dim, qwen.qkv_size()), (4, 32));
        let qwen3 = Architecture::from_config(&with("model_type", json!("qwen3"))).unwrap();
        assert_eq!((qwen3.head_dim, qwen3.qkv_bias), (128, false));
    }

    #[test]
    fn the_rope_of_transformers_5_has_its_own_theta() {
        let config = with("rope_parameters", json!({"rope_type": "default", "rope_theta": 7.0}));
        let read = Architecture::from_config(&config).unwrap();
        assert_eq!((read.rope_theta, read.rope_scaling), (7.0, RopeScaling::None));
    }

    #[test]
    fn what_is_not_supported_is_named() {
        let cases = [
            ("model_type", json!("mamba"), "`mamba`"),
            ("hidden_act", json!("gelu"), "\"gelu\""),
            ("use_sliding_window", json!(true), "use_sliding_window"),
            ("layer_types", json!(["sliding_attention"]), "sliding_attention"),
            ("quantization_config", json!({"bits": 4}), "quantization_config"),
            ("rope_scaling", json!({"rope_type": "yarn"}), "rope_scaling.rope_type: \"yarn\""),
            ("rope_scaling", json!({"rope_type": "linear"}), "rope_scaling.factor: missing"),
            ("num_key_value_heads", json!(3), "divisor of 4"),
            ("hidden_size", json!(-1), "hidden_size: -1"),
            ("hidden_size", json!(0), "hidden_size"),
            ("vocab_size", json!(u64::MAX), "weights"),
            ("head_dim", json!(5), "odd"),
        ];
        for (key, value, said) in cases {
            let error = Architecture::from_config(&with(key, value)).unwrap_err().to_string();
            assert!(error.contains(said), "{key}: {error}");
        }
        assert!(Architecture::from_config(&Value::Null).is_err());
    }
}
