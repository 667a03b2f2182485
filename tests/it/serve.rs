//! The daemon: its own protocol, whom it lets in, what it takes on, and how it ends.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use super::daemon::{Answer, Daemon, PROGRAMS, endless, verify_request};

pub(super) const RULES: &str = "[[reward]]\nname = 'correct'\nverifier = 'exact'\n\
                     [[reward]]\nname = 'form'\nverifier = 'regex'\nweight = 0.5\n\
                     config = { pattern = '^[0-9]' }\n";
const GROUPS: &str = "[data]\ngroup = 'g'\n[[reward]]\nname = 'correct'\nverifier = 'exact'\n\
                      [[reward]]\nname = 'rank'\nverifier = 'rank'\nconfig = { of = 'correct' }\n";

/// Rows of which one cannot be read, and one has no reference.
fn rows() -> Vec<Value> {
    let mut rows: Vec<Value> = (0..600)
        .map(|at| json!({ "id": format!("r{at}"), "completion": (at % 7).to_string(), "reference": "3" }))
        .collect();
    rows.push(json!({ "completion": 3 }));
    rows.push(json!({ "completion": "3" }));
    rows
}

pub(super) fn assert_refused(answer: &Answer, status: u16, kind: &str) -> Value {
    assert_eq!(answer.status, status, "{}", answer.text());
    let body = answer.json();
    let error = body.get("error").unwrap();
    assert_eq!(error.get("kind").unwrap(), kind);
    let id = error.get("request_id").unwrap().as_str().unwrap();
    assert!(answer.head.contains(&format!("x-request-id: {id}").to_lowercase()), "{}", answer.head);
    error.clone()
}

/// The lines that `assay score` writes of rows.
pub(super) fn scored(config: &str, rows: &[Value]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let (config_path, data) = (folder.path().join("c.toml"), folder.path().join("d.jsonl"));
    let text = lines(rows, "\n");
    let write = assay::engine::runs::write_atomic;
    write(&config_path, format!("version = 1\n{config}").as_bytes()).unwrap();
    write(&data, text.as_bytes()).unwrap();
    let run = folder.path().join("run");
    let done = Command::new(env!("CARGO_BIN_EXE_assay"))
        .arg("score")
        .args([&config_path, &data])
        .args(["--bad-rows", "fault", "-q", "--no-cache", "--output"])
        .arg(&run)
        .output()
        .unwrap();
    assert!(run.join("verdicts.jsonl").exists(), "{}", String::from_utf8_lossy(&done.stderr));
    std::fs::read_to_string(run.join("verdicts.jsonl")).unwrap()
}

/// Rows, each with an end of line.
pub(super) fn lines(rows: &[Value], end: &str) -> String {
    let mut text = String::new();
    for row in rows {
        text.push_str(&row.to_string());
        text.push_str(end);
    }
    text
}

pub(super) fn stream(daemon: &Daemon, path: &str, rows: &[Value]) -> Answer {
    let body = lines(rows, "\n\n");
    daemon.send("POST", path, &[("content-type", "application/x-ndjson")], body.as_bytes())
}

