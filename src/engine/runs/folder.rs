//! A run folder: whose it is, how far it got, and where to go on.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use assay_verifiers::code::Code;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::lock::{Lock, Refused};
use super::manifest::{Identity, RunManifest, hasher_of};
use super::{CONFIG, LOCK, MANIFEST, STATE, SUMMARY, TIMINGS, VERDICTS, VERDICTS_PARQUET};
use crate::data::{DataError, open_regular, read_regular};
use crate::engine::ErrorFields;
use crate::engine::lines;
use crate::engine::shard::Shard;
use crate::engine::stream_spec::{OldRow, StreamError};
use crate::engine::temporary::{is_temporary, sweep};

/// Why a run cannot go on. Rows that were written stay.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Another process writes the run.
    #[error("{dir}: another process{} is writing this run", pid_text(*.pid))]
    Locked {
        /// The run folder.
        dir: String,
        /// The other process, where it can be told.
        pid: Option<u32>,
    },
    /// The folder holds something else.
    #[error("{dir}: {why}; --fresh starts over, or choose another folder")]
    Foreign {
        /// The run folder.
        dir: String,
        /// What does not fit.
        why: String,
    },
    /// A shard that does not fit its folder or the other shards.
    #[error("{dir}: {why}")]
    Shards {
        /// The shard, or the folder that holds it.
        dir: String,
        /// What does not fit.
        why: String,
    },
    /// A file of the input that was written to while it was read.
    #[error(
        "{file}: changed while it was read, so that rows may be of either; once nothing writes it, \
         --fresh judges all rows again"
    )]
    Changed {
        /// The file.
        file: String,
    },
    /// It was asked to stop.
    #[error("stopped before the end")]
    Stopped,
    /// A file cannot be read or written.
    #[error("{file}: {source}")]
    Io {
        /// The file.
        file: String,
        /// What the system says.
        source: io::Error,
    },
    /// The data cannot be read on.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The stream ended early.
    #[error(transparent)]
    Stream(#[from] StreamError<io::Error>),
}

impl RunError {
    /// What is wrong.
    pub fn code(&self) -> Code {
        match self {
            Self::Locked { .. } => Code::RunLocked,
            Self::Foreign { .. } => Code::OtherRun,
            Self::Shards { .. } => Code::Shards,
            Self::Changed { .. } => Code::DataChanged,
            Self::Stopped => Code::Stopped,
            Self::Io { .. } => Code::Unwritable,
            Self::Data(error) => error.code(),
            Self::Stream(error) => error.code(),
        }
    }

    /// Which file, folder, row or column is at fault.
    pub fn fields(&self) -> ErrorFields {
        let of = |file: &str| ErrorFields { file: file.to_owned(), ..ErrorFields::default() };
        match self {
            Self::Locked { dir, .. } | Self::Foreign { dir, .. } | Self::Shards { dir, .. } => {
                of(dir)
            }
            Self::Changed { file } | Self::Io { file, .. } => of(file),
            Self::Stopped => ErrorFields::default(),
            Self::Data(error) => error.into(),
            Self::Stream(error) => error.fields(),
        }
    }

    pub(crate) fn shards(dir: &Path, why: String) -> Self {
        Self::Shards { dir: dir.display().to_string(), why }
    }
}

fn pid_text(pid: Option<u32>) -> String {
    pid.map_or_else(String::new, |pid| format!(" (pid {pid})"))
}

/// How a run starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunStart {
    /// From the first row.
    Fresh,
    /// After the lines that are there.
    Resume,
    /// Not at all: it is complete.
    Done,
}

/// A run folder that this process holds.
pub struct RunFolder {
    dir: PathBuf,
    _lock: Lock,
}

impl RunFolder {
    /// Takes the folder, making it where it is not there, and removes what killed processes left.
    ///
    /// # Errors
    /// Another process holds it, or it cannot be written.
    pub fn open(dir: &Path, pid: u32) -> Result<Self, RunError> {
        let io = |source| RunError::Io { file: dir.display().to_string(), source };
        fs::create_dir_all(dir).map_err(io)?;
        let lock = Lock::take(&dir.join(LOCK), pid).map_err(|refused| match refused {
            Refused::Held(pid) => RunError::Locked { dir: dir.display().to_string(), pid },
            Refused::Io(source) => io(source),
        })?;
        sweep(dir);
        Ok(Self { dir: dir.to_owned(), _lock: lock })
    }

    /// The path of one of its files.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// Its manifest, where it has one.
    ///
    /// # Errors
    /// A manifest that cannot be read.
    pub fn manifest(&self) -> Result<Option<RunManifest>, RunError> {
        self.read_json(MANIFEST)
    }

