//! `assay view`: runs as pages on this machine.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::place::Place;

const CONFIG: &str = "version = 1\n[[reward]]\nname = 'correct'\nverifier = 'exact'\n";
const ROWS: &str = r#"{"id":"a","prompt":"1+2?","completion":"so\n3","reference":"3"}
{"id":"b","prompt":"1+2?","completion":"</script>é","reference":"3"}
{"id":"c","prompt":"2+2?","completion":"4","reference":""}
"#;

/// The command at work, which ends with the test.
pub(crate) struct Viewer {
    child: Child,
    address: String,
    token: String,
}

impl Viewer {
    pub(crate) fn start(place: &Place, words: &str) -> Self {
        let mut child = place.command(words).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let (address, token) = line.trim().split_once("/?token=").unwrap();
        let address = address.strip_prefix("http://").unwrap().to_owned();
        Self { child, address, token: token.to_owned() }
    }

    /// What a browser opens, and the beginning of every address that it may ask for.
    pub(crate) fn page(&self) -> (String, String) {
        let host = format!("http://{}/", self.address);
        (format!("{host}?token={}", self.token), host)
    }

    /// The status, and the body.
    fn ask(&self, head: &str, body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let length = body.len();
        let request =
            format!("{head}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        (status, answer.split_once("\r\n\r\n").unwrap().1.to_owned())
    }

    fn head(&self, request: &str) -> String {
        let (address, token) = (&self.address, &self.token);
        let port = address.rsplit(':').next().unwrap();
        format!(
            "{request} HTTP/1.1\r\nHost: {address}\r\nCookie: assay_view_{port}={token}\r\n\
             Content-Type: application/json"
        )
    }

    fn json(&self, path: &str) -> Value {
        let (status, body) = self.ask(&self.head(&format!("GET {path}")), "");
        assert_eq!(status, 200, "{body}");
        serde_json::from_str(&body).unwrap()
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Two runs over compressed rows, whose second differs in its configuration.
fn scored() -> Place {
    let other = format!("{CONFIG}weight = 0.5\n");
    let place = Place::with(&[("a.toml", CONFIG), ("b.toml", &other)]);
    let file = std::fs::File::create(place.path("d.jsonl.gz")).unwrap();
    let mut file = GzEncoder::new(file, flate2::Compression::fast());
    file.write_all(ROWS.as_bytes()).unwrap();
    file.finish().unwrap();
    for (config, run) in [("a.toml", "one"), ("b.toml", "two")] {
        let score = place.run(&format!("score {config} d.jsonl.gz -o {run} -q"));
        assert_eq!(score.code, 0, "{}", score.err);
    }
    place
}

#[test]
fn rows_are_shown_to_who_has_the_address_and_marked() {
    let place = scored();
    let mut viewer = Viewer::start(&place, "view one two");
    for (from, to) in [(viewer.token.as_str(), "0"), (viewer.address.as_str(), "rebound.example")] {
        let head = viewer.head("GET /").replace(from, to);
        assert_eq!(viewer.ask(&head, "").0, 403, "{head}");
    }
    let (status, page) = viewer.ask(&viewer.head("GET /"), "");
    assert_eq!((status, page.matches("</script").count()), (200, 2));
    let rows = viewer.json("/api/rows?limit=10&sort=reward&desc=1");
    assert_eq!((&rows["total"], &rows["rows"][0]["line"]["id"]), (&json!(3), &json!("a")));
    assert_eq!(viewer.json("/api/rows?limit=10&q=%C3%A9")["rows"][0]["line"]["id"], json!("b"));
    let row = viewer.json("/api/row?run=1&at=1");
    assert_eq!(row["texts"]["prompt"], json!([[0, "1+2?"]]), "from compressed data");
    assert!(row["texts"]["completion"].to_string().contains("</script>"), "{row}");
    let moved = viewer.json("/api/compare?a=0&b=1&limit=10");
    assert_eq!((&moved["total"], &moved["rows"][0]["delta"]), (&json!(1), &json!(-0.5)));
    for (at, label) in [(0, true), (1, true), (1, false)] {
        let mark = json!({ "at": at, "label": label, "note": "n" }).to_string();
        let (status, body) = viewer.ask(&viewer.head("POST /api/label"), &mark);
        assert_eq!(status, 200, "{body}");
    }
    // Ctrl-C ends it.
    let pid = viewer.child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    assert!(viewer.child.wait().unwrap().success());
    // The labels are read by what reads data.
    let told = place
        .run("diagnose one/verdicts.jsonl --with one/labels.jsonl --label label --json --no-write");
    assert_eq!(told.code, 0, "{}", told.err);
    let kept = std::fs::read_to_string(place.path("one/labels.jsonl")).unwrap();
    let labels: Vec<Value> = kept.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((labels.len(), &labels[1]["label"]), (2, &json!(false)), "{kept}");
    assert_eq!((&labels[0]["completion"], &labels[0]["note"]), (&json!("so\n3"), &json!("n")));
    assert!(told.out.contains("verifier_quality"), "{}", told.out);
}

#[test]
fn a_port_that_is_taken_is_an_error() {
    let place = scored();
    let viewer = Viewer::start(&place, "view one");
    let port = viewer.address.rsplit(':').next().unwrap();
    let ran = place.run(&format!("view one --port {port}"));
    assert!(ran.code == 3 && ran.err.starts_with("error[unwritable]: 127.0.0.1:"), "{}", ran.err);
}
