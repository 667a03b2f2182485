//! `assay serve`: configurations over HTTP.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use assay::engine::Registry;
use assay::serve::{AccessTokens, Bind, LoadError, Loaded, ServeConfig, Server};
use assay::setup::{Environment, Notice, variable_text};
use clap::Args as ClapArgs;
use signal_hook::consts::SIGHUP;
use signal_hook::iterator::Signals;

use super::exit::{Exit, Failure};
use super::output;
use super::setup::{EngineArgs, document};
use super::signals::stop_on_signals;

/// Serve configurations over HTTP.
#[derive(Clone, Debug, ClapArgs)]
pub(super) struct Args {
    /// Configurations, as FILE or NAME=FILE: a profile each, by default called as the file. The first
    /// one answers who names none, and its [serve] says how
    #[arg(required = true, value_name = "CONFIG")]
    configs: Vec<String>,
    /// The address: IP:PORT, or unix:PATH; port 0 takes a free one. By default 127.0.0.1:7878
    #[arg(long, value_name = "ADDRESS")]
    bind: Option<Bind>,
    /// The file with the bearer tokens that are let in, one a line
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// The environment variable with the bearer tokens that are let in
    #[arg(long, value_name = "NAME")]
    token_env: Option<String>,
    /// The certificate chain (PEM); connections are then TLS
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The private key of the certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// The most samples that are judged at once, over all requests
    #[arg(long, value_name = "N")]
    in_flight_max: Option<NonZeroUsize>,
    /// The verifiers that requests may configure by `reward` tables of their own, separated by commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    allow_inline_config: Option<Vec<String>>,
    /// Set a value in every configuration, as in `--set serve.deadline_ms=5000`
    #[arg(long = "set", value_name = "KEY=VALUE")]
    sets: Vec<String>,
    /// Let the configurations name files below this folder too
    #[arg(long, value_name = "DIR")]
    allow_path: Vec<PathBuf>,
    /// What is logged: error, warn, info, debug (every request) or trace
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    log: tracing::Level,
    #[command(flatten)]
    engine: EngineArgs,
}

pub(super) fn run(args: &Args, environment: &Environment) -> Result<Exit, Failure> {
    log(args.log);
    give_back_early();
    let notice: Notice = Arc::new(|line: &str| tracing::info!("{line}"));
    let environment = &Environment { notice: Some(notice), ..environment.clone() };
    let profiles = profiles(&args.configs)?;
    let (config, files) = settings(args, &profiles, environment)?;
    let load = {
        let (args, environment) = (args.clone(), environment.clone());
        let sandbox = config.run_programs.then(|| Arc::new(environment.sandbox()));
        #[cfg(feature = "sandbox")]
        if let Some(sandbox) = &sandbox {
            // Made now, so that what is missing is told and no request waits for it.
            sandbox.python().map_err(|error| Failure::usage(error.to_string()))?;
        }
        move || {
            let loaded = load(&args, &profiles, &files, &environment);
            let loaded = loaded.map_err(|failure| LoadError(failure.text()))?;
            Ok(Loaded { sandbox: sandbox.clone(), ..loaded })
        }
    };
    let server = Server::new(config, load).map_err(|error| Failure::usage(error.to_string()))?;
    let server = Arc::new(server);
    #[cfg(feature = "otel")]
    let traces = traces(&server);
    #[cfg(not(feature = "otel"))]
    tell_of_traces();
    let stop = stop_on_signals()?;
    reload_on_signal(&server)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .thread_name("assay-serve")
        .enable_all()
        .build()?;
    let is_drained = runtime.block_on(async {
        let listening = server.listen().await?;
        let address = listening.address()?;
        output::line(&format!("listening on {address}"));
        tracing::info!(address, "ready");
        let is_drained = listening.serve(&stop).await;
        tracing::info!(is_drained, "stopped");
        Ok::<_, std::io::Error>(is_drained)
    })?;
    runtime.shutdown_background();
    #[cfg(feature = "otel")]
    if let Some(traces) = traces {
        traces.end();
    }
    Ok(if is_drained { Exit::Ok } else { Exit::Fault })
}

