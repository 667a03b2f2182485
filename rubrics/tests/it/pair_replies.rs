//! Which of two outputs a judge prefers.

use assay_rubrics::reply::pair::{Winner, read, winner};
use proptest::prelude::*;
use serde::Deserialize;

use crate::fixtures;

#[derive(Deserialize)]
struct Cases {
    case: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    text: String,
    winner: String,
    strength: Option<f64>,
}

/// A reply to a pair of `LLMBar`.
#[derive(Deserialize)]
struct Row {
    id: String,
    text: String,
    source: Option<Winner>,
    winner: Option<Winner>,
}

#[derive(Deserialize)]
struct ArenaRow {
    text: String,
    verdict: String,
}

fn name(winner: Option<Winner>) -> String {
    winner.map_or("none".into(), |winner| format!("{winner:?}").to_lowercase())
}

#[test]
fn every_form_is_read() {
    let cases: Cases = toml::from_str(&fixtures::text("pair-replies.toml")).unwrap();
    let wrong: Vec<String> = cases
        .case
        .iter()
        .filter(|case| {
            let reply = read(&case.text);
            let strength = reply.and_then(|reply| reply.strength);
            name(winner(&case.text)) != case.winner
                || (case.strength.is_some() && strength != case.strength)
        })
        .map(|case| format!("{:?}: {:?}, not {}", case.text, read(&case.text), case.winner))
        .collect();
    assert!(cases.case.len() > 80 && wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn real_replies_are_read_as_they_end() {
    let rows: Vec<Row> = fixtures::rows("judge-llmbar-sample.jsonl.gz");
    for row in &rows {
        assert_eq!(winner(&row.text), row.winner, "{}: {:?}", row.id, row.text);
    }
    // The source takes the first verdict that it finds, and has no ties (docs/notes/pair-replies.md).
    let differ = rows.iter().filter(|row| row.source != row.winner).count();
    assert!(rows.len() > 400 && differ < rows.len() / 3, "{differ} of {}", rows.len());
}

#[test]
fn arena_verdicts_are_those_of_the_environment() {
    for row in fixtures::rows::<ArenaRow>("arena-judge.jsonl") {
        let strength = match row.verdict.as_str() {
            "A>>B" => 3.0,
            "A>B" => 1.0,
            "A=B" => 0.0,
            "B>A" => -1.0,
            "B>>A" => -3.0,
            other => panic!("{other}"),
        };
        assert_eq!(read(&row.text).unwrap().strength, Some(strength));
    }
}

proptest! {
    #[test]
    fn any_text_is_read(text in "\\PC{0,200}") {
        let reply = read(&text);
        prop_assert_eq!(reply.map(|reply| reply.winner), winner(&text));
    }

    #[test]
    fn marks_in_any_order_are_read(parts in prop::collection::vec(prop::sample::select(vec![
        "Output (a)", "[[", "]]", "A", " is ", "better", "not ", "\n", ". ", "\"winner\": ", "tie", "or ",
        "<answer>", "</answer>", "[RESULT]", "é", "(b)", "\\boxed{", "}",
    ]), 0..30)) {
        let text = parts.concat();
        let graded = read(&text).and_then(|reply| reply.strength).unwrap_or(0.0);
        prop_assert!((-3.0..=3.0).contains(&graded));
    }
}

#[test]
fn long_replies_are_read() {
    let texts =
        ["Output (a) is better or ", "\nA", "both are equally good ", "[[A]] or ", "a is better, "];
    for text in texts {
        let text = text.repeat(5_000) + "\nWinner: B";
        assert_eq!(winner(&text), Some(Winner::Second));
    }
}
