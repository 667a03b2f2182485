//! Programs of C and C++. Those of `fixtures/sandbox/c` write what they write on a machine of their
//! own: the `.out` files are what GCC's programs wrote. Hostile ones reach nothing, neither as
//! sources nor as programs. `make assets-c` builds the toolchain, without which all of it fails.

mod hostile_c;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assay_sandbox::languages::c::{Compiler, Dialect, Refused};
use assay_sandbox::runtime::{Limits, Program, Run, Start, drive};
use assay_sandbox::{Sandbox, verifiers};
use assay_verifiers::Files;
use assay_verifiers::cases::{self, Case};
use libtest_mimic::{Failed, Trial};

use hostile_c::{HOSTILE, Hostile};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name)
}

fn run(program: &Program, stdin: &[u8]) -> Run {
    let limits = Limits { fuel: 20_000_000_000, ..Limits::default() };
    let start = Start { limits, stdin: stdin.to_vec(), ..Start::default() };
    drive(program.run(start), &mut || false).unwrap()
}

fn like_gcc(compiler: &Compiler, path: &Path) -> Result<(), Failed> {
    let source = fs::read_to_string(path)?;
    let program = compiler.compile(dialect(path), &source, &|| false);
    let program = program.map_err(|refused| format!("{refused:?}"))?;
    let input = fs::read(path.with_extension("in"))?;
    let wanted = fs::read_to_string(path.with_extension("out"))?;
    let (first, second) = (run(&program, &input), run(&program, &input));
    let found = String::from_utf8_lossy(&first.used.stdout);
    if (first.end.clone(), &*found) != (Ok(0), &wanted) {
        let stderr = String::from_utf8_lossy(&first.used.stderr);
        return Err(format!("{:?}, wrote {found:?}, not {wanted:?}: {stderr}", first.end).into());
    }
    if (first.used.fuel, first.used.stdout) != (second.used.fuel, second.used.stdout) {
        return Err("the second run differs".into());
    }
    Ok(())
}

fn dialect(path: &Path) -> Dialect {
    if path.extension().is_some_and(|ending| ending == "c") { Dialect::C } else { Dialect::Cpp }
}

fn hostile(compiler: &Compiler, case: &Hostile) -> Result<(), Failed> {
    let program = compiler.compile(case.dialect, &(case.source)(), &|| false);
    let end = program.map(|program| run(&program, b"input"));
    let told = match &end {
        Ok(run) => format!("{:?} {}", run.end, String::from_utf8_lossy(&run.used.stdout)),
        Err(refused) => format!("{refused:?}"),
    };
    if (case.holds)(&end) { Ok(()) } else { Err(told.chars().take(500).collect::<String>().into()) }
}

fn the_same_bytes(compiler: &Compiler) -> Result<(), Failed> {
    let source = "#include <iostream>\nint main() { std::cout << __DATE__ __TIME__ << __LINE__; }";
    let digest = || compiler.compile(Dialect::Cpp, source, &|| false).map(|p| p.digest());
    let (Ok(first), Ok(second)) = (digest(), digest()) else { return Err("refused".into()) };
    if first == second { Ok(()) } else { Err("two compilations differ".into()) }
}

fn the_time_is_up(compiler: &Compiler) -> Result<(), Failed> {
    let refused = compiler.compile(Dialect::C, "int main(void) {}", &|| true).err();
    match refused {
        Some(Refused::Fault(fault)) if fault.why.contains("out of time") => Ok(()),
        other => Err(format!("{other:?}").into()),
    }
}

fn judged(sandbox: &Arc<Sandbox>, case: &Case) -> Result<(), Failed> {
    let entry = verifiers::ALL.iter().find(|entry| entry.about.id == "stdin_stdout").unwrap();
    let build = |settings, files: &dyn Files| (entry.build)(sandbox, settings, files);
    let verdict = case.run(build).map_err(|error| error.to_string())?;
    case.disagreement(&verdict).map_or(Ok(()), |why| Err(why.into()))
}

fn programs() -> Vec<PathBuf> {
    let entries = fs::read_dir(folder("fixtures/sandbox/c")).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "c" || ending == "cpp"));
    paths.sort();
    assert!(paths.len() >= 12, "only {} programs", paths.len());
    paths
}

type Test = Box<dyn Fn(&Compiler) -> Result<(), Failed> + Send>;

pub(crate) fn trials(sandbox: &Arc<Sandbox>) -> Vec<Trial> {
    // Which dialect tries the compiler first makes no difference to it.
    let compiler = Arc::new(Compiler::new(sandbox, Dialect::C).unwrap());
    let trial = |name: String, test: Test| {
        let compiler = Arc::clone(&compiler);
        Trial::test(name, move || test(&compiler))
    };
    let mut trials: Vec<Trial> = Vec::new();
    for path in programs() {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        trials.push(trial(name, Box::new(move |compiler| like_gcc(compiler, &path))));
    }
    for case in HOSTILE {
        let name = format!("hostile: {}", case.name);
        trials.push(trial(name, Box::new(move |compiler| hostile(compiler, case))));
    }
    trials.push(trial("the same source, the same bytes".to_owned(), Box::new(the_same_bytes)));
    trials.push(trial("the time is up".to_owned(), Box::new(the_time_is_up)));
    let file = fs::read_to_string(folder("fixtures/sandbox/c/stdin_stdout.toml")).unwrap();
    trials.extend(cases::parse(&file).unwrap().cases.into_iter().map(|case| {
        let sandbox = Arc::clone(sandbox);
        Trial::test(format!("stdin_stdout: {}", case.name), move || judged(&sandbox, &case))
    }));
    trials
}
