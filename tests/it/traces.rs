//! The traces of the daemon: what a collector is sent, what it is not, and that a request never waits for it.

use std::io::Read as _;
use std::net::TcpListener;
use std::process::Command;

use serde_json::{Value, json};

use super::collector::{Collector, Span};
use super::daemon::Daemon;

const RULES: &str = "[[reward]]\nname = 'correct'\nverifier = 'exact'\n\
                     [[reward]]\nname = 'form'\nverifier = 'regex'\n\
                     config = { pattern = '^[0-9]' }\n";
/// Nobody answers for the judge of this: a fault, for which the protocol of slime has no place.
const UNJUDGED: &str = "[judges.gone]\nurl = 'http://127.0.0.1:1/v1'\nmodel = 'm'\nretries = 0\n\
                        [[reward]]\nname = 'judged'\nverifier = 'rubric'\nconfig = { judge = 'gone', \
                        rubric = { criterion = [{ name = 'a', text = 'is good' }] } }\n";
const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const PARENT: &str = "b7ad6b7169203331";
const JSON: (&str, &str) = ("content-type", "application/json");

/// A daemon that logs every request into a file of its folder.
fn daemon(configs: &[(&str, &str)], args: &[&str], env: &[(&str, &str)]) -> Daemon {
    // What this machine says of collectors is none of the test's.
    let known = std::env::vars().map(|(name, _)| name).filter(|name| name.starts_with("OTEL_"));
    let cleared: Vec<String> = known.collect();
    let mut all: Vec<(&str, &str)> = cleared.iter().map(|name| (name.as_str(), "")).collect();
    all.extend(env);
    Daemon::start_in(configs, args, &all)
}

/// Ends a daemon as its operator does, and returns the lines of its log.
fn ended(mut daemon: Daemon) -> Vec<Value> {
    let id = daemon.child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    let mut log = String::new();
    daemon.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    assert_eq!(daemon.child.wait().unwrap().code(), Some(0), "{log}");
    log.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The lines of a log with this message.
fn with<'a>(log: &'a [Value], message: &str) -> Vec<&'a Value> {
    let says = |line: &&Value| line["message"].as_str().is_some_and(|it| it.contains(message));
    log.iter().filter(says).collect()
}

fn named<'a>(spans: &'a [Span], name: &str) -> &'a Span {
    let found: Vec<&Span> = spans.iter().filter(|span| span.name == name).collect();
    let [one] = found.as_slice() else { panic!("{name}: {} of {spans:#?}", found.len()) };
    one
}

fn verify(completions: &[&str]) -> Vec<u8> {
    let row = |completion: &&str| json!({ "completion": completion, "reference": "3" });
    let samples: Vec<Value> = completions.iter().map(row).collect();
    json!({ "samples": samples }).to_string().into_bytes()
}

/// What became of a request of a caller who traces, and of requests that are not traced.
fn traced(collector: &Collector) -> Vec<Value> {
    let tokens = tempfile::NamedTempFile::new().unwrap();
    assay::engine::runs::write_atomic(tokens.path(), b"secret-of-clients\n").unwrap();
    let env = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url.as_str()),
        ("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20secret-of-collector"),
        ("OTEL_SERVICE_NAME", "rewards"),
        ("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test,service.name=other"),
    ];
    let args = ["--token-file", tokens.path().to_str().unwrap()];
    let daemon = daemon(&[("a", RULES), ("b", RULES)], &args, &env);
    let good = ("authorization", "Bearer secret-of-clients");
    let parent = format!("00-{TRACE}-{PARENT}-01");
    let caller = [
        JSON,
        good,
        ("traceparent", parent.as_str()),
        ("tracestate", "vendor=opaque"),
        ("x-request-id", "asked-17"),
    ];
    let body = verify(&["3", "text-of-sample"]);
    let answer = daemon.send("POST", "/v1/verify?step=471147", &caller, &body);
    assert_eq!(answer.status, 200);
    for path in ["/healthz", "/readyz", "/health", "/profiles/b/health", "/metrics"] {
        assert_eq!(daemon.send("GET", path, &[good], b"").status, 200, "{path}");
    }
    ended(daemon)
}

