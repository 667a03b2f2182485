//! `assay validate` runs the plan: what fails on every row, and names that stand for nothing, are errors
//! with their place.

use serde_json::{Value, json};

use crate::place::{Place, Ran};

const ROWS: [&str; 3] = [
    r#"{"id":"q1","prompt":"2+1?","completion":"so\n3","reference":"3","kind":"m","level":{"easy":1}}"#,
    r#"{"id":"q2","prompt":"2+2?","completion":"so\n4","reference":"4","kind":"m"}"#,
    r#"{"id":"q3","prompt":"2+3?","completion":"6","reference":"5","kind":"n"}"#,
];

/// A reward that holds of the rows, and what comes behind it.
fn place(more: &str) -> Place {
    let config = format!("version = 1\n[[reward]]\nname = \"right\"\nverifier = \"exact\"\n{more}");
    Place::with(&[("a.toml", &config), ("d.jsonl", &ROWS.join("\n"))])
}

fn report(place: &Place, words: &str) -> (i32, Value) {
    let ran = place.run(&format!("validate a.toml d.jsonl --json {words}"));
    (ran.code, ran.json())
}

/// A script as a reward.
fn script(text: &str) -> String {
    format!(
        "[[reward]]\nname = \"own\"\nverifier = \"rhai\"\nweight = 0.0\n\
         config = {{ script = '''{text}''' }}\n"
    )
}

