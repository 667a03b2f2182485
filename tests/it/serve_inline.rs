//! The daemon, and rewards that requests bring along.

use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use super::daemon::{Answer, Daemon, PROGRAMS, endless, verify_request};

const RULES: &str = "[data]\nreference = 'answer'\n[limits]\nfuel = 100000000\n\
                     [[reward]]\nname = 'correct'\nverifier = 'exact'\n";
const NAMES: &str = "exact,regex,rubric,json,rhai,outcome_model,wasm,python_check,length,contains";

fn samples() -> Value {
    json!([{ "completion": "three", "answer": "three" }, { "completion": "3", "answer": "three" }])
}

fn asked(daemon: &Daemon, reward: &Value) -> Answer {
    daemon.post("/v1/verify", &json!({ "samples": samples(), "reward": reward }))
}

fn rewards(answer: &Answer) -> Vec<Value> {
    assert_eq!(answer.status, 200, "{}", answer.text());
    let lines = answer.json()["results"].as_array().unwrap().clone();
    lines.iter().map(|line| line["reward"].clone()).collect()
}

fn refused(answer: &Answer, words: &str) -> Value {
    assert_eq!(answer.status, 400, "{}", answer.text());
    let error = answer.json()["error"].clone();
    assert!(error["message"].as_str().unwrap().contains(words), "{words}: {error}");
    error
}

#[test]
fn rewards_of_a_request_are_those_of_a_configuration() {
    let own = "[data]\nreference = 'answer'\n[[reward]]\nname = 'correct'\nverifier = 'exact'\n\
               [[reward]]\nname = 'form'\nverifier = 'regex'\nweight = 0.5\n\
               config = { pattern = '^[0-9]' }\n";
    let daemon =
        Daemon::start(&[("a", RULES), ("own", own)], &["--allow-inline-config", "exact,regex"]);
    let tables = json!([
        { "name": "correct", "verifier": "exact" },
        { "name": "form", "verifier": "regex", "weight": 0.5, "config": { "pattern": "^[0-9]" } },
    ]);
    let body = json!({ "samples": samples(), "profile": "own" });
    let expected = daemon.post("/v1/verify", &body);
    let inline = asked(&daemon, &tables);
    assert_eq!(inline.text(), expected.text());
    assert_eq!(rewards(&inline), [json!(1.0), json!(0.5)]);
    // The profile itself is as it was.
    let plain = daemon.post("/v1/verify", &json!({ "samples": samples() }));
    assert_eq!(rewards(&plain), [json!(1.0), json!(0.0)]);
    // More of them than are kept ready.
    for number in 0..40 {
        let pattern = json!({ "pattern": format!("^[0-9]{{1,{}}}$", number + 1) });
        let one = json!([{ "name": "form", "verifier": "regex", "config": pattern }]);
        assert_eq!(rewards(&asked(&daemon, &one)), [json!(0.0), json!(1.0)]);
    }
}

#[test]
fn no_verifier_is_configured_that_is_not_named() {
    let closed = Daemon::start(&[("a", RULES)], &[]);
    let exact = json!([{ "name": "a", "verifier": "exact" }]);
    let error = refused(&asked(&closed, &exact), "allow_inline_config");
    assert_eq!(error["field"], "reward[0].verifier");

    let daemon = Daemon::start(&[("a", RULES)], &["--allow-inline-config", "exact,rubric"]);
    assert_eq!(rewards(&asked(&daemon, &exact)), [json!(1.0), json!(0.0)]);
    let second =
        json!([exact[0], { "name": "b", "verifier": "regex", "config": { "pattern": "a" } }]);
    let error = refused(&asked(&daemon, &second), "settings of regex");
    assert_eq!(error["field"], "reward[1].verifier");
    // Nor one that settings nest.
    let nested = |verifier: &str, config: Value| {
        let criterion = json!([{ "name": "c", "verifier": verifier, "config": config }]);
        let rubric = json!({ "rubric": { "criterion": criterion } });
        json!([{ "name": "r", "verifier": "rubric", "config": rubric }])
    };
    refused(&asked(&daemon, &nested("regex", json!({ "pattern": "a" }))), "regex");
    refused(&asked(&daemon, &nested("rhai", json!({ "script": "1.0" }))), "rhai");
    for odd in [json!([]), json!(3), json!([{ "name": "a" }]), json!([{ "verifier": "exact" }])] {
        let answer = asked(&daemon, &odd);
        assert_eq!(answer.status, 400, "{}", answer.text());
    }
    // What is wrong with settings is said where it is.
    for (config, field) in [
        (json!({ "pattern": "(" }), "reward[1].config.pattern"),
        (json!({ "pattern": 3 }), "reward[1].config.pattern"),
        (json!({ "pattern": "a", "odd": 1 }), "reward[1].config.odd"),
        (json!({}), "reward[1].config.pattern"),
    ] {
        let daemon = Daemon::start(&[("a", RULES)], &["--allow-inline-config", "exact,regex"]);
        let wrong = json!([exact[0], { "name": "b", "verifier": "regex", "config": config }]);
        assert_eq!(refused(&asked(&daemon, &wrong), "")["field"], field, "{wrong}");
    }
    let many: Vec<Value> =
        (0..65).map(|at| json!({ "name": format!("r{at}"), "verifier": "exact" })).collect();
    refused(&asked(&daemon, &json!(many)), "1 to 64");
}

