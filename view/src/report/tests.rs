//! Reports of runs that are made here: what they count, what they show, and how large they get.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::data::RunData;
use crate::testing::TestData;

/// Texts that break pages, terminals and readers.
const HOSTILE: [&str; 12] = [
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "<img src=x onerror=alert(1)>",
    "\"><svg/onload=alert(1)>",
    "javascript:alert(1)",
    "'-alert(1)-'",
    "]]>&lt;script&gt;",
    "\u{202e}\u{2066}gpj.exe\u{2069}",
    "\u{1b}[31m\u{1b}]0;title\u{7}\u{9b}2J",
    "\u{0}\u{8}\u{7f}\u{feff}\u{e0041}",
    "\u{2028}\u{2029}\u{85}",
    "Z\u{351}\u{36b}\u{343}\u{36a}",
];

struct TestRun(PathBuf);

impl TestRun {
    fn new(name: &str, verdicts: &str, timings: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("assay-view-{}-{name}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        let manifest = json!({ "format": 1, "assay": "0", "complete": true, "inputs": [
            { "path": "/home/someone/data.jsonl", "bytes": 1, "sha256": "00" }] });
        let config = json!({ "reward": [{ "name": "m", "weight": 2.0 }] });
        let files = [
            ("manifest.json", manifest.to_string()),
            ("config.resolved.json", config.to_string()),
            ("verdicts.jsonl", verdicts.to_owned()),
            ("timings.jsonl", timings.to_owned()),
        ];
        for (file, text) in files {
            let mut out = fs::File::create(dir.join(file)).unwrap();
            std::io::Write::write_all(&mut out, text.as_bytes()).unwrap();
        }
        Self(dir)
    }
}

