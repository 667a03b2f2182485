//! `assay validate FOLDER`: whether a model folder is what its manifest says, on each backend.

use std::path::{Path, PathBuf};

use assay::reward_models::Models;
use assay::reward_models::backend::BackendChoice;
use assay::reward_models::manifest::{self, Manifest};
use assay::reward_models::models::RunSettings;
use assay::setup::Environment;
use serde::Serialize;

use crate::exit::{Exit, Failure};
use crate::output;

/// What was found of a model folder. The keys are part of the command-line contract.
#[derive(Serialize)]
struct Report {
    folder: String,
    ok: bool,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    about: Option<VerifierInfo>,
    /// What is wrong with the manifest, where nothing can be run.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    backends: Vec<Tried>,
}

#[derive(Serialize)]
struct VerifierInfo {
    name: String,
    kind: String,
    golden_pairs: usize,
}

#[derive(Serialize)]
struct Tried {
    backend: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// The model folders at `path`: itself, or those in it; none where it is a file.
pub(super) fn folders(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !path.is_dir() {
        return Ok(Vec::new());
    }
    let is_model = |path: &PathBuf| path.join(manifest::FILE).is_file();
    if is_model(&path.to_owned()) {
        return Ok(vec![path.to_owned()]);
    }
    let entries = std::fs::read_dir(path).map_err(anyhow::Error::from)?;
    let mut found: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    found.retain(is_model);
    found.sort();
    if found.is_empty() {
        let (path, file) = (path.display(), manifest::FILE);
        return Err(Failure::usage(format!("{path}: no {file} in it, nor in a folder of it")));
    }
    Ok(found)
}

pub(super) fn run(
    folders: &[PathBuf],
    json: bool,
    environment: &Environment,
) -> Result<Exit, Failure> {
    let models = environment.models();
    let mut choices = vec![BackendChoice::Rten];
    if models.library().0.is_some() {
        choices.insert(0, BackendChoice::Ort);
    }
    let reports: Vec<Report> =
        folders.iter().map(|folder| report(folder, &models, &choices)).collect();
    if json {
        output::json(&reports)?;
    } else {
        reports.iter().for_each(tell);
    }
    let ok = reports.iter().all(|report| report.ok);
    Ok(if ok { Exit::Ok } else { Exit::Threshold })
}

/// A folder is valid if the backend that `auto` takes proves it; the others are reported.
fn report(folder: &Path, models: &Models, choices: &[BackendChoice]) -> Report {
    let tried = |backend: &BackendChoice| {
        let run = RunSettings { backend: *backend, workers: 1, ..RunSettings::default() };
        let found = models.load(folder, &run);
        let named = || format!("{backend:?}").to_lowercase();
        Tried {
            backend: found.as_ref().map_or_else(|_| named(), |model| model.backend.clone()),
            model: found.as_ref().ok().map(|model| model.name()),
            error: found.err().map(|error| error.to_string()),
        }
    };
    let about = Manifest::read(folder).map(|manifest| VerifierInfo {
        name: manifest.name,
        kind: format!("{:?}", manifest.kind).to_lowercase(),
        golden_pairs: manifest.goldens.len(),
    });
    let backends: Vec<Tried> = choices.iter().filter(|_| about.is_ok()).map(tried).collect();
    let ok = backends.first().is_some_and(|tried| tried.error.is_none());
    let error = about.as_ref().err().map(ToString::to_string);
    Report { folder: folder.display().to_string(), ok, about: about.ok(), error, backends }
}

fn tell(report: &Report) {
    let verdict = if report.ok { "ok" } else { "refused" };
    let about = report.about.as_ref().map(|VerifierInfo { name, kind, golden_pairs }| {
        format!(": {name}, {kind}, {golden_pairs} golden pairs")
    });
    output::line(&format!("{}: {verdict}{}", report.folder, about.unwrap_or_default()));
    if let Some(error) = &report.error {
        output::line(&format!("  {error}"));
    }
    for tried in &report.backends {
        let found = tried.error.as_ref().or(tried.model.as_ref());
        output::line(&format!("  {}: {}", tried.backend, found.map_or("", String::as_str)));
    }
}
