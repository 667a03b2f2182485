//! Every model folder among the fixtures loads on both backends: the golden pairs, which hold what
//! transformers says, come out. `make assets` fetches the library of ONNX Runtime.

use std::sync::Arc;

use assay_reward_models::Models;
use assay_reward_models::backend::BackendChoice;
use assay_reward_models::models::RunSettings;
use libtest_mimic::Trial;

use crate::support;

pub(crate) fn trials(models: &Arc<Models>) -> Vec<Trial> {
    let mut trials = Vec::new();
    for folder in support::folders() {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for backend in [BackendChoice::Ort, BackendChoice::Rten] {
            let (folder, models) = (folder.clone(), Arc::clone(models));
            trials.push(Trial::test(format!("{backend:?}: {name}"), move || {
                let run = RunSettings { backend, ..RunSettings::default() };
                let loaded =
                    models.load(&folder, &run).map(|_| ()).map_err(|error| error.to_string());
                if backend == BackendChoice::Rten && !support::is_run_by_rten(&folder) {
                    let why = loaded.err().unwrap_or_default();
                    return why.contains("ONNX Runtime may run it").then_some(()).ok_or(why.into());
                }
                Ok(loaded?)
            }));
        }
    }
    trials
}
