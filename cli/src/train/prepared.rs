//! Everything that a training needs, before its model is opened: the configuration, the engine that
//! pays the rewards, tasks, demonstrations.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use assay::data::Source;
use assay::engine::runs::{InputFile, hash_file};
use assay::engine::{Config, ConfigFolder, Document, Engine};
use assay::setup::Environment;
use assay::trainer::advantages::AdvantageConfig;
use assay::trainer::config::{CheckpointConfig, ToolConfig, TrainConfig};
use assay::trainer::losses::LossTable;
use assay::trainer::training::{Demonstration, Tool};
use assay::training::{ChatTemplate, TaskError, TaskReader, TaskRows};
use assay::verifiers::{Files as _, canonical};
use serde_json::{Value, json};

use super::super::audit::paid_attacks;
use super::super::exit::Failure;
use super::args::Args;
use super::folder::TrainManifest;

/// The library whose defaults are taken where the configuration has no `[advantage]` or no `[loss]`.
const PRESET: &str = "trl-1.16";

/// What a training needs.
pub(super) struct Prepared {
    pub(super) config: TrainConfig,
    pub(super) advantage: AdvantageConfig,
    pub(super) loss: LossTable,
    pub(super) engine: Arc<Engine>,
    pub(super) tasks: TaskRows,
    pub(super) held_out: TaskRows,
    pub(super) demonstrations: Vec<Demonstration>,
    pub(super) tool: Option<Box<dyn Tool>>,
    /// The folder of the model, where it is not a new one.
    pub(super) model: Option<PathBuf>,
    /// The files of tasks and demonstrations.
    inputs: Vec<InputFile>,
}

/// Where the files are that `[train]` names.
struct TrainPaths {
    tasks: Vec<PathBuf>,
    held_out: Vec<PathBuf>,
    demonstrations: Vec<PathBuf>,
    model: Option<PathBuf>,
}

impl Prepared {
    /// Reads the configuration and all that it names but the model.
    pub(super) fn read(args: &Args, environment: &Environment) -> Result<Self, Failure> {
        let mut document = args.config.document(environment)?;
        set(&mut document, "seed", args.seed)?;
        set(&mut document, "steps", args.steps)?;
        set(&mut document, "threads", args.threads)?;
        let attacks = args.audit.as_deref().map(paid_attacks).transpose()?;
        set(&mut document, "monitor.attacks", attacks.map(toml::Value::from))?;
        let config = document.config()?;
        let Some(train) = config.train.clone() else {
            let why = "no [train]: which policy is trained, and on which tasks";
            let help = "`assay show train` lists its settings".to_owned();
            return Err(document.error("train", why).help(Some(help)).into());
        };
        let files = ConfigFolder::beside(&args.config.config, args.config.allow_path.clone());
        // Before files are looked for: a setting that is wrong is told first.
        let paths = TrainPaths::find(&document, &train, &files);
        let chat = paths.as_ref().ok().map(|paths| chat(&document, &train, paths));
        let train = with_program(&document, train, &files);
        let engine = args.engine.engine(args.config.builder(environment, document))?;
        let (paths, chat, train) = (paths?, chat.transpose()?.flatten(), train?);
        let tool = train.tool.as_ref().map(|config| tool(config, environment)).transpose()?;
        Ok(Self { tool, ..Self::with(engine, (config, train), &paths, chat.as_ref())? })
    }

    fn with(
        engine: Engine,
        (config, train): (Config, TrainConfig),
        paths: &TrainPaths,
        chat: Option<&ChatTemplate>,
    ) -> Result<Self, Failure> {
        let reader = TaskReader { columns: &config.data, limits: config.limits.data(), chat };
        let none = |paths: &[PathBuf]| paths.is_empty();
        let held_out = &paths.held_out;
        let shown = &paths.demonstrations;
        let files = paths.tasks.iter().chain(held_out).chain(shown).cloned().collect::<Vec<_>>();
        let preset = Some(PRESET.to_owned());
        let advantage = AdvantageConfig { preset: preset.clone(), ..AdvantageConfig::default() };
        Ok(Self {
            tasks: reader.tasks(&paths.tasks).map_err(read)?,
            held_out: if none(held_out) {
                TaskRows::default()
            } else {
                reader.tasks(held_out).map_err(read)?
            },
            demonstrations: if none(shown) {
                Vec::new()
            } else {
                reader.demonstrations(shown).map_err(read)?
            },
            inputs: inputs(&files, &config)?,
            model: paths.model.clone(),
            tool: None,
            advantage: config.advantage.unwrap_or(advantage),
            loss: config.loss.unwrap_or(LossTable { preset, ..LossTable::default() }),
            config: train,
            engine: Arc::new(engine),
        })
    }

