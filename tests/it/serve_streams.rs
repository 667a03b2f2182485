//! Rows a line: answered while they come, each a text by itself, and groups as they stand.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use super::daemon::Daemon;
use super::serve::{RULES, assert_refused, lines, scored, stream};

const VOTES: &str = "[data]\ngroup = 'g'\n[[reward]]\nname = 'correct'\nverifier = 'exact'\n\
                     [[reward]]\nname = 'votes'\nverifier = 'majority_vote'\nweight = 0.5\n";

/// Opens a stream of rows, whose body is so long or comes in chunks.
fn open_stream(daemon: &Daemon, length: Option<usize>) -> TcpStream {
    let mut stream = TcpStream::connect(&daemon.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
    let length = match length {
        Some(length) => format!("content-length: {length}"),
        None => "transfer-encoding: chunked".to_owned(),
    };
    let head = format!(
        "POST /v1/verify HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-type: application/x-ndjson\r\n{length}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream
}

#[test]
fn a_stream_that_breaks_off_has_no_orderly_end() {
    let daemon = Daemon::start(&[("a", RULES)], &["--set", "serve.body_timeout_ms=300"]);
    let row = "{\"completion\": \"3\", \"reference\": \"3\"}\n";
    let answer = |mut stream: TcpStream| {
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8(answer).unwrap()
    };
    // The client says that it is done, before it is; a chunk is none; and nothing more comes.
    let mut cut = open_stream(&daemon, Some(500));
    cut.write_all(format!("{row}{{\"compl").as_bytes()).unwrap();
    cut.shutdown(std::net::Shutdown::Write).unwrap();
    let mut odd = open_stream(&daemon, None);
    odd.write_all(format!("{:x}\r\n{row}\r\nzzz\r\n", row.len()).as_bytes()).unwrap();
    let mut silent = open_stream(&daemon, Some(500));
    silent.write_all(row.as_bytes()).unwrap();
    for stream in [cut, odd, silent] {
        let answer = answer(stream);
        assert!(!answer.ends_with("0\r\n\r\n"), "{answer}");
    }
    let mut whole = open_stream(&daemon, Some(row.len()));
    whole.write_all(row.as_bytes()).unwrap();
    assert!(answer(whole).ends_with("0\r\n\r\n"));
}

#[test]
fn a_client_may_send_all_rows_before_it_reads() {
    let daemon = Daemon::start(&[("a", RULES)], &["--set", "serve.write_timeout_ms=10000"]);
    // The lines have the ids: more bytes than may wait to be read, and than sockets hold.
    let (rows, letters) = (500, 100_000);
    let row = |at: usize| {
        format!(
            "{{\"id\": \"{at}-{}\", \"completion\": \"3\", \"reference\": \"3\"}}\n",
            "x".repeat(letters)
        )
    };
    let body: String = (0..rows).map(row).collect();
    let send = || {
        let mut stream = open_stream(&daemon, Some(body.len()));
        stream.write_all(body.as_bytes()).unwrap();
        stream
    };
    let mut answer = String::new();
    send().read_to_string(&mut answer).unwrap();
    assert!(answer.ends_with("0\r\n\r\n"));
    assert_eq!(answer.matches("\"scored\",\"reward\":1.5").count(), rows);
    assert!(answer.len() > rows * letters && answer.contains("\"id\":\"499-x"));
    // One that never reads is cut, which is counted.
    let cut = |count: u64| {
        (0..6000).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            let told = format!("assay_answers_cut_total{{reason=\"unread\"}} {count}\n");
            daemon.get("/metrics").text().contains(&told)
        })
    };
    assert!(cut(0));
    let mut silent = send();
    assert!(cut(1));
    let mut answer = Vec::new();
    let _ = silent.read_to_end(&mut answer);
    assert!(!answer.ends_with(b"0\r\n\r\n"));
}

#[test]
fn every_row_of_a_stream_has_its_own_time() {
    let slow = "[[reward]]\nname = 'slow'\nverifier = 'rhai'\n\
                config = { script = 'let x = 0; while x < 20000 { x += 1; } 1.0' }\n";
    let daemon = Daemon::start(&[("a", slow)], &["--set", "serve.deadline_ms=900"]);
    let mut stream = open_stream(&daemon, None);
    let row = "{\"completion\": \"3\"}\n";
    for _ in 0..3 {
        stream.write_all(format!("{:x}\r\n{row}\r\n", row.len()).as_bytes()).unwrap();
        std::thread::sleep(Duration::from_millis(600));
    }
    stream.write_all(b"0\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert_eq!(answer.matches("\"reward\":1.0,\"verdicts\"").count(), 3, "{answer}");
}

