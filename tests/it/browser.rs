//! A headless Chromium, driven by its `DevTools` protocol over two pipes: no package between.

#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::needless_pass_by_value,
    reason = "a test stops at what it does not expect"
)]

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tempfile::TempDir;

/// The names under which distributions have it.
const NAMES: [&str; 5] =
    ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "headless_shell"];
/// How long a page may take to show what is waited for. Much longer than any takes.
const PATIENCE: Duration = Duration::from_mins(1);

/// A browser with one page.
pub(crate) struct Browser {
    child: Child,
    to: File,
    from: BufReader<File>,
    session: Value,
    calls: u64,
    /// Errors of the console, and what scripts threw.
    pub(crate) errors: Vec<String>,
    /// The addresses that were asked for.
    pub(crate) requests: Vec<String>,
    /// Whether a script opened a dialog.
    pub(crate) dialogs: usize,
    _profile: TempDir,
}

impl Browser {
    /// A browser, where there is one: `ASSAY_BROWSER`, or one in the path. With `ASSAY_BROWSER` there must
    /// be one.
    pub(crate) fn start() -> Option<Self> {
        let own = std::env::var_os("ASSAY_BROWSER").map(PathBuf::from);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let found = || {
            let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
            NAMES
                .iter()
                .flat_map(|name| folders.iter().map(move |dir| dir.join(name)))
                .find(|file| file.is_file())
        };
        let Some(program) = own.or_else(found) else {
            println!("no Chromium in the path: nothing is tested (`make test-view` installs one)");
            return None;
        };
        let profile = tempfile::tempdir().unwrap();
        let pipes = ["to", "from"].map(|name| profile.path().join(name));
        assert!(Command::new("mkfifo").args(&pipes).status().unwrap().success());
        // The protocol is spoken on the descriptors 3 and 4.
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(
            "program=$1; to=$2; from=$3; shift 3; exec \"$program\" \"$@\" 3<\"$to\" 4>\"$from\"",
        );
        shell.arg("sh").arg(program).args(&pipes).args([
            "--headless",
            "--remote-debugging-pipe",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--disable-background-networking",
            "--no-first-run",
            "--force-color-profile=srgb",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
        ]);
        shell.arg(format!("--user-data-dir={}", profile.path().join("profile").display()));
        let child =
            shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let to = File::options().write(true).open(&pipes[0]).unwrap();
        let from = BufReader::new(File::open(&pipes[1]).unwrap());
        let mut browser = Self {
            child,
            to,
            from,
            session: Value::Null,
            calls: 0,
            errors: Vec::new(),
            requests: Vec::new(),
            dialogs: 0,
            _profile: profile,
        };
        let page = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let target = json!({ "targetId": page["targetId"], "flatten": true });
        browser.session = browser.call("Target.attachToTarget", target)["sessionId"].clone();
        for domain in ["Page", "Runtime", "Network", "Log"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    /// Calls a method, and notes the events that come before its answer.
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        self.calls += 1;
        let id = self.calls;
        let mut message = json!({ "id": id, "method": method, "params": params });
        if !self.session.is_null() {
            message["sessionId"] = self.session.clone();
        }
        self.to.write_all(message.to_string().as_bytes()).unwrap();
        self.to.write_all(b"\0").unwrap();
        loop {
            let mut bytes = Vec::new();
            assert_ne!(self.from.read_until(0, &mut bytes).unwrap(), 0, "the browser ended");
            bytes.pop();
            let message: Value = serde_json::from_slice(&bytes).unwrap();
            if message["id"] == id {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].clone();
            }
            self.note(&message);
        }
    }

    fn note(&mut self, message: &Value) {
        let params = &message["params"];
        match message["method"].as_str().unwrap_or_default() {
            "Runtime.exceptionThrown" => self.errors.push(params["exceptionDetails"].to_string()),
            "Runtime.consoleAPICalled" if params["type"] != "log" => {
                self.errors.push(params["args"].to_string());
            }
            "Log.entryAdded" if params["entry"]["level"] == "error" => {
                self.errors.push(params["entry"].to_string());
            }
            "Network.requestWillBeSent" => {
                self.requests.push(params["request"]["url"].as_str().unwrap().to_owned());
            }
            "Page.javascriptDialogOpening" => {
                self.dialogs += 1;
                self.calls += 1;
                let close = json!({
                    "id": self.calls, "method": "Page.handleJavaScriptDialog", "params": { "accept": false },
                    "sessionId": self.session,
                });
                self.to.write_all(format!("{close}\0").as_bytes()).unwrap();
            }
            _ => {}
        }
    }

    /// The value of an expression; a promise is waited for.
    pub(crate) fn value(&mut self, expression: &str) -> Value {
        let asked =
            json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let answer = self.call("Runtime.evaluate", asked);
        assert!(
            answer["exceptionDetails"].is_null(),
            "{expression}: {}",
            answer["exceptionDetails"]
        );
        answer["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    pub(crate) fn wait(&mut self, expression: &str) {
        let start = Instant::now();
        while self.value(&format!("Boolean({expression})")) != true {
            let (page, path) =
                (self.value("document.body.innerText.slice(0, 2000)"), self.value("location.hash"));
            assert!(start.elapsed() < PATIENCE, "waited for {expression} at {path}: {page}");
            self.value("new Promise((done) => setTimeout(done, 20))");
        }
    }

    /// Opens an address, and waits for its page.
    pub(crate) fn open(&mut self, address: &str) {
        self.call("Page.navigate", json!({ "url": address }));
        self.wait(
            "document.readyState === 'complete' && document.querySelector('main')?.children.length",
        );
    }

    /// Presses a key of the page.
    pub(crate) fn press(&mut self, key: &str) {
        let text = match key {
            "Enter" => Some("\r"),
            key if key.chars().count() == 1 => Some(key),
            _ => None,
        };
        let mut event = json!({ "type": "keyDown", "key": key });
        if let Some(text) = text {
            event["text"] = Value::from(text);
        }
        self.call("Input.dispatchKeyEvent", event.clone());
        event["type"] = Value::from("keyUp");
        self.call("Input.dispatchKeyEvent", event);
    }

    /// The width of the screen, and `light` or `dark`.
    pub(crate) fn screen(&mut self, width: u32, scheme: &str) {
        let screen =
            json!({ "width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500 });
        self.call("Emulation.setDeviceMetricsOverride", screen);
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.call("Emulation.setEmulatedMedia", json!({ "features": features }));
    }

    /// The screen as an image, into the folder of `ASSAY_SCREENSHOTS` where that is set.
    pub(crate) fn picture(&mut self, name: &str) {
        let Some(folder) = std::env::var_os("ASSAY_SCREENSHOTS").map(PathBuf::from) else { return };
        let image = self.call("Page.captureScreenshot", json!({ "format": "png" }));
        let bytes = STANDARD.decode(image["data"].as_str().unwrap()).unwrap();
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(format!("{name}.png")), bytes).unwrap();
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