#[test]
fn verdict_lines_are_those_of_a_run() {
    for config in [RULES, GROUPS] {
        let mut rows = rows();
        for (at, row) in rows.iter_mut().enumerate() {
            row.as_object_mut().unwrap().insert("g".to_owned(), json!(at / 50));
        }
        let expected = scored(config, &rows);
        let daemon = Daemon::start(&[("a", config)], &[]);
        let answer = daemon.post("/v1/verify", &json!({ "samples": rows }));
        assert_eq!(answer.status, 200);
        let text = answer.text();
        let body = text.strip_prefix(r#"{"results":["#).unwrap().strip_suffix("]}").unwrap();
        assert_eq!(body.replace("},{\"id\"", "}\n{\"id\"") + "\n", expected);
        let answer = stream(&daemon, "/v1/verify?step=0", &rows);
        assert_eq!((answer.status, answer.text()), (200, expected));
    }
}

#[test]
fn what_cannot_be_read_is_named() {
    let daemon = Daemon::start(&[("a", RULES), ("b", RULES)], &["--set", "serve.samples_max=3"]);
    let sample = json!({ "completion": "3", "reference": "3" });
    for (body, field) in [
        (json!({ "samples": 3 }), Some("samples")),
        (json!({ "samples": [sample], "odd": 1 }), None),
        (json!({}), Some("samples")),
        (json!([]), None),
        (json!([[sample]]), None),
        (json!({ "samples": [sample], "step": -1 }), Some("step")),
        (json!({ "samples": [sample], "deadline_ms": 0 }), Some("deadline_ms")),
    ] {
        let error = assert_refused(&daemon.post("/v1/verify", &body), 400, "bad_request");
        if let Some(field) = field {
            assert_eq!(error.get("field").unwrap(), field, "{error}");
        }
    }
    let many = json!({ "samples": [sample, sample, sample, sample] });
    let error = assert_refused(&daemon.post("/v1/verify", &many), 413, "too_large");
    assert!(error.to_string().contains("serve.samples_max is 3"), "{error}");
    let unknown = json!({ "samples": [sample], "profile": "c" });
    let error = assert_refused(&daemon.post("/v1/verify", &unknown), 404, "not_found");
    assert!(error.to_string().contains("there are: a, b"), "{error}");
    assert_refused(&daemon.get("/v1/odd"), 404, "not_found");
    assert_refused(&daemon.get("/v1/verify"), 405, "method_not_allowed");
    let plain = daemon.send("POST", "/v1/verify", &[("content-type", "text/plain")], b"{}");
    assert_refused(&plain, 415, "unsupported_media_type");
    for header in ["x-request-timeout", "grpc-timeout"] {
        for odd in [&[(header, "soon")][..], &[(header, "0S")], &[(header, "1S"), (header, "1S")]] {
            let headers = [&[("content-type", "application/json")][..], odd].concat();
            let answer = daemon.send("POST", "/v1/verify", &headers, b"{}");
            assert_eq!(assert_refused(&answer, 400, "bad_request")["field"], header);
        }
    }
    for (query, field) in [
        ("step=x", "step"),
        ("foo=3", "foo"),
        ("deadline_ms=0", "deadline_ms"),
        ("step=1&step=2", "step"),
    ] {
        let answer = daemon.post(&format!("/v1/verify?{query}"), &json!({ "samples": [sample] }));
        assert_eq!(assert_refused(&answer, 400, "bad_request")["field"], field);
    }
    let deep = "[".repeat(100_000);
    let kind = [("content-type", "application/json")];
    let bomb = format!("{{\"samples\": [{{\"completion\": {deep}");
    assert_refused(&daemon.send("POST", "/v1/verify", &kind, bomb.as_bytes()), 400, "bad_request");
    // The daemon is still there.
    let both = json!({ "samples": [sample], "profile": "b" });
    assert_eq!(daemon.post("/v1/verify", &both).status, 200);
}

#[test]
fn profiles_are_chosen_by_path_or_name() {
    let strict = "[[reward]]\nname = 'never'\nverifier = 'contains'\nconfig = { all = ['zzz'] }\n";
    let daemon = Daemon::start(&[("a", RULES), ("b", strict)], &[]);
    let body = json!({ "samples": [{ "completion": "3", "reference": "3" }] });
    let reward = |answer: &Answer| answer.json()["results"][0]["reward"].clone();
    assert_eq!(reward(&daemon.post("/v1/verify", &body)), 1.5);
    assert_eq!(reward(&daemon.post("/profiles/b/v1/verify", &body)), 0.0);
    assert_eq!(reward(&daemon.post("/profiles/a/v1/verify", &body)), 1.5);
    let mut chosen = body.clone();
    chosen["profile"] = json!("b");
    assert_eq!(reward(&daemon.post("/v1/verify", &chosen)), 0.0);
    assert_refused(&daemon.post("/profiles/a/v1/verify", &chosen), 400, "bad_request");
    assert_refused(&daemon.post("/profiles/c/v1/verify", &body), 404, "not_found");
    let told = daemon.get("/v1/verifiers").json();
    let names: Vec<&Value> =
        told["profiles"].as_array().unwrap().iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["a", "b"]);
}

