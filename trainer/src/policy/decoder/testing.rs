//! Tiny decoders and sequences for tests.

#![expect(clippy::cast_precision_loss, reason = "numbers of a test are small")]

use serde_json::json;

use super::model::Decoder;
use crate::policy::architecture::Architecture;
use crate::policy::{Sequences, TokenGradients, TokenScores};

/// A tiny decoder whose norms and biases are random too, so that all of them matter.
pub(crate) fn tiny(family: &str, tied: Tied) -> Decoder {
    let config = json!({
        "model_type": family, "vocab_size": 11, "hidden_size": 20, "intermediate_size": 24,
        "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 6,
        "max_position_embeddings": 64, "tie_word_embeddings": tied == Tied::Yes,
        "rope_theta": 100.0, "attention_bias": family == "llama", "mlp_bias": family == "llama",
    });
    let architecture = Architecture::from_config(&config).unwrap();
    let mut decoder = Decoder::new(architecture, 7, 0.3).unwrap();
    let values = decoder.weights_of_mut().values_mut().iter_mut().enumerate();
    values.for_each(|(at, value)| *value += ((at * 7919) % 101) as f32 / 1000.0 - 0.05);
    decoder
}

/// Whether the output layer is the embedding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Tied {
    Yes,
    No,
}

/// Sequences of 1, 2 and 17 tokens, one with an empty completion among them.
pub(crate) fn sequences() -> Sequences {
    let mut sequences = Sequences::default();
    sequences.push(&[3], &[4]);
    sequences.push(&[1, 2], &[]);
    sequences.push(&[5], &[6, 0]);
    sequences.push(&[7, 8, 9, 10, 1, 2, 3, 4], &[5, 6, 7, 8, 9, 10, 0, 1, 2]);
    sequences
}

/// Gradients that differ from token to token.
pub(crate) fn gradients(scores: &TokenScores) -> TokenGradients {
    let mut at = 0;
    let mut next = |_: &f64| {
        at += 1;
        f64::from((at * 37) % 13 - 6) / 6.0
    };
    let log_probs = scores.log_probs.map(&mut next);
    TokenGradients { log_probs, entropies: Some(scores.entropies.map(next)) }
}

/// What the gradients are those of.
pub(crate) fn loss(scores: &TokenScores, gradients: &TokenGradients) -> f64 {
    let along = |values: &[f64], by: &[f64]| -> f64 {
        values.iter().zip(by).map(|(value, by)| value * by).sum()
    };
    let entropies = gradients.entropies.as_ref().unwrap();
    along(scores.log_probs.values(), gradients.log_probs.values())
        + along(scores.entropies.values(), entropies.values())
}
