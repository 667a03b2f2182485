//! Answers to the tasks of reasoning-gym, with the scores that its library gives.

use std::collections::BTreeSet;

use assay_puzzles::entry::{Marked, Puzzle};
use assay_puzzles::reasoning::{last_answer, mark};
use proptest::prelude::*;
use serde_json::{Value, json};

const ROWS: &str = include_str!("data/reasoning_gym.jsonl");
const MADE: &str = include_str!("data/made.jsonl");

fn rows(text: &str) -> Vec<Value> {
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// The marks of an answer to the puzzle of a row.
fn marks(row: &Value, answer: &str) -> Option<Marked> {
    let puzzle = Puzzle { answer: "", reference: &row["reference"], metadata: &row["metadata"] };
    mark(row["task"].as_str()?, Some(answer), &puzzle).ok()
}

#[test]
fn answers_score_as_published() {
    let (rows, made) = (rows(ROWS), rows(MADE));
    assert_eq!((rows.len(), made.len()), (100, MADE.lines().count()));
    let tasks: BTreeSet<&str> = rows.iter().filter_map(|row| row["task"].as_str()).collect();
    assert_eq!(tasks.len(), 44);
    for row in rows.iter().chain(&made) {
        let marks = marks(row, row["extracted"].as_str().unwrap()).unwrap();
        let due = row["label"].as_f64().unwrap();
        assert!((marks.published - due).abs() < 1e-9, "{marks:?}: {row}");
        match row["right"].as_bool() {
            Some(right) => assert_eq!(marks.right, right, "{row}"),
            None => assert!(marks.right || due < 1.0 || row["task"] == "puzzle24", "{row}"),
        }
    }
}

#[test]
fn the_last_closed_tag_is_the_answer() {
    let text = "<answer>1</answer> then <answer> 2 <answer> 3 </answer> and <answer>4";
    assert_eq!(last_answer(text).map(|span| &text[span]), Some("2 <answer> 3"));
    assert_eq!(last_answer("<answer>1"), None);
    assert_eq!(last_answer("<answer> </answer>").map(|span| span.len()), Some(0));
}

#[test]
fn an_unknown_task_or_row_is_refused() {
    let (reference, metadata) = (json!("1"), json!({}));
    let puzzle = Puzzle { answer: "", reference: &reference, metadata: &metadata };
    for task in ["rubiks_cube", "", "gcd lcm", "sudoku", "jugs", "rush_hour"] {
        assert!(mark(task, Some("1"), &puzzle).is_err(), "{task}");
    }
}

proptest! {
    #[test]
    fn no_answer_panics(answer in "(?s).{0,60}", at in 0_usize..100, cut in 0_usize..60) {
        let rows = rows(ROWS);
        let row = &rows[at % rows.len()];
        let own = row["extracted"].as_str().unwrap();
        let cut = own.floor_char_boundary(cut.min(own.len()));
        for answer in [answer.clone(), format!("{}{answer}{}", &own[..cut], &own[cut..])] {
            let score = marks(row, &answer).map(|marks| marks.published);
            prop_assert!(score.is_some_and(|score| (0.0..=1.0 + 1e-9).contains(&score)));
        }
        last_answer(&answer);
    }
}
