//! `SandboxFusion`: `POST /run_code`, as its own client and verl's ask for it.

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::time::Duration;

use assay_verifiers::code::Code;
use axum::http::StatusCode;
use serde::Deserializer;
use serde::de::Error as _;

use super::super::payload::Payload;
use super::program_files::{self, ProgramFiles};
use super::programs::{self, End, Language, Program, Ran, Stage};
use crate::sandbox::runtime::MemoryFiles;
use crate::serve::prelude::*;

/// How long verl's client waits beyond the times that it asks for, less a second in which the answer
/// travels.
const CLIENT_WAITS: Duration = Duration::from_secs(9);
/// The time of a request that names none, in seconds.
const SECONDS_DEFAULT: f64 = 10.0;
/// The longest time that a request may name, in seconds.
const SECONDS_MAX: f64 = 86_400.0;

/// A program to run.
#[derive(Deserialize, JsonSchema)]
struct RunCodeRequest {
    /// The source.
    code: String,
    /// What the program is written in: `python`, `nodejs`, and `c` and `cpp` in a build that has them.
    language: String,
    /// What the program reads.
    #[serde(default)]
    stdin: Option<String>,
    /// The longest that compiling may take, in seconds; by default 10.
    #[serde(default, deserialize_with = "number")]
    compile_timeout: Option<f64>,
    /// The longest that the program may run, in seconds of its own clock, which counts its work; by
    /// default 10. It ends at the latest after twice that in real time, and one second.
    #[serde(default, deserialize_with = "number")]
    run_timeout: Option<f64>,
    /// The most memory of the program, up to 1024; by default, and where it is not positive, 512.
    #[serde(default, rename = "memory_limit_MB", deserialize_with = "number")]
    memory_limit_mb: Option<f64>,
    /// What the program finds in its working directory: the content of each file by its path, as
    /// base64. A file whose content is null is none.
    #[serde(default)]
    files: Option<BTreeMap<String, Option<String>>>,
    /// The paths of the files that are to come back, as the program leaves them.
    #[serde(default)]
    fetch_files: Option<Vec<String>>,
}

/// A number, which may be written as text.
fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a number")]
    enum Written {
        Number(f64),
        Text(String),
    }
    match Option::deserialize(deserializer)? {
        None => Ok(None),
        Some(Written::Number(number)) => Ok(Some(number)),
        Some(Written::Text(text)) => {
            let refused = |_| D::Error::custom(format!("expected a number, found {text:?}"));
            text.trim().parse().map(Some).map_err(refused)
        }
    }
}

/// What became of the program.
#[derive(Serialize, JsonSchema)]
struct RunCodeReply {
    status: RunStatus,
    /// What went wrong in the sandbox.
    message: String,
    /// Compiling, in languages that are compiled.
    compile_result: Option<CommandResult>,
    /// The run; null where compiling failed.
    run_result: Option<CommandResult>,
    /// Always null.
    executor_pod_name: Option<String>,
    /// The files that were asked for and are there, as base64.
    files: BTreeMap<String, String>,
}

/// What became of all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
enum RunStatus {
    /// Every stage ended with exit code 0.
    Success,
    /// The program did not compile, ended with another exit code, or was stopped.
    Failed,
    /// The sandbox failed; nothing is known of the program.
    SandboxError,
}

/// What became of a stage.
#[derive(Serialize, JsonSchema)]
struct CommandResult {
    status: CommandStatus,
    /// Real time, in seconds.
    execution_time: f64,
    /// Time on the program's own clock, in seconds; null for compiling.
    cpu_time: Option<f64>,
    /// The exit code; null where the time was up. One above 128 stands for a signal, as in a shell:
    /// 137 for a limit of memory or of calls, 134 for a trap, 153 for too much output.
    return_code: Option<i32>,
    /// What was written to standard output, up to 4 MiB.
    stdout: String,
    /// What was written to standard error, and what stopped the program.
    stderr: String,
}

/// How a stage ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
enum CommandStatus {
    /// With an exit code.
    Finished,
    /// The time was up.
    TimeLimitExceeded,
}

pub(super) fn router() -> Router<Arc<Shared>> {
    Router::new().route("/run_code", post(run_code))
}

pub(super) fn operations() -> Vec<Operation> {
    vec![Operation::judged(
        "/run_code",
        "SandboxFusion: run a program, where the configuration has run_programs",
        schema::<RunCodeRequest>,
        schema::<RunCodeReply>,
    )]
}

