//! Gradients against differences, and what they do not depend on.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "numbers of a test are small"
)]

use super::Decoder;
use super::testing::{Tied, gradients, loss, sequences, tiny};
use crate::policy::{Gradients, PolicyModel, Sequences, TokenGradients};

const TEMPERATURE: f64 = 0.7;

fn decoders() -> Vec<(String, Decoder)> {
    let families = ["llama", "qwen2", "qwen3"];
    let kinds = families.into_iter().flat_map(|family| [(family, Tied::Yes), (family, Tied::No)]);
    kinds.map(|(family, tied)| (format!("{family} {tied:?}"), tiny(family, tied))).collect()
}

fn backward(decoder: &Decoder, sequences: &Sequences) -> (Gradients, TokenGradients) {
    let (scores, activations) = decoder.forward(sequences, TEMPERATURE).unwrap();
    let by = gradients(&scores);
    let mut into = decoder.parameters().gradients();
    decoder.backward(activations, &by, &mut into).unwrap();
    (into, by)
}

/// The slope of the loss where all weights of a range move by `direction`.
fn slope(
    decoder: &mut Decoder,
    by: &TokenGradients,
    range: std::ops::Range<usize>,
    direction: &[f64],
) -> f64 {
    let before = decoder.parameters().values()[range.clone()].to_vec();
    let norm = direction.iter().map(|x| x * x).sum::<f64>().sqrt();
    let step = 4e-3 / norm;
    let mut moved = |sign: f64| {
        let values = &mut decoder.parameters_mut().values_mut()[range.clone()];
        for ((value, before), direction) in values.iter_mut().zip(&before).zip(direction) {
            *value = before + (sign * step * direction) as f32;
        }
        loss(&decoder.score(&sequences(), TEMPERATURE).unwrap(), by)
    };
    let slope = (moved(1.0) - moved(-1.0)) / (2.0 * step);
    decoder.parameters_mut().values_mut()[range].copy_from_slice(&before);
    slope
}

#[test]
fn gradients_are_those_of_differences_and_none_is_zero() {
    for (name, mut decoder) in decoders() {
        let (into, by) = backward(&decoder, &sequences());
        for info in decoder.parameters().tensors().to_vec() {
            let gradient = into.tensor(&info);
            let norm = gradient.iter().map(|x| f64::from(x * x)).sum::<f64>().sqrt();
            assert!(norm > 1e-3, "{name}: {} has a gradient of {norm}", info.name);
            let along: Vec<f64> = gradient.iter().map(|x| f64::from(*x)).collect();
            let strewn: Vec<f64> =
                (0..along.len()).map(|at| ((at * 31) % 17) as f64 / 8.0 - 1.0).collect();
            for direction in [along, strewn] {
                let products = gradient.iter().zip(&direction);
                let expected: f64 = products.map(|(x, by)| f64::from(*x) * by).sum();
                let length = direction.iter().map(|x| x * x).sum::<f64>().sqrt();
                let found = slope(&mut decoder, &by, info.range.clone(), &direction);
                let wrong = (found - expected).abs() / (norm * length);
                assert!(wrong < 1e-2, "{name}: {}: {found}, not {expected}", info.name);
            }
        }
    }
}

#[test]
fn packed_sequences_are_the_same_as_each_by_itself() {
    for (name, decoder) in decoders() {
        let all = sequences();
        let scores = decoder.score(&all, TEMPERATURE).unwrap();
        let (together, by) = backward(&decoder, &all);
        let mut apart = decoder.parameters().gradients();
        for row in 0..all.rows() {
            let one = all.select(&[row]);
            let (alone, activations) = decoder.forward(&one, TEMPERATURE).unwrap();
            assert_eq!(alone.log_probs.row(0), scores.log_probs.row(row), "{name}");
            assert_eq!(alone.entropies.row(0), scores.entropies.row(row), "{name}");
            let entropies = by.entropies.as_ref().unwrap();
            let by = TokenGradients {
                log_probs: [by.log_probs.row(row).to_vec()].into_iter().collect(),
                entropies: Some([entropies.row(row).to_vec()].into_iter().collect()),
            };
            decoder.backward(activations, &by, &mut apart).unwrap();
        }
        let pairs = together.values().iter().zip(apart.values());
        let worst = pairs.map(|(one, other)| (one - other).abs()).fold(0.0, f32::max);
        assert!(worst < 1e-4, "{name}: {worst}");
    }
}

#[test]
fn no_bit_depends_on_the_number_of_threads() {
    let mut many = Sequences::default();
    for at in 0..150_u32 {
        let prompt: Vec<u32> = (0..=at % 5).map(|token| (token + at) % 11).collect();
        let completion: Vec<u32> = (0..at % 14).map(|token| (token * at) % 11).collect();
        many.push(&prompt, &completion);
    }
    for (name, decoder) in decoders() {
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| (decoder.score(&many, 1.0).unwrap(), backward(&decoder, &many)))
        };
        let (one, three) = (run(1), run(3));
        assert_eq!(one.0, three.0, "{name}");
        assert_eq!(one.1, three.1, "{name}");
        assert!(one.1.0.values().iter().all(|gradient| gradient.is_finite()));
    }
}

#[test]
fn gradients_of_log_probabilities_alone_are_enough() {
    let decoder = tiny("llama", Tied::Yes);
    let (scores, activations) = decoder.forward(&sequences(), 1.0).unwrap();
    let by = TokenGradients { log_probs: scores.log_probs.map(|_| 1.0), entropies: None };
    let mut into = decoder.parameters().gradients();
    decoder.backward(activations, &by, &mut into).unwrap();
    let first = into.clone();
    assert!(first.values().iter().any(|gradient| *gradient != 0.0));
    let (_, activations) = decoder.forward(&sequences(), 1.0).unwrap();
    decoder.backward(activations, &by, &mut into).unwrap();
    let pairs = into.values().iter().zip(first.values());
    let doubled = pairs.map(|(twice, once)| (twice - 2.0 * once).abs()).fold(0.0, f32::max);
    assert!(doubled < 1e-4, "gradients are added: {doubled}");
}

#[test]
fn what_does_not_fit_is_an_error() {
    let decoder = tiny("qwen3", Tied::Yes);
    let said = |prompt: &[u32], completion: &[u32], temperature: f64| {
        let mut sequences = Sequences::default();
        sequences.push(prompt, completion);
        decoder.score(&sequences, temperature).unwrap_err().to_string()
    };
    assert!(said(&[], &[1], 1.0).contains("empty"));
    assert!(said(&[11], &[1], 1.0).contains("token 11"));
    assert!(said(&[1], &[u32::MAX], 1.0).contains("below 11"));
    assert!(said(&[1; 60], &[1; 5], 1.0).contains("at most 64"));
    assert!(said(&[1], &[1], 0.0).contains("temperature"));
    assert!(said(&[1], &[1], f64::NAN).contains("temperature"));
    let (_, activations) = decoder.forward(&sequences(), 1.0).unwrap();
    let mut into = decoder.parameters().gradients();
    let wrong = TokenGradients::default();
    assert!(decoder.backward(activations, &wrong, &mut into).is_err());
    let (scores, activations) = decoder.forward(&sequences(), 1.0).unwrap();
    let by = gradients(&scores);
    assert!(decoder.backward(activations, &by, &mut Gradients::default()).is_err());
    let nothing = decoder.score(&Sequences::default(), 1.0).unwrap();
    assert_eq!(nothing.log_probs.rows(), 0);
}
