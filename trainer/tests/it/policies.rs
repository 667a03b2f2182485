//! Folders that transformers wrote, and what it computes with them (`fixtures/policies`).

#![allow(
    clippy::cast_precision_loss,
    reason = "a test stops at what it does not expect; counts are small"
)]

use std::path::PathBuf;

use assay_trainer::config::LoraConfig;
use assay_trainer::policy::{
    FinishReason, GenerationConfig, PolicyFolder, PolicyModel, PolicyTokenizer, Sequences, folder,
};
use assay_trainer::ragged::Ragged;
use serde::Deserialize;

const NAMES: [&str; 5] = ["llama", "llama3", "qwen2", "qwen3", "qwen3-sharded"];

#[derive(Deserialize)]
struct Expected {
    prompts: Vec<Prompt>,
    tokens: Vec<u32>,
    greedy: Vec<u32>,
    stop_tokens: Vec<u32>,
    sampling: Vec<Sampling>,
    logits: Vec<Vec<f64>>,
}

#[derive(Deserialize)]
struct Prompt {
    text: String,
    tokens: Vec<u32>,
}

#[derive(Deserialize)]
struct Sampling {
    temperature: f64,
    top_k: usize,
    top_p: f64,
    kept: Vec<(u32, f64)>,
}

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../fixtures/policies").join(name)
}

fn read(name: &str) -> (PolicyFolder, Expected) {
    let text = std::fs::read_to_string(path(name).join("expected.json")).unwrap();
    (folder::load(&path(name)).unwrap(), serde_json::from_str(&text).unwrap())
}

fn one(tokens: &[u32]) -> Ragged<u32> {
    [tokens.to_vec()].into_iter().collect()
}

fn log_softmax(logits: &[f64]) -> Vec<f64> {
    let greatest = logits.iter().copied().fold(f64::MIN, f64::max);
    let sum: f64 = logits.iter().map(|logit| (logit - greatest).exp()).sum();
    logits.iter().map(|logit| logit - greatest - sum.ln()).collect()
}

#[test]
fn texts_have_the_same_tokens() {
    for name in NAMES {
        let (policy, expected) = read(name);
        for prompt in &expected.prompts {
            assert_eq!(policy.tokenizer.encode(&prompt.text).unwrap(), prompt.tokens, "{name}");
            let plain = ["<|im_start|>", "<|im_end|>"];
            let text =
                plain.iter().fold(prompt.text.clone(), |text, token| text.replace(token, ""));
            assert_eq!(policy.tokenizer.decode(&prompt.tokens), text, "{name}");
        }
        assert_eq!(policy.tokenizer.stop_tokens(), expected.stop_tokens, "{name}");
        assert_eq!(policy.tokenizer.chat_template().is_some(), name == "qwen2" || name == "qwen3");
    }
}

#[test]
fn all_log_probabilities_are_those_of_transformers() {
    for name in NAMES {
        let (policy, expected) = read(name);
        let vocabulary = policy.decoder.vocabulary_size();
        let mut sequences = Sequences::default();
        for at in 1..=expected.tokens.len() {
            for token in 0..vocabulary {
                sequences.push(&expected.tokens[..at], &[u32::try_from(token).unwrap()]);
            }
        }
        let scores = policy.decoder.score(&sequences, 1.0).unwrap();
        let rows = scores.log_probs.values().chunks_exact(vocabulary).zip(&expected.logits);
        assert_eq!(rows.len(), expected.tokens.len());
        for (at, (found, logits)) in rows.enumerate() {
            let pairs = found.iter().zip(log_softmax(logits)).enumerate();
            for (token, (found, expected)) in pairs {
                let off = (found - expected).abs();
                assert!(off < 1e-4, "{name} {at}: token {token} has {found}, expected {expected}");
            }
        }
    }
}

#[test]
fn the_greedy_continuation_is_that_of_transformers() {
    for name in NAMES {
        let (policy, expected) = read(name);
        let config = GenerationConfig {
            temperature: 0.0,
            max_new_tokens: expected.greedy.len(),
            stop_tokens: policy.tokenizer.stop_tokens().to_vec(),
            ..GenerationConfig::default()
        };
        let made = policy.decoder.generate(&one(&expected.tokens), &config, &[0]).unwrap();
        assert_eq!((&made[0].tokens, made[0].finish), (&expected.greedy, FinishReason::Length));
    }
}

