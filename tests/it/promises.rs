//! Promises kept under real use: silence is reported, streams are read once, finished runs are checked.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use crate::place::{Place, Ran};

const EXACT: &str = "version = 1\n[[reward]]\nname = 'correct'\nverifier = 'exact'\n";
const FORM: &str = "[[reward]]\nname = 'form'\nverifier = 'regex'\nconfig = { pattern = '^so' }\n";
const ROWS: &str = "{\"id\":\"a\",\"prompt\":\"p\",\"completion\":\"so\",\"reference\":\"so\"}\n\
                    {\"id\":\"b\",\"prompt\":\"p\",\"completion\":\"no\",\"reference\":\"so\"}\n";

fn place() -> Place {
    Place::with(&[("a.toml", EXACT), ("d.jsonl", ROWS)])
}

/// What `words` come to, fed through a pipe.
fn piped(place: &Place, words: &str, text: &str) -> Ran {
    let mut command = place.command(words);
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    // A command that refuses its arguments does not read.
    let _ = child.stdin.take().unwrap().write_all(text.as_bytes());
    Ran::of(child.wait_with_output().unwrap())
}

#[test]
fn a_column_that_no_row_has_ends_the_run_before_it_begins() {
    let place = place();
    for (words, said) in [
        ("--set data.reference=refrence", "did you mean \"reference\"?"),
        ("--labels gold", "data.label = \"gold\": not in any of 2 rows"),
        ("--set data.group=g", "which have: "),
    ] {
        let ran = place.run(&format!("score a.toml d.jsonl -q --fresh -o run {words}"));
        assert_eq!(ran.code, 2, "{words}: {}", ran.err);
        assert!(ran.err.contains(said), "{words}: {}", ran.err);
        let optional =
            format!("score a.toml d.jsonl -q --fresh -o run --set data.optional=true {words}");
        assert_eq!(place.run(&optional).code, 0, "{words}");
    }
    place.write("none.jsonl", "\n");
    let empty = place.run("score a.toml none.jsonl -q -o none");
    assert_eq!(empty.code, 2, "{}", empty.err);
    assert!(empty.err.contains("no rows"), "{}", empty.err);
}

#[test]
fn what_a_reward_leaves_out_is_told_and_a_required_one_takes_the_reward_away() {
    let place = place();
    place.write("two.toml", &format!("{EXACT}{FORM}"));
    place.write(
        "rows.jsonl",
        "{\"id\":\"a\",\"completion\":\"so\"}\n{\"id\":\"b\",\"completion\":\"no\"}\n",
    );
    let ran = place.run("score two.toml rows.jsonl -q -o two");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let said = "note: correct abstained on every row: the sample has no reference";
    assert!(ran.out.contains(said), "{}", ran.out);
    assert!(ran.out.contains("note: 1 rows earn although"), "{}", ran.out);
    let words =
        "score two.toml rows.jsonl -q --json -o required --set reward.correct.required=true";
    let required = place.run(words).json();
    assert_eq!(
        (&required["total"]["abstained"], &required["unreferenced"]),
        (&2.into(), &().into())
    );
    let why = required["total"]["first_abstained"]["reason"].as_str().unwrap();
    assert_eq!(why, "correct is required: the sample has no reference");
    // Where `when` or a gate rules it out, nothing is missing.
    let ruled_out = format!("{words} --set reward.correct.when=\"false\" --fresh");
    assert_eq!(place.run(&ruled_out).json()["total"]["scored"], 2);
}

#[test]
fn a_run_of_which_every_row_failed_says_why_and_exits_3() {
    let place = place();
    place.write(
        "script.toml",
        "version = 1\n[[reward]]\nname = 's'\nverifier = 'rhai'\n\
                                config = { script = 'throw \"broken here\"' }\n",
    );
    let ran = place.run("score script.toml d.jsonl -q -o run");
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert!(ran.out.contains("; the first is a: s: "), "{}", ran.out);
    assert!(ran.out.contains("broken here"), "{}", ran.out);
}

#[test]
fn a_conversation_in_which_nobody_answers_is_no_answer() {
    let place = place();
    for roles in [&["user"][..], &["system", "user"], &["tool"], &[]] {
        let messages: Vec<String> = roles
            .iter()
            .map(|role| format!("{{\"role\":\"{role}\",\"content\":\"so\"}}"))
            .collect();
        let row = format!("{{\"completion\":[{}],\"reference\":\"so\"}}\n", messages.join(","));
        place.write("chat.jsonl", &row);
        let ran = place.run("score a.toml chat.jsonl -q --json --fresh -o run --bad-rows fault");
        assert_eq!((ran.code, &ran.json()["total"]["faults"]["BadInput"]), (3, &1.into()), "{row}");
    }
}

