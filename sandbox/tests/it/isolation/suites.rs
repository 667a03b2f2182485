//! Suites of every shape: right programs pass, wrong ones fail, in the room that the suite asks for.

use serde::Deserialize;

use super::*;

#[derive(Deserialize)]
struct File {
    suite: Vec<Suite>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Suite {
    name: String,
    room: String,
    right: String,
    wrong: Vec<String>,
    test: String,
    #[serde(default)]
    entry_point: Option<String>,
}

#[test]
fn class_suites_take_the_room_that_they_ask_for() {
    let path = root().join("fixtures/sandbox/class-suites.toml");
    let file: File = toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert!(file.suite.len() >= 20);
    let mut wrong = Vec::new();
    for suite in &file.suite {
        let entry_points: Vec<String> = suite.entry_point.clone().into_iter().collect();
        let programs = suite.wrong.iter().map(|program| (program, Ruling::Failed));
        for (program, ruling) in std::iter::once((&suite.right, Ruling::Passed)).chain(programs) {
            let task = AssertionTask {
                candidate: program,
                test: &suite.test,
                entry_points: &entry_points,
                ..AssertionTask::default()
            };
            let judged = with_context(|context| run_assertions(python(), &task, context));
            let room = if judged.shared_room { "shared" } else { "separate" };
            if judged.ruling() != ruling || room != suite.room {
                wrong.push(format!("{} {program}: {judged:?}", suite.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Attacks {
    test: String,
    attack: Vec<Attack>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Attack {
    name: String,
    program: String,
    test: Option<String>,
    paid: bool,
}

#[test]
fn what_a_shared_room_pays_wrongly_is_written_down() {
    let path = root().join("fixtures/sandbox/shared-room.toml");
    let file: Attacks = toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let mut wrong = Vec::new();
    for attack in &file.attack {
        for isolation in [Isolation::Shared, Isolation::Separate] {
            let task = AssertionTask {
                candidate: &attack.program,
                test: attack.test.as_ref().unwrap_or(&file.test),
                isolation,
                ..AssertionTask::default()
            };
            let judged = with_context(|context| run_assertions(python(), &task, context));
            let is_paid = judged.ruling() == Ruling::Passed;
            if is_paid != (attack.paid && isolation == Isolation::Shared) {
                wrong.push(format!("{} {isolation:?}: {judged:?}", attack.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Protocols {
    program: String,
    tests: Vec<String>,
}

#[test]
fn whatever_tests_ask_of_a_class_some_room_can_judge() {
    let path = root().join("fixtures/sandbox/class-protocols.toml");
    let file: Protocols = toml::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let passes = |program: &str, test: &str| {
        let task = AssertionTask { candidate: program, test, ..AssertionTask::default() };
        with_context(|context| run_assertions(python(), &task, context)).ruling()
    };
    let mut wrong = Vec::new();
    for test in &file.tests {
        let found = [passes(&file.program, test), passes("P = Q = Base = None", test)];
        if found != [Ruling::Passed, Ruling::Failed] {
            wrong.push(format!("{test}: {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
