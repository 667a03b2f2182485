//! Tests of the sampling of completions.

use serde_json::json;

use super::*;
use crate::policy::{Architecture, PolicyModel, Sequences};

const VOCABULARY: u32 = 19;
const POSITIONS: usize = 40;

fn decoder() -> Decoder {
    let config = json!({
        "model_type": "qwen3", "vocab_size": VOCABULARY, "hidden_size": 16, "intermediate_size": 24,
        "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 6,
        "max_position_embeddings": POSITIONS, "tie_word_embeddings": true,
    });
    Decoder::new(Architecture::from_config(&config).unwrap(), 3, 0.4).unwrap()
}

fn prompts() -> Ragged<u32> {
    [vec![1, 2, 3], vec![4], vec![5, 6, 7, 8, 9, 10, 11]].into_iter().collect()
}

fn config() -> GenerationConfig {
    GenerationConfig { max_new_tokens: 20, stop_tokens: vec![0, 17], ..Default::default() }
}

fn said(prompts: &Ragged<u32>, config: &GenerationConfig, seeds: &[u64]) -> String {
    generate(&decoder(), prompts, config, seeds).unwrap_err().to_string()
}

#[test]
fn a_completion_does_not_depend_on_the_others() {
    let (decoder, seeds) = (decoder(), (100..400).collect::<Vec<u64>>());
    for config in
        [config(), GenerationConfig { top_k: 7, top_p: 0.9, temperature: 0.8, ..config() }]
    {
        let together = generate(&decoder, &prompts(), &config, &seeds).unwrap();
        for at in (0..seeds.len()).step_by(7) {
            let prompt = [prompts().row(at / 100).to_vec()].into_iter().collect();
            let alone = generate(&decoder, &prompt, &config, &seeds[at..=at]).unwrap();
            assert_eq!(alone[0], together[at], "completion {at}");
        }
        let stopped = |made: &&Generated| made.finish == FinishReason::Stop;
        let count = together.iter().filter(stopped).count();
        assert!((10..290).contains(&count), "{count} have stopped");
    }
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let (decoder, seeds) = (decoder(), (0..150).collect::<Vec<u64>>());
    let made = [1, 3].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| generate(&decoder, &prompts(), &config(), &seeds).unwrap())
    });
    assert_eq!(made[0], made[1]);
    assert_ne!(made[0][0].tokens, made[0][1].tokens, "seeds matter");
}

#[test]
fn log_probabilities_are_those_of_score() {
    let (decoder, prompts) = (decoder(), prompts());
    for (temperature, top_k) in [(1.0, 0), (0.7, 5), (1.9, 0), (0.0, 0)] {
        let config = GenerationConfig { temperature, top_k, ..config() };
        let made = generate(&decoder, &prompts, &config, &[1, 2, 3, 4, 5, 6]).unwrap();
        let mut sequences = Sequences::default();
        for (at, made) in made.iter().enumerate() {
            sequences.push(prompts.row(at / 2), &made.tokens);
        }
        let of_score = if temperature == 0.0 { 1.0 } else { temperature };
        let scores = decoder.score(&sequences, of_score).unwrap();
        for (made, scored) in made.iter().zip(scores.log_probs.iter()) {
            assert_eq!(made.log_probs.len(), scored.len());
            for (made, scored) in made.log_probs.iter().zip(scored) {
                assert!((f64::from(*made) - scored).abs() < 1e-4, "{made} {scored}");
            }
        }
    }
}

#[test]
fn greedy_tokens_are_the_most_probable_by_score() {
    let (decoder, prompts) = (decoder(), prompts());
    let config = GenerationConfig { temperature: 0.0, stop_tokens: Vec::new(), ..config() };
    let made = generate(&decoder, &prompts, &config, &[0, 0, 0]).unwrap();
    for (prompt, made) in prompts.iter().zip(&made) {
        assert_eq!((made.tokens.len(), made.finish), (20, FinishReason::Length));
        let before = |at: usize| [prompt, &made.tokens[..at]].concat();
        for (at, token) in made.tokens.iter().enumerate() {
            let mut sequences = Sequences::default();
            (0..VOCABULARY).for_each(|token| sequences.push(&before(at), &[token]));
            let scores = decoder.score(&sequences, 1.0).unwrap();
            let scores = scores.log_probs.values();
            let greatest = scores.iter().copied().fold(f64::MIN, f64::max);
            assert!((scores[*token as usize] - greatest).abs() < 1e-6, "token {at}");
        }
    }
}