#[test]
fn no_setting_of_a_request_names_a_file_a_host_or_a_limit() {
    let daemon = Daemon::start(&[("a", RULES)], &["--allow-inline-config", NAMES]);
    let outside = daemon.folder.path().join("a.toml");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let path = outside.to_str().unwrap();
    let judged = json!({ "criterion": [{ "name": "good", "text": "Is it good?" }] });
    for (verifier, config) in [
        ("rhai", json!({ "file": path })),
        ("rhai", json!({ "file": "a.toml" })),
        ("rhai", json!({ "file": "/etc/passwd" })),
        ("json", json!({ "schema_file": "/etc/passwd" })),
        ("json", json!({ "schema": { "$ref": url } })),
        ("json", json!({ "schema": { "$ref": format!("file://{path}") } })),
        ("length", json!({ "unit": "tokens", "tokenizer": path, "max": 3 })),
        ("python_check", json!({ "file": path })),
        ("wasm", json!({ "file": path })),
        ("wasm", json!({ "module": path })),
        ("outcome_model", json!({ "model": daemon.folder.path() })),
        ("outcome_model", json!({ "model": url })),
        ("outcome_model", json!({ "model": "../../fixtures/models/cross-encoder" })),
        ("rubric", json!({ "rubric": path })),
        ("rubric", json!({ "judge": { "url": url, "model": "m" }, "rubric": judged })),
        ("rubric", json!({ "judge": "j", "rubric": judged })),
        ("rhai", json!({ "script": "1.0", "limits": { "fuel": 1_u64 << 60 } })),
    ] {
        let answer =
            asked(&daemon, &json!([{ "name": "r", "verifier": verifier, "config": config }]));
        assert_eq!(answer.status, 400, "{verifier} {config}: {}", answer.text());
        let told = answer.text();
        assert!(!told.contains("root:") && !told.contains("[[reward]]"), "{told}");
    }
    // Neither beside the rewards, nor by what is granted.
    let hosts = json!({ "j": { "url": url, "model": "m" } });
    let reward = json!([{ "name": "a", "verifier": "exact" }]);
    let body = json!({ "samples": samples(), "reward": reward, "judges": hosts });
    refused(&daemon.post("/v1/verify", &body), "unknown key");
    let greedy = json!([{ "name": "a", "verifier": "exact", "fuel": 100_000_001 }]);
    let error = refused(&asked(&daemon, &greedy), "grants 100000000");
    assert_eq!(error["field"], "reward[0].fuel");
    let endless = json!([{ "name": "a", "verifier": "rhai", "config": { "script": "loop {}" } }]);
    let line = asked(&daemon, &endless).json()["results"][0].clone();
    assert_eq!((&line["outcome"], &line["fault"]), (&json!("failed"), &json!("OutOfFuel")));
    assert!(listener.accept().is_err(), "a host was asked");
}

#[test]
fn a_name_that_is_none_is_told_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("c.toml");
    let text = format!("version = 1\n{RULES}");
    assay::engine::runs::write_atomic(&config, text.as_bytes()).unwrap();
    let mut serve = Command::new(env!("CARGO_BIN_EXE_assay"));
    let serve = serve.arg("serve").arg(&config).args(["--bind", "127.0.0.1:0"]);
    let done = serve.args(["--allow-inline-config", "exact,exat"]).output().unwrap();
    assert_eq!(done.status.code(), Some(2));
    let told = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(told.contains("\"exat\""), "{told}");
}

#[test]
fn a_client_that_leaves_behind_another_request_is_noticed() {
    let programs = format!("[limits]\nfuel = 100000000000\n{PROGRAMS}");
    let daemon = Daemon::start(&[("a", &programs)], &["--in-flight-max", "1"]);
    let request = verify_request(&json!([endless()])) + "GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n";
    let leaving: Vec<TcpStream> = (0..2)
        .map(|_| {
            let mut stream = TcpStream::connect(&daemon.address).unwrap();
            stream.write_all(request.as_bytes()).unwrap();
            stream
        })
        .collect();
    assert!(daemon.becomes("assay_waiting", 1));
    drop(leaving);
    assert!(daemon.becomes("assay_waiting", 0), "a client that is gone waits on");
    assert!(daemon.becomes("assay_in_flight", 0), "work for a client that is gone goes on");
    assert!(daemon.becomes("assay_connections", 1));
}

#[test]
fn requests_that_come_together_are_all_answered() {
    use std::fmt::Write as _;
    use std::io::Read as _;
    let daemon = Daemon::start(&[("a", RULES)], &[]);
    let slow = json!({ "samples": vec![json!({ "completion": "3", "answer": "3" }); 500] });
    let body = slow.to_string();
    let mut request = String::new();
    for _ in 0..20 {
        let head = "POST /v1/verify HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n";
        write!(request, "{head}content-length: {}\r\n\r\n{body}", body.len()).unwrap();
    }
    request.push_str("GET /healthz HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
    let mut stream = TcpStream::connect(&daemon.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    let mut writer = stream.try_clone().unwrap();
    let writing = std::thread::spawn(move || writer.write_all(request.as_bytes()).is_ok());
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(writing.join().unwrap());
    assert_eq!(answer.matches("HTTP/1.1 200").count(), 21);
}
