//! What the environment says: where assets and caches lie, which library runs models, and which
//! settings it overrides. The one place that reads it: the command line and every other way in take
//! an [`Environment`] from here.

#[cfg(feature = "otel")]
mod collector;
#[cfg(all(feature = "models", feature = "rubrics"))]
mod judges;
#[cfg(feature = "models")]
mod onnx_runtime;
mod process;
#[cfg(feature = "otel")]
mod traces;

use std::env;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[cfg(feature = "rubrics")]
use assay_verifiers::Files as _;
use assay_verifiers::code::Code;
#[cfg(feature = "otel")]
pub use traces::{Traces, TracesError};

pub use crate::clock::{Monotonic, unix_seconds};
use crate::data::{open_once, open_regular};
use crate::engine::{
    Config, ConfigError, ConfigFolder, Document, Engine, EngineBuilder, EngineError, Origin,
    Registry,
};
use crate::reward_models::Models;
use crate::rubrics::judge::JudgeParts;
use crate::sandbox::Sandbox;
use process::{program, variable};

/// The largest configuration, in bytes.
const CONFIG_BYTES_MAX: u64 = 1 << 20;
/// What begins the names of our variables.
const PREFIX: &str = "ASSAY_";
/// Called with a message when something long starts, such as the compilation of a guest.
pub type Notice = Arc<dyn Fn(&str) + Send + Sync>;

/// The text of an environment variable that settings name, such as that of a token.
pub fn variable_text(name: &str) -> Option<String> {
    variable(name)?.into_os_string().into_string().ok()
}

/// What the environment says.
#[derive(Clone)]
pub struct Environment {
    /// Folders that may hold assets, the first one first: `ASSAY_ASSETS`, folders beside the
    /// program, the user's data folder.
    pub assets: Vec<PathBuf>,
    /// The user's cache folder: `XDG_CACHE_HOME`, else `HOME/.cache`.
    pub user_cache: Option<PathBuf>,
    /// Where verdicts are kept: `ASSAY_CACHE_DIR`.
    pub cache_dir: Option<PathBuf>,
    /// Cores of the machine.
    pub cores: usize,
    /// Where ONNX Runtime may lie, in order of preference: `ASSAY_ORT_LIB` and `ORT_DYLIB_PATH`,
    /// after which nothing else is tried, `lib/` beside the program, and the assets.
    #[cfg(feature = "models")]
    pub ort_libraries: Vec<crate::reward_models::backend::library::LibraryPath>,
    /// Settings by their dotted paths, of variables such as `ASSAY_COMBINE__HOW`.
    pub settings: Vec<(String, String)>,
    /// Variables that name a setting with one underscore where two belong, and what they should be.
    pub misnamed: Vec<(String, String)>,
    /// Further variables called `ASSAY_...` that nothing reads.
    pub unread: Vec<String>,
    /// Called when something long starts.
    pub notice: Option<Notice>,
}

impl Environment {
    /// Reads the environment of this process.
    pub fn read() -> Self {
        let assets = assets();
        let (misnamed, unread) = unknown();
        Self {
            #[cfg(feature = "models")]
            ort_libraries: onnx_runtime::libraries(&assets),
            assets,
            user_cache: user_cache(),
            cache_dir: variable("ASSAY_CACHE_DIR"),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            settings: settings(),
            misnamed,
            unread,
            notice: None,
        }
    }

    /// The sandbox, none of whose guests is loaded.
    #[cfg(feature = "sandbox")]
    pub fn sandbox(&self) -> Sandbox {
        let options = crate::sandbox::runtime::Options {
            compiled: self.user_cache.as_ref().map(|cache| cache.join("guests")),
            notice: self.notice.clone(),
            ..crate::sandbox::runtime::Options::default()
        };
        Sandbox::new(crate::sandbox::SandboxConfig { assets: self.assets.clone(), options })
    }

    /// In place of the sandbox, which this build is without.
    #[cfg(not(feature = "sandbox"))]
    pub fn sandbox(&self) -> Sandbox {
        Sandbox
    }

    /// The models, none of which is loaded.
    #[cfg(feature = "models")]
    pub fn models(&self) -> Models {
        Models::new(crate::reward_models::OrtDiscovery {
            libraries: self.ort_libraries.clone(),
            last: Some(onnx_runtime::of_python),
            cores: self.cores,
            known_digests: self.user_cache.as_ref().map(|cache| cache.join("digests")),
        })
    }

    /// In place of the models, which this build is without.
    #[cfg(not(feature = "models"))]
    pub fn models(&self) -> Models {
        Models
    }

    /// Names the library of ONNX Runtime; nothing else is then tried.
    #[cfg(feature = "models")]
    pub fn demand_ort_library(&mut self, path: Option<PathBuf>) {
        if let Some(path) = path.filter(|path| !path.as_os_str().is_empty()) {
            self.ort_libraries.insert(
                0,
                crate::reward_models::backend::library::LibraryPath {
                    origin: "--ort-lib",
                    path,
                    demanded: true,
                },
            );
        }
    }