#[test]
fn completions_end_in_time() {
    let decoder = decoder();
    let seeds: Vec<u64> = (0..30).collect();
    let made = generate(&decoder, &prompts(), &config(), &seeds).unwrap();
    for made in &made {
        let stops = made.tokens.iter().filter(|token| [0, 17].contains(*token)).count();
        assert_eq!(made.log_probs.len(), made.tokens.len());
        match made.finish {
            FinishReason::Stop => {
                assert_eq!(stops, 1);
                assert!([0, 17].contains(made.tokens.last().unwrap()));
            }
            FinishReason::Length => assert_eq!((stops, made.tokens.len()), (0, 20)),
        }
    }
    let endless = GenerationConfig { max_new_tokens: 1000, stop_tokens: Vec::new(), ..config() };
    let made = generate(&decoder, &prompts(), &endless, &[1, 2, 3]).unwrap();
    let lengths: Vec<usize> = made.iter().map(|made| made.tokens.len()).collect();
    assert_eq!(lengths, [POSITIONS - 3, POSITIONS - 1, POSITIONS - 7]);
    let none = GenerationConfig { max_new_tokens: 0, ..config() };
    let made = generate(&decoder, &prompts(), &none, &[1, 2, 3]).unwrap();
    assert!(made.iter().all(|made| made.tokens.is_empty() && made.finish == FinishReason::Length));
    assert!(generate(&decoder, &prompts(), &config(), &[]).unwrap().is_empty());
    assert!(generate(&decoder, &Ragged::new(), &config(), &[]).unwrap().is_empty());
}

#[test]
fn completions_end_where_they_are_told() {
    let (decoder, seeds) = (decoder(), (0..30).collect::<Vec<u64>>());
    let ends = |at: usize, tokens: &[u32]| tokens.len() >= 9 - at % 5 || tokens.ends_with(&[4]);
    let made = decoder.generate_until(&prompts(), &config(), &seeds, &ends).unwrap();
    for (at, (whole, made)) in
        generate(&decoder, &prompts(), &config(), &seeds).unwrap().iter().zip(&made).enumerate()
    {
        let length = (1..whole.tokens.len()).find(|length| ends(at, &whole.tokens[..*length]));
        let length = length.unwrap_or(whole.tokens.len());
        assert_eq!(made.tokens, whole.tokens[..length]);
        assert_eq!(made.log_probs, whole.log_probs[..length]);
        let stopped = made.finish == FinishReason::Stop;
        assert_eq!(stopped, made.tokens.last().is_some_and(|last| [0, 17].contains(last)));
    }
}

#[test]
fn what_cannot_be_continued_is_refused() {
    let long = [vec![1; POSITIONS - 1], vec![1; POSITIONS]].into_iter().collect();
    let message = "prompt 1: has 40 tokens, which leaves none of 40 for a completion";
    assert_eq!(said(&long, &config(), &[1, 2]), message);
    assert!(said(&[vec![1], vec![]].into_iter().collect(), &config(), &[1, 2]).contains("empty"));
    let outside = [vec![VOCABULARY]].into_iter().collect();
    assert!(said(&outside, &config(), &[1]).contains("token 19"));
    let message = "seeds: 4 of them are not shared equally by 3 prompts";
    assert_eq!(said(&prompts(), &config(), &[1, 2, 3, 4]), message);
    assert!(said(&Ragged::new(), &config(), &[1]).contains("seeds"));
    for temperature in [-1.0, f64::NAN, f64::INFINITY, 1e-60] {
        let config = GenerationConfig { temperature, ..config() };
        assert!(said(&prompts(), &config, &[1, 2, 3]).contains("temperature: is "));
    }
    for top_p in [0.0, 1.1, f64::NAN] {
        let config = GenerationConfig { top_p, ..config() };
        assert!(said(&prompts(), &config, &[1, 2, 3]).contains("top_p: is "));
    }
}

#[test]
fn weights_that_are_not_finite_are_an_error() {
    let mut decoder = decoder();
    decoder.parameters_mut().values_mut().fill(f32::NAN);
    let error = generate(&decoder, &prompts(), &config(), &[1, 2, 3]).unwrap_err();
    assert_eq!(error.to_string(), "logits: are not finite");
}
