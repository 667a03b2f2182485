//! The command line from outside: what each verb prints, how it exits, and how a run goes on.

use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::place::{Place, Ran};
use crate::support::wait_for;
use serde_json::Value;

const CONFIG: &str = r#"version = 1
[[reward]]
name = "correct"
verifier = "exact"
[[reward]]
name = "form"
verifier = "regex"
weight = 0.1
when = 'meta.kind == "m"'
config = { pattern = '^so' }
"#;

/// Text that a terminal, a reader's eye or a page would obey.
const HOSTILE: &str = "<script>alert(1)</script>\u{1b}[31m\u{9b}2J\u{202e}\u{200b}\r\u{7}";

/// A folder with a configuration and data.
fn place() -> Place {
    let rows = [
        r#"{"id":"q1","prompt":"2+1?","completion":"so\n3","reference":"3","kind":"m"}"#,
        r#"{"id":"q2","prompt":"2+1?","completion":"so\n4","reference":"3"}"#,
        r#"{"id":"q1","prompt":"2+1?","completion":"5","reference":"3","kind":"m"}"#,
    ];
    Place::with(&[("a.toml", CONFIG), ("d.jsonl", &rows.join("\n"))])
}

#[test]
fn the_first_steps_work_as_they_are_printed() {
    let place = place();
    for init in ["init demo", "init trained --trainer trl"] {
        let init = place.run(init);
        assert_eq!(init.code, 0, "{}", init.err);
        for next in init.out.lines() {
            let ran = place.run(next.strip_prefix("assay ").unwrap());
            assert_eq!(ran.code, 0, "{next}\n{}{}", ran.out, ran.err);
        }
    }
    let again = place.run("init demo");
    assert_eq!((again.code, again.out.as_str()), (2, ""));
    assert!(again.err.contains("demo/assay.toml is there already"), "{}", again.err);
    let score = place.run(
        "score demo/assay.toml demo/data.jsonl --output demo/two --labels label --json \
         --min-agreement 1",
    );
    assert_eq!((score.code, &score.json()["rows"]), (0, &Value::from(20)));
    let explain = place.run("explain demo/assay.toml demo/data.jsonl --id math-6 --json");
    assert_eq!(explain.json()["reward"], 0.0);
    assert_eq!(place.run("diff demo/run demo/run").code, 0);
}

#[test]
fn check_tells_the_outcome_the_evidence_and_the_span() {
    let place = place();
    place.write("c.txt", "so\n3");
    insta::assert_snapshot!("check", place.run("check exact -c @c.txt -r 3").shown());
    let json =
        place.run("check exact --completion-file c.txt --reference-json [3,4] --json").json();
    assert_eq!((&json["outcome"], &json["reward"]), (&"scored".into(), &1.0.into()));
    assert_eq!(json["evidence"]["span"], serde_json::json!([3, 4]));
    let mut piped = place.command("check exact -c - -r -3");
    let mut child = piped.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"-3").unwrap();
    assert!(Ran::of(child.wait_with_output().unwrap()).out.starts_with("outcome    scored 1\n"));
}

#[test]
fn check_exits_by_what_came_of_it() {
    let place = place();
    let cases = [
        ("check exact -c 3 -r 3", 0, ""),
        ("check exact -c 3", 0, ""),
        ("check contains -c 3 --reference=", 3, ""),
        ("check exat -c 3", 2, "did you mean \"exact\"?"),
        ("check exact -c 3 --set ignore_cas=true", 2, "did you mean `ignore_case`?"),
        ("check exact -c 3 --set ignore_case=maybe", 2, "expected a boolean"),
        ("check exact -c 3 --meta []", 2, "--meta: "),
        ("check exact -c @none.txt", 2, "none.txt: "),
        ("check regex -c 3 --set pattern=(", 2, "unclosed group"),
        ("check exact", 2, "--completion"),
    ];
    for (words, code, why) in cases {
        let ran = place.run(words);
        assert_eq!(ran.code, code, "{words}\n{}{}", ran.out, ran.err);
        assert!(ran.err.contains(why), "{words}\n{}", ran.err);
    }
}

