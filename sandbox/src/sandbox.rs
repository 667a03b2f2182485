//! The sandbox that verifiers share: its configuration, and each guest loaded once.

use std::path::PathBuf;
#[cfg(feature = "sql")]
use std::sync::Arc;
use std::sync::{Mutex, PoisonError};

use assay_verifiers::BuildError;
#[cfg(feature = "sql")]
use assay_verifiers::Digest;
#[cfg(feature = "sql")]
use sha2::{Digest as _, Sha256};

#[cfg(feature = "sql")]
use super::isolation;
use super::packed::unpacked;
#[cfg(feature = "sql")]
use crate::runtime::Limits;
use crate::runtime::{Guest, Options, Program, Runtime, SandboxError};

/// Where guests are found, and how the runtime is set up.
#[derive(Clone, Default)]
pub struct SandboxConfig {
    /// Folders that may hold guests, the first one first.
    pub assets: Vec<PathBuf>,
    /// How the runtime is set up.
    pub options: Options,
}

/// The runtime and its guests, made when a verifier first asks for them.
#[derive(Default)]
pub struct Sandbox {
    config: SandboxConfig,
    loaded: Mutex<Loaded>,
}

#[derive(Default)]
struct Loaded {
    runtime: Option<Runtime>,
    serial: Option<Runtime>,
    guests: Vec<(&'static str, Guest)>,
    programs: Vec<(&'static str, Program)>,
    #[cfg(feature = "sql")]
    translating: Option<Translating>,
}

/// What translates queries, and the digests of what it is made of, by name.
#[cfg(feature = "sql")]
pub(crate) type Translating = (Arc<isolation::Translator>, Vec<(String, Digest)>);

/// The library that translates queries, as it lies beside the guests.
#[cfg(feature = "sql")]
const TRANSLATOR: &str = "sqlglot.whl";
/// Fuel of an instance that translates: some five times what loading the library takes.
#[cfg(feature = "sql")]
const TRANSLATOR_FUEL: u64 = 100_000_000_000;

impl Sandbox {
    /// A sandbox with this configuration. Nothing is read yet.
    pub fn new(config: SandboxConfig) -> Self {
        Self { config, loaded: Mutex::default() }
    }

    /// The runtime.
    ///
    /// # Errors
    /// A machine that cannot run guests.
    pub fn runtime(&self) -> Result<Runtime, BuildError> {
        self.loaded(|loaded| loaded.runtime(&self.config.options).cloned())
    }

    /// The runtime for programs that are compiled while samples are judged.
    ///
    /// # Errors
    /// A machine that cannot run guests.
    pub fn serial_runtime(&self) -> Result<Runtime, BuildError> {
        self.loaded(|loaded| {
            let serial = match &loaded.serial {
                Some(serial) => serial.clone(),
                None => Runtime::serial(&self.config.options)?,
            };
            Ok(loaded.serial.insert(serial).clone())
        })
    }

    /// `CPython`.
    ///
    /// # Errors
    /// A guest that is not there or cannot be loaded.
    pub fn python(&self) -> Result<Guest, BuildError> {
        const NAME: &str = "python.wasm";
        self.loaded(|loaded| {
            if let Some((_, guest)) = loaded.guests.iter().find(|(name, _)| *name == NAME) {
                return Ok(guest.clone());
            }
            let runtime = loaded.runtime(&self.config.options)?;
            let guest = Guest::open(runtime, NAME, &self.find(NAME)?)?;
            loaded.guests.push((NAME, guest.clone()));
            Ok(guest)
        })
    }

    /// A program that comes with assay, such as the JavaScript interpreter.
    ///
    /// # Errors
    /// A guest that is not there or cannot be loaded.
    pub fn program(&self, name: &'static str) -> Result<Program, BuildError> {
        self.loaded(|loaded| {
            if let Some((_, program)) = loaded.programs.iter().find(|(have, _)| *have == name) {
                return Ok(program.clone());
            }
            let runtime = loaded.runtime(&self.config.options)?;
            let program = Program::open(runtime, name, &self.find(name)?)?;
            loaded.programs.push((name, program.clone()));
            Ok(program)
        })
    }

    /// What translates queries of other databases, loaded once, and what it is made of.
    ///
    /// # Errors
    /// A guest or a library that is not there or cannot be loaded.
    #[cfg(feature = "sql")]
    pub(crate) fn translator(&self) -> Result<Translating, BuildError> {
        let python = self.python()?;
        self.loaded(|loaded| {
            if let Some(translating) = &loaded.translating {
                return Ok(translating.clone());
            }
            let wheel = self.asset(TRANSLATOR)?;
            let identity = vec![
                ("python.wasm".to_owned(), python.digest()),
                (TRANSLATOR.to_owned(), Sha256::digest(&wheel).into()),
            ];
            let limits = Limits { fuel: TRANSLATOR_FUEL, ..Limits::default() };
            let (python, _) =
                isolation::mount(&python, vec![(TRANSLATOR.to_owned(), wheel)], &limits)
                    .map_err(|why| BuildError::new("dialect", why))?;
            let translator = Arc::new(isolation::Translator::new(python, limits));
            Ok(loaded.translating.insert((translator, identity)).clone())
        })
    }

    /// A file that lies beside the guests.
    #[cfg(feature = "sql")]
    fn asset(&self, name: &str) -> Result<Vec<u8>, BuildError> {
        let mut paths = self.config.assets.iter().map(|folder| folder.join(name));
        let path = paths.find(|path| path.is_file());
        let path = path.ok_or_else(|| self.missing(&format!("the file {name}"), "make assets"))?;
        std::fs::read(&path)
            .map_err(|why| BuildError::new("", format!("{}: {why}", path.display())))
    }

    /// A guest is loaded under the lock, so that no two threads compile it.
    fn loaded<T>(&self, get: impl FnOnce(&mut Loaded) -> T) -> T {
        get(&mut self.loaded.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A folder that comes with assay and that `maker` makes, such as a toolchain.
    ///
    /// # Errors
    /// A folder that is not there.
    #[cfg(feature = "c")]
    pub(crate) fn folder(&self, name: &str, maker: &str) -> Result<PathBuf, BuildError> {
        let mut paths = self.config.assets.iter().map(|folder| folder.join(name));
        let missing = || self.missing(&format!("the folder {name}"), maker);
        paths.find(|path| path.is_dir()).ok_or_else(missing)
    }

    fn find(&self, name: &str) -> Result<PathBuf, BuildError> {
        let cache = self.config.options.compiled.as_deref();
        for path in self.config.assets.iter().map(|folder| folder.join(name)) {
            if path.is_file() {
                return Ok(path);
            }
            if let Some(unpacked) = unpacked(&path, cache) {
                return Ok(unpacked?);
            }
        }
        Err(self.missing(&format!("the guest {name}"), "make assets"))
    }

    fn missing(&self, what: &str, maker: &str) -> BuildError {
        let looked: Vec<String> =
            self.config.assets.iter().map(|folder| folder.display().to_string()).collect();
        let looked = looked.join(", ");
        BuildError::new(
            "",
            format!(
                "{what} is not there: `{maker}` builds it, and ASSAY_ASSETS names the place \
                 (looked in: {looked})"
            ),
        )
    }
}

impl Loaded {
    fn runtime(&mut self, options: &Options) -> Result<&Runtime, BuildError> {
        if self.runtime.is_none() {
            self.runtime = Some(Runtime::new(options)?);
        }
        self.runtime.as_ref().ok_or_else(|| BuildError::new("", "no runtime"))
    }
}

impl From<SandboxError> for BuildError {
    fn from(error: SandboxError) -> Self {
        Self::new("", error.to_string())
    }
}
