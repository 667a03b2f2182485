//! `assay validate FOLDER`: whether a model folder is what its manifest says, on each backend.

use std::path::{Path, PathBuf};

use assay::reward_models::Models;
use assay::reward_models::backend::BackendChoice;
use assay::reward_models::manifest::{self, Manifest};
use assay::reward_models::models::RunSettings;
use minijinja::Environment;
use minijinja::value::Serde;
use serde_json::{Value, json};

use crate::exit::{Exit, Failure};
use crate::output;

/// What was found of a folder, for people.
const TEXT: &str = "{{ folder }}: {{ 'ok' if ok else 'refused' }}\
{% if name %}: {{ name }}, {{ kind }}, {{ golden_pairs }} golden pairs{% endif %}\
{% if error %}\n  {{ error }}{% endif %}\
{% for own in backends %}\n  {{ own.backend }}: {{ own.error or own.model }}{% endfor %}";

/// The model folders at `path`: itself, or those in it; none where it is a file.
pub(super) fn folders(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !path.is_dir() {
        return Ok(Vec::new());
    }
    let is_model = |path: &PathBuf| path.join(manifest::FILE).is_file();
    if is_model(&path.to_owned()) {
        return Ok(vec![path.to_owned()]);
    }
    let entries = std::fs::read_dir(path).map_err(Failure::unread(path))?;
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
    environment: &assay::setup::Environment,
) -> Result<Exit, Failure> {
    let models = environment.models();
    let mut choices = vec![BackendChoice::Rten];
    if models.library().0.is_some() {
        choices.insert(0, BackendChoice::Ort);
    }
    let reports: Vec<Value> =
        folders.iter().map(|folder| report(folder, &models, &choices)).collect();
    if json {
        output::json(&reports)?;
    } else {
        for report in &reports {
            let text = Environment::new().render_str(TEXT, Serde(report));
            output::line(&text.map_err(anyhow::Error::from)?);
        }
    }
    let ok = reports.iter().all(|report| report.get("ok") == Some(&Value::Bool(true)));
    Ok(if ok { Exit::Ok } else { Exit::Threshold })
}

/// A folder is valid if the backend that `auto` takes proves it; the others are reported. The keys are part of the
/// command-line contract.
fn report(folder: &Path, models: &Models, choices: &[BackendChoice]) -> Value {
    let tried = |backend: &BackendChoice| {
        let run = RunSettings { backend: *backend, workers: 1, ..RunSettings::default() };
        match models.load(folder, &run) {
            Ok(model) => json!({"backend": model.backend, "model": model.name()}),
            Err(error) => {
                let backend = format!("{backend:?}").to_lowercase();
                json!({"backend": backend, "error": error.to_string()})
            }
        }
    };
    let folder_name = folder.display().to_string();
    match Manifest::read(folder) {
        Ok(Manifest { name, kind, goldens, .. }) => {
            let backends: Vec<Value> = choices.iter().map(tried).collect();
            let ok = backends.first().is_some_and(|tried| tried.get("error").is_none());
            let (kind, golden_pairs) = (format!("{kind:?}").to_lowercase(), goldens.len());
            json!({"folder": folder_name, "ok": ok, "name": name, "kind": kind, "golden_pairs": golden_pairs, "backends": backends})
        }
        Err(error) => {
            json!({"folder": folder_name, "ok": false, "error": error.to_string(), "backends": []})
        }
    }
}