    /// One of its JSON files, where it is there.
    ///
    /// # Errors
    /// A file that cannot be read, or is not what it should be.
    pub fn read_json<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, RunError> {
        match read_regular(&self.path(name)) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map(Some)
                .map_err(|error| self.foreign(format!("{name} is damaged: {error}"))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.io(name, error)),
        }
    }

    /// How the run described by `wanted`, whose settings are `config`, starts in this folder.
    ///
    /// # Errors
    /// The folder holds another run, or something that is not a run.
    pub fn start(&self, wanted: &RunManifest, config: &Value) -> Result<RunStart, RunError> {
        let Some(have) = self.manifest()? else {
            self.expect_empty(false)?;
            return Ok(RunStart::Fresh);
        };
        self.expect_same(&have, wanted, Some(config))?;
        if have.bad_rows != wanted.bad_rows && have.bad_rows != "stop" {
            let why = format!("the run was made with --bad-rows {}", have.bad_rows);
            return Err(self.foreign(why));
        }
        let further = match (have.limit, wanted.limit) {
            (None, _) => false,
            (Some(_), None) => true,
            (Some(have), Some(wanted)) => wanted > have,
        };
        Ok(if have.complete && !further { RunStart::Done } else { RunStart::Resume })
    }

    /// Whether the run `wanted`, made of shards, may be written here: into an empty folder, beside
    /// its shards, or over what there is of the same run.
    pub(super) fn admit(&self, wanted: &RunManifest) -> Result<(), RunError> {
        match self.manifest()? {
            Some(have) => self.expect_same(&have, wanted, None),
            None => self.expect_empty(true),
        }
    }

    fn expect_same(
        &self,
        have: &RunManifest,
        wanted: &RunManifest,
        config: Option<&Value>,
    ) -> Result<(), RunError> {
        if have.format != wanted.format {
            let why =
                format!("the run has format {}, this build writes {}", have.format, wanted.format);
            return Err(self.foreign(why));
        }
        let Some(mut why) = difference(&have.identity, &wanted.identity) else { return Ok(()) };
        if have.identity.config_hash != wanted.identity.config_hash
            && let Some(Value::Object(config)) = config
            && let Some(own) = self.read_json::<Value>(CONFIG)?
            && let Some(key) =
                config.iter().find_map(|(key, now)| changed(key, member(&own, key), now))
        {
            why.push_str(": ");
            why.push_str(&key);
        }
        Err(self.foreign(why))
    }

    fn expect_empty(&self, beside_shards: bool) -> Result<(), RunError> {
        let ours = [LOCK, CONFIG, SUMMARY];
        let entries = fs::read_dir(&self.dir).map_err(|error| self.io("", error))?;
        for entry in entries {
            let name = entry.map_err(|error| self.io("", error))?.file_name();
            let name = name.to_string_lossy();
            let stale = is_temporary(&name);
            let shard = Shard::of_folder(&name);
            if shard.is_some() && !beside_shards {
                let why = format!("the folder holds {name}: `assay merge` makes a run of shards");
                return Err(RunError::shards(&self.dir, why));
            }
            if !stale && shard.is_none() && !ours.contains(&&*name) {
                let why = format!("the folder has {name:?} but no {MANIFEST}, so it is not a run");
                return Err(self.foreign(why));
            }
        }
        Ok(())
    }

    /// Where it lies.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// The files of a run that a fresh start removes, in this order. The manifest is none of them: it
    /// is replaced once they are gone, and until then says of what run the rest is. Once the lines are
    /// gone the rest stands for no row.
    pub fn files() -> [&'static str; 6] {
        [VERDICTS_PARQUET, VERDICTS, TIMINGS, SUMMARY, STATE, CONFIG]
    }

    /// The bytes of a line file up to the end of its last whole line, and how many lines there
    /// are, counting no more than `lines_max`. A file that is not there has none.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn whole_lines(&self, name: &str, lines_max: u64) -> Result<(u64, u64), RunError> {
        let mut reader = match open_regular(&self.path(name)) {
            Ok(file) => BufReader::with_capacity(1 << 20, file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((0, 0)),
            Err(error) => return Err(self.io(name, error)),
        };
        let (mut bytes, mut lines) = (0, 0);
        let mut line = Vec::new();
        while lines < lines_max {
            line.clear();
            let read = reader.read_until(b'\n', &mut line).map_err(|error| self.io(name, error))?;
            if line.last() != Some(&b'\n') {
                break;
            }
            bytes += read as u64;
            lines += 1;
        }
        Ok((bytes, lines))
    }

    /// A hasher that was fed the file called `name`; one that is not there is empty.
    pub(crate) fn hash(&self, name: &str) -> io::Result<Sha256> {
        match hasher_of(&self.path(name)) {
            Ok((hasher, _)) => Ok(hasher),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Sha256::new()),
            Err(error) => Err(error),
        }
    }

    /// The first `bytes` of the verdict lines, read back one by one.
    ///
    /// # Errors
    /// A file that cannot be read. A line that is damaged is an error of the iterator.
    pub fn earlier(
        &self,
        bytes: u64,
    ) -> Result<impl Iterator<Item = Result<OldRow, String>> + Send + use<>, RunError> {
        let file: Box<dyn io::Read + Send> = match open_regular(&self.path(VERDICTS)) {
            Ok(file) => Box::new(file.take(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Box::new(io::empty()),
            Err(error) => return Err(self.io(VERDICTS, error)),
        };
        let reader = BufReader::with_capacity(1 << 18, file);
        Ok(reader.split(b'\n').enumerate().map(|(at, line)| {
            let damaged = |why: String| {
                format!("{VERDICTS}:{}: not a verdict row ({why}); --fresh starts over", at + 1)
            };
            let line = line.map_err(|error| damaged(error.to_string()))?;
            let scored = lines::parse(&line).map_err(damaged)?;
            Ok(OldRow { line, scored })
        }))
    }

    pub(crate) fn foreign(&self, why: String) -> RunError {
        RunError::Foreign { dir: self.dir.display().to_string(), why }
    }

    pub(crate) fn io(&self, name: &str, source: io::Error) -> RunError {
        RunError::Io { file: self.path(name).display().to_string(), source }
    }
}

fn member<'v>(value: &'v Value, key: &str) -> &'v Value {
    value.get(key).unwrap_or(&Value::Null)
}

