//! A process that reads what nobody trusts: it sees one folder and may write nothing. What it reads
//! comes by a pipe, what it makes goes to memory, so it leaves nothing behind.

use std::error::Error;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::FileExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, PathBeneath, PathFd,
    Ruleset, RulesetAttr as _, RulesetCreatedAttr as _, RulesetStatus, Scope,
};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, prlimit};

/// Seconds of the processor's time.
const CPU_SECONDS_MAX: u64 = 10;
/// Address space, the program itself included.
const ADDRESS_SPACE_BYTES_MAX: u64 = 2 << 30;
/// The largest output. Arrays of a program are in its object file as zeros.
const OUTPUT_BYTES_MAX: u64 = 320 << 20;
/// What is read of its messages.
const MESSAGES_BYTES_MAX: usize = 16 << 10;
/// Deep templates and expressions recurse in the compiler.
const STACK_BYTES_MAX: u64 = 64 << 20;
/// The time between two looks at a process.
const LOOK_EVERY: Duration = Duration::from_millis(1);
/// Looks at a process that uses no time of the processor and does not end either.
const LOOKS_MAX: u32 = 120_000;

/// What is run: a program of a folder, in that folder.
pub(super) struct Job<'a> {
    pub(super) folder: &'a Path,
    pub(super) program: &'a str,
    pub(super) args: &'a [&'a str],
    pub(super) input: &'a [u8],
}

/// How it ended.
#[derive(Debug)]
pub(super) enum End {
    /// With what it made.
    Done(Vec<u8>),
    /// It failed, with these messages.
    Failed(Vec<u8>),
    /// It made too much.
    TooLarge,
    OutOfTime,
    OutOfMemory,
    /// It could not be run, or crashed.
    Broken(String),
}

/// Runs a job to its end.
pub(super) fn run(job: &Job<'_>, expired: &(dyn Fn() -> bool + Sync)) -> End {
    let broken = |error: io::Error| End::Broken(error.to_string());
    // The rules hold for one thread and the processes that it starts, so the thread is made for
    // them and ends with the job.
    thread::scope(|scope| {
        let job = thread::Builder::new().spawn_scoped(scope, || {
            confine(job.folder, job.program).map_err(End::Broken)?;
            confined(job, expired).map_err(broken)
        });
        match job.map(thread::ScopedJoinHandle::join) {
            Ok(Ok(Ok(end) | Err(end))) => end,
            Ok(Err(_)) => End::Broken("a thread ended too early".to_owned()),
            Err(error) => broken(error),
        }
    })
}

/// From here on the thread may read files of `folder`, execute `program`, and nothing else.
fn confine(folder: &Path, program: &str) -> Result<(), String> {
    let needs = "the compiler runs only where Landlock confines it (Linux 5.13 or later)";
    match rules(folder, program) {
        Ok(RulesetStatus::NotEnforced) => Err(needs.to_owned()),
        Ok(_) => Ok(()),
        Err(error) => Err(format!("{needs}: {error}")),
    }
}

fn rules(folder: &Path, program: &str) -> Result<RulesetStatus, Box<dyn Error>> {
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(ABI::V1))?
        // What later kernels can forbid is forbidden there.
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(ABI::V6))?
        .handle_access(AccessNet::from_all(ABI::V6))?
        .scope(Scope::from_all(ABI::V6))?
        .create()?;
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    let execute = AccessFs::ReadFile | AccessFs::Execute;
    let confined = ruleset
        .add_rule(PathBeneath::new(PathFd::new(folder)?, read))?
        .add_rule(PathBeneath::new(PathFd::new(folder.join(program))?, execute))?
        .restrict_self()?;
    Ok(confined.ruleset)
}

