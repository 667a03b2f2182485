//! The server as its neighbours on the machine see it.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path as FilePath, PathBuf};

use super::*;
use crate::data::RunData;
use crate::testing::TestData;

const TOKEN: &str = "0123abcd";

fn write(path: &FilePath, text: &str) {
    fs::File::create(path).unwrap().write_all(text.as_bytes()).unwrap();
}

fn line(id: &str, reward: f64, reason: &str) -> String {
    let verdict = json!({ "outcome": "scored", "reward": reward,
        "evidence": { "reason": reason, "span": [0, 1], "extracted": "</script>" } });
    json!({ "id": id, "outcome": "scored", "reward": reward, "verdicts": { "m": verdict } })
        .to_string()
}

/// Two runs of four rows, where `c` failed and `d` comes first in the second.
fn place(name: &str) -> PathBuf {
    let dir = std::env::temp_dir().join(format!("assay-view-{}-{name}", std::process::id()));
    let failed = json!({ "id": "c", "outcome": "failed", "reward": null, "fault": "Timeout",
        "why": "w", "verdicts": { "m": { "outcome": "failed", "fault": "Timeout", "why": "w" } } });
    let first = [line("a", 0.5, "x"), line("b", 1.0, "x"), failed.to_string(), line("d", 0.0, "x")];
    let second =
        [line("d", 1.0, "y"), line("a", 0.5, "x"), line("c", 0.0, "x"), line("e", 0.0, "x")];
    for (run, lines) in [("one", first), ("two", second)] {
        let run = dir.join(run);
        fs::create_dir_all(&run).unwrap();
        write(&run.join("manifest.json"), "{}");
        write(&run.join("config.resolved.json"), "{\"reward\":[{\"name\":\"m\",\"weight\":1}]}");
        write(&run.join("verdicts.jsonl"), &(lines.join("\n") + "\n"));
    }
    let row = |(id, prompt, completion): (&str, &str, &str)| {
        json!({ "id": id, "prompt": prompt, "completion": completion }).to_string()
    };
    let rows = [("a", "p", "é2"), ("b", "p", "long <b>text</b>"), ("c", "q", ""), ("d", "p", "z")];
    write(&dir.join("data.jsonl"), &(rows.map(row).join("\n\n") + "\n"));
    dir
}

/// One request, as bytes; the status and everything after it.
fn ask(port: u16, request: &str) -> (u16, String) {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    (status, answer)
}

struct Client {
    port: u16,
}

impl Client {
    fn get(&self, path: &str) -> Value {
        let (status, answer) = ask(self.port, &self.request("GET", path, "", ""));
        assert_eq!(status, 200, "{answer}");
        serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
    }

    fn request(&self, method: &str, path: &str, more: &str, body: &str) -> String {
        let port = self.port;
        format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\
             Cookie: other=1; assay_view_{port}={TOKEN}\r\n{more}Content-Length: {}\r\n\r\n{body}",
            body.len()
        )
    }
}