/// The allocator gives free memory back to the system after 10 ms, unless `MIMALLOC_PURGE_DELAY` says
/// otherwise. After a second, which is its default, what a process of days has wanders by megabytes with the
/// requests of the moment, and a leak could not be told from that.
fn give_back_early() {
    /// `mi_option_purge_delay` of `mimalloc.h`, in milliseconds.
    const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;
    // SAFETY: the option is one of the enumeration of the version that is built in, and options may be set
    // at any time.
    #[expect(unsafe_code, reason = "the binding of the allocator has no safe form")]
    unsafe {
        libmimalloc_sys::mi_option_set_default(PURGE_DELAY, 10);
    }
}

/// Traces the requests of a daemon, where the environment names a collector. What is wrong with that keeps
/// nobody from being served.
#[cfg(feature = "otel")]
fn traces(server: &Server) -> Option<assay::setup::Traces> {
    match assay::setup::Traces::of_environment() {
        Ok(traces) => traces.inspect(|traces| server.trace(traces)),
        Err(error) => {
            tracing::warn!(error = %error, "no traces are sent");
            None
        }
    }
}

/// Says that this build sends no traces, where the environment names a collector.
#[cfg(not(feature = "otel"))]
fn tell_of_traces() {
    let names = ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"];
    if let Some(name) = names.into_iter().find(|name| variable_text(name).is_some()) {
        tracing::info!(
            "{name} is set, and this build sends no traces: it lacks the feature `otel`"
        );
    }
}

/// JSON lines on stderr.
fn log(level: tracing::Level) {
    let lines = tracing_subscriber::fmt()
        .json()
        .flatten_event(true)
        .with_target(false)
        .with_max_level(level)
        .with_writer(std::io::stderr);
    // Only the first subscriber of a process counts.
    let _ = lines.try_init();
}

/// The names of the profiles, and their files.
fn profiles(configs: &[String]) -> Result<Vec<(String, PathBuf)>, Failure> {
    let mut profiles: Vec<(String, PathBuf)> = Vec::new();
    for config in configs {
        let named = config.split_once('=').filter(|(name, _)| !name.contains(['/', '.']));
        let (name, path) = if let Some((name, path)) = named {
            (name.to_owned(), PathBuf::from(path))
        } else {
            let path = PathBuf::from(config);
            let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            (stem, path)
        };
        if name.is_empty() {
            let why = format!("{config}: a profile without a name; write NAME=FILE");
            return Err(Failure::usage(why));
        }
        if profiles.iter().any(|(known, _)| *known == name) {
            let why = format!("{config}: two profiles are called {name}; name them: NAME=FILE");
            return Err(Failure::usage(why));
        }
        profiles.push((name, path));
    }
    Ok(profiles)
}

/// Files that are read again on a reload.
#[derive(Default)]
struct SecretFiles {
    token_env: Option<String>,
    token_file: Option<PathBuf>,
    tls: Option<(PathBuf, PathBuf)>,
}

