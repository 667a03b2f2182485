//! Where the library of ONNX Runtime lies, as the environment tells.

use std::env;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use assay::reward_models::backend::library::Place;
use assay::reward_models::{Models, Places};

/// The folder of the library among the assets.
const FOLDER: &str = "onnxruntime";
/// What a Python answers with: the folder of its package, without importing it.
const ASK: &str = "import importlib.util as u; s = u.find_spec('onnxruntime'); \
                   print(s.submodule_search_locations[0] if s else '')";

/// The library that the command line names.
static DEMANDED: OnceLock<PathBuf> = OnceLock::new();

/// Takes the library that the command line names, for all models of this process.
pub(super) fn demand(library: Option<PathBuf>) {
    if let Some(library) = library.filter(|path| !path.as_os_str().is_empty()) {
        // Nobody asks twice: the command line is read once.
        let _ = DEMANDED.set(library);
    }
}

/// The models of this process, none loaded. `--ort-lib` and `ORT_DYLIB_PATH` name a library and
/// nothing else is then tried; after them come `lib/` beside the program, the assets, and the
/// package of the Python that runs.
pub(super) fn models(assets: &[PathBuf]) -> Models {
    let variable = env::var_os("ORT_DYLIB_PATH").map(PathBuf::from);
    let variable = variable.filter(|path| !path.as_os_str().is_empty());
    let named = [("--ort-lib", DEMANDED.get().cloned()), ("ORT_DYLIB_PATH", variable)];
    let named = named
        .into_iter()
        .filter_map(|(origin, path)| Some(Place { origin, path: path?, demanded: true }));
    let program = env::current_exe().ok().and_then(|path| path.canonicalize().ok());
    let beside = program.and_then(|path| Some(path.parent()?.join("lib")));
    let place = |origin, path| Place { origin, path, demanded: false };
    let beside = beside.map(|path| place("beside the program", path));
    let assets = assets.iter().map(|assets| place("assets", assets.join(FOLDER)));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    Models::new(Places {
        libraries: named.chain(beside).chain(assets).collect(),
        last: Some(of_python),
        cores,
    })
}

/// The library in the package of the Python on the path, where it has one.
fn of_python() -> Option<Place> {
    let answer = Command::new("python3").args(["-c", ASK]).output().ok()?;
    let package = String::from_utf8(answer.stdout).ok()?;
    let package = package.trim();
    let path = PathBuf::from(package).join("capi");
    (!package.is_empty()).then_some(Place { origin: "python3", path, demanded: false })
}
