//! What it costs to draw a token: 256 completions at once of a decoder that is next to nothing but its
//! vocabulary, on one thread, with each of the limits.
//! `cargo bench -p assay-trainer --features train --bench sampling`.

#![expect(clippy::disallowed_methods, reason = "a bench reads the clock")]
#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::unwrap_used, reason = "a bench stops at what it does not expect")]
#![expect(clippy::cast_precision_loss, reason = "counts of tokens are far below 2^53")]

use std::hint::black_box;
use std::time::Instant;

use assay_trainer::Ragged;
use assay_trainer::config::NewModelConfig;
use assay_trainer::policy::{Architecture, Decoder, GenerationConfig, PolicyModel};

const ROWS: u64 = 256;
const RUNS: usize = 5;

fn decoder(vocabulary: usize) -> Decoder {
    let config = NewModelConfig {
        architecture: "llama".to_owned(),
        alphabet: None,
        hidden_size: 16,
        intermediate_size: 16,
        num_hidden_layers: 1,
        num_attention_heads: 1,
        num_key_value_heads: None,
        max_position_embeddings: 64,
        rope_theta: 10_000.0,
        tie_word_embeddings: true,
        initializer_range: 0.5,
    };
    Decoder::new(Architecture::of_new(&config, vocabulary).unwrap(), 1, 0.5).unwrap()
}

/// The best of some runs, in microseconds for each token.
fn micros(decoder: &Decoder, config: &GenerationConfig) -> f64 {
    let prompts: Ragged<u32> = [vec![1, 2, 3]].into_iter().collect();
    let seeds: Vec<u64> = (0..ROWS).collect();
    let time = |_| {
        let start = Instant::now();
        black_box(decoder.generate(black_box(&prompts), config, &seeds).unwrap());
        start.elapsed().as_secs_f64()
    };
    let tokens = seeds.len() * config.max_new_tokens;
    (0..RUNS).map(time).fold(f64::INFINITY, f64::min) * 1e6 / tokens as f64
}

fn main() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let limits = [
        ("greedy", 0.0, 0, 1.0),
        ("all tokens", 1.0, 0, 1.0),
        ("top_k 50", 1.0, 50, 1.0),
        ("top_p 0.95", 1.0, 0, 0.95),
        ("top_k 50, top_p 0.95", 1.0, 50, 0.95),
    ];
    for (vocabulary, max_new_tokens) in [(32, 16), (4_096, 4), (151_936, 2)] {
        let decoder = decoder(vocabulary);
        for (name, temperature, top_k, top_p) in limits {
            let config = GenerationConfig {
                temperature,
                top_k,
                top_p,
                max_new_tokens,
                ..GenerationConfig::default()
            };
            let micros = pool.install(|| micros(&decoder, &config));
            println!("{vocabulary:>7} tokens, {name:<21} {micros:>9.2} us a token");
        }
    }
}
