//! The judges of a configuration: settings, keys, budgets, dry runs, reports.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use assay_rubrics::http::Secret;
use assay_rubrics::judge::{Judge, JudgeConfig, JudgeParts, JudgeSet, ReplyStore, StoreMode};
use assay_verifiers::{BuildError, FaultKind};
use serde_json::json;

use crate::asking::{Scripted, question};
use crate::server::{Action, Server, chat, json as answer_json};

const KEY: &str = "sk-planted-secret-0123456789";

fn configs(text: &str) -> BTreeMap<String, JudgeConfig> {
    toml::from_str(text).unwrap()
}

fn with_key() -> JudgeParts {
    let secret = |name: &str| (name == "JUDGE_KEY").then(|| Secret::new(KEY));
    JudgeParts { secret: Arc::new(secret), ..JudgeParts::default() }
}

fn scripted() -> JudgeParts {
    let folder = |_: &JudgeConfig| -> Result<Arc<dyn Judge>, BuildError> {
        Ok(Arc::new(Scripted::new(|_| Ok("yes"))))
    };
    JudgeParts { folder: Arc::new(folder), ..JudgeParts::default() }
}

fn set(text: &str, parts: JudgeParts) -> JudgeSet {
    JudgeSet::new(configs(text), parts).unwrap()
}

#[test]
fn wrong_settings_are_named() {
    for (settings, setting, message) in [
        ("", "a", "judge \"a\": exactly one of `url`, `folder` and `column` is expected"),
        ("column = 'c'\nfolder = 'f'", "a", "judge \"a\": exactly one of"),
        ("url = 'http://x/'", "a.model", "judge \"a\": a judge with a `url` has a `model`"),
        ("column = 'c'\ntemperature = -1.0", "a.temperature", "judge \"a\": expected 0 to 2"),
        ("column = 'c'\ntop_logprobs = 21", "a.top_logprobs", "judge \"a\": expected 0 to 20"),
        (
            "column = 'c'\nextra = { stream = true }",
            "a.extra.stream",
            "judge \"a\": `stream` is set",
        ),
    ] {
        let error = JudgeSet::new(configs(&format!("[a]\n{settings}")), JudgeParts::default());
        let error = error.err().unwrap();
        assert_eq!(error.setting, setting);
        assert!(error.message.starts_with(message), "{error}");
    }
    assert!(toml::from_str::<JudgeConfig>("modell = 'x'").is_err());
}

#[test]
fn what_a_judge_lacks_is_said_when_it_is_asked_for() {
    let set = set(
        "[a]\nurl = 'http://localhost/v1'\nmodel = 'm'\nkey_env = 'NO_KEY'\n[b]\ncolumn = 'c'\n[c]\nfolder = 'f'\n[d]\nurl = 'http://169.254.169.254/'\nmodel = 'm'",
        with_key(),
    );
    let error = |name| set.get(name).err().unwrap().to_string();
    assert_eq!(error("x"), "no judge is called \"x\"; there are: \"a\", \"b\", \"c\", \"d\"");
    assert_eq!(
        error("a"),
        "judge \"a\": the environment variable NO_KEY that holds the key is not set"
    );
    assert_eq!(error("c"), "judge \"c\": no models can be run here");
    assert_eq!(error("d"), "judge \"d\": the host is a link-local address");
    let judge = set.get("b").unwrap();
    assert!(Arc::ptr_eq(&judge, &set.get("b").unwrap()), "it is made once");
    assert_eq!((judge.name.as_str(), judge.sampling.tokens_max), ("b", 1024));
}

#[tokio::test]
async fn a_report_counts_by_judge_and_criterion_and_shows_no_key() {
    let server = Server::start(|at, _| {
        Action::Write(match at {
            0 => answer_json(503, "{}"),
            1 => chat("yes"),
            _ => answer_json(401, &format!("no {KEY}")),
        })
    });
    let text = format!(
        "[a]\nurl = '{}'\nmodel = 'm'\nkey_env = 'JUDGE_KEY'\n[b]\ncolumn = 'c'",
        server.url
    );
    let set = set(&text, with_key());
    let judge = set.get("a").unwrap();
    judge.judge.ask(question("polite")).await.unwrap();
    let fault = judge.judge.ask(question("short")).await.unwrap_err();
    assert_eq!(fault.why, "judge \"a\": the server answered 401: no ***");
    let report = serde_json::to_value(set.report()).unwrap();
    assert_eq!(
        report,
        json!({"judges": {"a": {
            "calls": 2, "recorded": 0, "tries": 3, "retries": 1, "tokens": 10, "faults": {"Upstream": 1},
            "subjects": {
                "polite": {"calls": 1, "recorded": 0, "tries": 2, "retries": 1, "tokens": 10, "faults": {}},
                "short": {"calls": 1, "recorded": 0, "tries": 1, "retries": 0, "tokens": 0, "faults": {"Upstream": 1}},
            },
        }}})
    );
}

