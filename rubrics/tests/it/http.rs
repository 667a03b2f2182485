//! The HTTP client against servers that misbehave.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use assay_rubrics::http::{HttpClient, HttpEndpoint, HttpError, HttpSettings, Secret};
use assay_verifiers::FaultKind::{self, Overloaded, Upstream};
use serde_json::Value;
use tokio::time::timeout;

use crate::server::{Action, Server, answer, json};

const KEY: &str = "sk-planted-secret-0123456789";

/// Settings with a short deadline, for tests that reach it.
fn settings(url: &str, timeout_ms: u64) -> HttpSettings {
    let secret = Some(Secret::new(KEY));
    HttpSettings { secret, timeout_ms, ..HttpSettings::new(url, "chat/completions") }
}

fn endpoint(url: &str, timeout_ms: u64) -> HttpEndpoint {
    HttpClient::new().endpoint(settings(url, timeout_ms)).unwrap()
}

async fn post(endpoint: &HttpEndpoint) -> (Result<Value, HttpError>, u32) {
    let work = async {
        let mut call = endpoint.call([7; 32]).await?;
        let answered = call.post::<Value>(r#"{"ask":1}"#.into()).await;
        Ok::<_, HttpError>((answered, call.tries()))
    };
    // Far beyond every deadline of these tests: it fails where a call does not end by itself.
    match timeout(Duration::from_secs(30), work).await.expect("the call ends by itself") {
        Ok(answered) => answered,
        Err(refused) => (Err(refused), 0),
    }
}

/// The fault of a call against a server of which every answer is the same, and its requests.
async fn fault(timeout_ms: u64, action: fn() -> Action) -> (FaultKind, String, usize) {
    let server = Server::start(move |_, _| action());
    let (answered, _) = post(&endpoint(&server.url, timeout_ms)).await;
    let error = answered.unwrap_err();
    assert!(!format!("{error:?}").contains(KEY), "{error:?}");
    (error.kind, error.message, server.count())
}

#[tokio::test]
async fn a_good_answer_takes_one_request_with_the_key() {
    let server = Server::start(|_, _| Action::Write(json(200, r#"{"is":2}"#)));
    let (answered, tries) = post(&endpoint(&server.url, 10_000)).await;
    assert_eq!((answered.unwrap(), tries), (serde_json::json!({"is": 2}), 1));
    let request = server.requests.lock().unwrap()[0].clone();
    assert!(request.head.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{}", request.head);
    assert!(request.head.contains(&format!("authorization: Bearer {KEY}\r\n")));
    assert_eq!(request.body, r#"{"ask":1}"#);
}

/// A server of which every answer is `action` is this fault after so many requests.
async fn holds(timeout_ms: u64, action: fn() -> Action, kind: FaultKind, why: &str, tries: usize) {
    assert_eq!(fault(timeout_ms, action).await, (kind, why.to_owned(), tries));
}

/// What tells that the answer is JSON, and nothing about its length.
const JSON_HEAD: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n";

#[tokio::test]
async fn statuses_are_faults_with_the_words_of_the_server() {
    let cuda = || Action::Write(json(500, r#"{"error":{"message":"cuda"}}"#));
    holds(9_000, cuda, Upstream, "the server answered 500: cuda", 3).await;
    holds(9_000, || Action::Write(json(503, "")), Upstream, "the server answered 503", 3).await;
    holds(9_000, || Action::Write(json(501, "no")), Upstream, "the server answered 501: no", 1)
        .await;
    let key = || Action::Write(json(401, &format!(r#"{{"error":"bad key {KEY}"}}"#)));
    holds(9_000, key, Upstream, "the server answered 401: bad key ***", 1).await;
    let escape = || Action::Write(json(404, "\u{1b}[2Jnone"));
    holds(9_000, escape, Upstream, "the server answered 404: \\u{1b}[2Jnone", 1).await;
    let redirect = || Action::Write(answer(302, "location: http://169.254.169.254/\r\n", ""));
    let why = "the server redirects (302 Found), and redirects are not followed";
    holds(9_000, redirect, Upstream, why, 1).await;
}

#[tokio::test]
async fn too_many_requests_is_overloaded_and_obeys_retry_after() {
    let plain = || Action::Write(json(429, r#"{"error":"slow down"}"#));
    holds(9_000, plain, Overloaded, "the server answered 429: slow down", 3).await;
    let at_once = || Action::Write(answer(429, "retry-after: 0\r\n", "later"));
    holds(9_000, at_once, Overloaded, "the server answered 429: later", 3).await;
    let in_an_hour = || Action::Write(answer(429, "retry-after: 3600\r\n", "later"));
    holds(9_000, in_an_hour, Overloaded, "the server answered 429: later", 1).await;
    let date =
        "date: Sun, 06 Nov 1994 08:00:00 GMT\r\nretry-after: Sun, 06 Nov 1994 09:00:00 GMT\r\n";
    let server = Server::start(move |_, _| Action::Write(answer(503, date, "later")));
    let (answered, tries) = post(&endpoint(&server.url, 9_000)).await;
    assert_eq!((answered.unwrap_err().kind, tries), (Upstream, 1));
}

#[tokio::test]
async fn answers_of_another_type_are_faults() {
    let html = || Action::Write(answer(200, "content-type: text/html\r\n", "<html>"));
    let why = "the content type of the answer is \"text/html\", expected JSON";
    holds(9_000, html, Upstream, why, 1).await;
    let none = || Action::Write(answer(200, "", "{}"));
    holds(9_000, none, Upstream, "the answer names no content type, expected JSON", 1).await;
    let packed = "content-type: application/json\r\ncontent-encoding: gzip\r\n";
    let server = Server::start(move |_, _| Action::Write(answer(200, packed, "{}")));
    let (answered, _) = post(&endpoint(&server.url, 9_000)).await;
    assert_eq!(answered.unwrap_err().message, "the answer is compressed by \"gzip\", unasked");
}

#[tokio::test]
async fn answers_that_break_off_are_tried_again() {
    let cut = || Action::Write(json(200, r#"{"choices":[{"mess"#));
    holds(9_000, cut, Upstream, "the body of the answer is not complete JSON", 3).await;
    let broke = "the connection broke before the answer was complete";
    let short = || Action::WriteAndClose(json(200, "{}").into_iter().rev().skip(1).rev().collect());
    holds(9_000, short, Upstream, broke, 3).await;
    holds(9_000, || Action::WriteAndClose(Vec::new()), Upstream, broke, 3).await;
    let http2 = || Action::WriteAndClose(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04".to_vec());
    holds(9_000, http2, Upstream, broke, 3).await;
}

#[tokio::test]
async fn a_large_body_is_cut_off() {
    let big = "the body of the answer is over 1048576 bytes";
    holds(9_000, || Action::Flood(JSON_HEAD.to_vec()), Upstream, big, 1).await;
    let said = || {
        let length = b"HTTP/1.1 200 OK\r\ncontent-length: 104857600\r\n";
        Action::Flood([&length[..], &JSON_HEAD[17..]].concat())
    };
    holds(9_000, said, Upstream, big, 1).await;
    let error = || Action::Flood(b"HTTP/1.1 400 OK\r\n\r\nno".to_vec());
    holds(9_000, error, Upstream, "the server answered 400: no", 1).await;
}

#[tokio::test]
async fn a_call_ends_with_its_deadline() {
    let late = "no answer within 1000 ms";
    holds(1_000, || Action::Hang, Upstream, late, 1).await;
    holds(1_000, || Action::Trickle(json(200, "{}"), 200), Upstream, late, 1).await;
    holds(1_000, || Action::Trickle(json(500, "{}"), 200), Upstream, late, 1).await;
    let slow_body = || Action::Trickle([JSON_HEAD, &[b' '; 400]].concat(), 5);
    holds(1_000, slow_body, Upstream, late, 1).await;
}

#[tokio::test]
async fn nobody_there_is_a_fault() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (answered, tries) = post(&endpoint(&format!("http://{free}"), 9_000)).await;
    assert_eq!(answered.unwrap_err().message, "the connection was refused");
    assert_eq!(tries, 3);
    let (answered, _) = post(&endpoint("http://no-such-host.invalid/v1", 9_000)).await;
    assert_eq!(answered.unwrap_err().message, "the host name cannot be resolved");
    let server = Server::start(|_, _| Action::Hang);
    let (answered, _) = post(&endpoint(&server.url.replace("http:", "https:"), 9_000)).await;
    let message = answered.unwrap_err().message;
    assert!(
        message.starts_with("the TLS handshake failed") || message.starts_with("no "),
        "{message}"
    );
}

#[tokio::test]
async fn a_failure_that_passes_is_tried_again() {
    let server = Server::start(|at, _| {
        Action::Write(match at {
            0 => json(503, "{}"),
            1 => answer(429, "retry-after: 0\r\n", ""),
            _ => json(200, "[]"),
        })
    });
    let (answered, tries) = post(&endpoint(&server.url, 10_000)).await;
    assert_eq!((answered.unwrap(), tries, server.count()), (serde_json::json!([]), 3, 3));
}

#[tokio::test]
async fn a_connection_closed_between_requests_does_not_surface() {
    let server = Server::start(|_, _| Action::WriteAndClose(json(200, "{}")));
    let endpoint = endpoint(&server.url, 10_000);
    for _ in 0..20 {
        let (answered, _) = post(&endpoint).await;
        assert!(answered.is_ok(), "{answered:?}");
    }
}

#[tokio::test]
async fn the_breaker_opens_after_five_calls_and_a_probe_closes_it() {
    let healthy = Arc::new(AtomicBool::new(false));
    let is_healthy = Arc::clone(&healthy);
    let server = Server::start(move |_, _| {
        Action::Write(json(if is_healthy.load(Ordering::Acquire) { 200 } else { 500 }, "{}"))
    });
    let http = HttpSettings { retries: 0, ..settings(&server.url, 10_000) };
    let endpoint = HttpClient::new().endpoint(http).unwrap();
    for _ in 0..5 {
        assert_eq!(post(&endpoint).await.0.unwrap_err().kind, Upstream);
    }
    let error = post(&endpoint).await.0.unwrap_err();
    assert_eq!(error.kind, Overloaded);
    assert_eq!(
        error.message,
        "the endpoint is not asked for a while, because 5 calls in a row failed"
    );
    assert_eq!(server.count(), 5, "nothing is sent while it is open");
    healthy.store(true, Ordering::Release);
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(10)).await;
    tokio::time::resume();
    assert!(post(&endpoint).await.0.is_ok());
    assert!(post(&endpoint).await.0.is_ok());
}

#[tokio::test]
async fn bad_requests_do_not_open_the_breaker() {
    let server = Server::start(|_, _| Action::Write(json(400, "too long")));
    let endpoint = endpoint(&server.url, 10_000);
    for _ in 0..12 {
        assert_eq!(post(&endpoint).await.0.unwrap_err().kind, Upstream);
    }
    assert_eq!(server.count(), 12);
}

#[tokio::test]
async fn endpoints_of_one_origin_share_the_least_of_their_permits() {
    let server = Server::start(|_, _| {
        std::thread::sleep(Duration::from_millis(20));
        Action::Write(json(200, "{}"))
    });
    let client = HttpClient::new();
    let limit = |in_flight_max| HttpSettings { in_flight_max, ..settings(&server.url, 20_000) };
    let wide = client.endpoint(limit(32)).unwrap();
    let other_path = HttpSettings { path: "responses", ..limit(3) };
    let narrow = client.endpoint(other_path).unwrap();
    let calls = (0..24).map(|at| post(if at % 2 == 0 { &wide } else { &narrow }));
    let answered = futures_util::future::join_all(calls).await;
    assert!(answered.iter().all(|(answered, _)| answered.is_ok()));
    let most = server.in_flight_max.lock().unwrap().1;
    assert!((1..=3).contains(&most), "{most} in flight");
}

#[test]
fn a_runtime_that_is_gone_takes_no_endpoint_with_it() {
    let server = Server::start(|_, _| Action::Write(json(200, "{}")));
    let endpoint = endpoint(&server.url, 10_000);
    for _ in 0..6 {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        assert!(runtime.block_on(post(&endpoint)).0.is_ok());
        assert!(runtime.block_on(post(&endpoint)).0.is_ok());
    }
    assert_eq!(server.count(), 12);
}

#[test]
fn what_cannot_be_used_is_refused_without_showing_it() {
    let client = HttpClient::new();
    let refused = |settings| {
        let error = client.endpoint(settings).unwrap_err();
        assert!(!format!("{error:?}").contains(KEY), "{error:?}");
        error.to_string()
    };
    let with_key = format!("http://me:{KEY}@localhost/v1");
    assert!(refused(HttpSettings::new(with_key, "")).contains("is refused"));
    assert_eq!(
        refused(HttpSettings::new("http://169.254.169.254/", "")),
        "the host is a link-local address"
    );
    let broken = HttpSettings {
        secret: Some(Secret::new(&format!("{KEY}\nX: y"))),
        ..HttpSettings::new("http://a/", "")
    };
    assert_eq!(refused(broken), "the key holds characters that no header may have");
    let ca = HttpSettings { ca: Some(b"hello".to_vec()), ..HttpSettings::new("http://a/", "") };
    assert_eq!(refused(ca), "it holds no certificate in PEM");
    let shown = format!("{:?} {:?}", endpoint("http://localhost/v1", 1), settings("http://a/", 1));
    assert!(!shown.contains(KEY), "{shown}");
}

#[tokio::test]
async fn a_call_that_is_dropped_gives_its_permit_back() {
    let server = Server::start(|at, _| match at {
        0 => Action::Hang,
        _ => Action::Write(json(200, "{}")),
    });
    let http = HttpSettings { in_flight_max: 1, ..settings(&server.url, 20_000) };
    let endpoint = HttpClient::new().endpoint(http).unwrap();
    {
        let mut given_up = std::pin::pin!(post(&endpoint));
        while server.count() == 0 {
            let tick = tokio::time::sleep(Duration::from_millis(1));
            tokio::select! { _ = &mut given_up => unreachable!(), () = tick => {} }
        }
    }
    assert!(post(&endpoint).await.0.is_ok());
}