    /// Adds a place where the library of ONNX Runtime may lie, after all others.
    #[cfg(feature = "models")]
    pub fn add_ort_library(&mut self, origin: &'static str, path: Option<PathBuf>) {
        self.ort_libraries.extend(path.map(|path| {
            crate::reward_models::backend::library::LibraryPath { origin, path, demanded: false }
        }));
    }

    /// Every verifier of this build. Guests and models are loaded when the first verifier that
    /// needs one is built.
    pub fn registry(&self) -> Registry {
        self.registry_of(&Arc::new(self.models()))
    }

    fn registry_of(&self, models: &Arc<Models>) -> Registry {
        Registry::standard(&Arc::new(self.sandbox()), models)
    }

    /// Reads a configuration, `-` from standard input, and sets in it what the environment
    /// overrides.
    ///
    /// # Errors
    /// A file that cannot be read, and what is wrong with its text or with an override.
    pub fn document(&self, path: &Path) -> Result<Document, EngineError> {
        let name = path.display().to_string();
        let fail = |why: String| EngineError::from(ConfigError::new(&name, "", why));
        if path.is_dir() {
            let error = ConfigError::new(&name, "", format!("{name} is a folder; expected a file"));
            let help = format!("name the file, as in {}", path.join("assay.toml").display());
            return Err(error.code(Code::UnknownKey).help(Some(help)).into());
        }
        let bytes = if path.as_os_str() == "-" {
            read_bytes(std::io::stdin())
        } else {
            open_text(path).and_then(read_bytes)
        };
        let bytes = bytes.map_err(|error| unread(&name, &error))?;
        if let Some(error) = ConfigError::of_bytes(&name, &bytes) {
            return Err(error.into());
        }
        if bytes.len() as u64 > CONFIG_BYTES_MAX {
            return Err(fail(format!("{name}: more than {CONFIG_BYTES_MAX} bytes")));
        }
        self.document_of(&name, &String::from_utf8_lossy(&bytes))
    }

    /// Parses the text of a configuration that messages call `name`, and sets in it what the
    /// environment overrides.
    ///
    /// # Errors
    /// What is wrong with the text, or with an override.
    pub fn document_of(&self, name: &str, text: &str) -> Result<Document, EngineError> {
        let mut document = Document::parse(name, text)?;
        if let Some((found, meant)) = self.misnamed.first() {
            let message = format!("the variable {found} sets nothing");
            let help = format!("two underscores separate a table from its key: write {meant}");
            let error = ConfigError::new("environment", found, message).at(Some(0..found.len()));
            return Err(error.code(Code::UnknownKey).help(Some(help)).into());
        }
        for (path, value) in &self.settings {
            let name = format!("{PREFIX}{}", path.replace('.', "__").to_ascii_uppercase());
            let (text, key) = (format!("{name}={value}"), 0..name.len());
            document.set_by(path, value, Origin { place: "environment", text, key })?;
        }
        Ok(document)
    }

    /// An engine of a configuration file, whose settings may name files in its folder and below
    /// those of `allowed`.
    pub fn builder(&self, path: &Path, document: Document, allowed: Vec<PathBuf>) -> EngineBuilder {
        self.builder_of(ConfigFolder::beside(path, allowed), document)
    }

    /// An engine of a configuration, whose settings may name files in `folder` and below those of
    /// `allowed`.
    pub fn builder_in(
        &self,
        folder: &Path,
        document: Document,
        allowed: Vec<PathBuf>,
    ) -> EngineBuilder {
        self.builder_of(ConfigFolder::new(folder, allowed), document)
    }

    fn builder_of(&self, files: ConfigFolder, document: Document) -> EngineBuilder {
        let models = Arc::new(self.models());
        Engine::builder()
            .config(document)
            .registry(self.registry_of(&models))
            .judges(judge_parts(&files, &models))
            .files(files)
            .cache_dir(self.cache_dir.clone())
            .user_cache_dir(self.user_cache.clone())
            .cache_notice(self.notice.clone())
    }
}

impl Engine {
    /// An engine of a configuration file, with everything that the environment offers: guests,
    /// models, the user's cache, and overrides such as `ASSAY_COMBINE__HOW=min`.
    ///
    /// # Errors
    /// A file that cannot be read, what is wrong with the configuration, or a thread that the
    /// operating system refuses.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, EngineError> {
        let (environment, path) = (Environment::read(), path.as_ref());
        environment.builder(path, environment.document(path)?, Vec::new()).build()
    }
}

/// What judges are made of: keys from the variables that they name, certificates from `files`,
/// and `models`, which they share with other verifiers.
#[cfg(feature = "rubrics")]
fn judge_parts(files: &ConfigFolder, models: &Arc<Models>) -> JudgeParts {
    let (certificates, mut parts) = (files.clone(), JudgeParts::default());
    parts.secret = Arc::new(|name| {
        let value = variable(name)?.into_os_string().into_string().ok()?;
        Some(crate::rubrics::http::Secret::new(&value))
    });
    parts.files = Arc::new(move |name| certificates.read(name));
    #[cfg(feature = "models")]
    {
        let (files, models) = (files.clone(), Arc::clone(models));
        parts.folder = Arc::new(move |config| judges::of_folder(&models, &files, config));
    }
    let _ = models;
    parts
}

