//! How a program of a request is run: in the sandbox, within its limits, and only while somebody waits.
//!
//! Fuel decides whether a program is out of time: a second is what the guest's own clock says. The real
//! clock is a backstop. No more programs run at once than the machine has cores.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use assay_verifiers::{BuildError, Cancellation, Fault, FaultKind, Meter};
use tokio::sync::Semaphore;

use super::super::error::{ApiError, ErrorKind};
use super::super::runtime::now;
use super::super::shared::Asked;
use super::program_files::ProgramFiles;
use crate::sandbox::Sandbox;
use crate::sandbox::execute::{Executor, Input, Uncompiled, Written};
use crate::sandbox::runtime::{Limits, Run, Stop};

/// A program, and what it may use.
pub(super) struct Program {
    pub(super) language: &'static Language,
    pub(super) source: String,
    pub(super) args: Vec<String>,
    pub(super) files: ProgramFiles,
    pub(super) stdin: String,
    /// The longest that compiling may take.
    pub(super) compile: Duration,
    /// The longest that the program may run, on its own clock.
    pub(super) run: Duration,
    /// The most memory, in bytes.
    pub(super) memory: Option<u64>,
}

/// How a stage ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// With an exit code.
    Code(i32),
    /// It was out of time.
    OutOfTime,
    /// It wrote more than it may.
    TooMuchOutput,
    /// A limit of memory or of calls was reached.
    Killed,
    /// It ran into a trap, such as `unreachable` or an address that there is not.
    Trap,
}

/// Compiling, or the run.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) end: End,
    /// What stopped it, for people.
    pub(super) why: Option<String>,
    /// How long it took.
    pub(super) took: Duration,
    /// What it took on the guest's own clock.
    pub(super) counted: Duration,
    /// The most memory that it had, in bytes.
    pub(super) memory: usize,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// What became of a program. There is no run where compiling failed.
#[derive(Debug)]
pub(super) struct Ran {
    pub(super) compile: Option<Stage>,
    pub(super) run: Option<Stage>,
}

/// The most memory that a program may ask for.
const MEMORY_BYTES_MAX: usize = 1 << 30;

/// A language of programs.
#[derive(Debug)]
pub(super) struct Language {
    pub(super) written: Written,
    /// What it is called.
    pub(super) name: &'static str,
    /// What else it is called.
    pub(super) aliases: &'static [&'static str],
    /// The version that programs see: of the interpreter, or the year of the standard.
    pub(super) version: [u32; 3],
    /// What a program is called that has no name.
    pub(super) main: &'static str,
    /// Whether its programs are compiled, which is told apart from their run.
    is_compiled: bool,
}

/// The languages of this build.
static LANGUAGES: &[Language] = &[
    Language {
        written: Written::Python,
        name: "python",
        aliases: &["python3", "py", "py3"],
        version: [3, 14, 0],
        main: "main.py",
        is_compiled: false,
    },
    Language {
        written: Written::JavaScript,
        name: "javascript",
        aliases: &["nodejs", "node", "js"],
        version: [22, 0, 0],
        main: "main.js",
        is_compiled: false,
    },
    Language {
        written: Written::TypeScript,
        name: "typescript",
        aliases: &["ts"],
        version: [5, 9, 0],
        main: "main.ts",
        is_compiled: false,
    },
    #[cfg(feature = "c")]
    Language {
        written: Written::C,
        name: "c",
        aliases: &["gcc"],
        version: [17, 0, 0],
        main: "main.c",
        is_compiled: true,
    },
    #[cfg(feature = "c")]
    Language {
        written: Written::Cpp,
        name: "c++",
        aliases: &["cpp", "g++"],
        version: [20, 0, 0],
        main: "main.cpp",
        is_compiled: true,
    },
];