#[test]
fn the_query_chooses_as_the_body_does() {
    let strict = "[[reward]]\nname = 'never'\nverifier = 'contains'\nconfig = { all = ['zzz'] }\n";
    let daemon = Daemon::start(&[("a", RULES), ("b", strict)], &[]);
    let body = json!({ "samples": [{ "completion": "3", "reference": "3" }] });
    for path in ["/v1/verify", "/v1/groups"] {
        let post = |query: &str, body: &Value| daemon.post(&format!("{path}?{query}"), body);
        assert_eq!(post("profile=b&step=4", &body).json()["results"][0]["reward"], 0.0);
        assert_refused(&post("profile=c", &body), 404, "not_found");
        for query in ["step=x", "profile=a&profile=b", "odd=1"] {
            assert_refused(&post(query, &body), 400, "bad_request");
        }
        let mut both = body.clone();
        both["profile"] = json!("a");
        assert_refused(&post("profile=b", &both), 400, "bad_request");
        // No other profile answers for one that is none.
        assert_refused(&daemon.post(&format!("/profiles/%ff{path}"), &body), 404, "not_found");
    }
}

#[test]
fn groups_have_advantages() {
    let config = format!("{GROUPS}[advantage]\nkind = 'dr_grpo'\n");
    let daemon = Daemon::start(&[("a", &config)], &[]);
    let row =
        |g: u32, completion: &str| json!({ "g": g, "completion": completion, "reference": "1" });
    let samples = [row(1, "1"), row(2, "0"), row(1, "0"), row(2, "0")];
    let only = json!({ "samples": samples });
    let answer = daemon.post("/v1/groups", &only);
    assert_eq!(answer.status, 200, "{}", answer.text());
    let body = answer.json();
    assert_eq!(body["results"].as_array().unwrap().len(), 4);
    let advantages: Vec<f64> = serde_json::from_value(body["advantages"].clone()).unwrap();
    assert_eq!(advantages[1..], [0.0, -advantages[0], 0.0]);
    assert!(advantages[0] > 0.0);
    let alone = json!({ "groups": 2, "rewards": [1.0, 0.0], "advantage": { "kind": "rloo" } });
    assert_eq!(daemon.post("/v1/groups", &alone).json()["advantages"], json!([1.0, -1.0]));
    let plain = Daemon::start(&[("a", GROUPS)], &[]);
    let answer = plain.post("/v1/groups", &only).json();
    assert_eq!(answer["advantages"].as_array().unwrap().len(), 4);
    for (key, value, field) in [
        ("groups", json!(3), "groups"),
        ("groups", json!({}), "groups"),
        ("advantage", json!({ "kind": "grop" }), "advantage.kind"),
    ] {
        let mut odd = json!({ "samples": samples });
        odd[key] = value;
        let error = assert_refused(&daemon.post("/v1/groups", &odd), 400, "bad_request");
        assert_eq!(error["field"], field, "{error}");
    }
}

