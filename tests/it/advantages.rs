//! `assay advantages`: what each rollout of a run earned, worked by hand.

use crate::place::Place;
use serde_json::{Value, json};

const CONFIG: &str = r#"version = 1
[data]
group = "prompt_id"
[[reward]]
name = "correct"
verifier = "exact"
[[reward]]
name = "brief"
verifier = "length"
weight = 0.5
config = { ratio = [0.0, 1.0] }
[advantage]
kind = "dr_grpo"
"#;

/// A run of five rows: three of prompt `a`, of which one has no reward, and two of `b`.
fn place() -> Place {
    let row = |prompt: &str, completion: &str, reference: &str, tokens: u64| {
        let row = json!({
            "prompt_id": prompt, "prompt": prompt, "completion": completion,
            "reference": reference, "tokens": tokens,
        });
        format!("{row}\n")
    };
    let rows = [
        row("a", "yes", "yes", 4),
        row("b", "no", "yes", 1),
        row("a", "wrong", "yes", 2),
        row("a", "yes", "", 9),
        row("b", "no", "yes", 3),
    ];
    let place = Place::with(&[("assay.toml", CONFIG), ("rows.jsonl", &rows.concat())]);
    score(&place, "assay.toml", "run");
    place
}

fn score(place: &Place, config: &str, run: &str) {
    let ran = place.run(&format!("score {config} rows.jsonl -o {run} -q"));
    assert_eq!(ran.code, 0, "{}", ran.err);
}

/// The lines of `assay advantages`, and what it said of the groups.
fn lines(place: &Place, words: &str) -> (Vec<Value>, String) {
    let ran = place.run(&format!("advantages {words}"));
    assert_eq!(ran.code, 0, "{}", ran.err);
    (ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), ran.err)
}

fn refused(place: &Place, words: &str) -> String {
    let ran = place.run(&format!("advantages {words}"));
    assert_eq!(ran.code, 2, "{words}: {}", ran.err);
    ran.err
}

fn advantages(lines: &[Value]) -> Vec<f64> {
    lines.iter().map(|line| line["advantage"].as_f64().unwrap()).collect()
}

fn close(found: &[f64], wanted: &[f64]) {
    assert_eq!(found.len(), wanted.len());
    let near = |(found, wanted): (&f64, &f64)| (found - wanted).abs() < 1e-12;
    assert!(found.iter().zip(wanted).all(near), "{found:?}, not {wanted:?}");
}

#[test]
fn rewards_of_a_run_become_advantages() {
    let place = place();
    // Rewards: a: 1 + 0.5, 0, a fault (the reference has no length); b: 0.5 twice.
    let (found, said) = lines(&place, "run");
    close(&advantages(&found), &[0.75, 0.0, -0.75, 0.0, 0.0]);
    assert_eq!(found[0]["group"], "a");
    assert_eq!((&found[0]["reward"], &found[3]["reward"]), (&json!(1.5), &Value::Null));
    assert_eq!(
        said.trim(),
        "5 rows in 2 groups; groups without variance: 1; rows without a reward: 1",
        "{said}"
    );
    assert_eq!(lines(&place, "run --config assay.toml").0, found);
    // A preset, and a setting over it: 0.75 / (1.5 / sqrt(2) + 1).
    let (found, _) = lines(&place, "run --preset trl-1.16 --set eps=1.0");
    let unit = 0.75 / (1.5 / 2.0_f64.sqrt() + 1.0);
    close(&advantages(&found), &[unit, 0.0, -unit, 0.0, 0.0]);
    // Parts are normalised one by one, with the weights of the configuration.
    let (found, _) = lines(&place, "run --kind gdpo --preset trl-1.16");
    assert!(advantages(&found)[0] > 0.0 && advantages(&found)[3].abs() < 1e-12);
    let ran = place.run("advantages run --kind rloo -o out.jsonl --json");
    let report = ran.json();
    assert_eq!(report["without_variance"], 1, "{report}");
    assert_eq!(std::fs::read_to_string(place.path("out.jsonl")).unwrap().lines().count(), 5);
}

