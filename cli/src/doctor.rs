//! `assay doctor`: what was found on this machine, what was skipped, and why.

#[cfg(feature = "models")]
use assay::reward_models::{
    Models,
    backend::library::{Library, Tried},
    backend::rten::VERSION as RTEN,
};
use assay::setup::Environment;
use clap::Args as ClapArgs;
use serde_json::json;

use super::exit::{Exit, Failure};
use super::output;

/// The files by which guests are known, and what they run.
const GUESTS: [(&str, &str); 2] = [("python.wasm", "Python"), ("javascript.wasm", "JavaScript")];

/// What was found on this machine.
#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, environment: &Environment) -> Result<Exit, Failure> {
    #[cfg(feature = "models")]
    let models = environment.models();
    let cores = environment.cores;
    let guest = |(file, name): (&str, &str)| {
        let found =
            environment.assets.iter().map(|folder| folder.join(file)).find(|path| path.is_file());
        (name.to_owned(), found.map(|path| path.display().to_string()))
    };
    let guests: Vec<(String, Option<String>)> = GUESTS.into_iter().map(guest).collect();
    if args.json {
        let mut found = serde_json::Map::new();
        found.insert("assay".to_owned(), json!(env!("CARGO_PKG_VERSION")));
        found.insert("cores".to_owned(), json!(cores));
        #[cfg(feature = "models")]
        found.extend(backends_json(&models));
        let guests: std::collections::BTreeMap<_, _> = guests.into_iter().collect();
        found.insert("guests".to_owned(), json!(guests));
        output::json(&found)?;
        return Ok(Exit::Ok);
    }
    output::line(&format!("assay {}, {cores} cores", env!("CARGO_PKG_VERSION")));
    #[cfg(feature = "models")]
    for line in backends(&models) {
        output::line(&line);
    }
    for (name, path) in guests {
        let path = path.unwrap_or_else(|| "not found; `make assets` builds it".to_owned());
        output::line(&format!("guest {name}: {path}"));
    }
    Ok(Exit::Ok)
}

#[cfg(feature = "models")]
fn backends_json(models: &Models) -> [(String, serde_json::Value); 3] {
    let (library, tried) = models.library();
    let library = library.map(|library| {
        let path = library.path.display().to_string();
        json!({"path": path, "version": library.version, "build": library.build})
    });
    let tried: Vec<String> = tried.iter().map(told).collect();
    [("onnxruntime", json!(library)), ("tried", json!(tried)), ("rten", json!(RTEN))]
        .map(|(key, value)| (key.to_owned(), value))
}

/// What runs models here, what was skipped, and why.
#[cfg(feature = "models")]
pub(super) fn backends(models: &Models) -> Vec<String> {
    let (library, tried) = models.library();
    let mut lines = match library {
        Some(Library { version, path, build, .. }) => {
            vec![format!("onnxruntime {version}: {}", path.display()), format!("  {build}")]
        }
        None => vec!["onnxruntime: not found; `make assets` fetches it".to_owned()],
    };
    lines.extend(tried.iter().map(|tried| format!("  {}", told(tried))));
    lines.push(format!("rten {RTEN}: built in; runs models where onnxruntime is not found"));
    lines
}

#[cfg(feature = "models")]
fn told(tried: &Tried) -> String {
    let (origin, path) = (tried.place.origin, tried.place.path.display());
    match &tried.outcome {
        Ok(_) => format!("{origin}: {path}: loaded"),
        Err(why) => format!("{origin}: {path}: skipped: {why}"),
    }
}
