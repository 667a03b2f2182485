//! Piston: `POST /api/v2/execute` and `GET /api/v2/runtimes`.

use std::sync::Arc;
use std::time::Duration;

use axum::routing::{get, post};
use axum::{Json, Router};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::{JsonSchema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::error::ApiError;
use super::super::openapi::{Operation, schema};
use super::super::payload::Payload;
use super::super::shared::{Asked, Shared};
use super::programs::{self, End, Language, Program, Ran, Stage};

/// A program to run.
#[derive(Deserialize, JsonSchema)]
struct ExecuteRequest {
    /// What the program is written in, by a name or an alias of `/api/v2/runtimes`.
    language: String,
    /// The version, as in `3.14.0`, `3.x`, `^3.10` or `*`.
    #[serde(default = "any")]
    version: String,
    /// The program: one file.
    files: Vec<SourceFile>,
    /// What the program reads.
    #[serde(default)]
    stdin: Option<String>,
    /// Programs get no arguments: anything here is refused.
    #[serde(default)]
    args: Option<Vec<String>>,
    /// The longest that compiling may take, in milliseconds; by default 10000.
    #[serde(default)]
    compile_timeout: Option<f64>,
    /// The longest that the program may run, in milliseconds of its own clock, which counts its work;
    /// by default 3000. It ends at the latest after twice that in real time, and one second.
    #[serde(default)]
    run_timeout: Option<f64>,
    /// The most memory of the program, in bytes, up to 1 GiB; by default, and where it is not
    /// positive, 512 MiB.
    #[serde(default)]
    run_memory_limit: Option<f64>,
}

/// A file of a program.
#[derive(Deserialize, JsonSchema)]
struct SourceFile {
    /// The source.
    content: String,
    /// How the source is written down: `utf8` or `base64`.
    #[serde(default)]
    encoding: Option<String>,
}

/// What became of the program.
#[derive(Serialize, JsonSchema)]
struct ExecuteReply {
    /// The usual name of the language.
    language: &'static str,
    version: String,
    /// Compiling, in languages that are compiled.
    #[serde(skip_serializing_if = "Option::is_none")]
    compile: Option<StageReply>,
    /// The run; not there where compiling failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<StageReply>,
}

/// What became of a stage.
#[derive(Serialize, JsonSchema)]
struct StageReply {
    stdout: String,
    stderr: String,
    /// Both, standard output first.
    output: String,
    /// The exit code; null where the program was stopped.
    code: Option<i32>,
    /// The signal that stands for what stopped the program.
    signal: Option<&'static str>,
    /// What stopped the program, for people.
    message: Option<String>,
    /// `RE` for an exit code other than 0, `TO` for out of time, `OL` and `EL` for too much on standard
    /// output and standard error, `SG` for other limits and traps.
    status: Option<&'static str>,
    /// Milliseconds on the program's own clock.
    cpu_time: u64,
    /// Milliseconds in real time.
    wall_time: u64,
    /// The most memory that it had, in bytes.
    memory: usize,
}

/// A language that programs may be written in.
#[derive(Serialize, JsonSchema)]
struct Runtime {
    language: &'static str,
    version: String,
    aliases: Vec<&'static str>,
}

fn any() -> String {
    "*".to_owned()
}

pub(super) fn router() -> Router<Arc<Shared>> {
    Router::new().route("/api/v2/execute", post(execute)).route("/api/v2/runtimes", get(runtimes))
}

fn schema_of_runtimes(generator: &mut SchemaGenerator) -> Value {
    schema::<Vec<Runtime>>(generator)
}

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation {
            path: "/api/v2/execute",
            method: "post",
            summary: "Piston: run a program, where the configuration has run_programs",
            request: Some(schema::<ExecuteRequest>),
            reply: (schema::<ExecuteReply>, "application/json"),
            is_judged: false,
        },
        Operation {
            path: "/api/v2/runtimes",
            method: "get",
            summary: "Piston: the languages of programs",
            request: None,
            reply: (schema_of_runtimes, "application/json"),
            is_judged: false,
        },
    ]
}

async fn runtimes(asked: Asked) -> Result<Json<Vec<Runtime>>, ApiError> {
    programs::check(&asked)?;
    let runtime = |one: &Language| Runtime {
        language: one.name,
        version: shown(one.version),
        aliases: one.aliases.to_vec(),
    };
    Ok(Json(Language::all().map(runtime).collect()))
}

/// Piston's clients look for the message of a refusal at the top.
async fn execute(
    asked: Result<Asked, ApiError>,
    body: Result<Payload<ExecuteRequest>, ApiError>,
) -> Result<Json<ExecuteReply>, ApiError> {
    executed(asked, body).await.map(Json).map_err(ApiError::at_top)
}

async fn executed(
    asked: Result<Asked, ApiError>,
    body: Result<Payload<ExecuteRequest>, ApiError>,
) -> Result<ExecuteReply, ApiError> {
    let asked = asked?;
    programs::check(&asked)?;
    let Payload(request) = body?;
    let program = program(request)?;
    let language = program.language;
    let Ran { compile, run } = programs::run(&asked, program).await?;
    let (compile, run) = (compile.map(stage), run.map(stage));
    let version = shown(language.version);
    Ok(ExecuteReply { language: language.name, version, compile, run })
}