/// Serves both runs while `look` asks.
fn served(name: &str, look: impl FnOnce(&Client, &FilePath)) {
    let dir = place(name);
    let run = |run: &str, with_data: bool| {
        let data: Option<Arc<dyn RunData>> =
            if with_data { Some(Arc::new(TestData(vec![dir.join("data.jsonl")]))) } else { None };
        let (dir, labels) = (dir.join(run), dir.join(run).join("labels.jsonl"));
        ViewRun { dir, data, missing: None, labels }
    };
    let runs = vec![run("one", true), run("two", false)];
    let server = ViewServer::bind(runs, 0, TOKEN.to_owned()).unwrap();
    let port = server.app.port;
    assert_eq!(server.address(), format!("http://127.0.0.1:{port}/?token={TOKEN}"));
    let run = &server.app.runs[0];
    run.add_data(&data_rows(run.data.as_deref().unwrap()).unwrap());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let serving = runtime.spawn(server.serve(async {
        let _ = stopped.await;
    }));
    look(&Client { port }, &dir);
    stop.send(()).unwrap();
    runtime.block_on(serving).unwrap().unwrap();
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn nobody_else_is_let_in() {
    served("guard", |client, _| {
        let port = client.port;
        let own = client.request("GET", "/", "", "");
        let (status, page) = ask(port, &own);
        assert_eq!(status, 200);
        for header in [
            "content-security-policy: default-src 'none';",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "cache-control: no-store",
        ] {
            assert!(page.contains(header), "{header}: {page}");
        }
        let cookie = format!("assay_view_{port}={TOKEN}");
        let refused = [
            own.replace(&cookie, "x=y"),
            own.replace(&cookie, &format!("assay_view_{port}={TOKEN}0")),
            own.replace(&cookie, &format!("assay_view_{port}=")),
            own.replace(&format!("Host: 127.0.0.1:{port}"), "Host: attacker.example"),
            own.replace(&format!("Host: 127.0.0.1:{port}"), "Host: 127.0.0.1"),
            own.replace("Connection", "Origin: http://attacker.example\r\nConnection"),
            own.replace("Connection", "Origin: null\r\nConnection"),
            own.replace("Connection", "Sec-Fetch-Site: cross-site\r\nConnection"),
            own.replace("GET /", "GET /api/rows?limit=1&token=0123abcd").replace(&cookie, "x=y"),
        ];
        for request in refused {
            let (status, answer) = ask(port, &request);
            assert_eq!(status, 403, "{request}\n{answer}");
            assert!(!answer.contains(TOKEN) && !answer.contains("verdicts"));
        }
        let entrance =
            own.replace(&cookie, "x=y").replace("GET / ", &format!("GET /?token={TOKEN} "));
        let (status, answer) = ask(port, &entrance);
        assert_eq!(status, 303, "{answer}");
        assert!(
            answer.contains(&format!("set-cookie: {cookie}; HttpOnly; SameSite=Strict; Path=/"))
        );
    });
}

#[test]
fn rows_are_filtered_sorted_and_found() {
    served("rows", |client, _| {
        let ids = |query: &str| {
            let found = client.get(&format!("/api/rows?limit=10&{query}"));
            let rows = found["rows"].as_array().unwrap();
            assert_eq!(found["total"], rows.len());
            rows.iter()
                .map(|row| row["line"]["id"].as_str().unwrap().to_owned())
                .collect::<String>()
        };
        let cases = [
            ("", "abcd"),
            ("sort=row&desc=1", "dcba"),
            ("sort=reward", "dabc"),
            ("sort=reward&desc=1", "badc"),
            ("sort=length&desc=1", "badc"),
            ("outcome=failed", "c"),
            ("fault=Timeout", "c"),
            ("fault=*", "c"),
            ("fault=Trap", ""),
            ("fault=Timeout&part=m", "c"),
            ("fault=*&part=none", ""),
            ("min=0.5", "ab"),
            ("min=0&max=0.5", "ad"),
            ("q=%3Cb%3Etext", "b"),
            ("q=Timeout", "c"),
            ("q=%C3%A92&outcome=scored", "a"),
        ];
        for (query, expected) in cases {
            assert_eq!(ids(query), expected, "{query}");
        }
        // The place of a row in a list, as it is filtered and sorted.
        for (query, place) in
            [("", json!(1)), ("sort=reward", json!(2)), ("q=Timeout", json!(null))]
        {
            assert_eq!(client.get(&format!("/api/rows?at=1&{query}"))["place"], place, "{query}");
        }
        let page = client.get("/api/rows?offset=1&limit=2");
        assert_eq!((&page["total"], page["rows"].as_array().unwrap().len()), (&json!(4), 2));
        assert_eq!(
            page["rows"][0]["line"]["verdicts"]["m"],
            json!({ "outcome": "scored", "reward": 1.0, "fault": null, "reason": "x" })
        );
        let row = client.get("/api/row?at=1");
        assert_eq!(row["texts"]["completion"], json!([[0, "long <b>text</b>"]]));
        assert_eq!((&row["chars"], &row["label"]), (&json!(16.0), &Value::Null));
        // Rows without a group are of one if they share a prompt.
        let group = client.get("/api/group?at=1");
        assert_eq!(group["rows"].as_array().unwrap().len(), 2);
        assert_eq!(client.get("/api/row?run=1&at=0")["texts"], Value::Null);
        assert_eq!(ask(client.port, &client.request("GET", "/api/row?at=9", "", "")).0, 404);
        for none in ["/api/row", "/api/row?at=18446744073709551615"] {
            assert_eq!(ask(client.port, &client.request("GET", none, "", "")).0, 404, "{none}");
        }
        assert_eq!(ask(client.port, &client.request("GET", "/api/row?at=x", "", "")).0, 400);
        let (_, page) = ask(client.port, &client.request("GET", "/", "", ""));
        assert!(page.contains("\"lengths\":{\"bins\""), "lengths are known: {page}");
        assert_eq!((page.matches("<script").count(), page.matches("</script").count()), (2, 2));
    });
}

#[test]
fn what_moved_is_told_the_largest_first() {
    served("compare", |client, _| {
        let found = client.get("/api/compare?a=0&b=1&limit=10");
        let counts = ["total", "both", "only_a", "only_b", "up", "down"];
        assert_eq!(counts.map(|count| found[count].as_u64().unwrap()), [2, 3, 1, 1, 1, 0]);
        let rows = found["rows"].as_array().unwrap();
        assert_eq!((&rows[0]["a"]["line"]["id"], &rows[0]["delta"]), (&json!("d"), &json!(1.0)));
        assert_eq!(rows[0]["b"]["line"]["verdicts"]["m"]["reason"], "y");
        assert_eq!((&rows[0]["a"]["at"], &rows[0]["b"]["at"]), (&json!(3), &json!(0)));
        assert_eq!(rows[1]["a"]["line"]["verdicts"]["m"]["fault"], "Timeout");
    });
}

#[test]
fn labels_are_data_like_any_other() {
    served("labels", |client, dir| {
        let json_type = "Content-Type: application/json\r\n";
        let mark = |body: &str, more: &str| {
            ask(client.port, &client.request("POST", "/api/label", more, body))
        };
        assert_eq!(mark(r#"{"at":1,"label":false}"#, json_type).0, 200);
        assert_eq!(mark(r#"{"at":1,"label":true,"note":"so <it>"}"#, json_type).0, 200);
        assert_eq!(mark(r#"{"at":0,"label":true}"#, "Content-Type: text/plain\r\n").0, 415);
        assert_eq!(mark(r#"{"at":7,"label":true}"#, json_type).0, 404);
        let attacker = format!("{json_type}Origin: http://attacker.example\r\n");
        assert_eq!(mark(r#"{"at":0,"label":true}"#, &attacker).0, 403);
        assert_eq!(mark(&format!("\"{}\"", "x".repeat(20_000)), json_type).0, 413);
        let kept = fs::read_to_string(dir.join("one/labels.jsonl")).unwrap();
        let expected = json!({ "id": "b", "row": 2, "label": true, "note": "so <it>", "prompt": "p",
            "completion": "long <b>text</b>" });
        assert_eq!(serde_json::from_str::<Value>(&kept).unwrap(), expected);
        assert_eq!(
            client.get("/api/row?at=1")["label"],
            json!({ "label": true, "note": "so <it>" })
        );
    });
}
