//! Steps with a cache against whole passes.

use super::testing::{Tied, tiny};
use crate::policy::{PolicyModel, Sequences};
use crate::ragged::Ragged;

fn log_probs(logits: &[f32]) -> Vec<f64> {
    let sum: f64 = logits.iter().map(|logit| f64::from(*logit).exp()).sum();
    logits.iter().map(|logit| f64::from(*logit) - sum.ln()).collect()
}

#[test]
fn steps_say_what_a_whole_pass_says() {
    let completions: [Vec<u32>; 3] = [
        vec![5, 6, 7, 8, 9, 10, 0, 1, 2, 4],
        vec![0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
        (0..40).map(|at| (at * 3) % 11).collect(),
    ];
    let prompts: Ragged<u32> = [vec![3], (0..17).map(|at| at % 11).collect()].into_iter().collect();
    for family in ["llama", "qwen2", "qwen3"] {
        let decoder = tiny(family, Tied::No);
        let steps = decoder.steps(64);
        let (cache, first) = steps.prefill(&prompts).unwrap();
        let mut cache = cache.select(&[1, 0, 1]);
        let mut logits = [&first[11..], &first[..11], &first[11..]].concat();
        let mut sequences = Sequences::default();
        for (row, completion) in [1, 0, 1].into_iter().zip(&completions) {
            sequences.push(prompts.row(row), completion);
        }
        let expected = decoder.score(&sequences, 1.0).unwrap().log_probs;
        let mut rows = vec![0, 1, 2];
        for at in 0..40 {
            for (place, row) in rows.iter().enumerate() {
                let said = log_probs(&logits[place * 11..][..11]);
                let (said, expected) =
                    (said[completions[*row][at] as usize], expected.row(*row)[at]);
                assert!((said - expected).abs() < 1e-4, "{family}: {said}, not {expected}");
            }
            if at == 9 {
                cache.retain(|place| place == 2);
                rows = vec![2];
            }
            let tokens: Vec<u32> = rows.iter().map(|row| completions[*row][at]).collect();
            logits = steps.step(&mut cache, &tokens).unwrap();
        }
        assert_eq!((cache.rows(), cache.rows[0].length()), (1, 57));
    }
}

#[test]
fn a_row_does_not_depend_on_the_others() {
    let decoder = tiny("qwen3", Tied::Yes);
    let steps = decoder.steps(64);
    let prompts: Ragged<u32> = (0..150_u32).map(|at| vec![at % 11, at % 7, 3]).collect();
    let (mut cache, first) = steps.prefill(&prompts).unwrap();
    let mut alone = cache.select(&[77]);
    let one: Ragged<u32> = [prompts.row(77).to_vec()].into_iter().collect();
    assert_eq!(steps.prefill(&one).unwrap().1, first[77 * 11..][..11]);
    for at in 0..5 {
        let tokens: Vec<u32> = (0..150).map(|row| (row + at) % 11).collect();
        let all = steps.step(&mut cache, &tokens).unwrap();
        let said = steps.step(&mut alone, &tokens[77..78]).unwrap();
        assert_eq!(said, all[77 * 11..][..11]);
    }
}

#[test]
fn what_does_not_fit_is_an_error() {
    let decoder = tiny("llama", Tied::Yes);
    let steps = decoder.steps(4);
    let rows = |rows: &[&[u32]]| -> Ragged<u32> { rows.iter().map(|row| row.to_vec()).collect() };
    for bad in [&[][..], &[11], &[1; 5]] {
        assert!(steps.prefill(&rows(&[&[1], bad])).is_err(), "{bad:?}");
    }
    let (mut cache, _) = steps.prefill(&rows(&[&[1, 2, 3]])).unwrap();
    assert!(steps.step(&mut cache, &[1, 2]).is_err());
    assert!(steps.step(&mut cache, &[11]).is_err());
    assert!(steps.step(&mut cache, &[1]).is_ok());
    assert!(steps.step(&mut cache, &[1]).is_err(), "the row is full");
}
