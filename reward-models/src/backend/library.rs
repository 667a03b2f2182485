//! Where the library of ONNX Runtime lies, and what was skipped on the way to it.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use ort::environment::Environment;

/// A place where the library may lie.
#[derive(Clone, Debug)]
pub struct LibraryPath {
    /// Who named it, for reports: `--ort-lib`, `ORT_DYLIB_PATH`, ...
    pub origin: &'static str,
    /// The library, or a folder that holds it.
    pub path: PathBuf,
    /// Whether somebody asked for this very one: nothing else is then tried.
    pub demanded: bool,
}

/// What became of a place.
#[derive(Clone, Debug)]
pub struct Tried {
    /// The place.
    pub place: LibraryPath,
    /// The library that was loaded from there, or why there is none.
    pub outcome: Result<PathBuf, String>,
}

/// The library that is loaded. A process has one.
#[derive(Clone)]
pub struct Library {
    /// The file.
    pub path: PathBuf,
    /// The version, as the library names it.
    pub version: String,
    /// How it was built, in the words of the library.
    pub build: String,
    /// What sessions are made in.
    pub environment: Environment,
}

static LOADED: Mutex<Option<Library>> = Mutex::new(None);

/// The first part of the file's name; versions follow it.
const STEMS: [&str; 3] = ["libonnxruntime.so", "libonnxruntime.", "onnxruntime.dll"];

/// Loads the first library that can be loaded. The second part says what was tried.
pub fn find(places: &[LibraryPath]) -> (Option<Library>, Vec<Tried>) {
    let mut tried = Vec::new();
    for place in places {
        let outcome = load(&place.path);
        let (found, outcome) = match outcome {
            Ok(library) => {
                let path = library.path.clone();
                (Some(library), Ok(path))
            }
            Err(why) => (None, Err(why)),
        };
        tried.push(Tried { place: place.clone(), outcome });
        if found.is_some() || place.demanded {
            return (found, tried);
        }
    }
    (None, tried)
}

fn load(path: &Path) -> Result<Library, String> {
    let file = if path.is_dir() { within(path)? } else { path.to_owned() };
    if !file.is_file() {
        return Err("no such file".to_owned());
    }
    let file = file.canonicalize().map_err(|error| error.to_string())?;
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(library) = &*loaded {
        if library.path == file {
            return Ok(library.clone());
        }
        return Err(format!("{} is loaded already, and a process has one", library.path.display()));
    }
    let builder = ort::init_from(&file).map_err(|error| error.to_string())?;
    let environment = builder
        .with_name("assay")
        .with_telemetry(false)
        .build()
        .map_err(|error| error.to_string())?;
    let build = ort::info().to_owned();
    let version = version_of(&file, &build);
    let library = Library { path: file, version, build, environment };
    *loaded = Some(library.clone());
    Ok(library)
}

/// The library in a folder: the wheel names it with its version.
fn within(folder: &Path) -> Result<PathBuf, String> {
    let entries = std::fs::read_dir(folder).map_err(|error| error.to_string())?;
    let mut found: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            let name = path.file_name().map(|name| name.to_string_lossy());
            name.is_some_and(|name| STEMS.iter().any(|stem| name.starts_with(stem)))
        })
        .collect();
    found.sort();
    found.pop().ok_or_else(|| "no library of ONNX Runtime in it".to_owned())
}

/// `libonnxruntime.so.1.31.1`, or the branch in the build's own words.
fn version_of(file: &Path, build: &str) -> String {
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let by_name = name.strip_prefix("libonnxruntime.so.").map(str::to_owned);
    let by_build = || {
        let rest = build.split("git-branch=rel-").nth(1)?;
        rest.split([',', ' ']).next().map(str::to_owned)
    };
    by_name.or_else(by_build).unwrap_or_else(|| "of unknown version".to_owned())
}
