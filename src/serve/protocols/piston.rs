//! Piston: `POST /api/v2/execute` and `GET /api/v2/runtimes`.

use std::time::Duration;

use assay_verifiers::code::Code;
use axum::routing::get;
use schemars::SchemaGenerator;

use super::super::payload::{JsonOrForm, parse};
use super::program_files::{self, ProgramFiles};
use super::programs::{self, End, Language, Program, Ran, Stage};
use crate::sandbox::runtime::MemoryFiles;
use crate::serve::prelude::*;

/// A program to run.
#[derive(Default, Deserialize, JsonSchema)]
struct ExecuteRequest {
    /// What the program is written in, by a name or an alias of `/api/v2/runtimes`.
    language: String,
    /// The version, as in `3.14.0`, `3.x`, `^3.10` or `*`.
    #[serde(default = "any")]
    version: String,
    /// The program: its main file, and others that it finds beside it. C and C++ include none of them.
    files: Vec<SourceFile>,
    /// What the program reads.
    #[serde(default)]
    stdin: Option<String>,
    /// The arguments of the program.
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
    /// Its path below the folder of the program.
    #[serde(default)]
    name: Option<String>,
    /// The source.
    content: String,
    /// How the source is written down: `utf8`, `base64` or `hex`.
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
        Operation::judged(
            "/api/v2/execute",
            "Piston: run a program, where the configuration has run_programs",
            schema::<ExecuteRequest>,
            schema::<ExecuteReply>,
        ),
        Operation {
            is_judged: true,
            ..Operation::get(
                "/api/v2/runtimes",
                "Piston: the languages of programs",
                (schema_of_runtimes, "application/json"),
            )
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

async fn execute(
    asked: Result<Asked, ApiError>,
    body: Result<JsonOrForm, ApiError>,
) -> Result<Json<ExecuteReply>, ApiError> {
    let asked = asked?;
    programs::check(&asked)?;
    let request = match body? {
        JsonOrForm::Json(bytes) => parse(&bytes)?,
        JsonOrForm::Form(bytes) => form(&bytes)?,
    };
    let program = program(request)?;
    let language = program.language;
    let Ran { compile, run } = programs::run(&asked, program).await?;
    let (compile, run) = (compile.map(stage), run.map(stage));
    let version = shown(language.version);
    Ok(Json(ExecuteReply { language: language.name, version, compile, run }))
}

fn program(request: ExecuteRequest) -> Result<Program, ApiError> {
    let ExecuteRequest { language, version, stdin, args, .. } = request;
    let found = Language::of_name(&language).filter(|found| is_met(&version, found.version));
    let Some(found) = found else {
        let known: Vec<String> =
            Language::all().map(|one| format!("{} {}", one.name, shown(one.version))).collect();
        let known = known.join(", ");
        let message = format!("{language}-{version} runtime is unknown; there are: {known}");
        let is_known = Language::of_name(&language).is_some();
        return Err(ApiError::bad_request(message).at(if is_known {
            "version"
        } else {
            "language"
        }));
    };
    let args = args.unwrap_or_default();
    if let Some(at) = args.iter().position(|arg| arg.contains('\0')) {
        return Err(ApiError::bad_request("an argument has no NUL").at(format!("args[{at}]")));
    }
    let (source, files) = placed(request.files)?;
    let memory = request.run_memory_limit.filter(|bytes| *bytes > 0.0);
    Ok(Program {
        language: found,
        source,
        args,
        files,
        stdin: stdin.unwrap_or_default(),
        compile: milliseconds(request.compile_timeout, 10_000.0),
        run: milliseconds(request.run_timeout, 3000.0),
        memory: memory.map(|bytes| programs::mebibytes(bytes / f64::from(1 << 20))),
    })
}

/// The source of a program, which the first of the files is, and all of the files where it finds them.
fn placed(files: Vec<SourceFile>) -> Result<(String, ProgramFiles), ApiError> {
    let placed = MemoryFiles::default();
    let mut main = None;
    for (at, file) in files.into_iter().enumerate() {
        let path = program_files::below(file.name.as_deref().unwrap_or_default(), at)?;
        let bytes = content(at, file)?;
        program_files::put(&placed, &path, &bytes, &format!("files[{at}].name"))?;
        main = main.or(Some((path, bytes)));
    }
    let Some((path, source)) = main else {
        return Err(ApiError::bad_request("expected a file").at("files"));
    };
    let refused = |_| ApiError::bad_request("expected UTF-8 text").at("files[0].content");
    Ok((String::from_utf8(source).map_err(refused)?, ProgramFiles { files: placed, path }))
}

/// What is in a file.
fn content(at: usize, file: SourceFile) -> Result<Vec<u8>, ApiError> {
    let refused = |message: &str, field: &str| {
        ApiError::bad_request(message).at(format!("files[{at}].{field}"))
    };
    match file.encoding.as_deref().unwrap_or("utf8") {
        "utf8" => Ok(file.content.into_bytes()),
        "base64" => program_files::decoded(&file.content)
            .ok_or_else(|| refused("expected a text as base64", "content")),
        "hex" => program_files::from_hex(&file.content)
            .ok_or_else(|| refused("expected a text as hex", "content")),
        _ => Err(refused("expected utf8, base64 or hex", "encoding")),
    }
}

/// A request as a form: each of `files` is the text of one.
fn form(bytes: &[u8]) -> Result<ExecuteRequest, ApiError> {
    let mut request = ExecuteRequest { version: any(), ..ExecuteRequest::default() };
    let mut has_language = false;
    for pair in bytes.split(|byte| *byte == b'&').filter(|pair| !pair.is_empty()) {
        let mut halves = pair.splitn(2, |byte| *byte == b'=');
        let mut half = || unescaped(halves.next().unwrap_or_default());
        let (Some(name), Some(value)) = (half(), half()) else {
            return Err(ApiError::unreadable(Code::Encoding, "expected a form of UTF-8 text"));
        };
        let number = || {
            let parsed = value.trim().parse().map(Some);
            parsed.map_err(|_| {
                ApiError::unreadable(Code::WrongType, "expected a number").at(name.as_str())
            })
        };
        match name.as_str() {
            "language" => (request.language, has_language) = (value, true),
            "version" => request.version = value,
            "stdin" => request.stdin = Some(value),
            "files" => {
                request.files.push(SourceFile { name: None, content: value, encoding: None });
            }
            "args" => request.args.get_or_insert_default().push(value),
            "compile_timeout" => request.compile_timeout = number()?,
            "run_timeout" => request.run_timeout = number()?,
            "run_memory_limit" => request.run_memory_limit = number()?,
            _ => {}
        }
    }
    if !has_language {
        let missing = ApiError::unreadable(Code::MissingKey, "missing key `language`");
        return Err(missing.at("language"));
    }
    Ok(request)
}

/// The text that a form has as these bytes.
fn unescaped(bytes: &[u8]) -> Option<String> {
    let digit = |byte: Option<&u8>| byte.and_then(|byte| char::from(*byte).to_digit(16));
    let mut text = Vec::with_capacity(bytes.len());
    let mut rest = bytes.iter();
    while let Some(byte) = rest.next() {
        text.push(match byte {
            b'+' => b' ',
            b'%' => u8::try_from(digit(rest.next())? * 16 + digit(rest.next())?).ok()?,
            byte => *byte,
        });
    }
    String::from_utf8(text).ok()
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
    fn forms_are_read_as_their_clients_write_them() {
        let body = b"language=python&version=3.x&files=print%281%29%0A%26+%C3%A9&stdin=a%2Bb&x=1&run_timeout=50";
        let request = form(body).unwrap();
        assert_eq!((request.language.as_str(), request.version.as_str()), ("python", "3.x"));
        assert_eq!(request.files.first().unwrap().content, "print(1)\n& é");
        assert_eq!((request.stdin.as_deref(), request.run_timeout), (Some("a+b"), Some(50.0)));
        for odd in
            ["files=1", "language=%FF", "language=%4", "language=a&run_timeout=soon", "language"]
        {
            let is_refused = form(odd.as_bytes()).is_err();
            assert!(is_refused || odd == "language", "{odd}");
        }
    }

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