#[test]
fn groups_have_figures_the_same_from_shards() {
    let place = place();
    let groups = [("p", "1100"), ("q", "1111"), ("r", "0000")];
    let members =
        groups.iter().flat_map(|(prompt, answers)| answers.chars().map(move |own| (prompt, own)));
    let row = |(prompt, answer): (&&str, char)| {
        format!("{{\"prompt\":\"{prompt}\",\"completion\":\"{answer}\",\"reference\":\"1\"}}\n")
    };
    let rows: String = members.map(row).collect();
    place.write("g.jsonl", &rows);
    let summary = place.run("score a.toml g.jsonl -q --json -o whole").json();
    assert_eq!(summary["groups"]["groups"], 3);
    let own = &summary["rewards"][0]["within_groups"];
    assert_eq!((&own["mean"], &own["pass_at_k"]["1"]), (&0.5.into(), &0.5.into()));
    let pass = own["pass_at_k"]["2"].as_f64().unwrap();
    assert!((pass - (5.0 / 6.0 + 1.0) / 3.0).abs() < 1e-12, "{own}");
    for shard in 0..2 {
        let ran = place.run(&format!("score a.toml g.jsonl -q --shard {shard}/2 -o parts"));
        assert_eq!(ran.code, 0, "{}", ran.err);
    }
    assert_eq!(place.run("merge parts -o merged").code, 0);
    let read = |run: &str| fs::read_to_string(place.path(&format!("{run}/summary.json"))).unwrap();
    assert_eq!(read("merged"), read("whole"));
}

#[test]
fn a_stream_is_read_once_and_an_empty_one_is_an_error() {
    let place = place();
    for data in ["-", "/dev/stdin"] {
        let ran = piped(&place, &format!("score a.toml {data} -q --fresh -o run --json"), ROWS);
        assert_eq!((ran.code, &ran.json()["rows"]), (0, &2.into()), "{data}: {}", ran.err);
        let empty = piped(&place, &format!("score a.toml {data} -q --fresh -o run"), "");
        assert_ne!(empty.code, 0, "{data}");
        assert!(empty.err.contains("without a row"), "{data}: {}", empty.err);
    }
    let refused = place.run("score a.toml d.jsonl -q -o -");
    assert_eq!(refused.code, 2, "{}", refused.err);
}

#[test]
fn a_finished_run_is_held_against_its_manifest() {
    let place = place();
    let words = "score a.toml d.jsonl -o run";
    assert_eq!(place.run(words).code, 0);
    let verdicts = place.path("run/verdicts.jsonl");
    let whole = fs::read_to_string(&verdicts).unwrap();
    place.write("run/verdicts.jsonl", &whole.replacen("\"reward\":0.0", "\"reward\":1.0", 1));
    let edited = place.run(words);
    assert_eq!(edited.code, 2, "{}", edited.err);
    assert!(edited.err.contains("verdicts.jsonl"), "{}", edited.err);
    for reader in [
        "diagnose run",
        "diff run run",
        "advantages run -o a.jsonl",
        "join run --with d.jsonl -o j",
    ] {
        let read = place.run(reader);
        assert_eq!(read.code, 2, "{reader}: {}", read.err);
        assert!(read.err.contains("verdicts.jsonl was changed"), "{reader}: {}", read.err);
    }
    fs::remove_file(&verdicts).unwrap();
    let again = place.run(words);
    assert_eq!(again.code, 0, "{}", again.err);
    assert_eq!(fs::read_to_string(&verdicts).unwrap(), whole);
    assert!(place.run(words).err.contains("complete already"));
}

#[test]
fn rows_and_their_rewards_are_joined() {
    let place = place();
    assert_eq!(place.run("score a.toml d.jsonl -q -o run").code, 0);
    let joined = place.run("join run --with d.jsonl -o joined.jsonl");
    assert_eq!(joined.code, 0, "{}", joined.err);
    let text = fs::read_to_string(place.path("joined.jsonl")).unwrap();
    let rows: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(rows.len(), 2);
    assert_eq!((&rows[0]["id"], &rows[1]["completion"]), (&"a".into(), &"no".into()));
    assert!(text.lines().next().unwrap().contains("1.0"), "{text}");
    place.write("other.jsonl", &ROWS.replace("\"b\"", "\"c\""));
    assert_ne!(place.run("join run --with other.jsonl -o other-joined.jsonl").code, 0);
    // A changed row under the same id: refused in the file that was scored, told in another one.
    let changed = ROWS.replace("\"no\"", "\"yes\"");
    assert_ne!(changed, ROWS);
    place.write("copy.jsonl", &changed);
    let copy = place.run("join run --with copy.jsonl -o copy-joined.jsonl");
    assert!(copy.code == 0 && copy.err.contains("not the bytes that were scored"), "{}", copy.err);
    place.write("d.jsonl", &changed);
    let refused = place.run("join run --with d.jsonl -o again.jsonl");
    assert_eq!(refused.code, 2, "{}", refused.err);
    assert!(refused.err.contains("d.jsonl was changed since the run scored it"), "{}", refused.err);
}

#[test]
fn a_schema_that_doubles_runs_out_of_fuel() {
    let place = place();
    let mut defs: Vec<String> = (0..40)
        .map(|at| {
            let next = format!("{{ '$ref' = '#/$defs/s{}' }}", at + 1);
            format!("s{at} = {{ allOf = [{next}, {next}] }}")
        })
        .collect();
    defs.push("s40 = { type = 'object' }".to_owned());
    let schema = format!("{{ '$ref' = '#/$defs/s0', '$defs' = {{ {} }} }}", defs.join(", "));
    place.write("s.toml", &format!(
        "version = 1\n[[reward]]\nname = 'j'\nverifier = 'json'\nconfig = {{ schema = {schema} }}\n"
    ));
    place.write("j.jsonl", "{\"completion\":\"{}\"}\n");
    let ran = place.run("score s.toml j.jsonl -q --json -o run");
    assert_eq!(
        (ran.code, &ran.json()["total"]["faults"]["OutOfFuel"]),
        (3, &1.into()),
        "{}",
        ran.err
    );
}