fn program(request: ExecuteRequest) -> Result<Program, ApiError> {
    let ExecuteRequest { language, version, stdin, args, .. } = request;
    let found = Language::of_name(&language).filter(|found| is_met(&version, found.version));
    let Some(found) = found else {
        let known: Vec<String> =
            Language::all().map(|one| format!("{} {}", one.name, shown(one.version))).collect();
        let known = known.join(", ");
        let message = format!("{language}-{version} runtime is unknown; there are: {known}");
        return Err(ApiError::bad_request(message).at("language"));
    };
    if args.is_some_and(|args| !args.is_empty()) {
        return Err(ApiError::bad_request("programs get no arguments").at("args"));
    }
    let Ok([file]) = <[SourceFile; 1]>::try_from(request.files) else {
        return Err(ApiError::bad_request("expected one file: programs see no files").at("files"));
    };
    let memory = request.run_memory_limit.filter(|bytes| *bytes > 0.0);
    Ok(Program {
        language: found,
        source: source(file)?,
        stdin: stdin.unwrap_or_default(),
        compile: milliseconds(request.compile_timeout, 10_000.0),
        run: milliseconds(request.run_timeout, 3000.0),
        memory: memory.map(|bytes| programs::mebibytes(bytes / f64::from(1 << 20))),
    })
}

/// The source in a file.
fn source(file: SourceFile) -> Result<String, ApiError> {
    let refused =
        |message: &str, at: &str| ApiError::bad_request(message).at(format!("files[0].{at}"));
    match file.encoding.as_deref().unwrap_or("utf8") {
        "utf8" => Ok(file.content),
        "base64" => {
            let bytes = STANDARD.decode(file.content.trim()).ok();
            let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
            text.ok_or_else(|| refused("expected UTF-8 text as base64", "content"))
        }
        _ => Err(refused("expected utf8 or base64", "encoding")),
    }
}

/// A time; one that is not positive stands for no limit but that of the daemon.
fn milliseconds(value: Option<f64>, default: f64) -> Duration {
    const LONGEST: Duration = Duration::from_hours(24);
    let value = value.unwrap_or(default);
    let time = Duration::try_from_secs_f64(value / 1000.0).ok().filter(|time| !time.is_zero());
    time.map_or(LONGEST, |time| time.min(LONGEST))
}

fn shown([major, minor, patch]: [u32; 3]) -> String {
    format!("{major}.{minor}.{patch}")
}

/// Whether a version meets a range of semantic versions: all of its parts are asked for, or with `^`, `~`
/// and `>=` a later version will do.
fn is_met(range: &str, version: [u32; 3]) -> bool {
    let range = range.trim();
    // How many leading parts must be the same.
    let of_prefix = [("^", 1), ("~", 2), (">=", 0), ("=", 3), ("v", 3)];
    let found = of_prefix.iter().find_map(|(prefix, same)| {
        range.strip_prefix(prefix).map(|rest| (rest.trim(), *same, *same < 3))
    });
    let (parts, same, or_later) = found.unwrap_or((range, 3, false));
    let mut asked = Vec::new();
    for part in parts.split('.') {
        match part {
            "*" | "x" | "X" => break,
            part => match part.parse::<u32>() {
                Ok(number) => asked.push(number),
                Err(_) => return false,
            },
        }
    }
    let equal = |count: usize| asked.iter().zip(version).take(count).all(|(a, b)| *a == b);
    if asked.len() > version.len() {
        return false;
    }
    if or_later {
        equal(same) && version.iter().take(asked.len()).ge(asked.iter())
    } else {
        equal(same)
    }
}

fn stage(stage: Stage) -> StageReply {
    let (code, signal, status) = match stage.end {
        End::Code(0) => (Some(0), None, None),
        End::Code(code) => (Some(code), None, Some("RE")),
        End::OutOfTime => (None, Some("SIGKILL"), Some("TO")),
        End::TooMuchOutput if stage.stderr.len() > stage.stdout.len() => {
            (None, Some("SIGKILL"), Some("EL"))
        }
        End::TooMuchOutput => (None, Some("SIGKILL"), Some("OL")),
        End::Killed => (None, Some("SIGKILL"), Some("SG")),
        End::Trap => (None, Some("SIGABRT"), Some("SG")),
    };
    let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let message = match (stage.why, stage.end) {
        (None, End::Code(code)) if code != 0 => Some(format!("Exited with error status {code}")),
        (why, _) => why,
    };
    StageReply {
        output: format!("{}{}", stage.stdout, stage.stderr),
        stdout: stage.stdout,
        stderr: stage.stderr,
        code,
        signal,
        message,
        status,
        cpu_time: milliseconds(stage.counted),
        wall_time: milliseconds(stage.took),
        memory: stage.memory,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_met_as_semantic_versions_are() {
        let version = [3, 14, 2];
        for range in [
            "*", "3", "3.x", "3.14", "3.14.*", "3.14.2", "v3.14.2", "=3.14", "^3.10", "~3.14.1",
            ">=3.9", ">= 2",
        ] {
            assert!(is_met(range, version), "{range}");
        }
        for range in
            ["", "2", "3.10.0", "3.14.3", "^4", "^2.9", "~3.13", ">=3.15", "latest", "3.14.2.0"]
        {
            assert!(!is_met(range, version), "{range}");
        }
    }
}