impl Language {
    /// The languages of this build.
    pub(super) fn all() -> impl Iterator<Item = &'static Self> {
        LANGUAGES.iter()
    }

    /// The language of this build that goes by a name.
    pub(super) fn of_name(name: &str) -> Option<&'static Self> {
        Self::all().find(|one| one.names().any(|own| own == name))
    }

    /// What it is called, the usual name first.
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.aliases.iter().copied())
    }
}

/// Mebibytes in bytes, at least one.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float beyond the range becomes its end"
)]
pub(super) fn mebibytes(count: f64) -> u64 {
    (count.max(1.0) * f64::from(1 << 20)) as u64
}

/// Refuses where the operator runs no programs.
pub(super) fn check(asked: &Asked) -> Result<(), ApiError> {
    if asked.shared.sandbox.is_some() {
        return Ok(());
    }
    let why = "programs of requests are not run here: `run_programs = true` in [serve] of the \
               configuration turns it on";
    Err(ApiError::new(ErrorKind::NotFound, why))
}

/// Fuel of a second on a guest's own clock.
const FUEL_PER_SECOND: f64 = 1e10;
/// The most programs that run at once on a machine of many cores: a sandbox has room for twice as many.
const AT_ONCE_MAX: usize = 64;
/// Real time that a program may take beyond twice what it may take on its own clock.
const GRACE: Duration = Duration::from_secs(1);

/// Programs that may run at once: one a core.
static CORES: LazyLock<Semaphore> = LazyLock::new(|| {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    Semaphore::new(cores.min(AT_ONCE_MAX))
});

/// Runs a program once there is a permit and a core for it. It is stopped when the caller is dropped,
/// and at the deadline of the request, which is then refused: nothing is known of the program.
pub(super) async fn run(asked: &Asked, program: Program) -> Result<Ran, ApiError> {
    let sandbox = asked.shared.sandbox.clone();
    let sandbox = sandbox.ok_or_else(|| ApiError::new(ErrorKind::NotFound, "no sandbox"))?;
    let until = asked.until();
    let permit = asked.enter(1).await?;
    let _running = asked.trace.step("run", 1);
    let core = tokio::time::timeout_at(until.into(), CORES.acquire()).await;
    let Ok(Ok(core)) = core else {
        return Err(ApiError::overloaded("no core within the deadline"));
    };
    let most = Duration::from_millis(asked.shared.config.deadline_ms);
    let program = Program { run: program.run.min(most), ..program };
    let waiting = Waiting(Arc::default());
    let left = Arc::clone(&waiting.0);
    let work = tokio::task::spawn_blocking(move || {
        let _held = (permit, core);
        Work { program, left, until }.run(&sandbox)
    });
    let done = work.await;
    drop(waiting);
    done.unwrap_or_else(|_| Err(ApiError::fault(&Fault::internal("the sandbox panicked"))))
}

/// Somebody waits for the answer.
struct Waiting(Arc<AtomicBool>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

struct Work {
    program: Program,
    /// Nobody waits any more.
    left: Arc<AtomicBool>,
    /// The deadline of the request.
    until: Instant,
}

/// Ends a stage.
struct Backstop<'a> {
    left: &'a AtomicBool,
    until: Instant,
}

impl Cancellation for Backstop<'_> {
    fn expired(&self) -> bool {
        self.left.load(Ordering::Relaxed) || now() >= self.until
    }
}

impl Work {
    fn run(&self, sandbox: &Arc<Sandbox>) -> Result<Ran, ApiError> {
        let broken = |error: BuildError| ApiError::fault(&Fault::internal(error.to_string()));
        let executor = Executor::of(sandbox, &self.program.language.written).map_err(broken)?;
        let Program { source, stdin, args, files, compile, .. } = &self.program;
        let start = now();
        let backstop = self.backstop(start, *compile);
        let compiled = executor.compile(source, &meter(&backstop));
        let took = start.elapsed();
        let executable = match compiled {
            Ok(executable) => executable,
            Err(why) => {
                let compile = Some(self.uncompiled(why, took)?);
                return Ok(Ran { compile, run: None });
            }
        };
        let compile = self.program.language.is_compiled.then(|| stage(End::Code(0), took));
        let limits = limits(&self.program);
        let start = now();
        let backstop = self.backstop(start, self.program.run * 2 + GRACE);
        let files = Some((&files.files, files.path.as_str()));
        let run = executable.run(Input { stdin, args, files }, &limits, &meter(&backstop));
        Ok(Ran { compile, run: Some(self.ended(run, start.elapsed())?) })
    }