/// The first setting that is not what it was, in words.
fn changed(path: &str, was: &Value, now: &Value) -> Option<String> {
    /// The most characters of a setting that are shown.
    const SHOWN_MAX: usize = 60;
    let shown = |value: &Value| value.to_string().chars().take(SHOWN_MAX).collect::<String>();
    match (was, now) {
        _ if was == now => None,
        (Value::Object(own), Value::Object(new)) => {
            let keys: BTreeSet<&String> = own.keys().chain(new.keys()).collect();
            let mut keys = keys.into_iter();
            keys.find_map(|key| {
                changed(&format!("{path}.{key}"), member(was, key), member(now, key))
            })
        }
        (Value::Array(own), Value::Array(new)) if own.len() == new.len() => {
            let mut pairs = own.iter().zip(new).enumerate();
            pairs.find_map(|(at, (own, new))| changed(&format!("{path}[{at}]"), own, new))
        }
        _ => {
            let mut told = format!("{path} was {} and is {} now", shown(was), shown(now));
            if path == "data.label" {
                told.push_str(
                    " (`assay explain RUN --disagree --labels COLUMN` holds a run against labels)",
                );
            }
            Some(told)
        }
    }
}

/// What makes two runs different, in words.
fn difference(have: &Identity, wanted: &Identity) -> Option<String> {
    if have.shard != wanted.shard {
        let part = |shard: Option<Shard>| match shard {
            Some(shard) => format!("shard {shard}"),
            None => "a whole run".to_owned(),
        };
        return Some(format!("the folder holds {}, not {}", part(have.shard), part(wanted.shard)));
    }
    if have.config_hash != wanted.config_hash {
        return Some("the folder holds a run of another configuration".to_owned());
    }
    if have.training.step != wanted.training.step {
        let (have, wanted) = (have.training.step, wanted.training.step);
        return Some(format!("the folder holds a run of training step {have}, not {wanted}"));
    }
    if have.training != wanted.training {
        return Some("the folder holds a run of another training state".to_owned());
    }
    if have.inputs.len() != wanted.inputs.len() {
        let (have, wanted) = (have.inputs.len(), wanted.inputs.len());
        return Some(format!("the folder holds a run over {have} input files, not {wanted}"));
    }
    let changed = have.inputs.iter().zip(&wanted.inputs).find(|(have, wanted)| have != wanted)?.1;
    Some(match changed.sha256 {
        Some(_) => format!("the folder holds a run over other data: {} differs", changed.path),
        None if changed.path == "-" => {
            "standard input cannot be read again, so the run cannot go on".to_owned()
        }
        None => {
            format!(
                "{} is a pipe, which cannot be read again, so the run cannot go on",
                changed.path
            )
        }
    })
}
