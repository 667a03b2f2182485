//! Every model folder among the fixtures, on every backend that is here: its golden pairs come out.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use assay_reward_models::backend::library::{self, Place};
use assay_reward_models::backend::ort::Ort;
use assay_reward_models::backend::rten::Rten;
use assay_reward_models::backend::{Backend, Provider};
use assay_reward_models::model::{Model, Options};
use libtest_mimic::{Arguments, Trial};

fn main() {
    let arguments = Arguments::from_args();
    let mut backends: Vec<(&str, Arc<dyn Backend>)> = vec![("rten", Arc::new(Rten))];
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/assets/onnxruntime");
    let place = Place { origin: "assets", path: assets, demanded: true };
    if let (Some(library), _) = library::find(&[place]) {
        let ort = Ort::new(library.environment, library.version, vec![Provider::Cpu], false);
        backends.push(("ort", Arc::new(ort)));
    }
    let mut trials = Vec::new();
    for folder in folders() {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for (backend, run) in &backends {
            let (folder, run) = (folder.clone(), Arc::clone(run));
            trials.push(Trial::test(format!("{backend}::{name}"), move || {
                let options = Options { deterministic: false, ..Options::default() };
                Model::load(&folder, &*run, &options)
                    .map(|_| ())
                    .map_err(|error| error.to_string().into())
            }));
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
}

fn folders() -> Vec<PathBuf> {
    let root = std::env::var_os("ASSAY_TEST_MODELS").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/models"),
        PathBuf::from,
    );
    let mut folders: Vec<PathBuf> = std::fs::read_dir(&root)
        .map(|entries| entries.filter_map(|entry| Some(entry.ok()?.path())).collect())
        .unwrap_or_default();
    folders.retain(|path| path.join("model.toml").is_file());
    folders.sort();
    folders
}
