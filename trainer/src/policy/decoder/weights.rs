//! The tensors of a decoder: their names and shapes, which are those of transformers, and their places.
//!
//! Tensors that are multiplied together lie one after another: queries, keys and values are one layer,
//! and so are the two halves of `SwiGLU`.

use super::linear::{Direction, Linear, Span};
use crate::policy::architecture::Architecture;
use crate::policy::{Parameters, PolicyError};

/// What a tensor begins with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Initial {
    /// Random numbers of a normal distribution.
    Normal,
    /// Ones.
    Ones,
    /// Zeros.
    Zeros,
}

/// A tensor that an architecture has.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TensorSpec {
    pub(crate) name: String,
    pub(crate) shape: Vec<usize>,
    pub(crate) initial: Initial,
}

impl TensorSpec {
    fn new(name: String, shape: &[usize], initial: Initial) -> Self {
        Self { name, shape: shape.to_vec(), initial }
    }
}

/// The tensors of an architecture, in the order in which they lie.
pub(crate) fn specs(architecture: &Architecture) -> Vec<TensorSpec> {
    let (hidden, vocabulary) = (architecture.hidden_size, architecture.vocab_size);
    let embedding = "model.embed_tokens.weight".to_owned();
    let mut specs = vec![TensorSpec::new(embedding, &[vocabulary, hidden], Initial::Normal)];
    for layer in 0..architecture.num_hidden_layers {
        layer_specs(architecture, layer, &mut specs);
    }
    specs.push(TensorSpec::new("model.norm.weight".to_owned(), &[hidden], Initial::Ones));
    if !architecture.tie_word_embeddings {
        let head = "lm_head.weight".to_owned();
        specs.push(TensorSpec::new(head, &[vocabulary, hidden], Initial::Normal));
    }
    specs
}

fn layer_specs(architecture: &Architecture, layer: usize, specs: &mut Vec<TensorSpec>) {
    let (hidden, inner) = (architecture.hidden_size, architecture.intermediate_size);
    let (query, key) = (architecture.query_size(), architecture.key_size());
    let mut add = |name: &str, shape: &[usize], initial| {
        specs.push(TensorSpec::new(format!("model.layers.{layer}.{name}"), shape, initial));
    };
    add("input_layernorm.weight", &[hidden], Initial::Ones);
    let parts = [("q_proj", query), ("k_proj", key), ("v_proj", key)];
    for (part, width) in parts {
        add(&format!("self_attn.{part}.weight"), &[width, hidden], Initial::Normal);
    }
    for (part, width) in parts.into_iter().filter(|_| architecture.qkv_bias) {
        add(&format!("self_attn.{part}.bias"), &[width], Initial::Zeros);
    }
    if architecture.normalises_heads() {
        add("self_attn.q_norm.weight", &[architecture.head_dim], Initial::Ones);
        add("self_attn.k_norm.weight", &[architecture.head_dim], Initial::Ones);
    }
    add("self_attn.o_proj.weight", &[hidden, query], Initial::Normal);
    if architecture.output_bias {
        add("self_attn.o_proj.bias", &[hidden], Initial::Zeros);
    }
    add("post_attention_layernorm.weight", &[hidden], Initial::Ones);
    for part in ["gate_proj", "up_proj"] {
        add(&format!("mlp.{part}.weight"), &[inner, hidden], Initial::Normal);
    }
    for part in ["gate_proj", "up_proj"].into_iter().filter(|_| architecture.mlp_bias) {
        add(&format!("mlp.{part}.bias"), &[inner], Initial::Zeros);
    }
    add("mlp.down_proj.weight", &[hidden, inner], Initial::Normal);
    if architecture.mlp_bias {
        add("mlp.down_proj.bias", &[hidden], Initial::Zeros);
    }
}

/// Where all tensors lie.
#[derive(Clone, Debug)]
pub(crate) struct Weights {
    /// `[vocabulary, hidden]`.
    pub(crate) embedding: Span,
    pub(crate) layers: Vec<LayerWeights>,
    /// `[hidden]`.
    pub(crate) norm: Span,
    /// From the hidden state to logits. Its weight is that of the embedding where they are tied.
    pub(crate) head: Linear,
}

