//! A daemon in a process of its own, and a client of few lines.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

/// How long a test waits for an answer.
const ANSWER: Duration = Duration::from_mins(2);

/// A daemon; it ends with the value.
pub(crate) struct Daemon {
    pub(crate) child: Child,
    /// `IP:PORT`.
    pub(crate) address: String,
    /// The folder of its configurations.
    pub(crate) folder: tempfile::TempDir,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// The lines of the head, in lower case.
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Daemon {
    /// Serves the configurations, each a name and its text without `version`, with further arguments.
    pub(crate) fn start(configs: &[(&str, &str)], args: &[&str]) -> Self {
        let mut serve = Command::new(env!("CARGO_BIN_EXE_assay"));
        Self::spawn(serve.args(["serve", "--log", "warn"]).args(args), configs)
    }

    /// The same with variables, and with a log that can be read.
    #[cfg(feature = "otel")]
    pub(crate) fn start_in(configs: &[(&str, &str)], args: &[&str], env: &[(&str, &str)]) -> Self {
        let mut serve = Command::new(env!("CARGO_BIN_EXE_assay"));
        serve.stderr(Stdio::piped()).envs(env.iter().copied());
        Self::spawn(serve.args(["serve", "--log", "debug"]).args(args), configs)
    }

    fn spawn(serve: &mut Command, configs: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut paths: Vec<PathBuf> = Vec::new();
        for (name, text) in configs {
            let path = folder.path().join(format!("{name}.toml"));
            assay::engine::runs::write_atomic(&path, format!("version = 1\n{text}").as_bytes())
                .unwrap();
            paths.push(path);
        }
        let mut child = serve
            .args(&paths)
            .args(["--bind", "127.0.0.1:0", "--no-cache"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().split("://").nth(1);
        let address = address.unwrap_or_else(|| panic!("no address: {line}")).to_owned();
        Self { child, address, folder }
    }

    /// Sends a request and reads its answer.
    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Answer {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(ANSWER)).unwrap();
        let mut head = format!("{method} {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n");
        for (name, value) in headers {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        let _ = write!(head, "content-length: {}\r\n\r\n", body.len());
        stream.write_all(head.as_bytes()).unwrap();
        // A daemon that refuses early may have closed its side already.
        let _ = stream.write_all(body);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        Answer::parse(&answer)
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], b"")
    }

    /// A figure of the metrics.
    pub(crate) fn gauge(&self, name: &str) -> u64 {
        let page = self.get("/metrics").text();
        let line = page.lines().find_map(|line| line.strip_prefix(&format!("{name} ")));
        line.unwrap().parse().unwrap()
    }

    /// Whether a figure of the metrics comes to be `wanted`.
    pub(crate) fn becomes(&self, name: &str, wanted: u64) -> bool {
        (0..1500).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            self.gauge(name) == wanted
        })
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        let kind = [("content-type", "application/json")];
        self.send("POST", path, &kind, body.to_string().as_bytes())
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Answer {
    fn parse(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        let (head, body) = bytes.split_at(end.unwrap_or_else(|| panic!("no answer")));
        let head = String::from_utf8_lossy(head).to_ascii_lowercase();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let body = body.get(4..).unwrap_or_default();
        let body = if head.contains("transfer-encoding: chunked") {
            unchunked(body)
        } else {
            body.to_vec()
        };
        Self { status, head, body }
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("no JSON: {}", self.text()))
    }
}

fn unchunked(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = rest.windows(2).position(|two| two == b"\r\n") {
        let (size, behind) = rest.split_at(end);
        let size = usize::from_str_radix(&String::from_utf8_lossy(size), 16).unwrap();
        let chunk = behind.get(2..2 + size).unwrap();
        body.extend_from_slice(chunk);
        rest = behind.get(size + 4..).unwrap_or_default();
        if size == 0 {
            break;
        }
    }
    body
}

/// A profile that runs programs.
pub(crate) const PROGRAMS: &str = "[[reward]]\nname = 'runs'\nverifier = 'unit_tests'\n";

/// A sample whose program never ends by itself.
pub(crate) fn endless() -> Value {
    json!({
        "completion": "```python\ndef f():\n    while True:\n        pass\n```",
        "reference": { "entry_point": "f", "cases": [{ "args": [], "expected": 1 }] },
    })
}

/// The bytes of a request that wants `samples` judged.
pub(crate) fn verify_request(samples: &Value) -> String {
    let body = json!({ "samples": samples }).to_string();
    let length = body.len();
    format!(
        "POST /v1/verify HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n\
         content-length: {length}\r\n\r\n{body}"
    )
}
