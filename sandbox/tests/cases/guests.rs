//! Every program of `fixtures/sandbox/guests` ends as its first line says, twice the same, and
//! leaves nothing behind.

use std::fs;
use std::path::Path;

use assay_sandbox::runtime::{Limits, Options, Program, Run, Runtime, Start, Stop, drive};
use libtest_mimic::{Failed, Trial};

fn limits() -> Limits {
    let small = Limits { fuel: 2_000_000_000, memory_bytes_max: 64 << 20, ..Limits::default() };
    Limits { host_calls_max: 50_000, ..small }
}

fn run(program: &Program) -> Run {
    let start = Start { limits: limits(), ..Start::default() };
    drive(program.run(start), &mut || false).unwrap()
}

fn shown(end: &Result<i32, Stop>) -> String {
    match end {
        Ok(code) => format!("exit {code}"),
        Err(Stop::Trap(why)) => format!("trap {why}"),
        Err(stop) => stop.name().to_owned(),
    }
}

fn check(runtime: &Runtime, path: &Path) -> Result<(), Failed> {
    let text = fs::read_to_string(path)?;
    let expected = text.lines().next().and_then(|line| line.strip_prefix(";; expect: "));
    let program = Program::load(runtime, &path.display().to_string(), &wat::parse_str(&text)?)?;
    let (first, second) = (run(&program), run(&program));
    let found = shown(&first.end);
    if !expected.is_some_and(|expected| found.starts_with(expected)) {
        return Err(format!("expected {expected:?}, found {found:?}").into());
    }
    let (fuel, again) = (first.used.fuel, second.used.fuel);
    if (found, fuel) != (shown(&second.end), again) || first.used.stdout != second.used.stdout {
        return Err(format!("the second run differs: fuel {fuel}, then {again}").into());
    }
    Ok(())
}

pub(crate) fn trials() -> Vec<Trial> {
    let runtime = Runtime::new(&Options::default()).unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/sandbox/guests");
    let mut paths: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let trial = |path: std::path::PathBuf| {
        let (runtime, name) =
            (runtime.clone(), path.file_stem().unwrap().to_string_lossy().into_owned());
        Trial::test(name, move || check(&runtime, &path))
    };
    let mut trials: Vec<Trial> = paths.into_iter().map(trial).collect();
    let deadline = move || match deadline(&runtime) {
        Stop::Deadline => Ok(()),
        other => Err(format!("{other}").into()),
    };
    trials.push(Trial::test("a guest gives way so that a deadline is seen", deadline));
    trials
}

fn deadline(runtime: &Runtime) -> Stop {
    let spin = "(module (func (export \"_start\") (loop $again (br $again))))";
    let program = Program::load(runtime, "spin", &wat::parse_str(spin).unwrap()).unwrap();
    let mut looks = 0;
    let end = drive(program.run(Start::default()), &mut || {
        looks += 1;
        looks > 3
    });
    end.unwrap_err()
}