#[test]
fn a_request_is_a_span_of_the_trace_of_its_caller() {
    let collector = Collector::start(&[]);
    let log = traced(&collector);
    let spans = collector.spans();
    let request = named(&spans, "POST /v1/verify");
    assert_eq!((request.trace.as_str(), request.parent.as_str()), (TRACE, PARENT));
    assert_eq!((request.state.as_str(), request.kind, request.status), ("vendor=opaque", 2, 0));
    let expected = json!({
        "assay.profile": "a", "assay.request_id": "asked-17", "assay.samples": 2,
        "http.request.method": "POST", "http.response.status_code": 200, "http.route": "/v1/verify",
        "network.protocol.version": "1.1", "server.address": "a", "url.path": "/v1/verify",
        "url.scheme": "http",
    });
    assert_eq!(json!(request.attributes), expected);
    assert_eq!(request.resource["service.name"], "rewards");
    assert_eq!(request.resource["deployment.environment.name"], "test");
    for name in ["queue", "score"] {
        let below = named(&spans, name);
        assert_eq!((&below.trace, &below.parent, below.kind), (&request.trace, &request.id, 1));
        assert_eq!(below.attributes["assay.samples"], 2);
        assert!(request.time.0 <= below.time.0 && below.time.0 <= below.time.1, "{below:?}");
        assert!(below.time.1 <= request.time.1, "{below:?}");
    }
    let events = &named(&spans, "score").events;
    let told = |at: usize| {
        let (name, told) = &events[at];
        assert_eq!(name, "verifier");
        let words = ["verifier", "scored", "abstained", "failed"];
        words.map(|word| told[&format!("assay.{word}")].clone())
    };
    assert_eq!(told(0), [json!("correct"), json!(2), json!(0), json!(0)]);
    assert_eq!(told(1), [json!("form"), json!(2), json!(0), json!(0)]);
    // Nothing else was traced, and the log has the trace.
    assert_eq!(spans.len(), 3, "{spans:#?}");
    let lines = with(&log, "answered").into_iter().filter(|line| line["trace_id"] == TRACE);
    let ids: Vec<&Value> = lines.map(|line| &line["request_id"]).collect();
    assert!(
        matches!(ids.as_slice(), [id] if id.as_str().is_some_and(|id| id.contains("asked-17")))
    );
}

#[test]
fn neither_spans_nor_the_log_have_secrets_or_samples() {
    let collector = Collector::start(&[]);
    let log = json!(traced(&collector)).to_string();
    let posts = collector.posts();
    assert!(!posts.is_empty());
    for post in &posts {
        for line in [
            "post /v1/traces http/1.1",
            "content-type: application/x-protobuf",
            "authorization: bearer secret-of-collector",
        ] {
            assert!(post.head.contains(line), "{}", post.head);
        }
    }
    let bodies: Vec<u8> = posts.into_iter().flat_map(|post| post.body).collect();
    let sent = String::from_utf8_lossy(&bodies).into_owned();
    for text in ["secret-of-clients", "secret-of-collector", "text-of-sample", "471147"] {
        assert!(!sent.contains(text) && !log.contains(text), "{text}");
    }
}