#[test]
fn columns_of_the_data_are_read_where_an_estimator_needs_them() {
    let place = place();
    let error = refused(&place, "run --kind opo");
    assert!(error.contains("lengths") && error.contains("opo"), "{error}");
    // OPO: the baseline of a is (4 * 1.5 + 2 * 0) / 6 = 1.
    let (found, _) = lines(&place, "run --kind opo --with rows.jsonl --lengths tokens");
    close(&advantages(&found), &[0.5, 0.0, -1.0, 0.0, 0.0]);
    let error = refused(&place, "run --kind opo --with rows.jsonl --lengths prompt_id");
    assert!(
        error.contains("rows.jsonl:1: prompt_id: missing") && error.contains("a number of tokens"),
        "{error}"
    );
    place.write("other.jsonl", "{\"completion\": \"x\"}\n");
    let error = refused(&place, "run --kind grpo --with other.jsonl");
    assert!(error.contains("is not in the data"), "{error}");
}

#[test]
fn a_run_whose_rows_name_no_group_goes_by_its_prompts() {
    let place = place();
    let plain = CONFIG.replace("[data]\ngroup = \"prompt_id\"\n", "");
    let plain = plain.replace("[advantage]\nkind = \"dr_grpo\"\n", "");
    place.write("plain.toml", &plain);
    score(&place, "plain.toml", "plain");
    // GRPO where nothing says how: (1.5 - 0.75) / (1.5 / sqrt(2) + 1e-6).
    let unit = 0.75 / (1.5 / 2.0_f64.sqrt() + 1e-6);
    let wanted = [unit, 0.0, -unit, 0.0, 0.0];
    close(&advantages(&lines(&place, "plain").0), &wanted);
    close(&advantages(&lines(&place, "plain --with rows.jsonl").0), &wanted);
    place.write("rows.jsonl", "{\"completion\": \"other\"}\n");
    let error = refused(&place, "plain");
    assert!(error.contains("row 1") && error.contains("names no group"), "{error}");
}

#[test]
fn a_group_that_a_limit_cuts_is_told() {
    let place = place();
    let row = |prompt| json!({"prompt_id": prompt, "completion": "yes", "reference": "yes"});
    let rows = ["a", "a", "b", "b"].map(|prompt| format!("{}\n", row(prompt)));
    place.write("rows.jsonl", &rows.concat());
    for (limit, is_cut) in [(3, true), (4, false)] {
        let words = format!("score assay.toml rows.jsonl -o run-{limit} --limit {limit} -q");
        assert_eq!(place.run(&words).out.contains("--limit may have cut"), is_cut, "{limit}");
        let said = lines(&place, &format!("run-{limit}")).1;
        assert_eq!(said.contains("its last group has 1 rows, others 2"), is_cut, "{said}");
    }
}

#[test]
fn what_is_wrong_is_named() {
    let place = place();
    for (words, why) in [
        ("run --kind grop", "no advantage is called \"grop\""),
        ("run --kind grpo --set epss=1", "unknown key `epss`"),
        ("run --kind grpo --set eps", "expected KEY=VALUE"),
        ("run --kind grpo --group-size 2", "--group-size 2 does not divide the 5 rows"),
        ("run --kind grpo --steps none", "no such reward; it has: correct, brief"),
        ("none --kind grpo", "it is not a run folder"),
        ("run --kind spiral", "roles"),
    ] {
        let error = refused(&place, words);
        assert!(error.contains(why), "{words}: {error}");
    }
    // One group of all rows.
    let (found, _) = lines(&place, "run --kind dr_grpo --group-size 5");
    assert_eq!(advantages(&found).len(), 5);
}

#[test]
fn a_state_is_an_input_and_an_output() {
    let place = place();
    lines(&place, "run --kind dcpo --state-out first.json");
    let first = std::fs::read_to_string(place.path("first.json")).unwrap();
    assert!(serde_json::from_str::<Value>(&first).unwrap().as_object().unwrap().len() >= 2);
    lines(&place, "run --kind dcpo --state first.json --state-out second.json");
    let second = std::fs::read_to_string(place.path("second.json")).unwrap();
    assert_ne!(first, second);
    let error = refused(&place, "run --kind dcpo --state rows.jsonl");
    assert!(error.contains("--state rows.jsonl"), "{error}");
}