#[test]
fn rows_of_a_stream_are_whole_texts() {
    let daemon = Daemon::start(&[("a", RULES)], &["--set", "serve.body_bytes_max=1000"]);
    let row = "{\"completion\": \"3\", \"reference\": \"3\"}";
    let ndjson = |headers: &[(&str, &str)], body: &str| {
        let headers: Vec<_> =
            [("content-type", "application/x-ndjson")].iter().chain(headers).copied().collect();
        daemon.send("POST", "/v1/verify", &headers, body.as_bytes())
    };
    // What is cut off of a long row is not what makes it right.
    let long = format!("{row}\n{row}{}garbage\n{row}", " ".repeat(2000));
    let answer = ndjson(&[], &long).text();
    let outcomes: Vec<bool> = answer.lines().map(|line| line.contains("\"scored\"")).collect();
    assert_eq!(outcomes, [true, false, true], "{answer}");
    assert!(answer.contains("at most 1000 are read"), "{answer}");
    let marked = ndjson(&[], &format!("\u{feff}{row}\n{row}")).text();
    assert_eq!(marked.matches("\"scored\",\"reward\":1.5").count(), 2, "{marked}");
    for kind in ["application/jsonlines", "application/x-jsonlines", "application/jsonl"] {
        let answer = daemon.send("POST", "/v1/verify", &[("content-type", kind)], row.as_bytes());
        assert!(answer.text().starts_with("{\"id\""), "{kind}: {}", answer.text());
    }
    let encoded = [("content-encoding", "gzip")];
    assert_refused(&ndjson(&encoded, row), 415, "unsupported_media_type");
    let kind = [("content-type", "application/json"), ("content-encoding", "br")];
    assert_refused(&daemon.send("POST", "/v1/verify", &kind, b"{}"), 415, "unsupported_media_type");
    let body = format!("\u{feff}{{\"samples\": [{row}]}}");
    assert_eq!(daemon.send("POST", "/v1/verify", &kind[..1], body.as_bytes()).status, 200);
}

#[test]
fn a_row_that_cannot_be_read_ends_no_group() {
    let daemon = Daemon::start(&[("a", VOTES)], &[]);
    let row =
        |g: &str, completion: Value| json!({ "g": g, "completion": completion, "reference": "1" });
    let good = |g| row(g, json!("1"));
    let bad = |g| row(g, json!(1));
    for rows in [
        vec![good("a"), bad("a"), good("a")],
        vec![good("a"), good("a"), json!({}), good("a"), good("b"), json!([]), json!({})],
        vec![bad("a"), bad("a"), good("a"), bad("b"), good("b"), good("b")],
        vec![bad("a"), bad("b")],
    ] {
        assert_eq!(stream(&daemon, "/v1/verify", &rows).text(), scored(VOTES, &rows), "{rows:?}");
    }
}

#[test]
fn a_group_that_ended_is_not_begun_again_however_rows_arrive() {
    let daemon = Daemon::start(&[("a", VOTES)], &[]);
    let row = |g: &str| json!({ "g": g, "completion": "1", "reference": "1" });
    let rows = ["a", "b", "a", "b", "b", "c"].map(row);
    let at_once = stream(&daemon, "/v1/verify", &rows).text();
    let mut slow = open_stream(&daemon, None);
    for row in &rows {
        let line = lines(std::slice::from_ref(row), "\n");
        slow.write_all(format!("{:x}\r\n{line}\r\n", line.len()).as_bytes()).unwrap();
        std::thread::sleep(Duration::from_millis(20));
    }
    slow.write_all(b"0\r\n\r\n").unwrap();
    let mut answer = String::new();
    slow.read_to_string(&mut answer).unwrap();
    let verdicts = answer.lines().filter(|line| line.starts_with("{\"id\""));
    assert_eq!(verdicts.collect::<Vec<_>>(), at_once.lines().collect::<Vec<_>>());
    let rewards: Vec<Option<f64>> = at_once
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["reward"].as_f64())
        .collect();
    // One vote is no majority.
    let (alone, joined) = (Some(1.0), Some(1.5));
    assert_eq!(rewards, [alone, joined, None, joined, joined, alone]);
    assert!(at_once.contains("row 3: group \\\"a\\\" was already complete"), "{at_once}");
}