#[tokio::test]
async fn a_record_is_replayed_without_key_and_server() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(|at, _| {
        Action::Write(if at == 0 { chat(&format!("yes {KEY}")) } else { answer_json(403, KEY) })
    });
    let text = format!("[a]\nurl = '{}'\nmodel = 'm'\nkey_env = 'JUDGE_KEY'", server.url);
    let with_store = |parts, mode| {
        let store = Some(Arc::new(ReplyStore::open(folder.path(), mode).unwrap()));
        JudgeParts { store, ..parts }
    };
    let recording = set(&text, with_store(with_key(), StoreMode::Record));
    let judge = recording.get("a").unwrap();
    let said = judge.judge.ask(question("polite")).await;
    let failed = judge.judge.ask(question("short")).await;
    let identity = judge.identity;
    drop((recording, judge, server));
    let kept = std::fs::read_to_string(folder.path().join("replies.jsonl")).unwrap();
    assert!(kept.lines().count() == 2 && !kept.contains(KEY), "{kept}");
    let replaying = set(&text, with_store(JudgeParts::default(), StoreMode::Replay));
    let judge = replaying.get("a").unwrap();
    assert_eq!(judge.identity, identity);
    assert_eq!(judge.judge.ask(question("polite")).await, said);
    assert_eq!(judge.judge.ask(question("short")).await, failed);
    assert_eq!(replaying.report().judges["a"].total.recorded, 2);
}

#[tokio::test]
async fn a_spent_budget_is_a_fault() {
    for (limit, why) in [("budget_calls = 2", "2 calls"), ("budget_tokens = 20", "20 tokens")] {
        let set = set(&format!("[a]\nfolder = 'f'\n{limit}"), scripted());
        let judge = set.get("a").unwrap();
        assert!(judge.judge.ask(question("x")).await.is_ok());
        assert!(judge.judge.ask(question("y")).await.is_ok());
        let fault = judge.judge.ask(question("z")).await.unwrap_err();
        assert_eq!(fault.kind, FaultKind::Overloaded);
        assert_eq!(fault.why, format!("judge \"a\": the budget is spent: {why}"));
    }
}

#[tokio::test]
async fn a_spent_budget_stops_the_run_once() {
    let stops = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&stops);
    let stopped = Arc::new(move || {
        count.fetch_add(1, Ordering::Relaxed);
    });
    let parts = JudgeParts { stopped: Some(stopped), ..scripted() };
    let set = set("[a]\nfolder = 'f'\nbudget_calls = 0", parts);
    let judge = set.get("a").unwrap();
    for name in ["x", "y"] {
        let mut asked = judge.judge.ask(question(name));
        let waits = asked.as_mut().poll(&mut Context::from_waker(std::task::Waker::noop()));
        assert_eq!(waits, Poll::Pending, "its row is not written");
    }
    assert_eq!(stops.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_dry_run_asks_nobody_and_estimates() {
    let parts = JudgeParts { dry: true, ..JudgeParts::default() };
    let set = set(
        "[a]\nurl = 'http://localhost:1/v1'\nmodel = 'm'\nkey_env = 'NO'\n[b]\nfolder = 'f'",
        parts,
    );
    for name in ["a", "b"] {
        let judge = set.get(name).unwrap();
        let reply = judge.judge.ask(question("polite")).await.unwrap();
        assert_eq!(reply.text, r#"{"yes":true}"#);
        assert_eq!(reply.usage.tokens, 36, "13 bytes are 4 tokens, and half of 64");
        assert_eq!(set.report().judges[name].total.tokens, 36);
    }
}

#[test]
fn every_setting_is_described() {
    let schema = schemars::schema_for!(JudgeConfig);
    let settings = schema.get("properties").unwrap().as_object().unwrap();
    assert_eq!(settings.len(), 21);
    for (name, setting) in settings {
        let described = setting.get("description").is_some();
        assert!(described, "{name}: {setting}");
    }
    let again = serde_json::to_value(JudgeConfig::default()).unwrap();
    assert_eq!(serde_json::from_value::<JudgeConfig>(again).unwrap(), JudgeConfig::default());
}