#[test]
fn refusals_and_streams_are_spans_too() {
    let collector = Collector::start(&[]);
    // A whole URL is taken as it is.
    let url = format!("{}/custom/path", collector.url);
    let env = [
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", url.as_str()),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9"),
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"),
    ];
    let args = ["--set", "serve.samples_max=2"];
    let daemon = daemon(&[("a", RULES), ("gone", UNJUDGED)], &args, &env);
    let row = json!({ "completion": "3", "reference": "3" });
    let rows = format!("{row}\n").repeat(600);
    let kind = [("content-type", "application/x-ndjson")];
    assert_eq!(daemon.send("POST", "/profiles/a/v1/verify", &kind, rows.as_bytes()).status, 200);
    assert_eq!(daemon.send("POST", "/v1/verify", &[JSON], &verify(&["1", "2", "3"])).status, 413);
    assert_eq!(daemon.send("BREW", "/odd", &[], b"").status, 404);
    let body = json!({ "prompt": "p", "response": "r" }).to_string();
    let answer = daemon.send("POST", "/profiles/gone/slime", &[JSON], body.as_bytes());
    assert_eq!(answer.status, 502, "{}", answer.text());
    let log = ended(daemon);
    let posts = collector.posts();
    for post in &posts {
        assert!(post.head.contains("post /custom/path"), "{}", post.head);
        assert!(post.head.contains("content-encoding: gzip"), "{}", post.head);
    }
    let spans = collector.spans();

    let stream = named(&spans, "POST /profiles/{profile}/v1/verify");
    assert_eq!(stream.attributes["assay.samples"], 600);
    assert_eq!(stream.attributes["url.path"], "/profiles/a/v1/verify");
    assert_eq!(stream.resource["service.name"], "assay");
    let below = |span: &&Span| span.parent == stream.id && span.name == "score";
    assert!(spans.iter().filter(below).count() > 1);
    assert!(spans.iter().filter(below).all(|span| span.time.1 <= stream.time.1));

    let refused = named(&spans, "POST /v1/verify");
    assert_eq!(refused.attributes["http.response.status_code"], 413);
    assert!(refused.status == 0 && !refused.attributes.contains_key("error.type"), "{refused:?}");
    let odd = named(&spans, "HTTP");
    assert_eq!(odd.attributes["http.request.method"], "_OTHER");
    assert_eq!(odd.attributes["http.request.method_original"], "BREW");
    assert!(!odd.attributes.contains_key("http.route"), "{odd:?}");

    let failed = named(&spans, "POST /profiles/{profile}/slime");
    assert_eq!((failed.status, &failed.attributes["error.type"]), (2, &json!("502")));
    let line = with(&log, "failed");
    assert_eq!(line.len(), 1, "{log:?}");
    assert_eq!(line[0]["trace_id"], failed.trace);
    let ids: Vec<&String> = [stream, refused, odd, failed].map(|span| &span.trace).into();
    assert!(ids.iter().all(|id| id.len() == 32 && ids.iter().filter(|it| it == &id).count() == 1));
}

#[test]
fn a_dead_collector_does_no_harm_and_is_told_once() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = (format!("http://{}", silent.local_addr().unwrap()), Some(silent));
    let closed = TcpListener::bind("127.0.0.1:0").unwrap();
    let closed = (format!("http://{}", closed.local_addr().unwrap()), None::<TcpListener>);
    for (url, _open) in [silent, closed] {
        let secret = url.replace("http://", "http://user:secret-of-url@");
        let env = [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", secret.as_str()),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "100"),
            ("OTEL_BSP_SCHEDULE_DELAY", "10"),
            ("OTEL_BSP_MAX_QUEUE_SIZE", "4"),
            ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "2"),
        ];
        let daemon = daemon(&[("a", RULES)], &[], &env);
        for _ in 0..100 {
            let answer = daemon.send("POST", "/v1/verify", &[JSON], &verify(&["3"]));
            assert_eq!(answer.status, 200);
        }
        let log = ended(daemon);
        let told = with(&log, "the collector takes no traces");
        assert_eq!(told.len(), 1, "{url}: {log:?}");
        assert_eq!(told[0]["level"], "WARN");
        assert!(!json!(log).to_string().contains("secret-of-url"), "{log:?}");
        assert_eq!(with(&log, "answered").len(), 100);
    }
}