/// Of 4000 draws, each token has its share: Pearson's test, with the bound that one in a million passes
/// by chance (the approximation of Wilson and Hilferty), and tokens that are expected fewer than five
/// times put together.
fn assert_shares(drawn: &[u32], kept: &[(u32, f64)], what: &str) {
    let count = |token: u32| drawn.iter().filter(|other| **other == token).count() as f64;
    let total = drawn.len() as f64;
    let (mut statistic, mut cells, mut rare) = (0.0, 0.0, (0.0, 0.0));
    for (token, share) in kept {
        let (found, expected) = (count(*token), share * total);
        if expected < 5.0 {
            rare = (rare.0 + found, rare.1 + expected);
        } else {
            statistic += (found - expected).powi(2) / expected;
            cells += 1.0;
        }
    }
    if rare.1 > 5.0 {
        statistic += (rare.0 - rare.1).powi(2) / rare.1;
        cells += 1.0;
    }
    let freedom = f64::max(cells - 1.0, 1.0);
    let spread = 2.0 / (9.0 * freedom);
    let bound = freedom * (1.0 - spread + 4.75 * f64::sqrt(spread)).powi(3);
    assert!(statistic < bound, "{what}: {statistic} of {freedom} degrees of freedom");
}

#[test]
fn draws_are_from_what_the_samplers_of_transformers_leave() {
    for name in NAMES {
        let (policy, expected) = read(name);
        for sampling in &expected.sampling {
            let config = GenerationConfig {
                temperature: sampling.temperature,
                top_k: sampling.top_k,
                top_p: sampling.top_p,
                max_new_tokens: 1,
                stop_tokens: Vec::new(),
            };
            let seeds: Vec<u64> = (0..4000).collect();
            let made = policy.decoder.generate(&one(&expected.tokens), &config, &seeds).unwrap();
            let drawn: Vec<u32> = made.iter().map(|made| made.tokens[0]).collect();
            let what = format!("{name} at {config:?}");
            for token in &drawn {
                let is_kept = sampling.kept.iter().any(|(kept, _)| kept == token);
                assert!(is_kept, "{what}: token {token} was drawn");
            }
            assert_shares(&drawn, &sampling.kept, &what);
        }
    }
}

/// The folders stay, so that `policies.py --check` may read them with transformers.
#[test]
fn what_is_saved_computes_the_same() {
    let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("policies");
    for name in NAMES {
        let (policy, expected) = read(name);
        folder::save(&target.join(name), &policy.decoder, &policy.tokenizer).unwrap();
        let again = folder::load(&target.join(name)).unwrap();
        let mut sequences = Sequences::default();
        sequences.push(&expected.tokens, &expected.greedy);
        let scores = [&policy, &again].map(|of| of.decoder.score(&sequences, 1.0).unwrap());
        assert_eq!(scores[0], scores[1], "{name}");
    }
    let (mut policy, expected) = read("qwen2");
    let target_modules = ["q_proj", "k_proj", "down_proj"].map(str::to_owned).to_vec();
    let lora = LoraConfig { r: 4, lora_alpha: 6.0, target_modules };
    policy.decoder = policy.decoder.with_adapters(&lora, 1).unwrap();
    for (at, value) in policy.decoder.parameters_mut().values_mut().iter_mut().rev().enumerate() {
        *value += if at < 1500 { 0.1 } else { 0.0 };
    }
    folder::save(&target.join("qwen2-adapted"), &policy.decoder, &policy.tokenizer).unwrap();
    let again = folder::load(&target.join("qwen2-adapted")).unwrap();
    let mut sequences = Sequences::default();
    sequences.push(&expected.tokens, &expected.greedy);
    let [adapted, merged] = [&policy, &again].map(|of| of.decoder.score(&sequences, 1.0).unwrap());
    for (adapted, merged) in adapted.log_probs.values().iter().zip(merged.log_probs.values()) {
        assert!((adapted - merged).abs() < 1e-4, "{adapted} {merged}");
    }
    let alphabet = "0123456789+-= \n.,abcé€\"\\";
    let tokenizer = PolicyTokenizer::characters(alphabet).unwrap();
    tokenizer.save(&target.join("characters")).unwrap();
    assert_eq!(tokenizer.encode(alphabet).unwrap().len(), alphabet.chars().count());
}

#[test]
fn a_tokenizer_needs_no_folder() {
    let file = path("llama").join("tokenizer.json");
    let tokenizer = PolicyTokenizer::load(&file).unwrap();
    assert_eq!(tokenizer.vocabulary_size(), 128);
    assert!(tokenizer.stop_tokens().is_empty());
    let tokens = tokenizer.encode("What is the sum").unwrap();
    assert_eq!(tokenizer.token_ends(&tokens).last(), Some(&15));
}
