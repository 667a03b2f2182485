//! Operating the daemon: its load generator, and what the dashboard asks of its counters.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::{Value, json};

use super::daemon::Daemon;

const RULES: &str = "[[reward]]\nname = 'correct'\nverifier = 'exact'\n\
                     [[reward]]\nname = 'form'\nverifier = 'regex'\n\
                     config = { pattern = '^[0-9]' }\n";
const DASHBOARD: &str = include_str!("../../docs/operating/grafana.json");

/// What `assay bench --serve` says of a daemon: its exit code, and its report or its message.
fn bench(daemon: &Daemon, args: &[&str]) -> (Option<i32>, Result<Value, String>) {
    let data = daemon.folder.path().join("d.jsonl");
    let row = |at: u32| format!("{}\n", json!({ "completion": at.to_string(), "reference": "3" }));
    let rows: String = (0..7).map(row).collect();
    assay::engine::runs::write_atomic(&data, rows.as_bytes()).unwrap();
    let done = Command::new(env!("CARGO_BIN_EXE_assay"))
        .arg("bench")
        .args([daemon.folder.path().join("a.toml"), data])
        .args(["--serve", &format!("http://{}", daemon.address), "--json"])
        .args(["--connections", "3", "--seconds", "0.2"])
        .args(args)
        .env("BENCH_TOKEN", "first")
        .output()
        .unwrap();
    let told = || String::from_utf8_lossy(&done.stderr).into_owned();
    (done.status.code(), serde_json::from_slice(&done.stdout).map_err(|_| told()))
}

#[test]
fn every_request_of_the_load_generator_is_answered() {
    let daemon = Daemon::start(&[("a", RULES)], &[]);
    let (code, report) = bench(&daemon, &["--batch", "2", "--echo"]);
    let report = report.unwrap();
    assert_eq!((code, &report["rows"], &report["batch"]), (Some(0), &json!(7), &json!(2)));
    for server in ["daemon", "echo"] {
        let answers = &report[server];
        assert_eq!(answers["errors"], 0, "{report}");
        let statuses = answers["statuses"].as_object().unwrap();
        assert_eq!(statuses.keys().collect::<Vec<_>>(), ["200"], "{report}");
        assert!(answers["p99_us"].as_f64() >= answers["p50_us"].as_f64(), "{report}");
        assert!(answers["max_us"].as_f64() >= answers["p99_us"].as_f64(), "{report}");
    }
    let rate = |key: &str| report["daemon"][key].as_f64().unwrap();
    // Two rewards for each of two rows.
    assert!((rate("verdicts_per_s") / rate("requests_per_s") - 4.0).abs() < 1e-6, "{report}");
    assert!(report["requests_to_echo"].as_f64().unwrap() > 0.0, "{report}");
    // Both saw the same: what was asked to prove the daemon is one more.
    let asked = report["daemon"]["statuses"]["200"].as_u64().unwrap() + 1;
    let counted = format!("assay_requests_total{{route=\"/v1/verify\",code=\"200\"}} {asked}\n");
    assert!(daemon.get("/metrics").text().contains(&counted), "{counted}");
}

#[test]
fn refusals_are_told_and_not_measured() {
    let folder = tempfile::tempdir().unwrap();
    let tokens = folder.path().join("tokens");
    assay::engine::runs::write_atomic(&tokens, b"first\n").unwrap();
    let daemon = Daemon::start(&[("a", RULES)], &["--token-file", tokens.to_str().unwrap()]);
    let (code, report) = bench(&daemon, &["--token-env", "BENCH_TOKEN"]);
    assert_eq!((code, &report.unwrap()["daemon"]["errors"]), (Some(0), &json!(0)));
    let (code, report) = bench(&daemon, &[]);
    let told = report.unwrap_err();
    assert_eq!(code, Some(3), "{told}");
    assert!(told.contains("401") && !told.contains("first"), "{told}");
    let (code, report) = bench(&daemon, &["--token-env", "BENCH_NO_SUCH_TOKEN"]);
    assert_eq!(code, Some(2), "{report:?}");
}

/// The names of our metrics in a text.
fn names(text: &str) -> BTreeSet<String> {
    let words = text.split(|char: char| !(char.is_ascii_alphanumeric() || char == '_'));
    words.filter(|word| word.starts_with("assay_")).map(str::to_owned).collect()
}

/// The texts of all members called `expr` or `query`.
fn queries(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                match member {
                    Value::String(text) if name == "expr" || name == "query" => {
                        found.push(text.clone());
                    }
                    member => queries(member, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| queries(item, found)),
        _ => {}
    }
}

#[test]
fn the_dashboard_asks_for_metrics_that_there_are() {
    let daemon = Daemon::start(&[("a", RULES)], &[]);
    // One that is judged, and one that cannot be read: faults are counted.
    let samples = json!([{ "completion": "3", "reference": "3" }, { "completion": 3 }]);
    assert_eq!(daemon.post("/v1/verify", &json!({ "samples": samples })).status, 200);
    let page = daemon.get("/metrics");
    assert!(page.head.contains("content-type: text/plain; version=0.0.4"), "{}", page.head);
    let accept = [("accept", "application/openmetrics-text;version=1.0.0,text/plain;q=0.5")];
    let open = daemon.send("GET", "/metrics", &accept, b"");
    assert!(open.head.contains("content-type: application/openmetrics-text"), "{}", open.head);
    assert!(open.text().ends_with("# EOF\n"));
    let known = names(&page.text());
    let mut asked = Vec::new();
    queries(&serde_json::from_str(DASHBOARD).unwrap(), &mut asked);
    let asked: BTreeSet<String> = asked.iter().flat_map(|query| names(query)).collect();
    assert!(asked.len() >= 10, "{asked:?}");
    let unknown: Vec<&String> = asked.difference(&known).collect();
    assert!(unknown.is_empty(), "{unknown:?} are not among {known:?}");
}
