//! The `sql` verifier over real questions: its verdicts are the labels that executing both queries
//! gave, for each semantics, from the bare query and from the answer around it.

use std::path::{Path, PathBuf};

use assay_sandbox::verifiers::sql::Sql;
use assay_verifiers::check::build;
use assay_verifiers::{Built, Earlier, Files, Lane, Meter, Outcome, Sample, Verdict};
use serde_json::{Value, json};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/datasets/sql-defog")
}

struct Folder;

impl Files for Folder {
    fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        std::fs::read(folder().join(name)).map_err(|error| format!("file \"{name}\": {error}"))
    }
}

fn rows() -> Vec<Value> {
    let text = std::fs::read_to_string(folder().join("rows.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn built(semantics: &str) -> Built {
    let names = ["advising", "restaurants", "scholar"];
    let databases: Value = names.iter().map(|name| (*name, format!("{name}.sql"))).collect();
    build::<Sql>(json!({ "databases": databases, "semantics": semantics }), &Folder).unwrap()
}

fn verdict(built: &Built, row: &Value, completion: &str) -> Verdict {
    let Lane::Compute(verifier) = &built.lane else { panic!("sql runs on its own") };
    let meta = row.as_object().unwrap().clone();
    let sample = Sample::builder(row[completion].as_str().unwrap())
        .reference(row["reference"].clone())
        .meta(meta)
        .build();
    verifier.verify(&sample, Earlier::default(), &mut Meter::default())
}

#[test]
fn verdicts_are_the_labels() {
    let rows = rows();
    assert!(rows.len() >= 60, "{} rows", rows.len());
    for (semantics, label) in
        [("spider", "label"), ("bird", "label_bird"), ("ordered", "label_ordered")]
    {
        let built = built(semantics);
        for row in &rows {
            for completion in ["sql", "response"] {
                let verdict = verdict(&built, row, completion);
                let Outcome::Scored(reward) = &verdict.outcome else { panic!("{verdict:?}") };
                let is_right = reward.get() >= 1.0;
                assert_eq!(Some(is_right), row[label].as_bool(), "{}: {verdict:?}", row["id"]);
            }
        }
    }
}

/// Connections are used again: what one sample did must not show in another, on any thread.
#[test]
fn verdicts_do_not_depend_on_order_or_threads() {
    let (rows, built) = (rows(), built("spider"));
    let judge = |row: &Value| verdict(&built, row, "response");
    let forward: Vec<Verdict> = rows.iter().map(judge).collect();
    let mut backward: Vec<Verdict> = rows.iter().rev().map(judge).collect();
    backward.reverse();
    assert_eq!(forward, backward);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(rows.iter().map(judge).collect::<Vec<_>>(), forward));
        }
    });
}