fn confined(job: &Job<'_>, expired: &dyn Fn() -> bool) -> io::Result<End> {
    let (mut output, messages) = (memory("output")?, memory("messages")?);
    let child = Command::new(job.folder.join(job.program))
        .args(job.args)
        .current_dir(job.folder)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(output.try_clone()?)
        .stderr(messages.try_clone()?)
        .process_group(0)
        .spawn()?;
    let mut child = Running(child);
    // It waits for its input, which it gets once it is held to its limits.
    child.limit()?;
    child.feed(job.input)?;
    // After an error, clang still reads its input to the end, however long that takes.
    let given_up = || said(&messages).is_ok_and(|said| contains(&said, GIVEN_UP));
    let status = child.wait(&|| expired() || given_up())?;
    let said = said(&messages)?;
    let mut made = Vec::new();
    output.rewind()?;
    output.read_to_end(&mut made)?;
    Ok(ended(status, made, said))
}

/// What clang says when it has found enough errors.
const GIVEN_UP: &[u8] = b"too many errors emitted";

/// The beginning of what a process has written so far.
fn said(messages: &File) -> io::Result<Vec<u8>> {
    let mut said = vec![0; MESSAGES_BYTES_MAX];
    let length = messages.read_at(&mut said, 0)?;
    said.truncate(length);
    Ok(said)
}

/// A file that is in memory alone.
fn memory(name: &str) -> io::Result<File> {
    Ok(memfd_create(name, MemfdFlags::CLOEXEC)?.into())
}

fn ended(status: Option<ExitStatus>, made: Vec<u8>, said: Vec<u8>) -> End {
    let is = |one: Signal| status.and_then(|status| status.signal()) == Some(one.as_raw());
    match status.and_then(|status| status.code()) {
        Some(0) => End::Done(made),
        Some(1) => End::Failed(said),
        _ if contains(&said, GIVEN_UP) => End::Failed(said),
        _ if status.is_none() || is(Signal::XCPU) => End::OutOfTime,
        _ if is(Signal::XFSZ) => End::TooLarge,
        _ if contains(&said, b"out of memory") => End::OutOfMemory,
        _ => {
            End::Broken(status.map_or_else(String::new, |status| format!("it crashed ({status})")))
        }
    }
}

fn contains(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|part| part == word)
}

/// A process that does not outlive its owner.
struct Running(Child);

impl Running {
    fn limit(&self) -> io::Result<()> {
        // Without a number the limits would be our own.
        let pid = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw);
        let pid = pid.ok_or_else(|| io::Error::other("a process without a number"))?;
        let limits = [
            (Resource::Cpu, CPU_SECONDS_MAX),
            (Resource::As, ADDRESS_SPACE_BYTES_MAX),
            (Resource::Fsize, OUTPUT_BYTES_MAX),
            (Resource::Stack, STACK_BYTES_MAX),
            (Resource::Nproc, 0),
            (Resource::Core, 0),
        ];
        for (resource, most) in limits {
            // The hard limit of time comes later: it kills without a name. A limit that the
            // process has from us already cannot be raised.
            let hard = if resource == Resource::Cpu { most + 2 } else { most };
            let hard = getrlimit(resource).maximum.map_or(hard, |have| have.min(hard));
            let limit = Rlimit { current: Some(most.min(hard)), maximum: Some(hard) };
            prlimit(Some(pid), resource, limit)?;
        }
        Ok(())
    }

    /// A process that ends before it has read everything says itself why.
    fn feed(&mut self, input: &[u8]) -> io::Result<()> {
        let Some(mut stdin) = self.0.stdin.take() else { return Ok(()) };
        match stdin.write_all(input) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
            _ => Ok(()),
        }
    }

    /// `None` where it did not end in time.
    fn wait(&mut self, expired: &dyn Fn() -> bool) -> io::Result<Option<ExitStatus>> {
        for _ in 0..LOOKS_MAX {
            if let Some(status) = self.0.try_wait()? {
                return Ok(Some(status));
            }
            if expired() {
                return Ok(None);
            }
            thread::sleep(LOOK_EVERY);
        }
        Ok(None)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail where it has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
