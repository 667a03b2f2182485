//! Answers to the tasks of reasoning-gym, with the scores that its library gives.

use assay_puzzles::entry::Puzzle;
use assay_puzzles::reasoning::{last_answer, mark};
use proptest::prelude::*;
use serde_json::{Value, json};

const ROWS: &str = include_str!("data/reasoning_gym.jsonl");

fn rows() -> Vec<Value> {
    ROWS.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn published(task: &str, answer: &str, reference: &Value, metadata: &Value) -> (f64, bool) {
    let marked = mark(task, Some(answer), &Puzzle { answer: "", reference, metadata }).unwrap();
    (marked.published, marked.right)
}

#[test]
fn answers_of_models_score_as_published() {
    let mut tasks = std::collections::BTreeSet::new();
    for row in rows() {
        let task = row["task"].as_str().unwrap();
        tasks.insert(task.to_owned());
        let answer = row["extracted"].as_str().unwrap();
        let (score, right) = published(task, answer, &row["reference"], &row["metadata"]);
        let due = row["label"].as_f64().unwrap();
        assert!((score - due).abs() < 1e-9, "{task}: {score}, not {due}: {answer}");
        assert!(right || due < 1.0 || task == "puzzle24", "{task}: {answer}");
    }
    assert_eq!(tasks.len(), 44);
}

/// Scores of the library for answers to puzzles of other tasks, and whether they are right.
#[test]
fn made_answers_score_as_published() {
    let none = json!({});
    let cases: &[(&str, &str, Value, Value, f64, bool)] = &[
        ("gsm_symbolic", "It costs $18.", json!("18"), none.clone(), 1.0, true),
        ("gsm_symbolic", "a-5 or 18", json!("18"), none.clone(), 0.01, false),
        ("gsm_symbolic", "5abc", json!("5"), none.clone(), 0.0, false),
        ("coin_flip", "3/8", json!("0.375"), none.clone(), 1.0, true),
        ("coin_flip", "0.377", json!("0.375"), none.clone(), 0.8, false),
        ("coin_flip", "1/0", json!("0.375"), none.clone(), 0.0, false),
        ("prime_factorization", "3 × 2", json!("2 × 3"), none.clone(), 1.0, true),
        ("prime_factorization", "6", json!("2 × 3"), none.clone(), 0.5, false),
        ("bitwise_arithmetic", "255", json!("0xff"), none.clone(), 1.0, true),
        ("bitwise_arithmetic", "-0xFF", json!("0xff"), none.clone(), 0.0, false),
        ("rectangle_count", "5", json!("3"), none.clone(), 0.48, false),
        ("polynomial_equations", "1, 2, 3", json!("1, 2"), none.clone(), 0.5, false),
        (
            "polynomial_multiplication",
            "x**2 + 3*x + 2",
            json!("2 + 3*x + x**2"),
            none.clone(),
            1.0,
            true,
        ),
        (
            "polynomial_multiplication",
            "(x + 1)*(x + 2)",
            json!("2 + 3*x + x**2"),
            none.clone(),
            0.0,
            false,
        ),
        ("spell_backward", "dog", json!("god"), none.clone(), 1.0 / 3.0, false),
        ("figlet_font", "B O X", json!("box"), none.clone(), 1.0, true),
        ("tsumego", "c4", json!("C4"), none.clone(), 1.0, true),
        ("tsumego", "D5", json!("C4"), none.clone(), 0.05, false),
        ("emoji_mystery", "ab", json!("ac"), none.clone(), 0.5, false),
        ("spiral_matrix", "[1, 2, 3]", json!("1 2 3"), none.clone(), 0.1, true),
        ("string_insertion", "['A', 'B']", json!("AB"), none.clone(), 0.1, true),
        ("pool_matrix", "1.0 2.0", json!("1.005 2.0"), none.clone(), 1.0, true),
        ("word_sorting", "b, a", json!("a, b"), json!({"sorted_words": ["a", "b"]}), 0.2, false),
        (
            "number_sorting",
            "['1.0', '2.5']",
            json!("['1.0', '2.0']"),
            json!({"direction": "ascending"}),
            1.0,
            false,
        ),
        ("arc_agi", "1 2\n3 4", json!(""), json!({"output": [[1, 2], [3, 4]]}), 1.0, true),
        ("arc_agi", "1 2", json!(""), json!({"output": [[1, 2], [3, 4]]}), 0.05, false),
        ("survo", "1 2\n3 x 4", json!(""), json!({"solution": [[1, 2], [3, 4]]}), 1.0, true),
        (
            "kakurasu",
            "1 0\n0 1",
            json!(""),
            json!({"row_sums": [1, 2], "col_sums": [1, 2]}),
            1.0,
            true,
        ),
        (
            "kakurasu",
            "1 1\n0 1",
            json!(""),
            json!({"row_sums": [1, 2], "col_sums": [1, 2]}),
            0.0,
            false,
        ),
        ("shortest_path", "right", json!("right"), json!({"matrix": [["*", "#"]]}), 1.0, true),
        (
            "shortest_path",
            "right left right",
            json!("right"),
            json!({"matrix": [["*", "#"]]}),
            0.5,
            false,
        ),
        (
            "cryptarithm",
            "A=1,B=2",
            json!(""),
            json!({"words_letters": ["A", "A"], "result_letters": "B"}),
            1.0,
            true,
        ),
        (
            "cryptarithm",
            "A=1,B=3",
            json!(""),
            json!({"words_letters": ["A", "A"], "result_letters": "B"}),
            0.01,
            false,
        ),
        ("knight_swap", "no", json!("No"), json!({"is_possible": false}), 1.0, true),
        (
            "rush_hour",
            "A+4",
            Value::Null,
            json!({"board_config": "ooooooooooooAAooooooooooooBBoooooooo"}),
            1.0,
            true,
        ),
        (
            "rush_hour",
            "A+4",
            Value::Null,
            json!({"board_config": "oooooBoooooBAAoooBooooooCCoooooooooo"}),
            0.01,
            false,
        ),
        (
            "rush_hour",
            "B-1 A+4",
            Value::Null,
            json!({"board_config": "oooooooooooBAAoooBoooooBCCoooooooooo"}),
            0.01,
            false,
        ),
    ];
    for (task, answer, reference, metadata, due, right) in cases {
        let found = published(task, answer, reference, metadata);
        assert!((found.0 - due).abs() < 1e-9, "{task}: {answer}: {found:?}");
        assert_eq!(found.1, *right, "{task}: {answer}");
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
        let rows = rows();
        let row = &rows[at % rows.len()];
        let (task, own) = (row["task"].as_str().unwrap(), row["extracted"].as_str().unwrap());
        let cut = own.floor_char_boundary(cut.min(own.len()));
        for answer in [answer.clone(), format!("{}{answer}{}", &own[..cut], &own[cut..])] {
            let (score, right) = published(task, &answer, &row["reference"], &row["metadata"]);
            prop_assert!((0.0..=1.0 + 1e-9).contains(&score));
            let _ = right;
        }
        last_answer(&answer);
    }
}
