//! From the command line to an engine: configuration, environment, flags, files, clock.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use assay::engine::{Clock, ConfigFolder, Document, Options};
use assay::{Engine, Plan, Registry};
use clap::Args;

use super::exit::Failure;
use super::guests;

/// The largest configuration, in bytes.
const CONFIG_BYTES_MAX: usize = 1 << 20;
/// The sections that the environment may set, as in `ASSAY_COMBINE__HOW=min`.
const SECTIONS: [&str; 4] = ["data", "combine", "limits", "cache"];

/// What every verb with a configuration takes.
#[derive(Debug, Args)]
pub(super) struct ConfigArgs {
    /// The configuration: TOML, or JSON of the same shape
    pub(super) config: PathBuf,
    /// Set a value, as in `--set combine.how=min` or `--set reward.NAME.weight=0.5`
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(super) sets: Vec<String>,
    /// Let the configuration name files below this folder too
    #[arg(long, value_name = "DIR")]
    pub(super) allow_path: Vec<PathBuf>,
}

/// What every verb that runs verifiers takes.
#[derive(Debug, Args)]
pub(super) struct EngineArgs {
    /// Threads for checks; by default one a core
    #[arg(short, long, value_name = "N")]
    pub(super) jobs: Option<usize>,
    /// Where verdicts are kept for the next run
    #[arg(long, value_name = "DIR", env = "ASSAY_CACHE_DIR")]
    pub(super) cache_dir: Option<PathBuf>,
    /// Neither look up verdicts nor keep them
    #[arg(long)]
    pub(super) no_cache: bool,
}

impl ConfigArgs {
    /// Reads the configuration: defaults < file < environment < flags.
    pub(super) fn document(&self) -> Result<Document, Failure> {
        let name = self.config.display().to_string();
        let text = if self.config.as_os_str() == "-" {
            std::io::read_to_string(std::io::stdin())
        } else {
            std::fs::read_to_string(&self.config)
        };
        let text = text.map_err(|error| Failure::usage(format!("{name}: {error}")))?;
        if text.len() > CONFIG_BYTES_MAX {
            let bytes = text.len();
            let message = format!("{name}: {bytes} bytes; at most {CONFIG_BYTES_MAX} are read");
            return Err(Failure::Usage(message));
        }
        let mut document = Document::parse(&name, &text)?;
        for (path, value) in environment() {
            document.set(&path, &value)?;
        }
        for set in &self.sets {
            let Some((path, value)) = set.split_once('=') else {
                return Err(Failure::usage(format!("--set {set}: expected KEY=VALUE")));
            };
            document.set(path, value)?;
        }
        Ok(document)
    }

    /// Builds the plan of a document.
    pub(super) fn plan(&self, document: &Document) -> Result<Plan, Failure> {
        self.plan_of(document, &guests::registry())
    }

    /// The same, of verifiers that the caller needs again.
    pub(super) fn plan_of(
        &self,
        document: &Document,
        registry: &Registry,
    ) -> Result<Plan, Failure> {
        let folder = match self.config.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let files = ConfigFolder::new(folder, self.allow_path.clone());
        Ok(Plan::build(document, registry, &files)?)
    }
}

impl EngineArgs {
    /// One thread and no cache: for a verdict or two.
    pub(super) fn plain() -> Self {
        Self { jobs: Some(1), cache_dir: None, no_cache: true }
    }

    /// How many threads check.
    pub(super) fn jobs(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        self.jobs.unwrap_or_else(cores).max(1)
    }

    /// Starts an engine on a plan.
    pub(super) fn engine(&self, plan: Plan) -> Result<Engine, Failure> {
        let options = Options {
            jobs: self.jobs(),
            clock: Arc::new(Monotonic::start()),
            cache_dir: self.cache_dir(&plan),
        };
        Ok(Engine::start(plan, options)?)
    }

    /// Where the verdicts of a plan are kept; `None` where none are.
    pub(super) fn cache_dir(&self, plan: &Plan) -> Option<PathBuf> {
        let keeps = plan.rewards.iter().any(|reward| reward.cache_key.is_some());
        let named = plan.config.cache.dir.as_ref().map(PathBuf::from);
        let dir = self.cache_dir.clone().or(named).or_else(default_cache_dir);
        dir.filter(|_| keeps && !self.no_cache)
    }
}

/// The user's cache folder.
pub(super) fn default_cache_dir() -> Option<PathBuf> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    Some(cache.filter(|path| path.is_absolute()).or_else(home)?.join("assay"))
}

/// The settings in the environment: `ASSAY_<SECTION>__<KEY>`.
fn environment() -> Vec<(String, String)> {
    let mut settings: Vec<(String, String)> = std::env::vars_os()
        .filter_map(|(key, value)| {
            let key = key.to_str()?.strip_prefix("ASSAY_")?.to_ascii_lowercase();
            key.split_once("__").filter(|(section, _)| SECTIONS.contains(section))?;
            Some((key.replace("__", "."), value.to_str()?.to_owned()))
        })
        .collect();
    settings.sort();
    settings
}

/// The clock of the process.
pub(super) struct Monotonic(Instant);

impl Monotonic {
    #[expect(clippy::disallowed_methods, reason = "the binary is where the clock is read")]
    pub(super) fn start() -> Self {
        Self(Instant::now())
    }

    /// Seconds since the start.
    pub(super) fn seconds(&self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}

impl Clock for Monotonic {
    fn now_ns(&self) -> u64 {
        u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}