#[test]
fn a_collector_that_is_back_gets_what_it_refused() {
    let collector = Collector::start(&[503, 503]);
    let env = [("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url.as_str())];
    let daemon = daemon(&[("a", RULES)], &[], &env);
    assert_eq!(daemon.send("POST", "/v1/verify", &[JSON], &verify(&["3"])).status, 200);
    let log = ended(daemon);
    assert_eq!(with(&log, "the collector takes no traces").len(), 1, "{log:?}");
    assert_eq!(with(&log, "the collector takes traces again").len(), 1, "{log:?}");
    named(&collector.spans(), "POST /v1/verify");
}

/// Variables, the parent of the request, whether it is traced, and what the log says of it.
type Case<'a> = (&'a [(&'a str, &'a str)], &'a str, bool, &'a str);

#[test]
fn the_environment_says_what_is_traced() {
    let collector = Collector::start(&[]);
    let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url.as_str());
    let unsampled = format!("00-{TRACE}-{PARENT}-00");
    let kept = format!("00-{TRACE}-{PARENT}-01");
    let cases: &[Case] = &[
        (&[], &kept, false, ""),
        (&[("OTEL_EXPORTER_OTLP_ENDPOINT", "")], &kept, false, ""),
        (&[endpoint, ("OTEL_SDK_DISABLED", "true")], &kept, false, ""),
        (&[endpoint, ("OTEL_TRACES_EXPORTER", "none")], &kept, false, ""),
        (&[endpoint], &unsampled, false, ""),
        (&[endpoint], &kept, true, ""),
        (&[endpoint], "no parent", true, ""),
        (&[endpoint, ("OTEL_TRACES_SAMPLER", "always_on")], &unsampled, true, ""),
        (&[endpoint, ("OTEL_TRACES_SAMPLER", "always_off")], &kept, false, ""),
        (
            &[
                endpoint,
                ("OTEL_TRACES_SAMPLER", "parentbased_traceidratio"),
                ("OTEL_TRACES_SAMPLER_ARG", "0"),
            ],
            "",
            false,
            "",
        ),
        (&[endpoint, ("OTEL_TRACES_SAMPLER", "often")], &kept, false, "OTEL_TRACES_SAMPLER"),
        (
            &[endpoint, ("OTEL_TRACES_SAMPLER", "traceidratio"), ("OTEL_TRACES_SAMPLER_ARG", "2")],
            &kept,
            false,
            "OTEL_TRACES_SAMPLER_ARG",
        ),
        (
            &[endpoint, ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")],
            &kept,
            false,
            "expected http/protobuf",
        ),
        (&[endpoint, ("OTEL_EXPORTER_OTLP_TIMEOUT", "soon")], &kept, false, "milliseconds"),
        (
            &[endpoint, ("OTEL_EXPORTER_OTLP_CERTIFICATE", "/no/such.pem")],
            &kept,
            false,
            "/no/such.pem",
        ),
        (
            &[("OTEL_EXPORTER_OTLP_ENDPOINT", "me:secret-of-url@collector:4318")],
            &kept,
            false,
            "http://HOST:PORT",
        ),
    ];
    for (env, parent, is_traced, told) in cases {
        let before = collector.spans().len();
        let daemon = daemon(&[("a", RULES)], &[], env);
        let headers = [JSON, ("traceparent", *parent)];
        let answer = daemon.send("POST", "/v1/verify", &headers, &verify(&["3"]));
        assert_eq!(answer.status, 200, "{env:?}");
        let log = ended(daemon);
        let spans = collector.spans().split_off(before);
        assert_eq!(!spans.is_empty(), *is_traced, "{env:?} {parent}: {spans:?}");
        let warned = with(&log, "no traces are sent");
        assert_eq!(warned.len(), usize::from(!told.is_empty()), "{env:?}: {log:?}");
        for line in warned {
            assert!(line["error"].as_str().unwrap().contains(told), "{env:?}: {line}");
        }
        assert!(!json!(log).to_string().contains("secret-of-url"), "{log:?}");
    }
}