    /// The configuration with every default filled in.
    pub(super) fn resolved(&self) -> Value {
        let mut resolved = self.engine.plan().resolved();
        if let Some(members) = resolved.as_object_mut() {
            members.insert("advantage".to_owned(), json!(self.advantage));
            members.insert("loss".to_owned(), json!(self.loss));
        }
        resolved
    }

    /// What the run is.
    pub(super) fn manifest(&self) -> TrainManifest {
        let mut deciding = self.resolved();
        // Neither moves a weight of the steps that were made.
        let train = TrainConfig {
            steps: 0,
            threads: 0,
            checkpoint: CheckpointConfig::default(),
            ..self.config.clone()
        };
        if let Some(members) = deciding.as_object_mut() {
            members.insert("train".to_owned(), json!(train));
        }
        TrainManifest {
            train_format: 1,
            assay: env!("CARGO_PKG_VERSION").to_owned(),
            config_hash: canonical::hex(&canonical::digest(&deciding)),
            inputs: self.inputs.clone(),
            steps: self.config.steps,
            complete: false,
        }
    }
}

impl TrainPaths {
    fn find(
        document: &Document,
        train: &TrainConfig,
        files: &ConfigFolder,
    ) -> Result<Self, Failure> {
        let found = |setting: &str, names: &[String]| -> Result<Vec<PathBuf>, Failure> {
            let path = |(at, name): (usize, &String)| {
                let setting = format!("train.{setting}[{at}]");
                files.dataset(name).map_err(|why| document.error(&setting, why).into())
            };
            names.iter().enumerate().map(path).collect()
        };
        let warmup = train.warmup.as_ref().map(|warmup| warmup.data.as_slice()).unwrap_or_default();
        let folder = |name: &String| {
            files.folder(name).map_err(|why| Failure::from(document.error("train.model.path", why)))
        };
        Ok(Self {
            tasks: found("tasks", &train.tasks)?,
            held_out: found("held_out", &train.held_out)?,
            demonstrations: found("warmup.data", warmup)?,
            model: train.model.path.as_ref().map(folder).transpose()?,
        })
    }
}

/// Sets what a flag says in `[train]`.
fn set<T: ToString>(document: &mut Document, key: &str, value: Option<T>) -> Result<(), Failure> {
    match value {
        Some(value) => Ok(document.set(&format!("train.{key}"), &value.to_string())?),
        None => Ok(()),
    }
}

/// The configuration with the program of its tool in it, so that it decides the training as the rest does.
fn with_program(
    document: &Document,
    mut train: TrainConfig,
    files: &ConfigFolder,
) -> Result<TrainConfig, Failure> {
    let tool = train.tool.as_mut().filter(|tool| tool.source.is_none());
    if let Some(tool) = tool
        && let Some(name) = tool.file.take()
    {
        let text = files.text("file", &name);
        tool.source = Some(text.map_err(|error| document.refused("train.tool", error))?);
    }
    Ok(train)
}

/// The tool of a configuration.
#[cfg(feature = "sandbox")]
fn tool(config: &ToolConfig, environment: &Environment) -> Result<Box<dyn Tool>, Failure> {
    let made = assay::training::SandboxTool::new(&Arc::new(environment.sandbox()), config);
    let made = made.map_err(|error| Failure::usage(error.within("train.tool").to_string()))?;
    Ok(Box::new(made))
}

/// In place of the sandbox, which this build is without.
#[cfg(not(feature = "sandbox"))]
fn tool(_: &ToolConfig, _: &Environment) -> Result<Box<dyn Tool>, Failure> {
    let why = "train.tool: this build runs no programs: built without the feature `sandbox`";
    Err(Failure::usage(why.to_owned()))
}

/// The chat template that prompts go through.
fn chat(
    document: &Document,
    train: &TrainConfig,
    paths: &TrainPaths,
) -> Result<Option<ChatTemplate>, Failure> {
    let wanted = train.model.chat;
    if wanted == Some(false) {
        return Ok(None);
    }
    let found = match &paths.model {
        None => None,
        Some(folder) => ChatTemplate::of_folder(folder)
            .map_err(|why| document.error("train.model.path", why))?,
    };
    if wanted == Some(true) && found.is_none() {
        let why = "the model has no chat template";
        return Err(document.error("train.model.chat", why).into());
    }
    Ok(found)
}

/// The files behind paths, with their digests.
fn inputs(paths: &[PathBuf], config: &Config) -> Result<Vec<InputFile>, Failure> {
    let source = Source::open(paths, &config.limits.data())?;
    let describe = |path: &Path| {
        let (sha256, bytes) = hash_file(path)?;
        Ok(InputFile { path: path.display().to_string(), bytes, sha256: Some(sha256) })
    };
    source.paths().flatten().map(describe).collect()
}

fn read(error: TaskError) -> Failure {
    match error {
        TaskError::Data(error) => error.into(),
        TaskError::Row(error) => error.into(),
    }
}
