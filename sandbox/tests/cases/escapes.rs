//! Programs that try to get out, to stay for ever, or to leave something behind. Each one of
//! `fixtures/sandbox/escapes` ends as it should, twice the same, and the next instance is as the
//! first one was.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use assay_sandbox::Sandbox;
use assay_sandbox::isolation::{AssertionTask, Ruling, RunContext, run_assertions, run_program};
use assay_sandbox::languages::javascript::JavaScript;
use assay_sandbox::runtime::{Guest, Limits, Program, Run, Runtime, Start, Stop, drive};
use libtest_mimic::{Failed, Trial};
use serde::Deserialize;

/// Programs of one kind, with what they share.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Family {
    /// Code in front of each.
    #[serde(default)]
    before: String,
    /// How they end, where they do not say.
    ends: Option<String>,
    /// The tests in a second room, where they do not say. Without any they are whole programs.
    test: Option<String>,
    program: Vec<Escape>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Escape {
    name: String,
    #[serde(default)]
    language: Language,
    #[serde(default)]
    stdin: String,
    program: String,
    test: Option<String>,
    /// How its end begins.
    ends: Option<String>,
    /// All that it prints.
    prints: Option<String>,
    /// Part of its complaint.
    says: Option<String>,
    fuel: Option<u64>,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Language {
    #[default]
    Python,
    JavaScript,
    Wat,
}

/// What became of a program. All of it must be the same the next time.
#[derive(Clone, Debug, PartialEq)]
struct Ended {
    end: String,
    stdout: String,
    said: String,
    fuel: u64,
    memory_bytes_peak: usize,
}

struct Guests {
    runtime: Runtime,
    python: Guest,
    javascript: JavaScript,
}

const MEMORY_BYTES_MAX: usize = 76 << 20;

fn limits(fuel: Option<u64>) -> Limits {
    Limits {
        fuel: fuel.unwrap_or(600_000_000),
        memory_bytes_max: MEMORY_BYTES_MAX,
        output_bytes_max: 256 << 10,
        host_calls_max: 10_000,
        ..Limits::default()
    }
}

impl Guests {
    fn of(sandbox: &Sandbox) -> Self {
        Self {
            runtime: sandbox.runtime().unwrap(),
            python: sandbox.python().unwrap(),
            javascript: JavaScript::new(sandbox).unwrap(),
        }
    }

    fn run(&self, escape: &Escape) -> Ended {
        let start = Start {
            limits: limits(escape.fuel),
            stdin: escape.stdin.as_bytes().to_vec(),
            ..Start::default()
        };
        match (escape.language, &escape.test) {
            (Language::Python, Some(test)) => self.tested(escape, test),
            (Language::Python, None) => self.python(escape),
            (Language::JavaScript, _) => {
                ended(&drive(self.javascript.run(&escape.program, start), &mut || false).unwrap())
            }
            (Language::Wat, _) => {
                let wasm = wat::parse_str(&escape.program).expect(&escape.name);
                match Program::load(&self.runtime, "guest", &wasm) {
                    Ok(program) => ended(&drive(program.run(start), &mut || false).unwrap()),
                    Err(error) => Ended {
                        end: "refused".to_owned(),
                        stdout: String::new(),
                        said: error.to_string(),
                        fuel: 0,
                        memory_bytes_peak: 0,
                    },
                }
            }
        }
    }

    fn python(&self, escape: &Escape) -> Ended {
        let context = RunContext { limits: limits(escape.fuel), seed: 0, expired: &mut || false };
        ended(&run_program(&self.python, &escape.program, escape.stdin.as_bytes(), context))
    }

    fn tested(&self, escape: &Escape, test: &str) -> Ended {
        let entry_points = ["f".to_owned()];
        let (candidate, entry_points) = (escape.program.as_str(), entry_points.as_slice());
        let task = AssertionTask { candidate, test, entry_points, ..AssertionTask::default() };
        let context = RunContext { limits: limits(escape.fuel), seed: 0, expired: &mut || false };
        let judged = run_assertions(&self.python, &task, context);
        let end = match judged.ruling() {
            Ruling::Passed => "passed".to_owned(),
            Ruling::Failed => "failed".to_owned(),
            Ruling::BadTests(why) => format!("bad tests: {why}"),
            Ruling::Stopped(stop) => format!("stopped: {stop}"),
        };
        let failures = judged.tests.iter().filter_map(|test| test.error.clone());
        let said = [judged.poisoned, judged.error].into_iter().flatten().chain(failures);
        Ended {
            end,
            stdout: text(&judged.used.stdout),
            said: said.collect::<Vec<_>>().join("\n"),
            fuel: judged.used.fuel,
            memory_bytes_peak: judged.used.memory_bytes_peak,
        }
    }
}

fn ended(run: &Run) -> Ended {
    let end = match &run.end {
        Ok(code) => format!("exit {code}"),
        Err(Stop::Trap(why)) => format!("trap {why}"),
        Err(stop) => stop.name().to_owned(),
    };
    Ended {
        end,
        stdout: text(&run.used.stdout),
        said: text(&run.used.stderr),
        fuel: run.used.fuel,
        memory_bytes_peak: run.used.memory_bytes_peak,
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Programs that do nothing wrong: what they come to says whether an instance is fresh.
fn honest() -> [Escape; 3] {
    let python = "import os, random, sys, time\n\
        print(sorted({'b', 'a'}), random.random(), time.time(), len(sys.modules), dict(os.environ))";
    let javascript = "console.log([1, 2].map(String), Math.random(), Date.now())";
    let wat = "(module (memory (export \"memory\") 900) (func (export \"_start\") (local $at i32)\n\
        (loop $again\n\
          (if (i64.ne (i64.load (local.get $at)) (i64.const 0)) (then unreachable))\n\
          (br_if $again (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 64)))\n\
            (i32.const 58000000))))))";
    let escape = |language, program: &str| Escape {
        name: "honest".to_owned(),
        language,
        stdin: String::new(),
        program: program.to_owned(),
        test: None,
        ends: None,
        prints: None,
        says: None,
        fuel: None,
    };
    [
        escape(Language::Python, python),
        escape(Language::JavaScript, javascript),
        escape(Language::Wat, wat),
    ]
}

fn check(guests: &Guests, escape: &Escape, fresh: &[(Escape, Ended)]) -> Result<(), Failed> {
    let found = guests.run(escape);
    let told =
        format!("found {:?}, {:?}, {:?}", found.end, short(&found.stdout), last(&found.said));
    let wanted = escape.ends.as_deref().ok_or("how it ends is not said")?;
    if !found.end.starts_with(wanted) {
        return Err(format!("expected {wanted:?}; {told}").into());
    }
    if escape.prints.as_ref().is_some_and(|prints| *prints != found.stdout) {
        return Err(format!("expected to print {:?}; {told}", escape.prints).into());
    }
    if escape.says.as_ref().is_some_and(|says| !found.said.contains(says)) {
        return Err(format!("expected a complaint of {:?}; {told}", escape.says).into());
    }
    if found.memory_bytes_peak > MEMORY_BYTES_MAX {
        return Err(format!("had {} bytes of memory", found.memory_bytes_peak).into());
    }
    if guests.run(escape) != found {
        return Err("the second run differs".into());
    }
    match fresh.iter().find(|(program, ended)| guests.run(program) != *ended) {
        Some((program, ended)) => {
            Err(format!("the next instance is not fresh: {:?}, was {ended:?}", guests.run(program))
                .into())
        }
        None => Ok(()),
    }
}

fn short(text: &str) -> String {
    text.chars().take(80).collect()
}

fn last(text: &str) -> String {
    short(text.trim_end().lines().next_back().unwrap_or_default())
}

/// Every program, with what its family says for all of them.
fn escapes() -> Vec<(String, Escape)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/sandbox/escapes");
    let mut paths: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let mut escapes = Vec::new();
    for path in paths {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let family: Family = toml::from_str(&fs::read_to_string(&path).unwrap())
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for mut escape in family.program {
            escape.program.insert_str(0, &family.before);
            escape.ends = escape.ends.or_else(|| family.ends.clone());
            escape.test = escape.test.or_else(|| family.test.clone());
            escapes.push((name.clone(), escape));
        }
    }
    escapes
}

fn enough(escapes: &[(String, Escape)]) -> Result<(), Failed> {
    let mut families: Vec<&String> = escapes.iter().map(|(family, _)| family).collect();
    families.dedup();
    if escapes.len() >= 110 && families.len() >= 8 {
        Ok(())
    } else {
        Err(format!("{} programs in {} families", escapes.len(), families.len()).into())
    }
}

pub(crate) fn trials(sandbox: &Sandbox) -> Vec<Trial> {
    let guests = Guests::of(sandbox);
    // Before anything else has run.
    let fresh = honest().map(|program| {
        let ended = guests.run(&program);
        (program, ended)
    });
    let shared = Arc::new((guests, fresh));
    let escapes = escapes();
    let count = enough(&escapes);
    let mut trials = vec![Trial::test("there are enough programs", || count)];
    trials.extend(escapes.into_iter().map(|(family, escape)| {
        let shared = Arc::clone(&shared);
        let name = format!("{family}: {}", escape.name);
        Trial::test(name, move || check(&shared.0, &escape, &shared.1))
    }));
    trials
}