#[test]
fn every_path_but_health_wants_a_token() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens");
    assay::engine::runs::write_atomic(&file, b"# ours\nfirst\nsecond\n").unwrap();
    let daemon = Daemon::start(&[("a", RULES)], &["--token-file", file.to_str().unwrap()]);
    let good = [("authorization", "Bearer second")];
    let told = daemon.send("GET", "/openapi.json", &good, b"").json();
    for (path, methods) in told["paths"].as_object().unwrap() {
        let path = path.replace("{profile}", "a");
        for method in methods.as_object().unwrap().keys() {
            let method = method.to_uppercase();
            let open = ["/healthz", "/readyz", "/health", "/profiles/a/health"];
            let is_open = open.contains(&path.as_str());
            for headers in [&[][..], &[("authorization", "Bearer wrong")]] {
                let answer = daemon.send(&method, &path, headers, b"");
                assert_eq!(answer.status == 401, !is_open, "{method} {path}: {}", answer.status);
            }
            assert_ne!(daemon.send(&method, &path, &good, b"").status, 401, "{method} {path}");
        }
    }
    assert_eq!(daemon.get("/odd").status, 401);
    // Another file of tokens, and a reload.
    assay::engine::runs::write_atomic(&file, b"third\n").unwrap();
    let hang_up = Command::new("kill").args(["-HUP", &daemon.child.id().to_string()]).status();
    assert!(hang_up.unwrap().success());
    let new = [("authorization", "Bearer third")];
    let is_in = (0..500).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        daemon.send("GET", "/v1/verifiers", &new, b"").status == 200
    });
    assert!(is_in);
    assert_eq!(daemon.send("GET", "/v1/verifiers", &good, b"").status, 401);
    // Tokens that no client can send are refused, and those before stay.
    let mut refusals = 0;
    for tokens in [&b"two words\n"[..], b"third # of whom\n", b"\xff\xfet\0", b""] {
        assay::engine::runs::write_atomic(&file, tokens).unwrap();
        let hang_up = Command::new("kill").args(["-HUP", &daemon.child.id().to_string()]).status();
        assert!(hang_up.unwrap().success());
        refusals += 1;
        let told = format!("assay_reloads_total{{result=\"refused\"}} {refusals}\n");
        let is_told = (0..500).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            daemon.send("GET", "/metrics", &new, b"").text().contains(&told)
        });
        assert!(is_told, "{tokens:?}");
    }
}

#[test]
fn a_bind_that_others_reach_needs_a_token() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("c.toml");
    let text = format!("version = 1\n{RULES}");
    assay::engine::runs::write_atomic(&config, text.as_bytes()).unwrap();
    for bind in ["0.0.0.0:0", "[::]:0", "nowhere", "unix:"] {
        let mut serve = Command::new(env!("CARGO_BIN_EXE_assay"));
        let done = serve.arg("serve").arg(&config).args(["--bind", bind]).output().unwrap();
        assert_eq!(done.status.code(), Some(2), "{bind}");
        let told = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(told.contains("bind"), "{told}");
    }
}

#[test]
fn a_broken_file_is_refused_and_the_old_one_serves_on() {
    let daemon = Daemon::start(&[("a", RULES)], &[]);
    let path = daemon.folder.path().join("a.toml");
    let body = json!({ "samples": [{ "completion": "3", "reference": "3" }] });
    let reload = |text: &str| {
        assay::engine::runs::write_atomic(&path, text.as_bytes()).unwrap();
        let id = daemon.child.id().to_string();
        assert!(Command::new("kill").args(["-HUP", &id]).status().unwrap().success());
    };
    let counted = |line: &str| {
        (0..500).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            daemon.get("/metrics").text().contains(line)
        })
    };
    reload("version = 1\n[[reward]]\nname = 'a'\nverifier = 'exat'\n");
    assert!(counted("assay_reloads_total{result=\"refused\"} 1"));
    assert_eq!(daemon.post("/v1/verify", &body).json()["results"][0]["reward"], 1.5);
    reload("version = 1\n[[reward]]\nname = 'a'\nverifier = 'exact'\n");
    assert!(counted("assay_reloads_total{result=\"ok\"} 1"));
    assert_eq!(daemon.post("/v1/verify", &body).json()["results"][0]["reward"], 1.0);
}

#[test]
fn a_deadline_travels_with_the_request() {
    let programs = "[[reward]]\nname = 'runs'\nverifier = 'unit_tests'\n";
    let daemon = Daemon::start(&[("a", programs)], &[]);
    let endless = json!({
        "completion": "```python\ndef f():\n    while True:\n        pass\n```",
        "reference": { "entry_point": "f", "cases": [{ "args": [], "expected": 1 }] },
    });
    let body = json!({ "samples": [endless], "deadline_ms": 300 });
    let line = daemon.post("/v1/verify", &body).json()["results"][0].clone();
    assert_eq!((&line["outcome"], &line["fault"]), (&json!("failed"), &json!("Timeout")), "{line}");
    let body = json!({ "samples": [endless] }).to_string();
    for timeout in [("grpc-timeout", "300m"), ("x-request-timeout", "0.3")] {
        let headers = [("content-type", "application/json"), timeout];
        let answer = daemon.send("POST", "/v1/verify", &headers, body.as_bytes());
        assert_eq!(answer.json()["results"][0]["fault"], "Timeout");
    }
    // Rules too are judged before it or not at all.
    let daemon = Daemon::start(&[("a", RULES)], &[]);
    let headers = [("content-type", "application/json"), ("grpc-timeout", "1n")];
    let body = json!({ "samples": [{ "completion": "2", "reference": "2" }] }).to_string();
    let answer = daemon.send("POST", "/v1/verify", &headers, body.as_bytes());
    assert_eq!(answer.json()["results"][0]["fault"], "Timeout", "{}", answer.text());
}

