//! A decoder of 4 layers of 128 on one thread and on two: the forward and the backward pass of 256
//! sequences of 8 + 9 tokens, and sampling of as many with cached keys and values.
//! `cargo bench -p assay-trainer --features train --bench policy`.

#![expect(clippy::disallowed_methods, reason = "a bench reads the clock")]
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::unwrap_used, reason = "a bench stops at what it does not expect")]
#![expect(clippy::cast_precision_loss, reason = "counts of tokens are far below 2^53")]

use std::hint::black_box;
use std::time::Instant;

use assay_trainer::Ragged;
use assay_trainer::config::NewModelConfig;
use assay_trainer::policy::{
    Architecture, Decoder, GenerationConfig, PolicyModel, Sequences, TokenGradients,
};

const SEQUENCES: u32 = 256;
const PROMPT: u32 = 8;
const COMPLETION: u32 = 9;
const RUNS: usize = 15;

/// The best of some runs, in seconds: noise only ever adds.
fn best(mut run: impl FnMut()) -> f64 {
    let time = |_| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64()
    };
    (0..RUNS).map(time).fold(f64::INFINITY, f64::min)
}

fn decoder() -> Decoder {
    let config = NewModelConfig {
        architecture: "llama".to_owned(),
        alphabet: None,
        hidden_size: 128,
        intermediate_size: 384,
        num_hidden_layers: 4,
        num_attention_heads: 4,
        num_key_value_heads: None,
        max_position_embeddings: 64,
        rope_theta: 10_000.0,
        tie_word_embeddings: true,
        initializer_range: 0.02,
    };
    Decoder::new(Architecture::of_new(&config, 32).unwrap(), 1, 0.02).unwrap()
}

fn sequences() -> Sequences {
    let mut sequences = Sequences::default();
    for at in 0..SEQUENCES {
        let token = |place: u32| (at * 7 + place * 13) % 32;
        let prompt: Vec<u32> = (0..PROMPT).map(token).collect();
        let completion: Vec<u32> = (PROMPT..PROMPT + COMPLETION).map(token).collect();
        sequences.push(&prompt, &completion);
    }
    sequences
}

/// Scores and gradients, and then each part by itself.
fn passes(decoder: &Decoder, threads: usize) {
    let sequences = sequences();
    let tokens = sequences.tokens() as f64;
    let gradients = TokenGradients {
        log_probs: sequences.completions.map(|token| f64::from(*token) - 15.0),
        entropies: None,
    };
    let mut into = decoder.parameters().gradients();
    let score = best(|| {
        black_box(decoder.score(black_box(&sequences), 1.0).unwrap());
    });
    let train = best(|| {
        let (_, activations) = decoder.forward(black_box(&sequences), 1.0).unwrap();
        decoder.backward(activations, &gradients, &mut into).unwrap();
        black_box(&into);
    });
    for (name, seconds) in [("forward", score), ("forward and backward", train)] {
        let rate = tokens / seconds / 1e3;
        println!("{name:<24} {threads} threads {:>8.1} ms {rate:>7.1} k tokens/s", seconds * 1e3);
    }
}

fn sampling(decoder: &Decoder, threads: usize) {
    let prompts: Ragged<u32> = sequences().prompts;
    let config =
        GenerationConfig { max_new_tokens: COMPLETION as usize, ..GenerationConfig::default() };
    let seeds: Vec<u64> = (0..u64::from(SEQUENCES)).collect();
    if let Err(error) = decoder.generate(&prompts, &config, &seeds) {
        return println!("sampling: {error}");
    }
    let seconds = best(|| {
        black_box(decoder.generate(black_box(&prompts), &config, &seeds).unwrap());
    });
    let sampled = f64::from(SEQUENCES * COMPLETION) / seconds / 1e3;
    let name = "sampling";
    println!("{name:<24} {threads} threads {:>8.1} ms {sampled:>7.1} k tokens/s", seconds * 1e3);
}

fn main() {
    let decoder = decoder();
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            passes(&decoder, threads);
            sampling(&decoder, threads);
        });
    }
}
