//! The run folder of a training: whose it is, and where it goes on.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use assay::engine::runs::{
    CONFIG, InputFile, LOCK, MANIFEST, RunError, RunFolder, RunStart, SUMMARY, write_atomic,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The measurements of each step and each evaluation.
pub(super) const METRICS: &str = "metrics.jsonl";
/// The same for `TensorBoard`.
pub(super) const TENSORBOARD: &str = "tensorboard";
/// Every completion that was sampled, and what it earned.
pub(super) const ROLLOUTS: &str = "rollouts.jsonl";
/// Every evaluation, task by task.
pub(super) const EVALUATIONS: &str = "evaluations.jsonl";
/// What the monitor warned of.
pub(super) const WARNINGS: &str = "warnings.jsonl";
/// What the training goes on from.
pub(super) const CHECKPOINTS: &str = "checkpoints";
/// The policy after the last step: a Hugging Face folder.
pub(super) const MODEL: &str = "model";

/// All that a training leaves behind.
const FILES: [&str; 10] = [
    MANIFEST,
    CONFIG,
    SUMMARY,
    METRICS,
    TENSORBOARD,
    ROLLOUTS,
    EVALUATIONS,
    WARNINGS,
    CHECKPOINTS,
    MODEL,
];

/// The contents of `manifest.json` in the run folder of a training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct TrainManifest {
    /// The version of the format: 1.
    pub(super) train_format: u32,
    /// The version of assay that wrote the run.
    pub(super) assay: String,
    /// SHA-256 of what decides the training: the configuration, without how many steps are made, how
    /// many threads work and what is kept.
    pub(super) config_hash: String,
    /// Tasks, tasks that are held out, and demonstrations, file by file.
    pub(super) inputs: Vec<InputFile>,
    /// The steps that were to be made.
    pub(super) steps: u64,
    /// Whether they were made.
    pub(super) complete: bool,
}

/// The run folder, held by this process.
pub(super) struct TrainFolder {
    dir: PathBuf,
    folder: RunFolder,
}

impl TrainFolder {
    /// Takes the folder, making it where it is not there.
    pub(super) fn open(dir: &Path, pid: u32) -> Result<Self, RunError> {
        Ok(Self { dir: dir.to_owned(), folder: RunFolder::open(dir, pid)? })
    }

    /// The path of one of its files.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// How the training `wanted` starts here.
    pub(super) fn start(&self, wanted: &TrainManifest) -> Result<RunStart, RunError> {
        let Some(have) = self.folder.read_json::<TrainManifest>(MANIFEST)? else {
            self.expect_empty()?;
            return Ok(RunStart::Fresh);
        };
        if let Some(why) = difference(&have, wanted) {
            return Err(self.foreign(why));
        }
        Ok(if have.complete && have.steps == wanted.steps {
            RunStart::Done
        } else {
            RunStart::Resume
        })
    }

    /// Removes what an earlier training left behind.
    pub(super) fn clear(&self) -> Result<(), RunError> {
        for name in FILES {
            let path = self.path(name);
            let removed =
                if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            match removed {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(self.io(name, error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Replaces a JSON file.
    pub(super) fn write_json(&self, name: &str, value: &impl Serialize) -> Result<(), RunError> {
        let text = serde_json::to_vec_pretty(value).map_err(io::Error::from);
        let written = text.and_then(|mut text| {
            text.push(b'\n');
            write_atomic(&self.path(name), &text)
        });
        written.map_err(|error| self.io(name, error))
    }

    /// What a training that is complete came to.
    pub(super) fn summary<T: DeserializeOwned>(&self) -> Result<T, RunError> {
        let summary = self.folder.read_json(SUMMARY)?;
        summary.ok_or_else(|| self.foreign(format!("{SUMMARY} is missing")))
    }

    /// What the system says of one of its files.
    pub(super) fn io(&self, name: &str, source: io::Error) -> RunError {
        RunError::Io { file: self.path(name).display().to_string(), source }
    }

    fn expect_empty(&self) -> Result<(), RunError> {
        let entries = fs::read_dir(&self.dir).map_err(|error| self.io("", error))?;
        for entry in entries {
            let name = entry.map_err(|error| self.io("", error))?.file_name();
            let name = name.to_string_lossy();
            let is_stale = name.starts_with('.') && name.ends_with(".tmp");
            if !is_stale && ![LOCK, CONFIG].contains(&&*name) {
                let why = format!("the folder has {name:?} but no {MANIFEST}, so it is not a run");
                return Err(self.foreign(why));
            }
        }
        Ok(())
    }

    fn foreign(&self, why: String) -> RunError {
        RunError::Foreign { dir: self.dir.display().to_string(), why }
    }
}

/// What makes two trainings different, in words.
fn difference(have: &TrainManifest, wanted: &TrainManifest) -> Option<String> {
    if have.train_format != wanted.train_format {
        let (have, wanted) = (have.train_format, wanted.train_format);
        return Some(format!("the training has format {have}, this build writes {wanted}"));
    }
    if have.config_hash != wanted.config_hash {
        return Some("the folder holds a training of another configuration".to_owned());
    }
    if have.inputs != wanted.inputs {
        return Some("the folder holds a training on other data".to_owned());
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest() -> TrainManifest {
        TrainManifest {
            train_format: 1,
            assay: "0".into(),
            config_hash: "a".into(),
            inputs: Vec::new(),
            steps: 3,
            complete: false,
        }
    }

    #[test]
    fn a_folder_goes_on_with_its_own_training_alone() {
        let place = tempfile::tempdir().unwrap();
        let folder = TrainFolder::open(&place.path().join("run"), 1).unwrap();
        assert_eq!(folder.start(&manifest()).unwrap(), RunStart::Fresh);
        folder.write_json(METRICS, &1).unwrap();
        let why = folder.start(&manifest()).unwrap_err().to_string();
        assert!(why.contains("no manifest.json") && why.contains("--fresh"), "{why}");
        folder.write_json(MANIFEST, &manifest()).unwrap();
        assert_eq!(folder.start(&manifest()).unwrap(), RunStart::Resume);
        folder.write_json(MANIFEST, &TrainManifest { complete: true, ..manifest() }).unwrap();
        assert_eq!(folder.start(&manifest()).unwrap(), RunStart::Done);
        let longer = TrainManifest { steps: 5, ..manifest() };
        assert_eq!(folder.start(&longer).unwrap(), RunStart::Resume);
        let other = TrainManifest { config_hash: "b".into(), ..manifest() };
        let why = folder.start(&other).unwrap_err().to_string();
        assert!(why.contains("another configuration"), "{why}");
        folder.clear().unwrap();
        assert_eq!(folder.start(&other).unwrap(), RunStart::Fresh);
    }
}
