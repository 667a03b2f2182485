//! How many honest answers are paid, and how many dishonest ones refused, over `fixtures/answers`.
//!
//! The development half may not fall below `score.toml`. `make bench-answers` prints both halves.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test stops at what it does not expect"
)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use assay_verifiers::{Earlier, Lane, Meter, NoFiles, Sample, Verdict, registry};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Row {
    id: String,
    lang: String,
    field: String,
    form: String,
    kind: String,
    remark: String,
    prompt: String,
    completion: String,
    reference: String,
    pays: bool,
}

/// Rows, and how many of them are judged right.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
struct Count {
    rows: u32,
    right: u32,
}

/// What a check makes of honest and of dishonest rows.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
struct Score {
    honest: Count,
    dishonest: Count,
}

type Table = BTreeMap<(&'static str, String), Score>;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/answers")
}

fn rows(half: &str) -> Vec<Row> {
    let mut compose = Command::new("python3");
    let done = compose.arg(folder().join("compose.py")).args(["--half", half]).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let text = String::from_utf8(done.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The checks of a row.
fn checks(row: &Row) -> &'static [&'static str] {
    match row.field.as_str() {
        "number" => &["math", "number"],
        "letter" => &["choice"],
        _ => &["math"],
    }
}

/// The settings that a user of the language has.
fn settings(check: &str, style: &(String, String, String, bool)) -> Value {
    match check {
        "number" => json!({"decimal_comma": style.0 == ",", "blank_separates": style.1 == " "}),
        "choice" => json!({"letters": 5}),
        _ => json!({}),
    }
}

/// Judges every row of a half by each of its checks.
fn judged(half: &str, mut each: impl FnMut(&'static str, &Row, bool, &Verdict)) {
    #[derive(Deserialize)]
    struct Shared {
        style: BTreeMap<String, (String, String, String, bool)>,
    }
    let shared = std::fs::read_to_string(folder().join("values.toml")).unwrap();
    let style = toml::from_str::<Shared>(&shared).unwrap().style;
    let mut built = BTreeMap::new();
    for row in rows(half) {
        for check in checks(&row) {
            let verifier = built.entry((*check, row.lang.clone())).or_insert_with(|| {
                let entry = registry::ALL.iter().find(|entry| entry.about.id == *check).unwrap();
                let built = (entry.build)(settings(check, &style[&row.lang]), &NoFiles).unwrap();
                match built.lane {
                    Lane::Compute(verifier) => Some(verifier),
                    _ => None,
                }
            });
            let reference = match *check {
                "number" => json!(row.reference.parse::<f64>().unwrap()),
                _ => json!(row.reference),
            };
            let sample = Sample::builder(row.completion.clone()).prompt(row.prompt.clone());
            let sample = sample.reference(reference).build();
            let verdict = verifier.as_ref().unwrap().verify(
                &sample,
                Earlier::default(),
                &mut Meter::default(),
            );
            let paid = verdict.outcome.reward().is_some_and(|reward| reward.get() >= 1.0);
            each(check, &row, paid, &verdict);
        }
    }
}

impl Row {
    /// Under what its score is kept: composed rows and whole passages apart.
    fn part(&self) -> &'static str {
        if self.id.starts_with("passage/") { "passages" } else { "all" }
    }
}

impl Score {
    fn count(&mut self, row: &Row, paid: bool) {
        let count = if row.pays { &mut self.honest } else { &mut self.dishonest };
        count.rows += 1;
        count.right += u32::from(paid == row.pays);
    }
}

fn shown(table: &Table) -> String {
    let share = |count: Count| {
        let percent = 100.0 * f64::from(count.right) / f64::from(count.rows.max(1));
        format!("{:5} of {:5} {percent:5.1} %", count.right, count.rows)
    };
    let mut text = String::new();
    for ((check, key), score) in table {
        let (paid, refused) = (share(score.honest), share(score.dishonest));
        writeln!(text, "{check:8} {key:24} paid {paid}   refused {refused}").unwrap();
    }
    text
}

#[test]
fn no_score_falls() {
    let mut table = Table::new();
    judged("dev", |check, row, paid, verdict| {
        table.entry((check, row.part().to_owned())).or_default().count(row, paid);
        if paid != row.pays {
            let Row { lang, form, kind, remark, reference, completion, .. } = row;
            let told = serde_json::to_string(&verdict.evidence).unwrap();
            println!(
                "{check} {lang} {form} {kind} {remark} paid={paid}: {reference} {told}\n{completion}\n"
            );
        }
    });
    println!("{}", shown(&table));
    let kept: BTreeMap<String, BTreeMap<String, Score>> =
        toml::from_str(&std::fs::read_to_string(folder().join("score.toml")).unwrap()).unwrap();
    for ((check, part), score) in &table {
        let kept = kept[*check][part];
        let falls = score.honest.right < kept.honest.right
            || score.dishonest.right < kept.dishonest.right
            || (score.honest.rows, score.dishonest.rows) != (kept.honest.rows, kept.dishonest.rows);
        assert!(!falls, "{check}, {part}: {score:?}, before {kept:?}");
    }
}

#[test]
#[ignore = "a bench: nobody tunes to the rows of the other half"]
fn both_halves() {
    for half in ["dev", "held_out"] {
        let mut table = Table::new();
        judged(half, |check, row, paid, _| {
            let set = row.id.strip_prefix("passage/").and_then(|id| id.split('/').next());
            for key in [row.part(), &row.lang, &row.form].into_iter().chain(set) {
                table.entry((check, key.to_owned())).or_default().count(row, paid);
            }
        });
        println!("{half}\n{}", shown(&table));
    }
}

/// Which classes of words a language has, as `docs/extract.md` lists them.
fn classes() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("language");
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let Some(language) =
            path.file_stem().filter(|_| path.extension().is_some_and(|e| e == "toml"))
        else {
            continue;
        };
        let file: toml::Table = toml::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        if let Some(clause) = file.get("clause").and_then(|clause| clause.as_table()) {
            let keys: Vec<String> = clause.keys().cloned().collect();
            found.insert(language.to_string_lossy().into_owned(), keys);
        }
    }
    let all = found["en"].clone();
    let mut lines = BTreeMap::<String, Vec<String>>::new();
    for (language, keys) in found {
        let lacks = all.iter().filter(|key| !keys.contains(key)).map(|key| format!("`{key}`"));
        let lacks: Vec<String> = lacks.collect();
        let has =
            if lacks.is_empty() { "all".into() } else { format!("all but {}", lacks.join(", ")) };
        lines.entry(has).or_default().push(language);
    }
    let mut text = String::from("| languages | classes |\n|---|---|\n");
    for (has, languages) in lines {
        writeln!(text, "| {} | {has} |", languages.join(", ")).unwrap();
    }
    text
}

#[test]
fn the_docs_list_the_classes_of_each_language() {
    let docs = include_str!("../../docs/extract.md");
    let classes = classes();
    assert!(docs.contains(&classes), "docs/extract.md should have\n{classes}");
}
