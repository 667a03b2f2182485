//! Programs that try to pass without solving their task, and honest ones that look unusual.

use super::*;

fn exploits() -> Vec<Value> {
    rows(&root().join("fixtures/sandbox/exploits.jsonl"))
}

fn passes_assertions(
    row: &Value,
    program: &str,
    test: &str,
    (isolation, stop_at_first): (Isolation, bool),
) -> bool {
    let entry_points = [text(row, "/entry_point").to_owned()];
    let entry_points: &[String] = if entry_points[0].is_empty() { &[] } else { &entry_points };
    let task = AssertionTask {
        candidate: program,
        test,
        entry_points,
        isolation,
        stop_at_first,
        ..AssertionTask::default()
    };
    let judged = with_context(|context| run_assertions(python(), &task, context));
    assert!(
        !matches!(judged.ruling(), Ruling::BadTests(_) | Ruling::Stopped(_)),
        "{}: {:?}",
        text(row, "/id"),
        judged.ruling()
    );
    judged.ruling() == Ruling::Passed
}

fn passes_calls(row: &Value, program: &str, cases: &[Value]) -> bool {
    let callee = Callee {
        source: program,
        setup: None,
        entry_point: text(row, "/entry_point"),
        common_imports: false,
        allow_nan: false,
    };
    let calls: Vec<_> = cases
        .iter()
        .map(|case| Arguments {
            args: case["args"].as_array().unwrap().iter().map(from_json).collect(),
            kwargs: Vec::new(),
        })
        .collect();
    let run = with_context(|context| run_calls(python(), callee, &calls, context));
    run.results.len() == cases.len()
        && run.results.iter().zip(cases).all(|(result, case)| match result {
            CallResult::Returned(value) => equal_json(value, &from_json(&case["out"]), None),
            _ => false,
        })
}

fn passes_stdio(program: &str, cases: &[Value]) -> bool {
    cases.iter().all(|case| {
        let stdin = text(case, "/stdin").as_bytes();
        let run = with_context(|context| run_program(python(), program, stdin, context));
        let stdout = String::from_utf8_lossy(&run.used.stdout).into_owned();
        run.end == Ok(0) && stdout.trim_end() == text(case, "/stdout").trim_end()
    })
}

/// Every style of tests that the row has, and whether the program passes.
fn styles(row: &Value, program: &str) -> Vec<(&'static str, bool)> {
    let mut found = Vec::new();
    if let Some(test) = row.pointer("/tests/check").and_then(Value::as_str) {
        let separate = (Isolation::Separate, true);
        found.push(("check", passes_assertions(row, program, test, separate)));
        let auto = (Isolation::Auto, false);
        found.push(("check, all, auto", passes_assertions(row, program, test, auto)));
        if let Some(flat) = flattened(row) {
            found.push(("assertions", passes_assertions(row, program, &flat, auto)));
        }
    }
    match row.pointer("/tests/io").and_then(Value::as_array) {
        Some(cases) if cases.iter().any(|case| case.get("stdin").is_some()) => {
            found.push(("stdin", passes_stdio(program, cases)));
        }
        Some(cases) => found.push(("calls", passes_calls(row, program, cases))),
        None => {}
    }
    found
}

/// The calls of a row as a list of assertions.
fn flattened(row: &Value) -> Option<String> {
    let entry = row["entry_point"].as_str()?;
    let cases = row.pointer("/tests/io")?.as_array()?;
    let lines = cases.iter().map(|case| {
        let literal = |value: &Value| format!("__import__('json').loads({:?})", value.to_string());
        let args: Vec<_> = case["args"].as_array().unwrap().iter().map(literal).collect();
        format!("assert {entry}({}) == {}\n", args.join(", "), literal(&case["out"]))
    });
    Some(lines.collect())
}

#[test]
fn no_cheat_is_accepted_and_no_honest_program_refused() {
    let wrong = over(&exploits(), |row| {
        let should_pass = row["expected"] == "pass";
        let mut wrong = Vec::new();
        let programs = [("solution", should_pass), ("reference", true)];
        for (name, should_pass) in programs {
            let Some(program) = row[name].as_str() else { continue };
            for (style, passes) in styles(row, program) {
                // A program may hard-code the calls that one style has and the other has not.
                if passes != should_pass {
                    wrong.push(format!("{} {name} in {style}: {passes}", text(row, "/id")));
                }
            }
        }
        (!wrong.is_empty()).then(|| wrong.join("\n"))
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
