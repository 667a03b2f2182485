//! Every program of `fixtures/sandbox/javascript` writes what node writes, and ends as node does:
//! the `.out` files are what node wrote, given the `.in` file or `input.txt`; esbuild took the types out of what
//! node was given of the `.ts` files. Hostile programs end as they should.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assay_sandbox::Sandbox;
use assay_sandbox::languages::javascript::JavaScript;
use assay_sandbox::runtime::{Limits, Run, Start, Stop, drive};
use libtest_mimic::{Failed, Trial};

fn run(guest: &JavaScript, source: &str, start: Start) -> Run {
    drive(guest.run(source, start), &mut || false).unwrap()
}

fn start(stdin: &[u8]) -> Start {
    let limits = Limits { fuel: 20_000_000_000, ..Limits::default() };
    Start { limits, stdin: stdin.to_vec(), ..Start::default() }
}

fn like_node(guest: &JavaScript, path: &Path) -> Result<(), Failed> {
    let is_typed = path.extension().is_some_and(|ending| ending == "ts");
    let guest = &if is_typed { guest.clone().typed() } else { guest.clone() };
    let source = fs::read_to_string(path)?;
    let head = source.lines().next().and_then(|line| line.strip_prefix("// exit "));
    let code = head.map_or(Ok(0), str::parse)?;
    let input = fs::read(path.with_extension("in"))
        .or_else(|_| fs::read(path.with_file_name("input.txt")))?;
    let wanted = fs::read_to_string(path.with_extension("out"))?;
    let (first, second) = (run(guest, &source, start(&input)), run(guest, &source, start(&input)));
    let found = String::from_utf8_lossy(&first.used.stdout);
    let differs = found.lines().zip(wanted.lines()).find(|(found, wanted)| found != wanted);
    if let Some((found, wanted)) = differs {
        return Err(format!("expected {wanted:?}, found {found:?}").into());
    }
    if (first.end.clone(), found.len()) != (Ok(code), wanted.len()) {
        let stderr = String::from_utf8_lossy(&first.used.stderr);
        return Err(format!("ended with {:?}: {stderr}", first.end).into());
    }
    if (first.used.fuel, first.used.stdout) != (second.used.fuel, second.used.stdout) {
        return Err("the second run differs".into());
    }
    Ok(())
}

/// A program, and whether it ended as it should.
type Hostile = (&'static str, &'static str, fn(&Run) -> bool);

const HOSTILE: &[Hostile] = &[
    ("spins", "for (;;);", |run| run.end == Err(Stop::OutOfFuel)),
    // Each of the promises waits for the next, so that memory may end before fuel does.
    ("spins in promises", "const f = () => Promise.resolve().then(f); f();", |run| {
        matches!(run.end, Err(Stop::OutOfFuel) | Ok(1))
    }),
    ("a regex that explodes", "/^(a+)+$/.test('a'.repeat(60) + 'b');", |run| {
        run.end == Err(Stop::OutOfFuel)
    }),
    ("sleeps", "setTimeout(() => {}, 1e9);", |run| run.end == Err(Stop::SleptTooLong)),
    ("fills memory", "const a = []; for (;;) a.push(new Uint8Array(1 << 20).fill(1));", |run| {
        run.end == Ok(1) && run.used.memory_bytes_peak <= 512 << 20
    }),
    ("one text that is too long", "let s = 'x'; for (;;) s += s;", |run| run.end == Ok(1)),
    ("floods its output", "for (;;) console.log('x'.repeat(1000));", |run| {
        run.end == Err(Stop::TooMuchOutput) && run.used.stdout.len() == 4 << 20
    }),
    ("looks for files", "require('fs').readFileSync('/etc/passwd');", |run| {
        run.end == Ok(1) && String::from_utf8_lossy(&run.used.stderr).contains("ENOENT")
    }),
    ("looks for the environment", "console.log(Object.keys(process.env).length);", |run| {
        run.used.stdout == b"0\n"
    }),
    ("starts a process", "require('child_process').execSync('id');", |run| run.end == Ok(1)),
    ("ends before it is asked", "process.stdout.write('a'); process.exit(0); console.log(1);", {
        |run| run.end == Ok(0) && run.used.stdout == b"a"
    }),
    ("an early line is shown", "console.log('start'); for (;;);", |run| {
        run.used.stdout == b"start\n"
    }),
    ("NUL in a program", "console.log('a\0b'.length);", |run| run.used.stdout == b"3\n"),
    ("breaks out of its function", "}); console.log(1); (function () {", |run| run.end.is_ok()),
];

fn random(guest: &JavaScript) -> Result<(), Failed> {
    let draw =
        |seed| run(guest, "console.log(Math.random())", Start { seed, ..start(b"") }).used.stdout;
    if draw(1) == draw(1) && draw(1) != draw(2) {
        Ok(())
    } else {
        Err("random numbers do not follow the seed".into())
    }
}

fn arguments(guest: &JavaScript) -> Result<(), Failed> {
    let args = vec!["a b".to_owned(), "ü".to_owned()];
    let source = "console.log(process.argv.slice(2))";
    let run = run(guest, source, Start { args, ..start(b"") });
    if run.used.stdout == "[ 'a b', 'ü' ]\n".as_bytes() {
        Ok(())
    } else {
        Err("arguments differ".into())
    }
}

fn same_fuel(guest: &JavaScript) -> Result<(), Failed> {
    let fuel = || run(guest, "console.log('hello')", start(b"")).used.fuel;
    let first = fuel();
    if (0..100).all(|_| fuel() == first) { Ok(()) } else { Err("the fuel differs".into()) }
}

fn programs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/sandbox/javascript");
    let mut paths: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| {
        path.extension().is_some_and(|ending| ending == "js" || ending == "mjs" || ending == "ts")
    });
    paths.sort();
    paths
}

type Test = Box<dyn Fn(&JavaScript) -> Result<(), Failed> + Send>;

fn of_guest(guest: &Arc<JavaScript>) -> Vec<Trial> {
    let trial = |name: String, test: Test| {
        let guest = Arc::clone(guest);
        Trial::test(name, move || test(&guest))
    };
    let mut trials: Vec<Trial> = Vec::new();
    for path in programs() {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        trials.push(trial(name, Box::new(move |guest| like_node(guest, &path))));
    }
    for &(name, source, holds) in HOSTILE {
        let test = move |guest: &JavaScript| {
            let run = run(guest, source, start(b""));
            let stderr = String::from_utf8_lossy(&run.used.stderr).into_owned();
            let told = || Failed::from(format!("{:?} {stderr}", run.end));
            if holds(&run) { Ok(()) } else { Err(told()) }
        };
        trials.push(trial(name.to_owned(), Box::new(test)));
    }
    trials.push(trial("the seed decides chance".to_owned(), Box::new(random)));
    trials.push(trial("arguments".to_owned(), Box::new(arguments)));
    trials.push(trial("the same fuel in 100 runs".to_owned(), Box::new(same_fuel)));
    trials
}

pub(crate) fn trials(sandbox: &Sandbox) -> Vec<Trial> {
    of_guest(&Arc::new(JavaScript::new(sandbox).unwrap()))
}