/// In place of judges, which this build is without.
#[cfg(not(feature = "rubrics"))]
fn judge_parts(_: &ConfigFolder, _: &Arc<Models>) -> JudgeParts {
    JudgeParts::default()
}

/// Opens a configuration: a regular file, or what the process was given open, as by `<(...)` of a
/// shell. Another pipe might never have a writer.
fn open_text(path: &Path) -> std::io::Result<std::fs::File> {
    let is_given = path.starts_with("/dev/fd") || path.starts_with("/proc/self/fd");
    if is_given { open_once(path) } else { open_regular(path) }
}

fn read_bytes(file: impl std::io::Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(CONFIG_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A configuration that cannot be read.
fn unread(name: &str, error: &std::io::Error) -> ConfigError {
    if error.kind() != std::io::ErrorKind::NotFound {
        let error = ConfigError::new(name, "", format!("{name}: {error}"));
        return error.code(Code::UnreadableFile);
    }
    let help = "`assay init FOLDER` writes a configuration, rows and the commands to go on with";
    let error = ConfigError::new(name, "", format!("{name}: no such file"));
    error.code(Code::UnreadableFile).help(Some(help.to_owned()))
}

/// An absolute folder that a variable names, else one below the home folder.
fn user_folder(name: &str, below_home: &str) -> Option<PathBuf> {
    let named = variable(name).filter(|path| path.is_absolute());
    named.or_else(|| Some(variable("HOME")?.join(below_home)))
}

fn user_cache() -> Option<PathBuf> {
    Some(user_folder("XDG_CACHE_HOME", ".cache")?.join("assay"))
}

/// Folders with assets: `ASSAY_ASSETS`, next to the program, and the user's data folder.
fn assets() -> Vec<PathBuf> {
    let program = program();
    // A program in `target/release` has its guests in `target/assets`, an installed one in
    // `share/assay` beside `bin`.
    let beside = program.iter().flat_map(|path| {
        let folders = path.ancestors().skip(1).take(3);
        folders.flat_map(|folder| [folder.join("assets"), folder.join("share/assay")])
    });
    let user = user_folder("XDG_DATA_HOME", ".local/share").map(|data| data.join("assay"));
    variable("ASSAY_ASSETS").into_iter().chain(beside).chain(user).collect()
}

/// The settings in the environment: `ASSAY_<SECTION>__<KEY>`.
fn settings() -> Vec<(String, String)> {
    let mut settings: Vec<(String, String)> = env::vars_os()
        .filter_map(|(key, value)| {
            let key = key.to_str()?.strip_prefix(PREFIX)?.to_ascii_lowercase();
            let key = key.contains("__").then(|| key.replace("__", "."))?;
            Some((key, value.to_string_lossy().into_owned()))
        })
        .collect();
    settings.sort();
    settings
}

/// The variables that are read as they are.
const READ: [&str; 3] = ["ASSAY_ASSETS", "ASSAY_CACHE_DIR", "ASSAY_ORT_LIB"];

/// Variables that nothing reads: those of one underscore that would set something with two, and what they
/// should be; and the others.
fn unknown() -> (Vec<(String, String)>, Vec<String>) {
    let names = env::vars_os().filter_map(|(key, _)| key.into_string().ok());
    let is_unknown = |name: &String| {
        name.starts_with(PREFIX) && !name.contains("__") && !READ.contains(&name.as_str())
    };
    let mut names: Vec<String> = names.filter(is_unknown).collect();
    names.sort();
    if names.is_empty() {
        return Default::default();
    }
    let schema = Config::json_schema();
    let keys = |section: &serde_json::Value| -> Vec<String> {
        let place = section.get("$ref").and_then(serde_json::Value::as_str);
        let table =
            place.and_then(|name| schema.pointer(name.strip_prefix('#')?)).unwrap_or(section);
        let keys = table.get("properties").and_then(serde_json::Value::as_object);
        keys.map(|keys| keys.keys().cloned().collect()).unwrap_or_default()
    };
    let sections = schema.get("properties").and_then(serde_json::Value::as_object);
    let known: Vec<(String, Vec<String>)> = sections
        .map(|all| all.iter().map(|(name, section)| (name.clone(), keys(section))).collect())
        .unwrap_or_default();
    let meant = |name: &str| {
        let key = name.strip_prefix(PREFIX)?.to_ascii_lowercase();
        let (section, key) = known.iter().find_map(|(section, keys)| {
            let rest = key.strip_prefix(section.as_str())?.strip_prefix('_')?;
            keys.iter().find(|known| known.as_str() == rest).map(|known| (section, known))
        })?;
        Some(format!("{PREFIX}{section}__{key}").to_ascii_uppercase())
    };
    let (mut misnamed, mut unread) = (Vec::new(), Vec::new());
    for name in names {
        match meant(&name) {
            Some(meant) => misnamed.push((name, meant)),
            None => unread.push(name),
        }
    }
    (misnamed, unread)
}