/// Where the tensors of one layer lie.
#[derive(Clone, Debug)]
pub(crate) struct LayerWeights {
    pub(crate) attention_norm: Span,
    pub(crate) qkv: Linear,
    /// The norms of each head of the queries and of the keys.
    pub(crate) head_norms: Option<[Span; 2]>,
    pub(crate) output: Linear,
    pub(crate) mlp_norm: Span,
    pub(crate) gate_up: Linear,
    pub(crate) down: Linear,
}

impl LayerWeights {
    /// The same layer, faster in one direction until weights change.
    pub(crate) fn packed(&self, parameters: &Parameters, direction: Direction) -> Self {
        Self {
            qkv: self.qkv.packed(parameters, direction),
            output: self.output.packed(parameters, direction),
            gate_up: self.gate_up.packed(parameters, direction),
            down: self.down.packed(parameters, direction),
            ..self.clone()
        }
    }
}

impl Weights {
    /// Finds the tensors of an architecture among parameters that were laid out by [`specs`].
    ///
    /// # Errors
    /// A tensor that is missing.
    pub(crate) fn locate(
        architecture: &Architecture,
        parameters: &Parameters,
    ) -> Result<Self, PolicyError> {
        let finder = Finder { parameters, architecture };
        let layers = (0..architecture.num_hidden_layers).map(|layer| finder.layer(layer));
        let embedding = finder.span("model.embed_tokens.weight")?;
        let head = if architecture.tie_word_embeddings {
            embedding.clone()
        } else {
            finder.span("lm_head.weight")?
        };
        let head = Linear {
            inputs: architecture.hidden_size,
            outputs: architecture.vocab_size,
            weight: head,
            ..Linear::default()
        };
        let layers = layers.collect::<Result<_, _>>()?;
        Ok(Self { embedding, layers, norm: finder.span("model.norm.weight")?, head })
    }
}

struct Finder<'a> {
    parameters: &'a Parameters,
    architecture: &'a Architecture,
}

impl Finder<'_> {
    fn span(&self, name: &str) -> Result<Span, PolicyError> {
        let info = self.parameters.tensors().iter().find(|info| info.name == name);
        info.map(Span::of).ok_or_else(|| PolicyError::invalid(name, "missing"))
    }

    fn layer(&self, layer: usize) -> Result<LayerWeights, PolicyError> {
        let architecture = self.architecture;
        let span = |name: &str| self.span(&format!("model.layers.{layer}.{name}"));
        let linear = |parts: &[&str], sizes: [usize; 2], biased: Biased| {
            let spans = |kind: &str| -> Result<Span, PolicyError> {
                let first = span(&format!("{}.{kind}", parts.first().unwrap_or(&"")))?;
                let last = span(&format!("{}.{kind}", parts.last().unwrap_or(&"")))?;
                Ok(first.to(&last))
            };
            let bias = if biased.0 { Some(spans("bias")?) } else { None };
            let [outputs, inputs] = sizes;
            Ok::<_, PolicyError>(Linear {
                inputs,
                outputs,
                weight: spans("weight")?,
                bias,
                ..Linear::default()
            })
        };
        let (hidden, inner) = (architecture.hidden_size, architecture.intermediate_size);
        let qkv = ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"];
        let mlp_bias = Biased(architecture.mlp_bias);
        let output_bias = Biased(architecture.output_bias);
        let sizes = [architecture.qkv_size(), hidden];
        Ok(LayerWeights {
            attention_norm: span("input_layernorm.weight")?,
            qkv: linear(&qkv, sizes, Biased(architecture.qkv_bias))?,
            head_norms: if architecture.normalises_heads() {
                Some([span("self_attn.q_norm.weight")?, span("self_attn.k_norm.weight")?])
            } else {
                None
            },
            output: linear(
                &["self_attn.o_proj"],
                [hidden, architecture.query_size()],
                output_bias,
            )?,
            mlp_norm: span("post_attention_layernorm.weight")?,
            gate_up: linear(&["mlp.gate_proj", "mlp.up_proj"], [2 * inner, hidden], mlp_bias)?,
            down: linear(&["mlp.down_proj"], [hidden, inner], mlp_bias)?,
        })
    }
}

/// Whether a layer has a bias.
#[derive(Clone, Copy)]
struct Biased(bool);