#[test]
fn check_writes_the_reward_of_a_task_and_never_a_stale_one() {
    let place = place();
    let read = |name: &str| std::fs::read_to_string(place.path(name)).ok();
    assert_eq!(place.run("check exact -c 3 -r 3 --reward-file reward.json").code, 0);
    assert_eq!(read("reward.json").unwrap(), "{\"reward\":1.0}\n");
    assert_eq!(place.run("check exact -c 3 -r 4 --reward-file reward.txt").code, 0);
    assert_eq!(read("reward.txt").unwrap(), "0\n");
    // Neither what abstains nor what fails is worth 0.
    for words in ["check exact -c 3", "check contains -c 3 --reference="] {
        place.write("reward.json", "{\"reward\":1.0}");
        let ran = place.run(&format!("{words} --reward-file reward.json"));
        assert_eq!((ran.code, read("reward.json")), (3, None), "{words}");
    }
    assert_eq!(place.run("check exact -c 3 -r 3 --reward-file none/reward.json").code, 3);
}

#[test]
fn explain_goes_from_the_text_to_the_number() {
    let place = place();
    insta::assert_snapshot!("explain", place.run("explain a.toml d.jsonl --id q1").shown());
    let second = place.run("explain a.toml d.jsonl --row 2 --json").json();
    assert_eq!((&second["id"], &second["reward"]), (&"q2".into(), &0.0.into()));
    assert_eq!(second["rewards"][1]["why"], "`when` is false");
    let unknown = place.run("explain a.toml d.jsonl --id q11");
    assert_eq!(unknown.code, 2);
    assert!(unknown.err.contains("did you mean q1"), "{}", unknown.err);
    assert_eq!(place.run("explain a.toml d.jsonl --row 4").code, 2);
    assert_eq!(place.run("explain a.toml d.jsonl --row 0").code, 2);
}