impl Drop for TestRun {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The data of a report.
fn embedded(page: &str) -> Value {
    let start = page.find("id=\"data\">").unwrap() + "id=\"data\">".len();
    let end = page[start..].find("</script>").unwrap();
    serde_json::from_str(&page[start..start + end]).unwrap()
}

/// The report of a run, with these rows as its data.
fn report(run: &TestRun, rows: &[Value]) -> String {
    let path = run.0.join("data.jsonl");
    let lines: String = rows.iter().map(|row| row.to_string() + "\n").collect();
    std::io::Write::write_all(&mut fs::File::create(&path).unwrap(), lines.as_bytes()).unwrap();
    let data: Option<Arc<dyn RunData>> =
        if rows.is_empty() { None } else { Some(Arc::new(TestData(vec![path]))) };
    report_html(opened(&run.0, data)).unwrap()
}

fn opened(dir: &Path, data: Option<Arc<dyn RunData>>) -> ViewRun {
    ViewRun { dir: dir.to_owned(), data, missing: None, labels: dir.join("labels.jsonl") }
}

#[test]
fn the_figures_are_those_counted_by_hand() {
    let mut lines = String::new();
    for (id, group, reward) in [("a", "x", 0.0), ("b", "x", 1.0), ("c", "y", 1.0), ("d", "y", 1.0)]
    {
        let line = json!({ "id": id, "group": group, "outcome": "scored", "reward": reward,
            "verdicts": { "m": { "outcome": "scored", "reward": reward,
                "evidence": { "reason": "equal", "fuel": 5, "span": [0, 2] } },
                "n": { "outcome": "scored", "reward": 1.0 - reward } } });
        let _ = writeln!(lines, "{line}");
    }
    let failed = json!({ "id": "e", "outcome": "failed", "reward": null, "fault": "Timeout", "why": "w",
        "verdicts": { "m": { "outcome": "failed", "fault": "Timeout", "why": "w" },
            "n": { "outcome": "abstained", "why": "w" } } });
    let _ = writeln!(lines, "{failed}");
    lines.push_str("{\"id\":\"torn");
    let timings =
        "{\"row\":0,\"us\":{\"m\":3,\"n\":4}}\n{\"row\":2,\"us\":{}}\n{\"row\":3,\"us\":{}}\n";
    let run = TestRun::new("hand", &lines, timings);
    let texts = [(0, "a"), (1, "skipped"), (2, "b"), (3, "other")].map(
        |(number, id)| json!({ "id": id, "prompt": "p", "completion": "18 é".repeat(number + 1) }),
    );
    let page = report(&run, &texts);
    assert!(!page.contains("someone"), "a report names no folder");
    let data = embedded(&page);
    let overview = &data["runs"][0]["overview"];
    assert_eq!((&overview["rows"], &overview["total"]["failed"]), (&json!(5), &json!(1)));
    let figures = &overview["total"]["figures"];
    assert_eq!((&figures["mean"], &figures["count"]), (&json!(0.75), &json!(4)));
    // Sums of groups 1 and 2 around 1.5: sqrt((0.25 + 0.25) * 2) / 4.
    assert!((figures["low"].as_f64().unwrap() - (0.75 - 1.96 * 0.25)).abs() < 1e-12);
    let part = &overview["parts"][0];
    assert_eq!((&part["name"], &part["weight"]), (&json!("m"), &json!(2.0)));
    assert_eq!(part["reward"]["reasons"], json!([["equal", 4]]));
    assert_eq!(overview["correlations"], json!([-1.0]));
    let groups = &overview["groups"];
    assert_eq!((&groups["groups"], &groups["flat"]), (&json!(2), &json!(1)));
    assert_eq!(groups["widest"][0]["group"], "x");
    assert_eq!(overview["slowest"], json!([{ "at": 0, "number": 0, "id": "a", "value": 7.0 }]));
    assert_eq!(overview["fuel"][0]["value"], 5.0);
    assert_eq!(overview["faults"].as_array().unwrap().len(), 2);
    assert_eq!(overview["lengths"]["bins"], json!([[4.0, 1, 0.0], [8.0, 1, 1.0]]));
    let rows = data["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 5);
    let row = rows.iter().find(|row| row["line"]["id"] == "a").unwrap();
    assert_eq!(row["texts"]["completion"], json!([[0, "18 é"]]));
    let other = rows.iter().find(|row| row["line"]["id"] == "c").unwrap();
    assert_eq!((&other["number"], &other["texts"]), (&json!(3), &Value::Null));
}

#[test]
fn a_hostile_run_of_any_size_is_a_small_page_with_every_fault() {
    let faults = ["OutOfFuel", "Timeout", "OutOfMemory", "Trap", "BadInput", "BadReference"];
    let mut lines = String::new();
    for at in 0..200_000_usize {
        let text = HOSTILE[at % HOSTILE.len()];
        let id = serde_json::to_string(&format!("{text}{at}")).unwrap();
        let fault = faults.get(at % 40_000).filter(|_| at > 40_000);
        let _ = match fault {
            Some(fault) => writeln!(
                lines,
                "{{\"id\":{id},\"outcome\":\"failed\",\"reward\":null,\
                \"fault\":\"{fault}\",\"why\":{id},\"verdicts\":{{}}}}"
            ),
            None => writeln!(
                lines,
                "{{\"id\":{id},\"outcome\":\"scored\",\"reward\":{},\"verdicts\":\
                {{{id}:{{\"outcome\":\"scored\",\"reward\":0.5,\"evidence\":{{\"reason\":{id},\
                \"extracted\":{id}}}}}}}}}",
                at % 1000
            ),
        };
    }
    let run = TestRun::new("hostile", &lines, "");
    let texts = (0..200_000_usize).map(|number| {
        let text = HOSTILE[number % HOSTILE.len()];
        let long = if number % 100 == 0 { 2_000 } else { 1 };
        json!({ "id": format!("{text}{number}"), "prompt": text.repeat(long),
            "completion": text.repeat(2 * long), "reference": text })
    });
    let page = report(&run, &texts.collect::<Vec<_>>());
    assert!(page.len() <= REPORT_BYTES_MAX, "{} bytes", page.len());
    assert_eq!(report(&run, &[]), report(&run, &[]));
    assert_eq!(page.matches("<script").count(), 2);
    assert_eq!(page.matches("</script").count(), 2);
    let data = embedded(&page);
    let rows = data["rows"].as_array().unwrap();
    assert!(rows.len() > 50, "{}", rows.len());
    for fault in faults {
        assert!(rows.iter().any(|row| row["line"]["fault"] == fault), "{fault}");
    }
    for why in ["lowest", "highest", "median", "drawn"] {
        let is_there = |row: &Value| row["why"].as_array().unwrap().contains(&json!(why));
        assert!(rows.iter().any(is_there), "{why}");
    }
    let start = page.find("id=\"data\">").unwrap();
    let shown = |char: char| char == '\n' || !char.is_control();
    let json = &page[start..start + page[start..].find("</script>").unwrap()];
    assert!(json.chars().all(shown));
    assert!(!json.contains(['\u{202e}', '\u{2066}', '\u{feff}', '\u{2028}']));
}

#[test]
fn what_is_no_run_is_said() {
    let run = TestRun::new("damaged", "{\"id\":\"a\",\"outcome\":\"scored\"}\n{\"id\":1}\n", "");
    let error = report_html(opened(&run.0, None)).unwrap_err().to_string();
    assert!(error.contains("verdicts.jsonl: line 2 is not a verdict row"), "{error}");
    let error = report_html(opened(&run.0.join("none"), None)).unwrap_err().to_string();
    assert!(
        error.contains("manifest.json: is missing, so that this is not a run folder"),
        "{error}"
    );
}
