//! The daemon, asked to run programs as `SandboxFusion` and Piston are.

use std::io::Write as _;
use std::net::TcpStream;
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use super::daemon::Daemon;

const CONFIG: &str = "[[reward]]\nname = 'correct'\nverifier = 'exact'\n";

fn daemon(args: &[&str]) -> Daemon {
    Daemon::start(&[("main", CONFIG)], args)
}

fn with_programs() -> Daemon {
    daemon(&["--set", "serve.run_programs=true"])
}

/// A request as verl's client makes it.
fn verl(code: &str, stdin: &str) -> Value {
    json!({
        "compile_timeout": 10, "run_timeout": 10, "code": code, "stdin": stdin,
        "memory_limit_MB": 1024, "language": "python", "files": {}, "fetch_files": [],
    })
}

fn run_code(daemon: &Daemon, request: &Value) -> Value {
    let answer = daemon.post("/run_code", request);
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

fn refused(daemon: &Daemon, path: &str, request: &Value, status: u16, words: &str) -> Value {
    let answer = daemon.post(path, request);
    assert_eq!(answer.status, status, "{request}: {}", answer.text());
    let body = answer.json();
    assert!(body.pointer("/error/message").unwrap().as_str().unwrap().contains(words), "{body}");
    body
}

#[test]
fn programs_are_run_where_the_configuration_says_so_alone() {
    let daemon = daemon(&[]);
    let piston = json!({ "language": "python", "version": "*", "files": [{ "content": "1" }] });
    refused(&daemon, "/run_code", &verl("print(1)", ""), 404, "run_programs = true");
    refused(&daemon, "/api/v2/execute", &piston, 404, "run_programs = true");
    assert_eq!(daemon.get("/api/v2/runtimes").status, 404);
}

#[test]
fn a_program_of_sandbox_fusion_is_run() {
    let daemon = with_programs();
    let reply = run_code(&daemon, &verl("print(int(input()) + 1)", "41\n"));
    assert_eq!(reply["status"], "Success", "{reply}");
    assert_eq!(reply["message"], "");
    assert_eq!(reply["compile_result"], Value::Null);
    assert_eq!(reply["executor_pod_name"], Value::Null);
    assert_eq!(reply["files"], json!({}));
    let run = &reply["run_result"];
    assert_eq!((&run["status"], &run["return_code"]), (&json!("Finished"), &json!(0)));
    assert_eq!((&run["stdout"], &run["stderr"]), (&json!("42\n"), &json!("")));
    assert!(run["execution_time"].as_f64().unwrap() > 0.0, "{run}");

    let javascript = "console.log(require('fs').readFileSync(0, 'utf8').trim().length)";
    let request = json!({ "code": javascript, "language": "nodejs", "stdin": "four" });
    assert_eq!(run_code(&daemon, &request)["run_result"]["stdout"], "4\n");
    // Nothing but the code and the language has to be there.
    let request = json!({
        "code": "print(open)", "language": "python", "stdin": null, "run_timeout": null,
        "compile_timeout": null, "memory_limit_MB": null, "files": null, "fetch_files": null,
    });
    assert_eq!(run_code(&daemon, &request)["status"], "Success");
}

#[test]
fn a_program_may_begin_with_a_byte_order_mark() {
    let daemon = with_programs();
    let (python, node) = ("\u{feff}print(__name__)", "\u{feff}#!/usr/bin/env node\nconsole.log(1)");
    for (language, code, printed) in [("python", python, "__main__\n"), ("nodejs", node, "1\n")] {
        let request = json!({ "code": code, "language": language });
        assert_eq!(run_code(&daemon, &request)["run_result"]["stdout"], printed);
        let run = execute(&daemon, language, &json!([{ "content": code }]));
        assert_eq!(run["stdout"], printed, "{run}");
    }
}

/// What many who solve problems of contests begin with.
const FAST_IO: &str = r#"
import os, sys
from io import BytesIO, IOBase

class FastIO(IOBase):
    newlines = 0

    def __init__(self, file):
        self._fd = file.fileno()
        self.buffer = BytesIO()
        self.writable = "x" in file.mode or "r" not in file.mode
        self.write = self.buffer.write if self.writable else None

    def readline(self):
        while self.newlines == 0:
            b = os.read(self._fd, max(os.fstat(self._fd).st_size, 8192))
            self.newlines = b.count(b"\n") + (not b)
            ptr = self.buffer.tell()
            self.buffer.seek(0, 2), self.buffer.write(b), self.buffer.seek(ptr)
        self.newlines -= 1
        return self.buffer.readline()

    def flush(self):
        if self.writable:
            os.write(self._fd, self.buffer.getvalue())
            self.buffer.truncate(0), self.buffer.seek(0)

class IOWrapper(IOBase):
    def __init__(self, file):
        self.buffer = FastIO(file)
        self.flush = self.buffer.flush
        self.writable = self.buffer.writable
        self.write = lambda s: self.buffer.write(s.encode("ascii"))
        self.readline = lambda: self.buffer.readline().decode("ascii")

sys.stdin, sys.stdout = IOWrapper(sys.stdin), IOWrapper(sys.stdout)
input = lambda: sys.stdin.readline().rstrip("\r\n")
"#;

#[test]
fn a_program_reads_and_writes_as_it_is_fast() {
    let daemon = with_programs();
    let fast = format!("{FAST_IO}print(input())\nprint(sum(map(int, input().split())))");
    let kept = "import atexit, io, sys\nsys.stdout = io.StringIO()\n\
                atexit.register(lambda out: sys.__stdout__.write(out.getvalue()), sys.stdout)\n\
                print(input())\nprint(sum(map(int, input().split())))";
    let files = "import os\nout = open('/dev/stdout', 'w')\nlost = open(os.devnull, 'w')\n\
                 n, *more = map(int, open('/dev/stdin').read().split())\n\
                 print(n, file=out)\nprint(n, file=lost)\nprint(sum(more), file=out)";
    for program in [&fast, kept, files] {
        let reply = run_code(&daemon, &verl(program, "3\n1 2 3"));
        assert_eq!(reply["run_result"]["stdout"], "3\n6\n", "{reply}");
        assert_eq!(reply["run_result"]["stderr"], "", "{reply}");
    }
    let much = format!("{FAST_IO}print('x' * 3_000_000)");
    let reply = run_code(&daemon, &verl(&much, ""));
    assert_eq!(reply["run_result"]["stdout"].as_str().unwrap().len(), 3_000_001);
}

#[test]
fn a_program_that_fails_says_how() {
    let daemon = with_programs();
    let run = |request: &Value| {
        let reply = run_code(&daemon, request);
        assert_eq!(reply["status"], "Failed", "{reply}");
        reply["run_result"].clone()
    };
    let wrong = run(&verl("print(", ""));
    assert_eq!((&wrong["status"], &wrong["return_code"]), (&json!("Finished"), &json!(1)));
    assert!(wrong["stderr"].as_str().unwrap().contains("SyntaxError"), "{wrong}");
    let exit = run(&verl("print('so far')\nraise SystemExit(3)", ""));
    assert_eq!((&exit["stdout"], &exit["return_code"]), (&json!("so far\n"), &json!(3)));

    let with = |code: &str, key: &str, value: Value| {
        let mut request = verl(code, "");
        request[key] = value;
        run(&request)
    };
    for endless in ["while True: pass", "import time\ntime.sleep(60)"] {
        let late = with(endless, "run_timeout", json!(0.5));
        assert_eq!(late["status"], "TimeLimitExceeded", "{late}");
        assert_eq!(late["return_code"], Value::Null, "{late}");
    }
    let large = with("x = bytearray(300 << 20)", "memory_limit_MB", json!(128));
    assert_eq!((&large["status"], &large["return_code"]), (&json!("Finished"), &json!(1)));
    assert!(large["stderr"].as_str().unwrap().contains("MemoryError"), "{large}");
    let tiny = with("print(1)", "memory_limit_MB", json!(1));
    assert_eq!((&tiny["status"], &tiny["return_code"]), (&json!("Finished"), &json!(137)));
    let loud = run(&verl("while True: print('x' * 100000)", ""));
    assert_eq!(loud["return_code"], 153, "{}", loud["stderr"]);
}

#[test]
fn a_request_for_what_there_is_not_is_refused() {
    let daemon = with_programs();
    let with = |key: &str, value: Value| {
        let mut request = verl("print(1)", "");
        request[key] = value;
        request
    };
    for (request, status, field, words) in [
        (with("language", json!("lean")), 422, "language", "nodejs"),
        (with("code", json!(3)), 422, "code", "expected a string"),
        (with("files", json!({ "a": "%" })), 400, "files.a", "as base64"),
        (with("files", json!({ "a": "YQ==", "a/b": "YQ==" })), 400, "files.a/b", "not a folder"),
        (with("files", json!({ "a": "YQ==", "./a": "YQ==" })), 400, "files.a", "two files"),
        (with("files", json!({ "a\0": "YQ==" })), 400, "files.a\0", "not a valid"),
        (with("files", json!({ "": "YQ==" })), 400, "files.", "names no file"),
        (with("run_timeout", json!(-1)), 400, "run_timeout", "above 0"),
    ] {
        let body = refused(&daemon, "/run_code", &request, status, words);
        assert_eq!(body["error"]["field"], field);
        // As FastAPI has it.
        if status == 422 {
            assert_eq!(body["detail"][0]["loc"], json!(["body", field]));
            assert_eq!(body["detail"][0]["msg"], body["error"]["message"]);
        } else {
            assert_eq!(body["detail"], body["error"]["message"]);
        }
    }
    let body = refused(&daemon, "/run_code", &json!({ "code": "1" }), 422, "missing key");
    assert_eq!(body["detail"][0]["type"], "missing");
    assert_eq!(body["detail"][0]["loc"], json!(["body", "language"]));
    let piston = |more: Value| {
        let mut request =
            json!({ "language": "python", "version": "*", "files": [{ "content": "1" }] });
        request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        request
    };
    for (more, words) in [
        (json!({ "version": "2.7.18" }), "python-2.7.18 runtime is unknown"),
        (json!({ "language": "brainfuck" }), "runtime is unknown"),
        (json!({ "files": [] }), "a file"),
        (json!({ "files": [{ "content": "00", "encoding": "latin1" }] }), "utf8"),
        (json!({ "files": [{ "content": "%", "encoding": "base64" }] }), "as base64"),
        (json!({ "files": [{ "content": "1" }, { "name": "../a", "content": "2" }] }), "below"),
        (
            json!({ "files": [{ "name": "a", "content": "1" }, { "name": "./a", "content": "2" }] }),
            "two files",
        ),
        (json!({ "files": null }), "expected a list"),
        (json!({ "args": ["a", "\0"] }), "no NUL"),
        (json!({ "args": [1] }), "expected a string"),
        (json!({ "language": 1 }), "expected a string"),
    ] {
        let body = refused(&daemon, "/api/v2/execute", &piston(more), 400, words);
        assert_eq!(body["message"], body["error"]["message"]);
    }
}

#[test]
fn a_program_of_piston_is_run() {
    let daemon = with_programs();
    let runtimes = daemon.get("/api/v2/runtimes").json();
    let python = &runtimes[0];
    assert_eq!(python["language"], "python", "{runtimes}");
    assert!(python["aliases"].as_array().unwrap().contains(&json!("python3")));
    let execute = |language: &str, code: &str, run_timeout: f64| {
        let request = json!({
            "language": language, "version": "*", "stdin": "in", "args": [],
            "files": [{ "name": "main", "content": code }], "run_timeout": run_timeout,
            "compile_timeout": 10_000, "run_memory_limit": -1, "compile_memory_limit": -1,
        });
        let answer = daemon.post("/api/v2/execute", &request);
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()
    };
    let code = "import sys\nprint('.'.join(map(str, sys.version_info[:3])), input())\n\
                sys.stderr.write('err\\n')";
    let reply = execute("py", code, 3000.0);
    assert_eq!((&reply["language"], &reply["version"]), (&json!("python"), &python["version"]));
    assert_eq!(reply.get("compile"), None);
    let run = &reply["run"];
    let stdout = format!("{} in\n", python["version"].as_str().unwrap());
    assert_eq!((&run["stdout"], &run["output"]), (&json!(stdout), &json!(stdout + "err\n")));
    assert_eq!(
        (&run["code"], &run["signal"], &run["status"]),
        (&json!(0), &Value::Null, &Value::Null)
    );
    assert!(run["memory"].as_u64().unwrap() > 1 << 20, "{run}");
    let version = execute("js", "console.log(process.version)", 3000.0);
    let shown = format!("v{}\n", version["version"].as_str().unwrap());
    assert_eq!(version["run"]["stdout"], shown);

    let encoded = json!({
        "language": "python3", "version": "3.x", "stdin": null, "args": null, "run_timeout": null,
        "files": [{ "content": "cHJpbnQoMSk=", "encoding": "base64" }],
    });
    let encoded = daemon.post("/api/v2/execute", &encoded).json();
    assert_eq!(encoded.pointer("/run/stdout").unwrap(), "1\n", "{encoded}");

    let failed = execute("javascript", "throw new Error('no')", 3000.0);
    assert_eq!((&failed["run"]["code"], &failed["run"]["status"]), (&json!(1), &json!("RE")));
    let late = execute("python", "while True: pass", 300.0);
    let run = &late["run"];
    assert_eq!(
        (&run["code"], &run["signal"], &run["status"]),
        (&Value::Null, &json!("SIGKILL"), &json!("TO"))
    );
}

#[test]
fn the_deadline_of_a_request_is_no_outcome_of_its_program() {
    let daemon = with_programs();
    let mut request = verl("while True: pass", "");
    request["run_timeout"] = json!(1000);
    let headers = [("content-type", "application/json"), ("x-request-timeout", "200ms")];
    let answer = daemon.send("POST", "/run_code", &headers, request.to_string().as_bytes());
    assert_eq!(answer.status, 504, "{}", answer.text());
    assert_eq!(answer.json()["error"]["retryable"], true);
}

#[test]
fn a_program_ends_with_its_client() {
    let daemon = daemon(&[
        "--set",
        "serve.run_programs=true",
        "--set",
        "serve.in_flight_max=1",
        "--set",
        "serve.queue_max=0",
    ]);
    let in_flight = |count: usize| {
        let line = format!("assay_in_flight {count}");
        (0..500).any(|_| {
            let is_so = daemon.get("/metrics").text().lines().any(|have| have == line);
            if !is_so {
                sleep(Duration::from_millis(20));
            }
            is_so
        })
    };
    let mut request = verl("while True: pass", "");
    request["run_timeout"] = json!(1000);
    let body = request.to_string();
    let mut client = TcpStream::connect(&daemon.address).unwrap();
    write!(
        client,
        "POST /run_code HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    assert!(in_flight(1));
    // verl's client asks again after this status alone.
    refused(&daemon, "/run_code", &verl("print(1)", ""), 504, "under way");
    drop(client);
    assert!(in_flight(0), "the program goes on");
    assert_eq!(run_code(&daemon, &verl("print(1)", ""))["run_result"]["stdout"], "1\n");
}

fn execute(daemon: &Daemon, language: &str, files: &Value) -> Value {
    let request = json!({ "language": language, "version": "*", "files": files, "stdin": "41" });
    let answer = daemon.post("/api/v2/execute", &request);
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()["run"].clone()
}

#[test]
fn a_program_of_piston_finds_its_other_files() {
    let daemon = with_programs();
    let main = "from __future__ import annotations\nfrom lib.add import add\nimport pathlib, pkg\n\
                print(add(int(input()), 1), open('./lib/note.txt').read(), pkg.x, __name__)\n\
                print(pathlib.Path('lib/note.txt').read_text(), open('lib/note.txt', 'rb').read())\n\
                try:\n    open('none')\nexcept OSError as error:\n    print(type(error).__name__)\n\
                raise ValueError('at the end')";
    let files = json!([
        { "name": "main.py", "content": main },
        { "name": "lib/add.py", "content": "def add(a, b):\n    return a + b\n" },
        { "name": "./lib/note.txt", "content": "bsO2dGU=", "encoding": "base64" },
        { "name": "pkg/__init__.py", "content": "from .inner import x" },
        { "name": "pkg/inner.py", "content": "x = 5" },
    ]);
    let run = execute(&daemon, "python", &files);
    let out = run["stdout"].as_str().unwrap();
    assert!(out.starts_with("42 nöte 5 __main__\nnöte b'n\\xc3\\xb6te'\n"), "{run}");
    assert!(run["stderr"].as_str().unwrap().contains("ValueError: at the end"), "{run}");
    assert!(run["stderr"].as_str().unwrap().contains("File \"/main.py\", line 10"), "{run}");
    assert_eq!((&run["code"], &run["status"]), (&json!(1), &json!("RE")));

    let main = "#!/usr/bin/env node\nconst fs = require('node:fs');\n\
                const stdin = fs.readFileSync(0, 'utf8');\n\
                console.log(require('./add')(+stdin, 1), require('./d.json').a, fs.readFileSync('n.txt', 'utf8'),\n\
                fs.existsSync('none'), require('./m/').x, require.main === module);\n\
                try { require('./none') } catch (error) { console.log(error.code) }";
    let files = json!([
        { "name": "main.js", "content": main },
        { "name": "add.js", "content": "module.exports = (a, b) => a + b" },
        { "name": "d.json", "content": "{\"a\": 7}" },
        { "name": "n.txt", "content": "nöte" },
        { "name": "m/index.js", "content": "exports.x = require('../add.js')(1, 1)" },
    ]);
    let run = execute(&daemon, "javascript", &files);
    assert_eq!(run["stdout"], "42 7 nöte false 2 true\nMODULE_NOT_FOUND\n", "{run}");
    // What one request brought, no other finds.
    let files = json!([
        { "name": "main.py", "content": "import pkg" },
        { "name": "other.py", "content": "" },
    ]);
    let run = execute(&daemon, "python", &files);
    assert!(run["stderr"].as_str().unwrap().contains("ModuleNotFoundError"), "{run}");
}

#[test]
fn a_form_is_taken_as_pistons_old_clients_send_it() {
    let daemon = with_programs();
    let send = |body: &str| {
        let kind = [("content-type", "application/x-www-form-urlencoded")];
        daemon.send("POST", "/api/v2/execute", &kind, body.as_bytes())
    };
    let answer =
        send("language=python&version=3.x&files=print%28input%28%29%29&stdin=a+b&timeout=10000");
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(answer.json().pointer("/run/output").unwrap(), "a b\n");
    let answer = send("language=brainfuck&version=*&files=1");
    assert_eq!(answer.status, 400);
    let body = answer.json();
    assert_eq!(body.as_object().unwrap().len(), 1, "{body}");
    assert!(body["message"].as_str().unwrap().contains("runtime is unknown"), "{body}");
}

#[test]
fn a_file_of_piston_may_be_hex() {
    let daemon = with_programs();
    let files =
        json!([{ "content": "7072696e742831202b203129", "encoding": "hex", "name": "a.py" }]);
    assert_eq!(execute(&daemon, "python", &files)["stdout"], "2\n");
    for odd in ["7", "zz", "+1"] {
        let body = json!({
            "language": "python", "version": "*", "files": [{ "content": odd, "encoding": "hex" }],
        });
        let answer = daemon.post("/api/v2/execute", &body);
        assert_eq!(answer.status, 400, "{odd}: {}", answer.text());
    }
}