async fn run_code(
    mut asked: Asked,
    body: Result<Payload<RunCodeRequest>, ApiError>,
) -> Result<Json<RunCodeReply>, ApiError> {
    programs::check(&asked)?;
    let Payload(request) = body?;
    let Request { program, fetch } = read(request)?;
    let files = program.files.files.clone();
    let longest = program.compile + program.run + CLIENT_WAITS;
    let longest_ms = u64::try_from(longest.as_millis()).ok();
    asked.shorten(longest_ms.and_then(NonZeroU64::new));
    match programs::run(&asked, program).await {
        Ok(ran) if ran.run.is_none() => Ok(Json(reply(ran, BTreeMap::new()))),
        Ok(ran) => Ok(Json(match program_files::fetched(&files, fetch) {
            Some(files) => reply(ran, files),
            None => sandbox_error("the files to fetch are too large for an answer".to_owned()),
        })),
        Err(error) if error.status == StatusCode::INTERNAL_SERVER_ERROR => {
            Ok(Json(sandbox_error(error.message)))
        }
        Err(error) => Err(error),
    }
}

/// A program, and the files that are to come back.
struct Request {
    program: Program,
    fetch: Vec<String>,
}

fn read(request: RunCodeRequest) -> Result<Request, ApiError> {
    let RunCodeRequest { code, language, stdin, memory_limit_mb, files, fetch_files, .. } = request;
    let language = Language::of_name(&language).ok_or_else(|| {
        let known: Vec<&str> = Language::all().flat_map(Language::names).collect();
        let message = format!("no such language here; there are: {}", known.join(", "));
        ApiError::unreadable(Code::UnknownWord, message).at("language")
    })?;
    let memory = memory_limit_mb.filter(|mb| *mb > 0.0);
    let program = Program {
        language,
        files: placed(language, &code, files.unwrap_or_default())?,
        source: code,
        args: Vec::new(),
        stdin: stdin.unwrap_or_default(),
        compile: seconds("compile_timeout", request.compile_timeout)?,
        run: seconds("run_timeout", request.run_timeout)?,
        memory: memory.map(programs::mebibytes),
    };
    Ok(Request { program, fetch: fetch_files.unwrap_or_default() })
}

/// The files of a program, which is beside them under a name that none of them has.
fn placed(
    language: &Language,
    code: &str,
    given: BTreeMap<String, Option<String>>,
) -> Result<ProgramFiles, ApiError> {
    let files = MemoryFiles::default();
    for (path, content) in given {
        let Some(content) = content else { continue };
        let field = format!("files.{path}");
        let refused = || ApiError::bad_request("expected a file as base64").at(field.as_str());
        let bytes = program_files::decoded(&content).ok_or_else(refused)?;
        program_files::put(&files, &path, &bytes, &field)?;
    }
    let mut path = language.main.to_owned();
    while files.has(&path) {
        path.insert(0, '_');
    }
    let put = files.put_unlisted(&path, code.as_bytes());
    put.map_err(|error| ApiError::bad_request(error.to_string()).at("code"))?;
    Ok(ProgramFiles { files, path })
}

fn seconds(field: &str, value: Option<f64>) -> Result<Duration, ApiError> {
    let value = value.unwrap_or(SECONDS_DEFAULT).min(SECONDS_MAX);
    let time = Duration::try_from_secs_f64(value).ok();
    let refused = || ApiError::bad_request("expected seconds above 0").at(field);
    time.filter(|time| !time.is_zero()).ok_or_else(refused)
}

fn reply(ran: Ran, files: BTreeMap<String, String>) -> RunCodeReply {
    let stages = [&ran.compile, &ran.run];
    let is_fine = stages.into_iter().flatten().all(|stage| stage.end == End::Code(0));
    RunCodeReply {
        status: if is_fine { RunStatus::Success } else { RunStatus::Failed },
        message: String::new(),
        compile_result: ran.compile.map(result),
        run_result: ran.run.map(result),
        executor_pod_name: None,
        files,
    }
}

fn sandbox_error(message: String) -> RunCodeReply {
    let status = RunStatus::SandboxError;
    let nothing = reply(Ran { compile: None, run: None }, BTreeMap::new());
    RunCodeReply { status, message, ..nothing }
}

fn result(stage: Stage) -> CommandResult {
    let (status, return_code) = match stage.end {
        End::Code(code) => (CommandStatus::Finished, Some(code)),
        End::OutOfTime => (CommandStatus::TimeLimitExceeded, None),
        End::TooMuchOutput => (CommandStatus::Finished, Some(153)),
        End::Killed => (CommandStatus::Finished, Some(137)),
        End::Trap => (CommandStatus::Finished, Some(134)),
    };
    let mut stderr = stage.stderr;
    if let Some(why) = stage.why {
        if !stderr.is_empty() && !stderr.ends_with('\n') {
            stderr.push('\n');
        }
        stderr.push_str(&why);
        stderr.push('\n');
    }
    let execution_time = stage.took.as_secs_f64();
    let cpu_time = Some(stage.counted.as_secs_f64()).filter(|seconds| *seconds > 0.0);
    CommandResult { status, execution_time, cpu_time, return_code, stdout: stage.stdout, stderr }
}