#[test]
fn slow_clients_are_cut_and_odd_heads_refused() {
    let limits = ["--set", "serve.header_timeout_ms=200", "--set", "serve.body_timeout_ms=300"];
    let daemon = Daemon::start(&[("a", RULES)], &limits);
    let send = |text: &str| {
        let mut stream = TcpStream::connect(&daemon.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    };
    // Both return because the daemon closes the connection.
    let head = send("POST /v1/verify HTTP/1.1\r\nhost: a\r\n");
    assert!(!head.contains("200 OK"), "{head}");
    let body = send(
        "POST /v1/verify HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n\
         content-length: 100\r\n\r\n{",
    );
    assert!(body.starts_with("HTTP/1.1 408"), "{body}");
    for (hosts, version, status) in [
        ("", "1.1", "400"),
        ("host: a\r\nhost: b\r\n", "1.1", "400"),
        ("host: a\r\n", "1.1", "200"),
        ("", "1.0", "200"),
    ] {
        let answer =
            send(&format!("GET /healthz HTTP/{version}\r\n{hosts}connection: close\r\n\r\n"));
        assert!(answer.split(' ').nth(1) == Some(status), "{hosts:?} {version}: {answer}");
    }
    assert_eq!(daemon.get("/healthz").status, 200);
}

/// Reads the answer to a request without closing the connection.
fn read_answer(stream: &mut TcpStream, is_head: bool) -> String {
    let mut answer = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&answer).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if is_head || body.len() >= length.unwrap().parse().unwrap() {
                return text;
            }
        }
        let mut piece = [0; 4096];
        let count = stream.read(&mut piece).unwrap();
        assert!(count > 0, "{text}");
        answer.extend_from_slice(piece.get(..count).unwrap());
    }
}

#[test]
fn a_connection_idles_no_longer_than_it_may_whatever_it_asked() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens");
    assay::engine::runs::write_atomic(&file, b"first\n").unwrap();
    let args = ["--token-file", file.to_str().unwrap(), "--set", "serve.idle_timeout_ms=300"];
    let daemon = Daemon::start(&[("a", RULES)], &args);
    let request = |method: &str, path: &str, token: &str, kind: &str| {
        let body = match method {
            "POST" => r#"{"samples": [{"completion": "3", "reference": "3"}]}"#,
            _ => "",
        };
        let length = if body.is_empty() {
            String::new()
        } else {
            format!("content-length: {}\r\n", body.len())
        };
        format!(
            "{method} {path} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer {token}\r\n\
             content-type: {kind}\r\n{length}\r\n{body}"
        )
    };
    let json = "application/json";
    let (judged, alive) =
        (request("POST", "/v1/verify", "first", json), request("GET", "/healthz", "", json));
    for requests in [
        vec![],
        vec![judged.clone()],
        vec![alive.clone()],
        vec![judged.clone(), alive.clone()],
        vec![alive, judged],
        vec![request("POST", "/v1/verify", "odd", json)],
        vec![request("POST", "/v1/odd", "first", json)],
        vec![request("POST", "/v1/verify", "first", "text/plain")],
        vec![request("HEAD", "/healthz", "", json)],
        vec![request("GET", "/metrics", "first", json)],
        vec![request("GET", "/metrics", "odd", json)],
    ] {
        let mut stream = TcpStream::connect(&daemon.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        for request in &requests {
            stream.write_all(request.as_bytes()).unwrap();
            read_answer(&mut stream, request.starts_with("HEAD"));
        }
        // The daemon closes it.
        let rest = stream.read(&mut [0; 1]);
        assert_eq!(rest.ok(), Some(0), "{requests:?}");
    }
}

