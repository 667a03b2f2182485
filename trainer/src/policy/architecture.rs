//! The shape of a decoder: what `config.json` says of Llama, Qwen2 and Qwen3.

mod read;
mod rope;
mod write;

use super::PolicyError;

/// The most weights of a decoder; above it, sizes are taken to be a mistake.
const WEIGHTS_MAX: usize = 1 << 38;

/// The families of decoders, by their `model_type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecoderFamily {
    /// `llama`.
    Llama,
    /// `qwen2`: queries, keys and values have biases.
    Qwen2,
    /// `qwen3`: queries and keys are normalised for each head.
    Qwen3,
}

/// How rotary positions are stretched over longer sequences.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RopeScaling {
    /// `default`: not at all.
    None,
    /// `linear`: positions are divided by a factor.
    Linear {
        /// The factor.
        factor: f64,
    },
    /// `llama3`: low frequencies are divided by a factor, high ones stay.
    Llama3 {
        /// The factor.
        factor: f64,
        /// Waves longer than the original length over this are divided.
        low_freq_factor: f64,
        /// Waves shorter than the original length over this stay.
        high_freq_factor: f64,
        /// The length that the model was first trained for.
        original_max_position_embeddings: usize,
    },
}

/// The shape of a decoder. The names are those of `config.json`.
#[expect(clippy::struct_excessive_bools, reason = "they are keys of `config.json`")]
#[derive(Clone, Debug, PartialEq)]
pub struct Architecture {
    /// `model_type`.
    pub family: DecoderFamily,
    /// How many tokens there are.
    pub vocab_size: usize,
    /// The width of the residual stream.
    pub hidden_size: usize,
    /// The width inside of the feed-forward layers.
    pub intermediate_size: usize,
    /// Layers.
    pub num_hidden_layers: usize,
    /// Heads of the queries.
    pub num_attention_heads: usize,
    /// Heads of the keys and values, of which each serves as many heads of the queries.
    pub num_key_value_heads: usize,
    /// The width of a head; even.
    pub head_dim: usize,
    /// The most tokens of a sequence.
    pub max_position_embeddings: usize,
    /// What is added to the mean square before its root is taken.
    pub rms_norm_eps: f64,
    /// The base of the rotary positions.
    pub rope_theta: f64,
    /// How they are stretched.
    pub rope_scaling: RopeScaling,
    /// Whether the output layer is the embedding.
    pub tie_word_embeddings: bool,
    /// Whether queries, keys and values have biases.
    pub qkv_bias: bool,
    /// Whether the layer after the attention has a bias.
    pub output_bias: bool,
    /// Whether the feed-forward layers have biases.
    pub mlp_bias: bool,
}

impl DecoderFamily {
    /// Its `model_type`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Llama => "llama",
            Self::Qwen2 => "qwen2",
            Self::Qwen3 => "qwen3",
        }
    }

    /// The family of a `model_type`.
    ///
    /// # Errors
    /// A name that is none of the three.
    pub fn of_name(name: &str) -> Result<Self, PolicyError> {
        [Self::Llama, Self::Qwen2, Self::Qwen3]
            .into_iter()
            .find(|family| family.name() == name)
            .ok_or_else(|| {
                PolicyError::invalid(
                    "model_type",
                    format!("`{name}` is not one of `llama`, `qwen2`, `qwen3`"),
                )
            })
    }
}

impl Architecture {
    /// Whether queries and keys are normalised for each head.
    pub fn normalises_heads(&self) -> bool {
        self.family == DecoderFamily::Qwen3
    }

    /// The width of all heads of the queries.
    pub fn query_size(&self) -> usize {
        self.num_attention_heads * self.head_dim
    }

    /// The width of all heads of the keys, and of the values.
    pub fn key_size(&self) -> usize {
        self.num_key_value_heads * self.head_dim
    }

    /// The width of queries, keys and values side by side.
    pub fn qkv_size(&self) -> usize {
        self.query_size() + 2 * self.key_size()
    }

    /// Checks that the numbers fit one another.
    ///
    /// # Errors
    /// Names the key that does not fit.
    pub(crate) fn checked(self) -> Result<Self, PolicyError> {
        let positive = [
            ("vocab_size", self.vocab_size),
            ("hidden_size", self.hidden_size),
            ("intermediate_size", self.intermediate_size),
            ("num_hidden_layers", self.num_hidden_layers),
            ("num_attention_heads", self.num_attention_heads),
            ("num_key_value_heads", self.num_key_value_heads),
            ("head_dim", self.head_dim),
            ("max_position_embeddings", self.max_position_embeddings),
        ];
        if let Some((key, _)) = positive.iter().find(|(_, value)| *value == 0) {
            return Err(PolicyError::invalid(*key, "0, expected at least 1"));
        }
        if !self.num_attention_heads.is_multiple_of(self.num_key_value_heads) {
            let heads = self.num_attention_heads;
            let message = format!("{}, expected a divisor of {heads}", self.num_key_value_heads);
            return Err(PolicyError::invalid("num_key_value_heads", message));
        }
        if !self.head_dim.is_multiple_of(2) {
            return Err(PolicyError::invalid("head_dim", format!("{} is odd", self.head_dim)));
        }
        for (key, value) in [("rms_norm_eps", self.rms_norm_eps), ("rope_theta", self.rope_theta)] {
            if !(value.is_finite() && value > 0.0) {
                return Err(PolicyError::invalid(key, format!("{value}, expected above 0")));
            }
        }
        if self.weights().is_none_or(|weights| weights > WEIGHTS_MAX) {
            let message = format!("more than {WEIGHTS_MAX} weights");
            return Err(PolicyError::invalid("the sizes of the model", message));
        }
        Ok(self)
    }

    /// About how many weights there are; `None` where that is more than a number holds.
    fn weights(&self) -> Option<usize> {
        let heads =
            self.num_attention_heads.checked_add(self.num_key_value_heads.checked_mul(2)?)?;
        let attention = heads.checked_add(self.num_attention_heads)?.checked_mul(self.head_dim)?;
        let widths = self.intermediate_size.checked_mul(3)?.checked_add(attention)?;
        let layers = widths.checked_mul(self.num_hidden_layers)?;
        layers.checked_add(self.vocab_size.checked_mul(2)?)?.checked_mul(self.hidden_size)
    }
}
