//! What a hostile guest costs the host: memory while it runs and none afterwards, and no more time
//! than the deadline allows. It has a process to itself, because it measures the memory of the
//! process. The guests must be there: `make assets` builds them.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test stops at what it does not expect"
)]

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use assay_sandbox::isolation::{AssertionTask, Ruling, RunContext, run_assertions, run_program};
use assay_sandbox::languages::javascript::JavaScript;
use assay_sandbox::runtime::{Limits, Options, Program, Run, Start, Stop, drive};
use assay_sandbox::{Sandbox, SandboxConfig};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn sandbox() -> &'static Arc<Sandbox> {
    static SANDBOX: OnceLock<Arc<Sandbox>> = OnceLock::new();
    SANDBOX.get_or_init(|| {
        let assets = root().join("target/assets");
        let options = Options { compiled: Some(assets.join("compiled")), ..Options::default() };
        Arc::new(Sandbox::new(SandboxConfig { assets: vec![assets], options }))
    })
}

fn program(text: &str) -> Program {
    let wasm = wat::parse_str(text).unwrap();
    Program::load(&sandbox().runtime().unwrap(), "guest", &wasm).unwrap()
}

fn run(program: &Program, limits: Limits, expired: &mut dyn FnMut() -> bool) -> Result<Run, Stop> {
    drive(program.run(Start { limits, ..Start::default() }), expired)
}

const LIMIT: usize = 128 << 20;

fn limits() -> Limits {
    Limits { memory_bytes_max: LIMIT, fuel: 20_000_000_000, ..Limits::default() }
}

/// True once it was asked `polls` times.
fn after(polls: usize) -> impl FnMut() -> bool {
    let mut asked = 0;
    move || {
        asked += 1;
        asked >= polls
    }
}

/// Memory belongs to the process, so tests that measure it or fill it take turns.
fn alone() -> impl Drop {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes all the memory that it gets, writes to every page, and spins.
const HOG: &str = r#"(module (memory (export "memory") 1)
    (func (export "_start") (local $at i32)
      (loop $more (br_if $more (i32.ne (memory.grow (i32.const 16)) (i32.const -1))))
      (loop $more (br_if $more (i32.ne (memory.grow (i32.const 1)) (i32.const -1))))
      (loop $again
        (i64.store (local.get $at) (i64.const -1))
        (local.set $at (i32.add (local.get $at) (i32.const 1024)))
        (br_if $again (i32.lt_u (local.get $at) (i32.shl (memory.size) (i32.const 16)))))
      (loop $again (br $again))))"#;

/// Takes all the memory that it gets, and traps where a word of it is not zero.
const SCAN: &str = r#"(module (memory (export "memory") 1)
    (func (export "_start") (local $at i32)
      (loop $more (br_if $more (i32.ne (memory.grow (i32.const 1)) (i32.const -1))))
      (loop $again
        (if (i64.ne (i64.load (local.get $at)) (i64.const 0)) (then unreachable))
        (local.set $at (i32.add (local.get $at) (i32.const 8)))
        (br_if $again (i32.lt_u (local.get $at) (i32.shl (memory.size) (i32.const 16)))))))"#;

const PYTHON_HOG: &str = "hoard = []\nwhile True:\n    try:\n        hoard.append(bytearray(b'x') * (1 << 20))\n    \
    except MemoryError:\n        pass\n";

/// Goes as deep as the stack, again and again.
const DEEP: &str = r#"(module
    (func $deep (param $n i64) (result i64)
      (i64.add (call $deep (i64.add (local.get $n) (i64.const 1))) (local.get $n)))
    (func (export "_start") (drop (call $deep (i64.const 0)))))"#;

#[cfg(target_os = "linux")]
fn resident_bytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() << 10
}

#[cfg(target_os = "linux")]
#[test]
fn a_guest_costs_its_limit_and_nothing_once_it_is_gone() {
    const SLACK: usize = 16 << 20;
    let _turn = alone();
    let (hog, deep) = (program(HOG), program(DEEP));
    let python = sandbox().python().unwrap();
    // What the process takes once, it has taken now.
    run(&program(SCAN), limits(), &mut || false).unwrap().end.unwrap();
    let small = Limits { memory_bytes_max: 56 << 20, fuel: 1_000_000_000, ..limits() };
    run_program(
        &python,
        PYTHON_HOG,
        b"",
        RunContext { limits: small, seed: 0, expired: &mut || false },
    );
    let before = resident_bytes();
    for round in 0..4 {
        let mut most = 0;
        let mut polls = after(40);
        let mut look = || {
            most = most.max(resident_bytes());
            polls()
        };
        let stop = run(&hog, limits(), &mut look).unwrap_err();
        assert_eq!(stop, Stop::Deadline);
        let ran = run_program(
            &python,
            PYTHON_HOG,
            b"",
            RunContext {
                limits: Limits { fuel: 1_000_000_000, ..limits() },
                seed: 0,
                expired: &mut || {
                    most = most.max(resident_bytes());
                    false
                },
            },
        );
        assert_eq!(ran.end, Err(Stop::OutOfFuel));
        assert!(
            ran.used.memory_bytes_peak <= LIMIT && ran.used.memory_bytes_peak > LIMIT - (2 << 20)
        );
        assert!(most >= before + LIMIT / 2, "the guests took no memory: {before} then {most}");
        assert!(most <= before + LIMIT + SLACK, "round {round}: {before}, then {most}");
        let ran = run(&deep, limits(), &mut || false).unwrap();
        assert_eq!(ran.end, Err(Stop::Trap("stack overflow".to_owned())));
        let left = resident_bytes();
        assert!(left <= before + SLACK, "round {round}: {before}, and afterwards {left}");
    }
}