/// `[serve]` of the first configuration, and the flags over it.
fn settings(
    args: &Args,
    profiles: &[(String, PathBuf)],
    environment: &Environment,
) -> Result<(ServeConfig, SecretFiles), Failure> {
    let mut config = ServeConfig::default();
    let mut folder = PathBuf::new();
    for (at, (name, path)) in profiles.iter().enumerate() {
        // Flags are for all of them, and say nothing of where the table stands.
        let sets = if at == 0 { args.sets.as_slice() } else { &[] };
        let Some(served) = document(environment, path, sets)?.config()?.serve else { continue };
        if at > 0 {
            let why = format!(
                "{}: [serve] belongs in the first configuration, not in that of {name}",
                path.display()
            );
            return Err(Failure::usage(why));
        }
        config = served;
        folder = path.parent().map(Path::to_owned).unwrap_or_default();
    }
    if let Some(bind) = &args.bind {
        config.bind.clone_from(bind);
    }
    if let Some(most) = args.in_flight_max {
        config.in_flight_max = most.get();
    }
    if let Some(names) = &args.allow_inline_config {
        config.allow_inline_config.clone_from(names);
    }
    known(&config.allow_inline_config)?;
    let beside = |path: &String| folder.join(path);
    let cert = args.tls_cert.clone().or(config.tls_cert.as_ref().map(beside));
    let key = args.tls_key.clone().or(config.tls_key.as_ref().map(beside));
    let tls = match (cert, key) {
        (Some(cert), Some(key)) => Some((cert, key)),
        (None, None) => None,
        _ => return Err(Failure::usage("serve.tls_cert and serve.tls_key go together")),
    };
    let files = SecretFiles {
        token_env: args.token_env.clone().or(config.token_env.clone()),
        token_file: args.token_file.clone().or(config.token_file.as_ref().map(beside)),
        tls,
    };
    Ok((config, files))
}

/// Refuses names of verifiers that there are not.
fn known(names: &[String]) -> Result<(), Failure> {
    let registry = Registry::standard(&Arc::default(), &Arc::default());
    for name in names {
        if !registry.ids().any(|id| id == name) {
            let why = format!(
                "serve.allow_inline_config: {}; `assay list checks` names them",
                registry.unknown(name)
            );
            return Err(Failure::usage(why));
        }
    }
    Ok(())
}

/// Builds every engine and reads every secret.
fn load(
    args: &Args,
    profiles: &[(String, PathBuf)],
    files: &SecretFiles,
    environment: &Environment,
) -> Result<Loaded, Failure> {
    let mut engines = Vec::new();
    for (name, path) in profiles {
        let document = document(environment, path, &args.sets)?;
        let builder = environment.builder(path, document, args.allow_path.clone());
        engines.push((name.clone(), args.engine.engine(builder)?));
    }
    let tls = files.tls.as_ref().map(pair).transpose()?;
    Ok(Loaded { engines, tokens: tokens(files)?, tls, sandbox: None })
}

fn pair((cert, key): &(PathBuf, PathBuf)) -> Result<(Vec<u8>, Vec<u8>), Failure> {
    Ok((read(cert)?, read(key)?))
}

fn tokens(files: &SecretFiles) -> Result<AccessTokens, Failure> {
    let mut tokens = AccessTokens::default();
    if let Some(name) = &files.token_env {
        let text = variable_text(name).unwrap_or_default();
        let words = text.split_whitespace();
        let of_env = AccessTokens::new(words.map(str::as_bytes));
        let wrong = |why| Failure::usage(format!("the variable {name}: {why}"));
        tokens = tokens.and(of_env.map_err(wrong)?);
    }
    if let Some(path) = &files.token_file {
        let of_file = AccessTokens::of_lines(&read(path)?);
        let wrong = |why| Failure::usage(format!("{}: {why}", path.display()));
        tokens = tokens.and(of_file.map_err(wrong)?);
    }
    Ok(tokens)
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|error| Failure::usage(format!("{}: {error}", path.display())))
}

/// SIGHUP reads everything again.
fn reload_on_signal(server: &Arc<Server>) -> Result<(), Failure> {
    let (mut signals, server) = (Signals::new([SIGHUP])?, Arc::clone(server));
    let wait = move || {
        for _ in signals.forever() {
            match server.reload() {
                Ok(()) => tracing::info!("reloaded"),
                Err(error) => tracing::error!(error = %error, "not reloaded: all stays as it was"),
            }
        }
    };
    std::thread::Builder::new().name("assay-reload".to_owned()).spawn(wait)?;
    Ok(())
}
