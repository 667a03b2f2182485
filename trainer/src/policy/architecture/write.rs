//! To `config.json`.

use serde_json::{Value, json};

use super::{Architecture, DecoderFamily, RopeScaling};

impl Architecture {
    /// The content of a `config.json` that transformers 4 and 5 read. Rotary positions are under the
    /// keys of both. The tokens that begin and end texts are not in it.
    pub fn to_config(&self) -> Value {
        let class = match self.family {
            DecoderFamily::Llama => "LlamaForCausalLM",
            DecoderFamily::Qwen2 => "Qwen2ForCausalLM",
            DecoderFamily::Qwen3 => "Qwen3ForCausalLM",
        };
        let mut config = json!({
            "architectures": [class],
            "model_type": self.family.name(),
            "vocab_size": self.vocab_size,
            "hidden_size": self.hidden_size,
            "intermediate_size": self.intermediate_size,
            "num_hidden_layers": self.num_hidden_layers,
            "num_attention_heads": self.num_attention_heads,
            "num_key_value_heads": self.num_key_value_heads,
            "head_dim": self.head_dim,
            "max_position_embeddings": self.max_position_embeddings,
            "rms_norm_eps": self.rms_norm_eps,
            "rope_theta": self.rope_theta,
            "rope_parameters": self.rope_parameters(),
            "tie_word_embeddings": self.tie_word_embeddings,
            "hidden_act": "silu",
            "attention_dropout": 0.0,
            "torch_dtype": "float32",
        });
        let Some(keys) = config.as_object_mut() else { return config };
        if self.rope_scaling != RopeScaling::None {
            keys.insert("rope_scaling".to_owned(), self.rope_parameters());
        }
        match self.family {
            DecoderFamily::Llama => {
                keys.insert("attention_bias".to_owned(), self.qkv_bias.into());
                keys.insert("mlp_bias".to_owned(), self.mlp_bias.into());
            }
            DecoderFamily::Qwen2 => {
                keys.insert("use_sliding_window".to_owned(), false.into());
            }
            DecoderFamily::Qwen3 => {
                keys.insert("attention_bias".to_owned(), self.qkv_bias.into());
                keys.insert("use_sliding_window".to_owned(), false.into());
            }
        }
        config
    }

    fn rope_parameters(&self) -> Value {
        match self.rope_scaling {
            RopeScaling::None => json!({"rope_type": "default", "rope_theta": self.rope_theta}),
            RopeScaling::Linear { factor } => {
                json!({"rope_type": "linear", "rope_theta": self.rope_theta, "factor": factor})
            }
            RopeScaling::Llama3 {
                factor,
                low_freq_factor,
                high_freq_factor,
                original_max_position_embeddings,
            } => json!({
                "rope_type": "llama3",
                "rope_theta": self.rope_theta,
                "factor": factor,
                "low_freq_factor": low_freq_factor,
                "high_freq_factor": high_freq_factor,
                "original_max_position_embeddings": original_max_position_embeddings,
            }),
        }
    }
}