#[test]
fn the_next_guest_sees_zeros_alone() {
    let _turn = alone();
    let (hog, scan) = (program(HOG), program(SCAN));
    let python = sandbox().python().unwrap();
    for _ in 0..3 {
        assert_eq!(run(&hog, limits(), &mut after(40)).unwrap_err(), Stop::Deadline);
        assert_eq!(run(&scan, limits(), &mut || false).unwrap().end, Ok(0));
        let context = RunContext { limits: limits(), seed: 0, expired: &mut after(60) };
        assert_eq!(run_program(&python, PYTHON_HOG, b"", context).end, Err(Stop::Deadline));
        let seen = run(&scan, limits(), &mut || false).unwrap();
        assert_eq!((seen.end, seen.used.memory_bytes_peak), (Ok(0), LIMIT));
    }
}

/// No clock is read here: the time is up when the deadline was looked at often enough.
#[test]
fn a_guest_that_spins_ends_at_the_deadline() {
    const LOOKS: usize = 5;
    let _turn = alone();
    for text in [
        r#"(module (func (export "_start") (loop $again (br $again))))"#,
        r#"(module (memory 100) (func (export "_start")
            (loop $again (memory.fill (i32.const 0) (i32.const 1) (i32.const 6000000)) (br $again))))"#,
        r#"(module
            (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
            (memory (export "memory") 1) (func (export "_start")
            (loop $again (drop (call $random (i32.const 0) (i32.const 60000))) (br $again))))"#,
        r#"(module (func $f (loop $again (br $again))) (start $f) (func (export "_start")))"#,
    ] {
        let stop = run(&program(text), Limits::default(), &mut after(LOOKS)).unwrap_err();
        assert_eq!(stop, Stop::Deadline, "{text}");
    }
    let python = sandbox().python().unwrap();
    for source in [
        "while True: pass",
        "sum(range(10**12))",
        "import re\nre.match('(a|aa)+$', 'a' * 90 + 'b')",
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        "import time\nwhile True: time.time()",
        "import os\nwhile True: os.urandom(1 << 16)",
    ] {
        let context = RunContext { limits: Limits::default(), seed: 0, expired: &mut after(LOOKS) };
        assert_eq!(run_program(&python, source, b"", context).end, Err(Stop::Deadline), "{source}");
    }
    let javascript = JavaScript::new(sandbox()).unwrap();
    for source in ["for (;;);", "/^(a+)+$/.test('a'.repeat(60) + 'b');"] {
        let stop = drive(javascript.run(source, Start::default()), &mut after(LOOKS)).unwrap_err();
        assert_eq!(stop, Stop::Deadline, "{source}");
    }
}

#[test]
fn a_deadline_blames_nobody() {
    let _turn = alone();
    let python = sandbox().python().unwrap();
    let candidate = "def f(x):\n    while True: pass";
    let tests = ["assert f(1) == 1", "try:\n    assert f(1) == 1\nexcept BaseException:\n    pass"];
    for test in tests {
        let task = AssertionTask { candidate, test, ..AssertionTask::default() };
        let context = RunContext { limits: Limits::default(), seed: 0, expired: &mut after(5) };
        assert_eq!(
            run_assertions(&python, &task, context).ruling(),
            Ruling::Stopped(Stop::Deadline),
            "{test}"
        );
    }
    let ran = run_program(
        &python,
        "print(1)",
        b"",
        RunContext { limits: limits(), seed: 0, expired: &mut || false },
    );
    assert_eq!((ran.end, ran.used.stdout.as_slice()), (Ok(0), b"1\n".as_slice()));
}

#[test]
fn many_guests_at_once_are_each_held_to_their_limit() {
    let _turn = alone();
    let hog = program(HOG);
    let small = Limits { memory_bytes_max: 8 << 20, fuel: 300_000_000, ..Limits::default() };
    let peaks: Vec<usize> = std::thread::scope(|scope| {
        let work = || {
            let ran = run(&hog, small.clone(), &mut || false).unwrap();
            assert_eq!(ran.end, Err(Stop::OutOfFuel));
            ran.used.memory_bytes_peak
        };
        let guests: Vec<_> = (0..24).map(|_| scope.spawn(work)).collect();
        guests.into_iter().map(|guest| guest.join().unwrap()).collect()
    });
    assert!(peaks.iter().all(|peak| *peak == 8 << 20), "{peaks:?}");
}