    fn backstop(&self, start: Instant, most: Duration) -> Backstop<'_> {
        let until = start.checked_add(most).map_or(self.until, |end| end.min(self.until));
        Backstop { left: &self.left, until }
    }

    /// What the request is told where its own deadline has passed.
    fn in_time(&self) -> Result<(), ApiError> {
        if self.left.load(Ordering::Relaxed) || now() >= self.until {
            let why = "the deadline of the request passed";
            return Err(ApiError::fault(&Fault::new(FaultKind::Timeout, why)));
        }
        Ok(())
    }

    fn uncompiled(&self, why: Uncompiled, took: Duration) -> Result<Stage, ApiError> {
        let fault = match why {
            Uncompiled::Source(messages) => {
                return Ok(Stage { stderr: messages, ..stage(End::Code(1), took) });
            }
            Uncompiled::Fault(fault) => fault,
        };
        let end = match fault.kind {
            FaultKind::Timeout => {
                self.in_time()?;
                End::OutOfTime
            }
            FaultKind::OutOfMemory => End::Killed,
            _ => return Err(ApiError::fault(&fault)),
        };
        Ok(Stage { why: Some(fault.why.to_string()), ..stage(end, took) })
    }

    fn ended(&self, run: Run, took: Duration) -> Result<Stage, ApiError> {
        let end = match &run.end {
            Ok(code) | Err(Stop::Exit(code)) => End::Code(*code),
            Err(Stop::Deadline) => {
                self.in_time()?;
                End::OutOfTime
            }
            Err(Stop::OutOfFuel | Stop::SleptTooLong) => End::OutOfTime,
            Err(Stop::TooMuchOutput) => End::TooMuchOutput,
            Err(Stop::OutOfMemory | Stop::TooManyCalls | Stop::TooLarge) => End::Killed,
            Err(Stop::Trap(_)) => End::Trap,
            Err(stop @ Stop::Internal(_)) => {
                return Err(ApiError::fault(&Fault::new(stop.fault_kind(), stop.to_string())));
            }
        };
        Ok(Stage {
            why: run.end.err().map(|stop| stop.to_string()),
            counted: counted(run.used.fuel),
            memory: run.used.memory_bytes_peak,
            stdout: text(&run.used.stdout),
            stderr: text(&run.used.stderr),
            ..stage(end, took)
        })
    }
}

/// A stage that wrote nothing.
fn stage(end: End, took: Duration) -> Stage {
    let (stdout, stderr) = (String::new(), String::new());
    Stage { end, why: None, took, counted: Duration::ZERO, memory: 0, stdout, stderr }
}

fn meter<'a>(backstop: &'a Backstop<'_>) -> Meter<'a> {
    Meter::default().with_cancellation(backstop)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a float beyond the range becomes its end"
)]
fn limits(program: &Program) -> Limits {
    let common = Limits::default();
    let memory = program.memory.map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
    Limits {
        fuel: (program.run.as_secs_f64() * FUEL_PER_SECOND) as u64,
        memory_bytes_max: memory.unwrap_or(common.memory_bytes_max).min(MEMORY_BYTES_MAX),
        sleep_ms_max: u64::try_from(program.run.as_millis()).unwrap_or(u64::MAX),
        ..common
    }
}

#[expect(clippy::cast_precision_loss, reason = "a time needs no more digits")]
fn counted(fuel: u64) -> Duration {
    Duration::try_from_secs_f64(fuel as f64 / FUEL_PER_SECOND).unwrap_or_default()
}