#[test]
fn what_is_under_way_when_the_drain_is_over_is_refused_for_another_try() {
    let ends = format!("[limits]\nfuel = 1000000000000\ndeadline_ms = 100000\n{PROGRAMS}");
    let args = ["--set", "serve.drain_ms=300", "--set", "serve.run_programs=true"];
    let mut daemon = Daemon::start(&[("a", &ends)], &args);
    let program = json!({
        "code": "while True:\n    pass", "language": "python", "compile_timeout": 100, "run_timeout": 100,
    });
    let program = program.to_string();
    let run = format!(
        "POST /run_code HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{program}",
        program.len()
    );
    let mut under_way = [verify_request(&json!([endless()])), run].map(|request| {
        let mut stream = TcpStream::connect(&daemon.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        stream
    });
    assert!(daemon.becomes("assay_in_flight", 2));
    let id = daemon.child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    for (stream, status) in under_way.iter_mut().zip(["503", "504"]) {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{answer}");
        assert!(answer.contains("retry-after: 1") && answer.contains("\"draining\""), "{answer}");
    }
    assert_eq!(daemon.child.wait().unwrap().code(), Some(3));
}

#[test]
fn a_terminated_daemon_answers_what_is_under_way() {
    let ends = format!("[limits]\nfuel = 100000000000\ndeadline_ms = 3000\n{PROGRAMS}");
    let mut daemon = Daemon::start(&[("a", &ends)], &[]);
    let mut under_way = TcpStream::connect(&daemon.address).unwrap();
    under_way.write_all(verify_request(&json!([endless()])).as_bytes()).unwrap();
    assert!(daemon.becomes("assay_in_flight", 1));
    let id = daemon.child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    let mut answer = String::new();
    under_way.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.contains(r#""outcome":"failed""#), "{answer}");
    assert_eq!(daemon.child.wait().unwrap().code(), Some(0));
}

#[test]
fn the_work_of_a_client_that_leaves_is_dropped() {
    let daemon = Daemon::start(&[("a", PROGRAMS)], &["--in-flight-max", "4"]);
    let request = verify_request(&json!([endless()]));
    let leaving: Vec<TcpStream> = (0..7)
        .map(|_| {
            let mut stream = TcpStream::connect(&daemon.address).unwrap();
            stream.write_all(request.as_bytes()).unwrap();
            stream
        })
        .collect();
    assert!(daemon.becomes("assay_in_flight", 4));
    assert!(daemon.becomes("assay_waiting", 3));
    // What finds no place is told so.
    let full = json!({ "samples": [endless(), endless()] });
    let error = assert_refused(&daemon.post("/v1/verify", &full), 429, "overloaded");
    assert_eq!(error.get("retryable").unwrap(), true);
    assert!(daemon.post("/v1/verify", &full).head.contains("retry-after: "));
    drop(leaving);
    assert!(daemon.becomes("assay_in_flight", 0));
    assert_eq!(daemon.gauge("assay_waiting"), 0);
    assert!(daemon.becomes("assay_connections", 1));
    let left = "assay_requests_total{route=\"/v1/verify\",code=\"499\"}";
    assert_eq!(daemon.gauge(left), 7);
}

#[test]
fn a_unix_socket_is_served_and_taken_away() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("assay.sock");
    let bind = format!("serve.bind='unix:{}'", socket.display());
    let config = folder.path().join("c.toml");
    let text = format!("version = 1\n{RULES}");
    assay::engine::runs::write_atomic(&config, text.as_bytes()).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_assay"))
        .arg("serve")
        .arg(&config)
        .args(["--set", &bind, "--no-cache", "--log", "warn"])
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let stream = (0..1000).find_map(|_| {
        std::thread::sleep(Duration::from_millis(10));
        std::os::unix::net::UnixStream::connect(&socket).ok()
    });
    let mut stream = stream.unwrap();
    stream.write_all(b"GET /readyz HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(!socket.exists());
}
