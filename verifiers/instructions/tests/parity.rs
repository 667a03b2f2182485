//! Verdicts, sentences, words and languages are those of the official code.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "the helpers read rows of tests")]

use assay_instructions::{Demand, Edition, follow, languages, sentences, words};
use serde_json::{Value, json};

/// Rows whose verdicts differ, and how many verdicts were compared.
fn differing(rows: &str) -> (Vec<String>, usize) {
    let (mut differing, mut count) = (Vec::new(), 0);
    for row in rows.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        let ids = row["reference"]["instruction_id_list"].as_array().unwrap();
        for (at, id) in ids.iter().enumerate() {
            let kwargs = row["reference"]["kwargs"][at].as_object();
            let Ok(demand) = Demand::read(id.as_str().unwrap(), kwargs, Edition::Official) else {
                differing.push(format!("{} {id}: refused", row["id"]));
                continue;
            };
            let met = follow(&[demand], row["response"].as_str().unwrap())[0];
            count += 1;
            if json!([met.strict, met.loose]) != json!([row["strict"][at], row["loose"][at]]) {
                differing.push(format!("{} {id}: {met:?}", row["id"]));
            }
        }
    }
    (differing, count)
}

#[test]
fn verdicts_are_those_of_ifeval() {
    let (differing, count) = differing(include_str!("data/ifeval.jsonl"));
    assert_eq!(differing, Vec::<String>::new());
    assert!(count > 150, "{count}");
}

#[test]
fn verdicts_are_those_of_ifbench() {
    let (differing, count) = differing(include_str!("data/ifbench.jsonl"));
    let others: Vec<_> = differing.iter().filter(|row| !row.contains("words:start_verb")).collect();
    assert_eq!(others, Vec::<&String>::new());
    assert!(count > 70, "{count}");
}

#[test]
fn texts_are_split_as_by_nltk_and_told_as_by_langdetect() {
    let rows = include_str!("data/texts.jsonl").lines();
    for row in rows.map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        let text = row["text"].as_str().unwrap();
        assert_eq!(json!(sentences(text)), row["sentences"], "{text:?}");
        assert_eq!(json!(words(text)), row["words"], "{text:?}");
        let told = |list: &Value| -> Vec<(String, f64)> {
            serde_json::from_value(list.clone()).unwrap_or_default()
        };
        assert_eq!(languages(text).is_none(), row["languages"].is_null(), "{text:?}");
        let (own, official) = (told(&json!(languages(text))), told(&row["languages"]));
        assert_eq!(own.len(), official.len(), "{text:?}: {own:?}");
        for ((code, share), (other, wanted)) in own.iter().zip(&official) {
            assert_eq!(code, other, "{text:?}");
            // Functions of the standard library may differ in the last bit.
            assert!((share - wanted).abs() < 1e-9, "{text:?}: {share} {wanted}");
        }
    }
}
