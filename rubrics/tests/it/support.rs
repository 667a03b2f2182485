//! What several topics share: fixtures, and the reward of given answers.

use std::path::PathBuf;

use assay_rubrics::Rubric;
use assay_rubrics::formats::read_text;
use assay_rubrics::rubric::{Answer, Answers};
use assay_verifiers::Meter;
use serde_json::Value;

pub(crate) fn bytes(name: &str) -> Vec<u8> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../fixtures");
    std::fs::read(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The rubric of a file of `fixtures/rubrics`.
pub(crate) fn rubric(name: &str) -> Rubric {
    let read = read_text(name, &bytes(&format!("rubrics/{name}")));
    read.unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The rows of a file of JSON lines.
pub(crate) fn rows(name: &str) -> Vec<Value> {
    let text = String::from_utf8(bytes(name)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What a judge or a verifier said, by the names of the leaves: the words of the judge, or the share
/// of a verifier.
pub(crate) fn answers(rubric: &Rubric, said: &[(&str, &str)]) -> Answers {
    let mut answers: Answers = Answers::new();
    for leaf in rubric.leaves() {
        let words = said.iter().find(|(name, _)| *name == leaf.name).map(|(_, words)| *words);
        let answer = words.map(|words| {
            if leaf.asks_judge() {
                let answer = leaf.kind.answer(words);
                return answer.unwrap_or_else(|| panic!("{}: \"{words}\" is no answer", leaf.name));
            }
            let share: f64 = words.parse().unwrap();
            let share = if leaf.negate { 1.0 - share } else { share };
            Answer { share, value: share }
        });
        answers.insert(leaf.name.clone(), answer);
    }
    answers
}

/// The reward of answers to every leaf.
pub(crate) fn reward(rubric: &Rubric, said: &[(&str, &str)]) -> f64 {
    let answers = answers(rubric, said);
    let missing: Vec<&str> = answers
        .iter()
        .filter(|(_, answer)| answer.is_none())
        .map(|(name, _)| name.as_str())
        .collect();
    assert!(missing.is_empty(), "no answer to {missing:?}");
    let aggregated = rubric.aggregate.of(rubric, &answers, &mut Meter::default()).unwrap();
    aggregated.expect("a reward").reward
}

pub(crate) fn assert_close(found: f64, wanted: f64) {
    assert!((found - wanted).abs() <= 1e-12, "found {found}, expected {wanted}");
}
