//! Functions and classes as `LeetCode` asks for them (`fixtures/sandbox/leetcode.jsonl`): the right program of each
//! task passes its tests, and the wrong one does not. Each task is a test of its own.

use std::path::Path;
use std::sync::Arc;

use assay_sandbox::Sandbox;
use assay_sandbox::verifiers;
use assay_verifiers::Files;
use assay_verifiers::cases::Case;
use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};

/// Fewer tasks than this would be no set.
const TASKS_MIN: usize = 200;

pub(crate) fn trials(sandbox: &Arc<Sandbox>) -> Vec<Trial> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/sandbox/leetcode.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let tasks: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(tasks.len() >= TASKS_MIN, "{} tasks", tasks.len());
    tasks
        .into_iter()
        .map(|task| {
            let sandbox = Arc::clone(sandbox);
            let name = format!("LeetCode: {}", task["id"].as_str().unwrap());
            Trial::test(name, move || judged(&sandbox, &task))
        })
        .collect()
}

fn judged(sandbox: &Arc<Sandbox>, task: &Value) -> Result<(), Failed> {
    let entry = verifiers::ALL.iter().find(|entry| entry.about.id == "unit_tests").unwrap();
    let build = |settings, files: &dyn Files| (entry.build)(sandbox, settings, files);
    for (which, reward) in [("right", 1.0), ("wrong", 0.0)] {
        let completion = format!("```python\n{}```\n", task[which].as_str().unwrap());
        let case: Case = serde_json::from_value(json!({
            "name": which,
            "prompt": format!("Complete this:\n\n```python\n{}```\n", task["starter"].as_str().unwrap()),
            "completion": completion,
            "reference": task["reference"].to_string(),
            "reward": reward,
        }))
        .unwrap();
        let verdict = case.run(build).map_err(|error| format!("{which}: {error}"))?;
        case.disagreement(&verdict).map_or(Ok(()), |why| Err(format!("{which}: {why}")))?;
    }
    Ok(())
}