#[test]
fn validate_finds_what_pays_for_cheats() {
    let place = place();
    assert_eq!(place.run("validate a.toml").code, 0);
    let right = place.run("validate a.toml d.jsonl --json");
    assert_eq!((right.code, &right.json()["ok"]), (0, &Value::Bool(true)));
    place.write("hole.toml", &CONFIG.replace("\"exact\"", "\"contains\""));
    let hole = place.run("validate hole.toml d.jsonl --json");
    assert_eq!(hole.code, 1);
    let paid = &hole.json()["rewards"][0]["data"]["paid"];
    let hacks: Vec<&str> =
        paid.as_array().unwrap().iter().filter_map(|one| one["hack"].as_str()).collect();
    assert!(hacks.contains(&"hedge") && hacks.contains(&"boxed-spam"), "{hacks:?}");
    // A reference that nothing can match is the data's fault, and the row is named.
    place.write("gold.jsonl", r#"{"id":"g","completion":"x","reference":"a\nb"}"#);
    let gold = place.run("validate a.toml gold.jsonl --json");
    assert_eq!(gold.code, 1);
    assert_eq!(gold.json()["rewards"][0]["data"]["gold_rejected"][0]["id"], "g");
    place.write("bad.jsonl", "{\"id\":\"x\"}\n");
    let bad = place.run("validate a.toml bad.jsonl");
    assert_eq!(bad.code, 1);
    assert!(bad.out.contains("1 cannot be read"), "{}", bad.out);
}

#[test]
fn list_and_show_tell_what_there_is() {
    let place = place();
    assert!(place.run("list").out.lines().any(|line| line.starts_with("exact ")));
    assert!(place.run("list checks --json").json().as_array().unwrap().len() >= 4);
    insta::assert_snapshot!("show", place.run("show exact").shown());
    let schema = place.run("show exact --schema").json();
    assert_eq!(schema["properties"]["ignore_case"]["default"], false);
    assert!(place.run("show config").json()["properties"]["reward"].is_object());
    assert!(place.run("show exat").err.contains("did you mean \"exact\"?"));
    assert!(place.run("completions bash").out.contains("_assay"));
    assert!(place.run("man").out.contains(".TH assay"));
}

#[test]
fn diff_groups_what_moved_by_its_cause() {
    let place = place();
    place.write("b.toml", &CONFIG.replace("'^so'", "'^5'").replace("0.1", "0.5"));
    assert_eq!(place.run("score a.toml d.jsonl -o a -q").code, 0);
    assert_eq!(place.run("score b.toml d.jsonl -o b -q").code, 0);
    let moved = place.run("diff a b");
    insta::assert_snapshot!("diff", moved.shown());
    assert_eq!(place.run("diff a b --json").json()["up"], 1);
    assert_eq!(place.run("score a.toml d.jsonl -o c -q --format parquet").code, 0);
    let same = place.run("diff a c --json");
    assert_eq!((same.code, &same.json()["matched_by"]), (0, &"bytes".into()));
    assert_eq!(place.run("diff a a --json").json()["matched_by"], "bytes");
    assert_eq!(place.run("diff a none").code, 2);
}

#[test]
fn parquet_is_written_beside_the_lines_and_never_instead_of_them() {
    let place = place();
    assert_eq!(place.run("score a.toml d.jsonl -o lines -q").code, 0);
    assert_eq!(place.run("score a.toml d.jsonl -o run -q --format parquet --limit 2").code, 0);
    assert!(place.path("run/verdicts.jsonl").exists());
    let shorter = fs::read(place.path("run/verdicts.parquet")).unwrap();
    assert_eq!(place.run("score a.toml d.jsonl -o run -q").code, 0);
    assert!(!place.path("run/verdicts.parquet").exists(), "it is of fewer rows");
    assert_eq!(place.run("score a.toml d.jsonl -o run -q --format parquet").code, 0);
    assert_ne!(fs::read(place.path("run/verdicts.parquet")).unwrap(), shorter);
    let done = place.run("score a.toml d.jsonl -o run --format parquet");
    assert!(done.err.contains("complete already"), "{}", done.err);
    let retry = place.run("score a.toml d.jsonl -o run -q --format parquet --retry-faults");
    assert_eq!(retry.code, 0, "{}", retry.err);
    assert!(place.path("run/verdicts.parquet").exists());
    assert_eq!(place.run("score a.toml d.jsonl -o run -q").code, 0);
    assert!(!place.path("run/verdicts.parquet").exists());
    let read = |name: &str| fs::read(place.path(name)).unwrap();
    assert_eq!(read("run/verdicts.jsonl"), read("lines/verdicts.jsonl"));
}

#[test]
fn shards_are_scored_by_one_command_each_and_merged_by_another() {
    let place = place();
    let row =
        |at: u32| format!(r#"{{"completion":"so\n{at}","reference":"{}","kind":"m"}}"#, at % 9);
    let rows: Vec<String> = (0..100).map(row).collect();
    place.write("d.jsonl", &rows.join("\n"));
    assert_eq!(place.run("score a.toml d.jsonl -o whole -q --labels reference").code, 0);
    for shard in ["0/3", "1/3", "2/3"] {
        let words = format!("score a.toml d.jsonl -o run --labels reference --shard {shard}");
        let early = place.run("merge run -o run");
        assert_eq!(early.code, 2, "{}", early.err);
        let ran = place.run(&words);
        assert_eq!(ran.code, 0, "{}", ran.err);
        assert!(
            ran.err.contains(&format!("run/shard-0000{}-of-00003: ", &shard[..1])),
            "{}",
            ran.err
        );
        let again = place.run(&words);
        assert!(again.err.contains("complete already"), "{}", again.err);
    }
    let merged = place.run("merge run -o run --format parquet");
    assert_eq!(merged.code, 0, "{}", merged.err);
    assert!(merged.err.contains("run: 100 rows of 3 shards"), "{}", merged.err);
    assert!(merged.out.contains("labels in `reference`"), "{}", merged.out);
    assert!(place.path("run/verdicts.parquet").exists());
    assert_eq!(place.run("diff whole run").code, 0);
    let named = place.run(
        "merge run/shard-00001-of-00003 run/shard-00000-of-00003 run/shard-00002-of-00003 -o out \
         --json",
    );
    let read = |name: &str| fs::read_to_string(place.path(name)).unwrap();
    assert_eq!(named.json(), serde_json::from_str::<Value>(&read("whole/summary.json")).unwrap());
    for name in ["verdicts.jsonl", "summary.json", "manifest.json", "config.resolved.json"] {
        for run in ["run", "out"] {
            assert_eq!(
                read(&format!("{run}/{name}")),
                read(&format!("whole/{name}")),
                "{run}/{name}"
            );
        }
    }
    for (words, why) in [
        ("score a.toml d.jsonl -o run --shard 3/3", "the last of 3 is 2/3"),
        ("score a.toml d.jsonl -o run --shard 1", "expected I/N"),
        ("score a.toml d.jsonl -o run --shard 1/4", "is of 3 shards, not 4"),
        ("score a.toml - -o other --shard 1/4", "standard input"),
        ("merge whole -o other", "a whole run, not a shard"),
    ] {
        let ran = place.run(words);
        assert_eq!(ran.code, 2, "{words}: {}", ran.err);
        assert!(ran.err.contains(why), "{words}: {}", ran.err);
    }
    assert!(!place.path("other").exists());
}

#[test]
fn bad_rows_stop_are_skipped_or_fail() {
    let place = place();
    let good = fs::read_to_string(place.path("d.jsonl")).unwrap();
    place.write("bad.jsonl", &format!("{good}\n{{\"id\":\"x\"}}\n"));
    let stop = place.run("score a.toml bad.jsonl -o stop -q");
    assert_eq!(stop.code, 3);
    assert!(stop.err.contains("bad.jsonl:4: completion: missing"), "{}", stop.err);
    let skip = place.run("score a.toml bad.jsonl -o skip -q --bad-rows skip --json");
    assert_eq!((skip.code, &skip.json()["skipped"]), (0, &1.into()));
    place.write("none.jsonl", "{\"id\":\"x\",\"completon\":\"7\"}\n");
    let none = place.run("score a.toml none.jsonl -o none -q --bad-rows skip --json");
    assert_eq!((none.code, &none.json()["skipped"]), (3, &1.into()), "{}", none.err);
    let fault = "score a.toml bad.jsonl -o fault -q --bad-rows fault --json --max-fault-rate 0.1";
    let fault = place.run(fault);
    assert_eq!((fault.code, &fault.json()["total"]["failed"]), (3, &1.into()));
    let mean = place.run("score a.toml d.jsonl -o mean -q --min-mean 0.9");
    assert_eq!(mean.code, 1);
}

#[test]
fn what_a_model_wrote_is_inert_in_every_output() {
    let place = place();
    let row = serde_json::json!({
        "id": HOSTILE, "prompt": HOSTILE, "completion": format!("{HOSTILE}\n{HOSTILE}"),
        "reference": HOSTILE, "kind": "m",
    });
    place.write("h.jsonl", &format!("{row}\n{{\"id\":1,\"{HOSTILE}\":1}}\n"));
    place.write("c.txt", HOSTILE);
    place.write("b.toml", &CONFIG.replace("exact", "contains"));
    place.run("score a.toml h.jsonl -o a -q --bad-rows fault");
    place.run("score b.toml h.jsonl -o b -q --bad-rows fault");
    for words in [
        "score a.toml h.jsonl -o c --bad-rows skip",
        "explain a.toml h.jsonl --row 1",
        "explain a.toml h.jsonl --row 1 --json",
        "explain a.toml h.jsonl --row 2",
        "explain a.toml h.jsonl --id none",
        "validate b.toml h.jsonl",
        "validate b.toml h.jsonl --json",
        "check exact -c @c.txt -r 1",
        "check exact -c @c.txt -r 1 --json",
        "diff a b",
        "diff a b --json",
    ] {
        let ran = place.run(words);
        let all = format!("{}{}", ran.out, ran.err);
        let obeyed = |char: char| {
            (char.is_control() && char != '\n')
                || matches!(char, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        };
        assert!(!all.contains(obeyed), "{words}\n{all:?}");
        assert!(!all.is_empty(), "{words}");
    }
}

#[test]
fn a_run_that_was_interrupted_goes_on_to_the_same_bytes() {
    let place = place();
    let row = |at: u32| {
        format!(r#"{{"id":"{at}","completion":"so\n{at}","reference":"{}","kind":"m"}}"#, at % 7)
    };
    let rows: Vec<String> = (0..80_000).map(row).collect();
    place.write("big.jsonl", &rows.join("\n"));
    let whole = place.run("score a.toml big.jsonl -o whole -q");
    assert_eq!(whole.code, 0, "{}", whole.err);
    let mut interrupted = 0;
    for (signal, name) in [("TERM", "term"), ("INT", "int"), ("KILL", "kill")] {
        let words = format!("score a.toml big.jsonl -o {name} -q");
        let mut child = place.command(&words).stdout(Stdio::null()).spawn().unwrap();
        wait_for(&place.path(&format!("{name}/verdicts.jsonl")), &mut child);
        let pid = child.id().to_string();
        assert!(Command::new("kill").args(["-s", signal, &pid]).status().unwrap().success());
        let ended = child.wait().unwrap();
        // A run may have ended by itself before the signal came.
        let expected = if signal == "KILL" { None } else { Some(130) };
        assert!(ended.code() == expected || ended.success(), "{signal}: {ended}");
        interrupted += u32::from(!ended.success());
        let rest = place.run(&words);
        assert_eq!(rest.code, 0, "{}", rest.err);
        let same = fs::read(place.path(&format!("{name}/verdicts.jsonl"))).unwrap()
            == fs::read(place.path("whole/verdicts.jsonl")).unwrap();
        assert!(same, "{signal}");
    }
    assert!(interrupted > 0, "every run ended before its signal came");
}

#[test]
fn a_run_that_another_process_writes_is_refused_by_its_pid() {
    let place = place();
    let words = "score a.toml - -o run -q";
    let mut first = place.command(words);
    let mut first = first.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    wait_for(&place.path("run/manifest.json"), &mut first);
    let second = place.run(words);
    assert_eq!(second.code, 2, "{}", second.err);
    assert!(second.err.contains(&format!("(pid {})", first.id())), "{}", second.err);
    let mut rows = first.stdin.take().unwrap();
    std::io::Write::write_all(&mut rows, b"{\"completion\": \"a\"}\n").unwrap();
    drop(rows);
    assert!(first.wait().unwrap().success());
}

#[test]
fn configuration_errors_point_at_the_place() {
    let place = place();
    let cases = [
        ("unknown_key", CONFIG.replace("weight", "wieght")),
        ("unknown_setting", CONFIG.replace("pattern =", "patern =")),
        ("bad_pattern", CONFIG.replace("'^so'", "'(so'")),
        ("wrong_type", CONFIG.replace("0.1", "\"much\"")),
        ("not_toml", CONFIG.replace("[[reward]]", "[[reward]")),
        ("bad_when", CONFIG.replace("== \"m\"", "==")),
        ("no_rewards", "version = 1\n".to_owned()),
    ];
    for (name, text) in cases {
        place.write("e.toml", &text);
        let ran = place.run("validate e.toml");
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{name}");
        insta::assert_snapshot!(name, ran.err);
    }
    // The list of what is known grows, so it is in no snapshot.
    place.write("e.toml", &CONFIG.replace("\"exact\"", "\"exat\""));
    let unknown = place.run("validate e.toml").err;
    assert!(
        unknown.contains("e.toml:4:1") && unknown.contains("did you mean \"exact\"?"),
        "{unknown}"
    );
}

#[test]
fn flags_win_over_the_environment_and_that_over_the_file() {
    let place = place();
    let mean = |words: &str, clamp: Option<&str>| {
        let mut command = place.command(words);
        if let Some(clamp) = clamp {
            command.env("ASSAY_COMBINE__CLAMP", clamp);
        }
        Ran::of(command.output().unwrap()).json()["total"]["mean"].clone()
    };
    let clamped = "score a.toml d.jsonl -q --json --fresh -o r";
    assert_eq!(mean(clamped, Some("[0.5, 0.5]")), 0.5);
    let set = format!("{clamped} --set combine.clamp=[0.25,0.25]");
    assert_eq!(mean(&set, Some("[0.5, 0.5]")), 0.25);
}

#[test]
fn a_pipe_that_is_closed_early_is_an_error() {
    let place = place();
    let mut child =
        place.command("man").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let ran = Ran::of(child.wait_with_output().unwrap());
    assert_eq!(ran.code, 3, "{}", ran.err);
    assert!(ran.err.starts_with("error[unwritable]: standard output: "), "{}", ran.err);
}

#[test]
fn the_cache_is_counted_checked_and_cleared() {
    let place = place();
    place.write(
        "k.toml",
        &CONFIG.replace("verifier = \"exact\"", "verifier = \"exact\"\ncache = true"),
    );
    assert_eq!(place.run("score k.toml d.jsonl -o r -q --cache-dir kept").code, 0);
    assert_eq!(place.run("cache stats --cache-dir kept --json").json()["entries"], 3);
    let shard = fs::read_dir(place.path("kept")).unwrap().next().unwrap().unwrap().path();
    let entry = fs::read_dir(shard).unwrap().next().unwrap().unwrap().path();
    fs::File::create(entry).unwrap().write_all(b"torn").unwrap();
    assert_eq!(place.run("cache verify --cache-dir kept").code, 1);
    assert_eq!(place.run("cache verify --remove --cache-dir kept --json").json()["removed"], 1);
    assert_eq!(place.run("cache verify --cache-dir kept").code, 0);
    assert_eq!(place.run("cache clear --cache-dir kept --json").json()["removed"], 2);
    let explained = place.run("explain k.toml d.jsonl --row 1 --json --cache-dir kept");
    assert_eq!(explained.json()["rewards"][0]["cache"], "miss");
}

#[test]
fn bench_measures_beside_a_yardstick() {
    let place = place();
    let json = place.run("bench a.toml d.jsonl --seconds 0 --json").json();
    assert_eq!((&json["rows"], &json["yardstick"]["passes"]), (&3.into(), &1.into()));
    for key in ["parse", "engine", "end_to_end"] {
        assert!(json[key]["rows_per_s"].as_f64().unwrap() > 0.0, "{key}");
    }
    assert_eq!(json["verifiers"][0]["verdicts"], 3);
}

#[test]
fn what_makes_a_run_another_one_is_named() {
    let place = place();
    assert_eq!(place.run("score a.toml d.jsonl -o run -q").code, 0);
    for (words, says) in [
        ("--labels kind", "data.label was null and is \"kind\" now"),
        ("--labels kind", "`assay explain RUN --disagree --labels COLUMN`"),
        ("--set combine.clamp=[0,0.5]", "combine.clamp was null and is [0.0,0.5] now"),
    ] {
        let ran = place.run(&format!("score a.toml d.jsonl -o run -q {words}"));
        assert!(ran.code == 2 && ran.err.contains(says), "{words}: {}", ran.err);
    }
}

#[test]
fn errors_are_data_where_json_is_asked_for() {
    let place = place();
    assert_eq!(place.run("score a.toml d.jsonl -o run -q").code, 0);
    assert_eq!(place.run("score a.toml d.jsonl -o torn -q").code, 0);
    place.write("torn/manifest.json", "{");
    for (words, code, at) in [
        ("score --json --no-such-flag", "usage", None),
        ("eval processbench no-model d.jsonl --json", "missing_value", Some("d.jsonl")),
        ("advantages run --with d.jsonl --lengths reference -o o --json", "missing_value", None),
        ("advantages torn --with d.jsonl -o o --json", "damaged", None),
        ("advantages run --with d.jsonl -o d.jsonl/o --json", "unwritable", Some("d.jsonl/o")),
        ("score a.toml none.jsonl -o out --json", "unreadable_file", Some("none.jsonl")),
        ("score a.toml d.jsonl -o d.jsonl/out --json", "unwritable", Some("d.jsonl/out")),
    ] {
        let ran = place.run(words);
        let error =
            &serde_json::from_str::<Value>(ran.err.lines().last().unwrap()).unwrap()["error"];
        assert!(ran.err.contains(&format!("error[{code}]: ")), "{words}: {}", ran.err);
        assert_eq!(error["code"], code, "{words}: {}", ran.err);
        assert_eq!(error["fields"]["file"].as_str(), at, "{words}: {}", ran.err);
    }
}

#[test]
fn a_text_that_looks_like_a_number_is_shown_in_quotes() {
    let ran = place().run("check regex --set pattern=4 --completion 4");
    assert!(ran.err.contains(r#"--set 'pattern="4"'"#), "{}", ran.err);
}
