//! Configurations and rows of people who come from other libraries: what is said of each, by `assay
//! validate` and by `assay score`.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::mistakes::error_of;
use crate::place::{Place, Ran};

const CONFIGS: &str = include_str!("../../fixtures/mistakes/newcomers-configs.toml");
const DATASETS: &str = include_str!("../../fixtures/mistakes/newcomers-datasets.toml");
const SCRIPTS: &str = include_str!("../../fixtures/mistakes/newcomers-scripts.toml");
const BROKEN_ROWS: &str = include_str!("../../fixtures/mistakes/newcomers-rows.toml");
const ROWS: &str = r#"{"id": "q1", "prompt": "2+1?", "completion": "<think>so</think> \\boxed{3}", "reference": "3", "kind": "math", "split": "train"}
{"id": "q2", "prompt": "2+1?", "completion": "It is \\boxed{5}", "reference": "3", "kind": "math", "split": "train"}
{"id": "q3", "prompt": "2+5?", "completion": "<think>so</think> \\boxed{7}", "reference": "7", "kind": "math", "split": "test"}
{"id": "q4", "prompt": "2+5?", "completion": "no idea", "reference": "7", "kind": "word", "split": "test"}
"#;
const MATH: &str = "version = 1\n[[reward]]\nname = \"correct\"\nverifier = \"math\"\n";

/// Words of the language that assay is written in, which say nothing to who writes TOML.
const RUST: [&str; 14] = [
    "i64",
    "u32",
    "u64",
    "f64",
    "usize",
    "struct ",
    "enum ",
    "untagged",
    "variant",
    "getter",
    "a sequence",
    "expected a map",
    "unit value",
    "panicked",
];