/// A configuration, the key at which it is wrong, the text under the caret, and what is said.
type Attack = (String, &'static str, &'static str, [&'static str; 2]);

/// Wrong conditions.
fn conditions() -> Vec<Attack> {
    let reward = |more: &str| {
        format!(
            "[[reward]]\nname = \"own\"\nverifier = \"length\"\nweight = 0.0\nconfig = {{ max = 9 }}\n{more}\n"
        )
    };
    vec![
        (
            reward("when = 'meta.kin == \"m\"'"),
            "reward.own.when",
            "kin",
            ["the column `kin`", "did you mean `kind`?"],
        ),
        (
            reward("when = 'meta[\"kin\"] == \"m\"'"),
            "reward.own.when",
            "\"kin\"",
            ["the column `kin`", "did you mean `kind`?"],
        ),
        (
            reward("when = 'meta.kind == \"math\"'"),
            "reward.own.when",
            "when",
            ["never holds", "meta.kind is \"m\", \"n\""],
        ),
        (
            reward("when = 'meta.kind'"),
            "reward.own.when",
            "when",
            ["`when` gave string", "explain a.toml"],
        ),
        (
            reward("when = 'meta.level.hard == 1 || true'"),
            "reward.own.when",
            "hard",
            ["`meta.level.hard`", "there are: easy"],
        ),
        (
            reward("when = 'rewards[\"rigth\"] == 1.0 || true'"),
            "reward.own.when",
            "\"rigth\"",
            ["the reward \"rigth\"", "did you mean `right`?"],
        ),
        (
            reward("when = 'verdicts.right.outcom == \"scored\" || true'"),
            "reward.own.when",
            "outcom",
            ["`verdicts.right.outcom`", "did you mean `outcome`?"],
        ),
    ]
}

/// Wrong expressions and scripts.
fn scripts() -> Vec<Attack> {
    let combine = |text: &str| format!("[combine]\nhow = \"expression\"\nexpression = '{text}'\n");
    vec![
        (
            combine("right + rewards[\"rigt\"]"),
            "combine.expression",
            "\"rigt\"",
            ["the reward \"rigt\"", "did you mean `right`?"],
        ),
        (
            combine("\"text\""),
            "combine.expression",
            "expression",
            ["fails on each of the 3 rows", "combination_fails"],
        ),
        (
            script("let m = meta;\nif m.kin == 1 { 1.0 } else { 0.0 }"),
            "reward.own.config.script",
            "kin",
            ["the column `kin`", "did you mean `kind`?"],
        ),
        (
            script("if completion == \"never\" { nothing } else { 1.0 }"),
            "reward.own.config.script",
            "nothing",
            ["the variable `nothing`", "there are: "],
        ),
        (
            script("let x = 1;\nx.of()"),
            "reward.own.config.script",
            "of",
            ["fails on each of the 3 rows", "--row 1"],
        ),
        (
            script("()"),
            "reward.own.config.script",
            "script",
            ["abstains on each of the 3 rows", "write else { 0.0 }"],
        ),
        (
            script("rewards.later ?? 1.0"),
            "reward.own.config.script",
            "later",
            ["the reward \"later\"", "right"],
        ),
    ]
}

#[test]
fn what_never_works_is_an_error_with_its_place() {
    let mut wrong = Vec::new();
    for (config, key, marked, says) in conditions().into_iter().chain(scripts()) {
        let place = place(&config);
        let (code, report) = report(&place, "");
        let Some(error) = report["errors"].as_array().and_then(|errors| errors.first()) else {
            wrong.push(format!("no error\n{config}{report:#}"));
            continue;
        };
        let told = format!("{} {}", error["message"], error["help"]).replace("\\\"", "\"");
        let text = place.run("validate a.toml d.jsonl").out;
        let lines: Vec<&str> = text.lines().collect();
        let is_marked = |two: &&[&str]| two[1].contains('^');
        let (line, marks) =
            lines.windows(2).find(is_marked).map_or(("", ""), |two| (two[0], two[1]));
        let (start, end) =
            (marks.find('^').unwrap_or_default(), marks.rfind('^').unwrap_or_default());
        let shown = line.get(start..=end).unwrap_or_default();
        let is_right = code == 1
            && error["key"] == key
            && error["line"].is_u64()
            && shown == marked
            && says.iter().all(|words| told.contains(words));
        if !is_right {
            wrong.push(format!("exit {code}, {shown:?} is marked\n{config}{error:#}\n{text}"));
        }
    }
    assert!(wrong.is_empty(), "{} are wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_is_right_is_no_error() {
    for config in [
        "[[reward]]\nname = \"own\"\nverifier = \"length\"\nconfig = { max = 9 }\n\
         when = 'meta.kind == \"m\" && (meta.level?.easy ?? 1) == 1 && rewards.right != () && step == 0'\n",
        "[combine]\nhow = \"expression\"\nexpression = '0.5 * right + (rewards[\"right\"] ?? 0.0) * step'\n",
        &script(
            "fn twice(x) { 2 * x }\nlet all = [1, 2].map(|x| twice(x));\n\
                 if \"kin\" in meta { 0.0 } else { rewards.right * 0.5 + all.len() * 0.0 }",
        ),
    ] {
        let place = place(config);
        let (code, report) = report(&place, "");
        assert_eq!((code, &report["ok"]), (0, &json!(true)), "{config}{report:#}");
        assert_eq!((&report["errors"], &report["combined"]["scored"]), (&json!([]), &json!(3)));
    }
    // Names of columns need rows.
    let bare = place(
        "[[reward]]\nname = \"own\"\nverifier = \"length\"\nconfig = { max = 9 }\nwhen = 'meta.kin == 1'\n",
    );
    assert_eq!(bare.run("validate a.toml").code, 0);
}

#[test]
fn what_fails_on_some_rows_is_counted() {
    let config = script("if meta.kind == \"n\" { 1.of() } else { 1.0 }");
    let (code, report) = report(&place(&config), "");
    assert_eq!((code, &report["errors"]), (0, &json!([])), "{report:#}");
    let own = &report["rewards"][1]["rows"];
    assert_eq!((&own["scored"], &own["failed"]), (&json!(2), &json!(1)));
    assert_eq!(
        (&own["first_failed"]["id"], &own["first_failed"]["row"]),
        (&json!("q3"), &json!(3))
    );
    let told = report["warnings"][0]["message"].as_str().unwrap();
    assert!(
        told.contains("fails on 1 of 3 rows, first on row 3 (q3): Trap: script: Function not"),
        "{told}"
    );
    // A row that masks itself is no failed combination.
    assert_eq!(report["combined"]["failed"], 0);
}

#[test]
fn a_column_that_may_be_missing_is_no_error() {
    let more = "when = '(meta.kin ?? \"m\") == \"m\"'\n[data]\noptional = true\n";
    let (code, report) = report(&place(more), "");
    assert_eq!((code, &report["errors"]), (0, &json!([])), "{report:#}");
    let strict = "when = 'meta.kin == \"m\"'\n";
    assert_eq!(self::report(&place(strict), "").0, 1);
    let absent = "[data]\nreference = \"anwser\"\n";
    let (code, report) = self::report(&place(absent), "");
    let error = &report["errors"][0];
    assert_eq!(
        (code, &error["key"], &error["line"]),
        (1, &json!("data.reference"), &json!(6)),
        "{report:#}"
    );
}

#[test]
fn rewards_behind_a_gate_that_never_opens_are_tried() {
    let gate = |script: &str| {
        format!(
            "config = {{ ignore_case = true }}\n[[reward]]\nname = \"own\"\nverifier = \"rhai\"\n\
             config = {{ script = '{script}' }}\n[combine]\nhow = \"gate\"\npass = 2.0\n"
        )
    };
    let (code, sound) = report(&place(&gate("1.0")), "");
    assert_eq!((code, &sound["rewards"][1]["rows"]["behind_gate"]), (0, &json!(3)), "{sound:#}");
    let told = sound["warnings"][0]["message"].as_str().unwrap();
    assert!(told.contains("the gate right passes on none"), "{told}");
    let (code, broken) = report(&place(&gate("1.of()")), "");
    assert_eq!(
        (code, &broken["errors"][0]["key"]),
        (1, &json!("reward.own.config.script")),
        "{broken:#}"
    );
}

#[test]
fn scripts_in_files_are_pointed_at_where_they_are() {
    let place = place(
        "[[reward]]\nname = \"own\"\nverifier = \"rhai\"\nconfig = { file = \"own.rhai\" }\n",
    );
    place.write("own.rhai", "// a comment\nlet x = 1;\nx.of()\n");
    let (code, report) = report(&place, "");
    let error = &report["errors"][0];
    assert_eq!(code, 1, "{report:#}");
    assert_eq!(
        (&error["file"], &error["line"], &error["column"]),
        (&json!("own.rhai"), &json!(3), &json!(3))
    );
    place.write("own.rhai", "meta.kin");
    let Ran { code, out, .. } = place.run("validate a.toml d.jsonl");
    assert_eq!(code, 1);
    assert!(out.contains("own.rhai:1:6") && out.contains("     ^^^"), "{out}");
}

#[test]
fn a_lint_that_is_allowed_is_silent() {
    let place = place("weight = -1.0\n");
    let (code, report) = report(&place, "");
    assert_eq!(
        (code, &report["warnings"][0]["code"]),
        (0, &json!("inverted_reward")),
        "{report:#}"
    );
    assert_eq!(report["warnings"][0]["fields"]["weight"], -1.0);
    assert_eq!(self::report(&place, "--allow inverted_reward").1["warnings"], json!([]));
    let own = self::place("weight = -1.0\n[lint]\nallow = [\"inverted_reward\"]\n");
    assert_eq!(self::report(&own, "").1["warnings"], json!([]));
    let allow = "--set lint.allow=[\"inverted_rewards\"]";
    for words in [
        "validate a.toml d.jsonl --allow inverted_rewards".to_owned(),
        format!("score a.toml d.jsonl -o run {allow}"),
        format!("bench a.toml d.jsonl {allow}"),
    ] {
        let ran = place.run(&words);
        assert_eq!(ran.code, 2, "{words}: {}", ran.err);
        assert!(ran.err.contains("did you mean \"inverted_reward\"?"), "{}", ran.err);
    }
}

/// A judge whose replies are recorded in the column `said`.
#[cfg(feature = "rubrics")]
const JUDGE: &str = "[judges.own]\ncolumn = \"said\"\n[[reward]]\nname = \"good\"\nverifier = \"rubric\"\n\
    [reward.config]\njudge = \"own\"\n[[reward.config.rubric.criterion]]\nname = \"one\"\ntext = \"is good\"\n";

#[cfg(feature = "rubrics")]
#[test]
fn judges_are_asked_on_a_few_rows_and_only_if_told_to() {
    let more = "[combine]\nhow = \"expression\"\nexpression = '0.5 * good + 0.5 * right'\n";
    let place = place(&format!("{JUDGE}{more}"));
    let row = |at: usize| {
        json!({"id": format!("q{at}"), "completion": "3", "reference": "3", "said": 1}).to_string()
    };
    place.write("d.jsonl", &(0..9).map(row).collect::<Vec<_>>().join("\n"));
    let (_, shallow) = report(&place, "");
    assert_eq!(shallow["rewards"][1]["rows"]["not_asked"], 9, "{shallow:#}");
    // What was not asked makes no expression fail.
    assert_eq!((&shallow["combined"]["scored"], &shallow["errors"]), (&json!(9), &json!([])));
    let text = place.run("validate a.toml d.jsonl").out;
    assert!(text.contains("9 not asked") && text.contains("--deep, on 5 rows each"), "{text}");
    let (code, deep) = report(&place, "--deep");
    let rows = &deep["rewards"][1]["rows"];
    assert_eq!((&deep["deep"], &rows["not_asked"]), (&json!(true), &json!(4)), "{deep:#}");
    // The recorded replies are no replies: that is found on the rows that are asked.
    assert_eq!((code, &rows["failed"]), (1, &json!(5)), "{deep:#}");
    assert_eq!(deep["errors"][0]["key"], "reward.good", "{deep:#}");
}

#[test]
fn an_endless_script_ends_at_its_limits() {
    let config = format!("{}[limits]\ndeadline_ms = 200\n", script("let x = 0;\nloop { x += 1; }"));
    let (code, report) = report(&place(&config), "");
    assert_eq!(code, 1, "{report:#}");
    let told = report["errors"][0]["message"].as_str().unwrap();
    assert!(told.contains("OutOfFuel") || told.contains("Timeout"), "{told}");
}
