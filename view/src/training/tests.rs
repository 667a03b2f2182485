//! Trainings of a few lines and of many.

use std::fmt::Write as _;
use std::fs;

use super::*;

#[test]
#[expect(clippy::disallowed_methods, reason = "the test reads what it writes")]
fn a_training_is_drawn_by_its_lines_and_a_long_one_by_means() {
    let dir = std::env::temp_dir().join(format!("assay-view-training-{}", std::process::id()));
    fs::create_dir_all(&dir).unwrap();
    assert_eq!(training(&dir), None);
    let mut lines = String::new();
    for step in 0..1000 {
        writeln!(lines, "{{\"step\":{step},\"reward\":{},\"kl\":null}}", step % 2).unwrap();
    }
    lines.push_str("no json\n{\"step\":1000,\"rew");
    fs::write(dir.join(METRICS), lines).unwrap();
    let warning = json!({ "step": 7, "alarm": "length_pays", "message": "<b>".repeat(1000) });
    fs::write(dir.join(WARNINGS), format!("{warning}\n")).unwrap();
    let read = training(&dir).unwrap();
    assert_eq!((&read["steps"], &read["unread"]), (&json!(999), &json!(2)));
    let points = read["curves"]["reward"].as_array().unwrap();
    assert!(points.len() <= POINTS_MAX && points[0][0] == 4, "{points:?}");
    assert_eq!(read["curves"].as_object().unwrap().len(), 1);
    assert!(read["warnings"][0]["message"].as_str().unwrap().len() < 1000);
    fs::remove_dir_all(&dir).unwrap();
}