#[derive(Deserialize)]
struct Cases<T> {
    case: Vec<T>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    name: String,
    file: Option<String>,
    text: String,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    data: Option<String>,
    exit: Option<i32>,
    /// The code of the error, and the key at fault.
    #[serde(default)]
    code: String,
    key: Option<String>,
    /// The lints, where it is no error.
    codes: Option<BTreeSet<String>>,
    #[serde(default)]
    says: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rows {
    name: String,
    config: Option<String>,
    /// What the command names, `d.jsonl` by default.
    data: Option<String>,
    text: Option<String>,
    #[serde(default)]
    files: BTreeMap<String, String>,
    /// Files by their bytes.
    #[serde(default)]
    hex: BTreeMap<String, String>,
    #[serde(default)]
    score_args: Vec<String>,
    exits: [i32; 2],
    /// The lints that `validate` prints, all of them; absent where the rows cannot be read.
    codes: Option<BTreeSet<String>>,
    /// Words that are the point, such as the name of a column to type.
    #[serde(default)]
    says: Vec<String>,
    #[serde(default)]
    validate_says: Vec<String>,
    #[serde(default)]
    score_says: Vec<String>,
}

/// What was told, without the drawing around it and the line breaks in it.
fn plain(text: &str) -> String {
    text.replace('│', " ").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What is wrong with what was told.
fn flaw(ran: &Ran, exit: i32, says: &[&String]) -> Option<String> {
    let told = plain(&format!("{} {}", ran.err, ran.out));
    let missing: Vec<&&String> =
        says.iter().filter(|words| !told.contains(&plain(words))).collect();
    let rust: Vec<&str> = RUST.into_iter().filter(|word| told.contains(word)).collect();
    let wrong = ran.code != exit || !missing.is_empty() || !rust.is_empty();
    wrong.then(|| {
        format!("exit {}, lacks {missing:?}, has {rust:?}:\n{}{}", ran.code, ran.err, ran.out)
    })
}

/// The codes of what is printed.
pub(crate) fn codes(text: &str) -> BTreeSet<String> {
    let code = |line: &str| {
        let rest = line.strip_prefix("warning[").or_else(|| line.strip_prefix("error["))?;
        Some(rest.split_once(']')?.0.to_owned())
    };
    text.lines().filter_map(code).collect()
}

fn write(place: &Place, name: &str, bytes: &[u8]) {
    let path = place.path(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    assay::engine::runs::write_atomic(&path, bytes).unwrap();
}

fn bytes(hex: &str) -> Vec<u8> {
    let digit = |char: u8| char::from(char).to_digit(16).unwrap();
    let byte = |two: &[u8]| two.iter().fold(0, |value, char| value * 16 + digit(*char));
    hex.as_bytes().chunks(2).map(|two| u8::try_from(byte(two)).unwrap()).collect()
}

#[test]
fn configurations_of_newcomers_are_told_what_to_type() {
    let cases: Cases<Config> = toml::from_str(CONFIGS).unwrap();
    assert!(cases.case.len() >= 80);
    let mut wrong = Vec::new();
    for case in &cases.case {
        let place = Place::with(&[("d.jsonl", case.data.as_deref().unwrap_or(ROWS))]);
        let file = case.file.as_deref().unwrap_or("assay.toml");
        write(&place, file, case.text.as_bytes());
        let mut command = place.command("validate");
        command.arg(file).arg("d.jsonl").args(&case.args).envs(&case.env);
        if !case.code.is_empty() {
            command.arg("--json");
        }
        let ran = Ran::of(command.output().unwrap());
        let says: Vec<&String> = case.says.iter().collect();
        let (code, key) = error_of(&ran);
        let codes = codes(&ran.out);
        if case.codes.as_ref().is_some_and(|own| *own != codes) {
            wrong.push(format!("{}: {codes:?}, not {:?}:\n{}", case.name, case.codes, ran.out));
        }
        if (&code, &key) != (&case.code, &case.key) {
            wrong.push(format!("{}: {code} at {key:?}:\n{}", case.name, ran.err));
        }
        wrong.extend(
            flaw(&ran, case.exit.unwrap_or(2), &says).map(|why| format!("{}: {why}", case.name)),
        );
    }
    assert!(wrong.is_empty(), "{} are wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn rows_of_newcomers_are_told_what_to_write() {
    let cases: Cases<Rows> = toml::from_str(DATASETS).unwrap();
    assert!(cases.case.len() >= 40);
    hold(&cases);
}

#[test]
fn scripts_of_newcomers_are_told_what_to_write() {
    let cases: Cases<Rows> = toml::from_str(SCRIPTS).unwrap();
    assert!(cases.case.len() >= 40);
    hold(&cases);
}

#[test]
fn rows_and_rewards_that_nothing_refuses_are_told() {
    let cases: Cases<Rows> = toml::from_str(BROKEN_ROWS).unwrap();
    assert!(cases.case.len() >= 40);
    hold(&cases);
}

/// The cases that stand in the pages of lints.
fn on_pages() -> Cases<Rows> {
    let pages = Place::with(&[]).run("show lint:").out;
    let blocks = pages.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let cases = blocks.flat_map(|block| toml::from_str::<Cases<Rows>>(block).unwrap().case);
    Cases { case: cases.collect() }
}

#[test]
fn cases_on_the_pages_of_lints_hold() {
    let cases = on_pages();
    assert!(!cases.case.is_empty());
    hold(&cases);
}

#[test]
fn every_lint_is_found_in_a_case_and_has_a_page_in_the_docs() {
    let place = Place::with(&[]);
    let listed = place.run("list lints --json").json();
    let known =
        listed.as_array().unwrap().iter().map(|own| own["code"].as_str().unwrap().to_owned());
    let files = [DATASETS, SCRIPTS, BROKEN_ROWS].map(|text| toml::from_str(text).unwrap());
    let cases: Vec<Cases<Rows>> = files.into_iter().chain([on_pages()]).collect();
    let cases = cases.iter().flat_map(|own| &own.case);
    let found: BTreeSet<String> = cases.filter_map(|case| case.codes.clone()).flatten().collect();
    let without: Vec<String> = known.filter(|code| !found.contains(code)).collect();
    assert_eq!(without, ["verifier_slip"], "no case of fixtures/mistakes finds them");
    let docs = include_str!("../../docs/lints.md");
    assert_eq!(
        place.run("show lint:").out,
        docs,
        "write docs/lints.md again: `assay show lint:` prints it"
    );
}

/// Runs `validate` and `score` on each of the rows.
fn hold(cases: &Cases<Rows>) {
    let mut wrong = Vec::new();
    for case in &cases.case {
        let place = Place::with(&[("assay.toml", case.config.as_deref().unwrap_or(MATH))]);
        let data = case.data.as_deref().unwrap_or("d.jsonl");
        if let Some(text) = &case.text {
            write(&place, data, text.as_bytes());
        }
        case.files.iter().for_each(|(name, text)| write(&place, name, text.as_bytes()));
        case.hex.iter().for_each(|(name, hex)| write(&place, name, &bytes(hex)));
        let [validate, score] = case.exits;
        let none = Vec::new();
        for (words, exit, args, own) in [
            ("validate assay.toml", validate, &none, &case.validate_says),
            ("score -q -o run assay.toml", score, &case.score_args, &case.score_says),
        ] {
            let mut command = place.command(words);
            command.args(data.split(' ')).args(args);
            let ran = Ran::of(command.output().unwrap());
            let codes = codes(&ran.out);
            if case.codes.as_ref().is_some_and(|own| words.starts_with("validate") && *own != codes)
            {
                wrong.push(format!(
                    "{}: {codes:?}, and not {:?}:\n{}",
                    case.name, case.codes, ran.out
                ));
            }
            let says: Vec<&String> = case.says.iter().chain(own).collect();
            wrong.extend(
                flaw(&ran, exit, &says).map(|why| format!("{}, {words}: {why}", case.name)),
            );
        }
    }
    assert!(wrong.is_empty(), "{} are wrong\n{}", wrong.len(), wrong.join("\n"));
}
