//! Where the library of ONNX Runtime may lie.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::process::{program, variable};
use crate::reward_models::backend::library::LibraryPath;

/// The folder of the library among the assets.
const FOLDER: &str = "onnxruntime";
/// What a Python answers with: the folder of its package, without importing it.
const ASK_PYTHON: &str = "import importlib.util as u; s = u.find_spec('onnxruntime'); \
                          print(s.submodule_search_locations[0] if s else '')";

/// The places in order of preference.
pub(super) fn libraries(assets: &[PathBuf]) -> Vec<LibraryPath> {
    let named = ["ASSAY_ORT_LIB", "ORT_DYLIB_PATH"]
        .into_iter()
        .filter_map(|origin| Some(LibraryPath { origin, path: variable(origin)?, demanded: true }));
    let beside = program().and_then(|path| Some(path.parent()?.join("lib")));
    let place = |origin, path| LibraryPath { origin, path, demanded: false };
    let beside = beside.map(|path| place("beside the program", path));
    let assets = assets.iter().map(|assets| place("assets", assets.join(FOLDER)));
    named.chain(beside).chain(assets).collect()
}

/// The library in the package of a Python, where it has one: of the Python beside the program, whose
/// package this command may be, else of the one on the path.
pub(super) fn of_python() -> Option<LibraryPath> {
    let beside = program().map(|path| path.with_file_name("python3"));
    beside
        .filter(|path| path.is_file())
        .as_deref()
        .and_then(of_interpreter)
        .or_else(|| of_interpreter(Path::new("python3")))
}

fn of_interpreter(python: &Path) -> Option<LibraryPath> {
    let answer = Command::new(python).args(["-c", ASK_PYTHON]).output().ok()?;
    let package = String::from_utf8(answer.stdout).ok()?;
    let package = package.trim();
    let path = PathBuf::from(package).join("capi");
    (!package.is_empty()).then_some(LibraryPath { origin: "python3", path, demanded: false })
}
