//! Candidates and tests apart, over real programs and over programs that cheat. The Python guest
//! must be there: `make assets` builds it.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test stops at what it does not expect"
)]

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use assay_sandbox::isolation::{
    AssertionTask, CallResult, Callee, Isolation, Ruling, RunContext, run_assertions, run_calls,
    run_program,
};
use assay_sandbox::runtime::{Guest, Limits, Options, Runtime};
use assay_sandbox::value::{Arguments, equal_json, from_json};
use flate2::read::GzDecoder;
use serde_json::Value;

mod cheats;
mod crossing;
mod data;
mod suites;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn python() -> &'static Guest {
    static GUEST: OnceLock<Guest> = OnceLock::new();
    GUEST.get_or_init(|| {
        let assets = root().join("target/assets");
        let wasm = std::fs::read(assets.join("python.wasm"))
            .expect("target/assets/python.wasm is missing: run `make assets`");
        let options = Options { compiled: Some(assets.join("compiled")), ..Options::default() };
        let runtime = Runtime::new(&options).expect("a runtime");
        Guest::load(&runtime, "python.wasm", &wasm).expect("the guest loads")
    })
}

fn limits() -> Limits {
    Limits { fuel: 5_000_000_000, ..Limits::default() }
}

fn with_context<T>(run: impl FnOnce(RunContext<'_>) -> T) -> T {
    run(RunContext { limits: limits(), seed: 0, expired: &mut || false })
}

fn rows(path: &Path) -> Vec<Value> {
    let mut file = File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut text = String::new();
    if path.extension().is_some_and(|end| end == "gz") {
        BufReader::new(GzDecoder::new(file)).read_to_string(&mut text).expect("gzip");
    } else {
        file.read_to_string(&mut text).expect("text");
    }
    text.as_bytes().lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect()
}

/// Runs over all rows on two threads, and gives the messages in the order of the rows.
fn over(rows: &[Value], each: impl Fn(&Value) -> Option<String> + Sync) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let mut found: Vec<(usize, String)> = std::thread::scope(|scope| {
        let work = || {
            let mut found = Vec::new();
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                let Some(row) = rows.get(at) else { return found };
                found.extend(each(row).map(|message| (at, message)));
            }
        };
        let workers = [scope.spawn(work), scope.spawn(work)];
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    found.sort();
    found.into_iter().map(|(_, message)| message).collect()
}

fn text<'a>(row: &'a Value, pointer: &str) -> &'a str {
    row.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}
