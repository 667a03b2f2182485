//! A whole checkpoint, written and read.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::folders::write_folder;
use super::tensors::{TensorFile, digest_of, write_parameters, write_tensors};
use crate::policy::{Parameters, PolicyError};
use crate::training::optimizer::{AdamW, AdamWState};
use crate::training::state::TrainerState;

/// The form of the files.
const FORMAT: u64 = 1;
const STATE: &str = "state.json";
const WEIGHTS: &str = "model.safetensors";
const REFERENCE: &str = "reference.safetensors";
const MOMENTS: &str = "optimizer.safetensors";
const MOMENT_NAMES: [&str; 2] = ["exp_avg", "exp_avg_sq"];

/// What a checkpoint is written of.
#[derive(Clone, Copy, Debug)]
pub struct Checkpoint<'a> {
    /// The seed of the training.
    pub seed: u64,
    /// What the training keeps from step to step.
    pub state: &'a TrainerState,
    /// The weights. Those that are not trained are not written, for they are those of the model that
    /// the training began with; their SHA-256 is, so that no other model takes their place.
    pub parameters: &'a Parameters,
    /// The weights of the reference policy, where there is one.
    pub reference: Option<&'a Parameters>,
    /// What the optimiser keeps.
    pub optimizer: &'a AdamWState,
}

/// What a checkpoint is read into: a training before its first step.
#[derive(Debug)]
pub struct CheckpointTarget<'a> {
    /// The seed of the training.
    pub seed: u64,
    /// The weights.
    pub parameters: &'a mut Parameters,
    /// The weights of the reference policy, where there is one.
    pub reference: Option<&'a mut Parameters>,
    /// The optimiser.
    pub optimizer: &'a mut AdamW,
}

/// `state.json`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StateFile {
    format: u64,
    seed: u64,
    /// Updates of the optimiser.
    updates: u64,
    /// The SHA-256 of the files beside this one.
    files: BTreeMap<String, String>,
    /// The SHA-256 of the weights that are not trained.
    frozen: String,
    state: TrainerState,
}

impl Checkpoint<'_> {
    /// Writes `checkpoint-STEP` into the folder of a run, with what `add` writes beside it, such as
    /// the configuration and the tokenizer of the model. Returns the folder.
    ///
    /// # Errors
    /// Files that cannot be written, and those of `add`. No checkpoint is to be seen then.
    pub fn write(
        &self,
        run: &Path,
        add: impl FnOnce(&Path) -> Result<(), PolicyError>,
    ) -> Result<PathBuf, PolicyError> {
        write_folder(run, self.state.step, |folder| {
            add(folder)?;
            self.write_files(folder)
        })
    }

    fn write_files(&self, folder: &Path) -> Result<(), PolicyError> {
        let moments = [&self.optimizer.first, &self.optimizer.second].map(|moment| &**moment);
        let shapes = moments.map(|moment| [moment.len()]);
        let named = MOMENT_NAMES.iter().zip(&shapes).zip(moments);
        let named = named.map(|((name, shape), moment)| (*name, &shape[..], moment)).collect();
        let weights = write_parameters(&folder.join(WEIGHTS), self.parameters)?;
        let moments = write_tensors(&folder.join(MOMENTS), named)?;
        let mut files = BTreeMap::from([(WEIGHTS.into(), weights), (MOMENTS.into(), moments)]);
        if let Some(reference) = self.reference {
            let digest = write_parameters(&folder.join(REFERENCE), reference)?;
            files.insert(REFERENCE.to_owned(), digest);
        }
        self.write_state(folder, files)
    }

    fn write_state(
        &self,
        folder: &Path,
        files: BTreeMap<String, String>,
    ) -> Result<(), PolicyError> {
        let file = StateFile {
            format: FORMAT,
            seed: self.seed,
            updates: self.optimizer.updates,
            files,
            frozen: frozen(self.parameters),
            state: self.state.clone(),
        };
        let path = folder.join(STATE);
        let invalid = |error: serde_json::Error| invalid(&path, error.to_string());
        let text = serde_json::to_string_pretty(&file).map_err(invalid)? + "\n";
        // A number that is not finite is `null` where it is not expected, and would not be read again.
        serde_json::from_str::<StateFile>(&text).map_err(invalid)?;
        let written = File::create(&path).and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|error| PolicyError::io(&path, error))
    }
}

impl CheckpointTarget<'_> {
    /// Reads a checkpoint. Returns what the training kept from step to step.
    ///
    /// # Errors
    /// A file that cannot be read, is torn or changed, or is of another training: another seed, names,
    /// shapes, weights that are not trained, with a reference policy or without. Nothing is changed
    /// then.
    pub fn read(self, folder: &Path) -> Result<TrainerState, PolicyError> {
        let path = folder.join(STATE);
        let file = read_state(&path)?;
        agree(&path, "seed", &file.seed, &self.seed)?;
        agree(&path, "frozen", &*file.frozen, &*frozen(self.parameters))?;
        let is_there = |there| if there { "weights" } else { "none" };
        let (has, expected) = (file.files.contains_key(REFERENCE), self.reference.is_some());
        agree(&path, REFERENCE, is_there(has), is_there(expected))?;
        let moments = read_tensors(folder, MOMENTS, &file.files)?;
        let [first, second] = moments.vectors(MOMENT_NAMES, self.optimizer.state().first.len())?;
        let weights = read_tensors(folder, WEIGHTS, &file.files)?;
        weights.check(self.parameters)?;
        if let Some(reference) = self.reference {
            read_tensors(folder, REFERENCE, &file.files)?.read_into(reference)?;
        }
        weights.read_into(self.parameters)?;
        let restored = self.optimizer.restore(AdamWState { updates: file.updates, first, second });
        restored.map_err(|error| invalid(&folder.join(MOMENTS), error.to_string()))?;
        Ok(file.state)
    }
}

fn read_state(path: &Path) -> Result<StateFile, PolicyError> {
    let bytes = fs::read(path).map_err(|error| PolicyError::io(path, error))?;
    let broken = |error: serde_json::Error| invalid(path, error.to_string());
    let value: serde_json::Value = serde_json::from_slice(&bytes).map_err(broken)?;
    let format = value.get("format").cloned().unwrap_or_default();
    agree(path, "format", &format, &FORMAT.into())?;
    serde_json::from_value(value).map_err(broken)
}

fn read_tensors(
    folder: &Path,
    name: &str,
    digests: &BTreeMap<String, String>,
) -> Result<TensorFile, PolicyError> {
    let path = folder.join(name);
    let file = TensorFile::open(&path)?;
    let expected = digests.get(name).map_or("none", |digest| &**digest);
    agree(&path, "SHA-256", &*file.digest, expected)?;
    Ok(file)
}

/// The SHA-256 of the weights that are not trained.
fn frozen(parameters: &Parameters) -> String {
    let frozen = parameters.tensors().iter().filter(|tensor| !tensor.trainable);
    digest_of(frozen.map(|tensor| (&*tensor.name, &*tensor.shape, parameters.values_of(tensor))))
}

fn agree<T: PartialEq + std::fmt::Display + ?Sized>(
    path: &Path,
    key: &str,
    has: &T,
    expected: &T,
) -> Result<(), PolicyError> {
    if has == expected {
        return Ok(());
    }
    let what = format!("{}: {key}", path.display());
    Err(PolicyError::invalid(what, format!("has {has}, expected {expected}")))
}

fn invalid(path: &Path, message: String) -> PolicyError {
    PolicyError::invalid(path.display().to_string(), message)
}
