//! A whole checkpoint, written and read.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::folders::write_folder;
use super::numbers::{from_json, to_json};
use super::tensors::{TensorFile, digest_of, write_parameters, write_tensors};
use crate::policy::{Parameters, PolicyError};
use crate::training::optimizer::{AdamW, AdamWState};
use crate::training::state::TrainerState;

/// The form of the files.
const FORMAT: u64 = 1;
const STATE: &str = "state.json";
const WEIGHTS: &str = "model.safetensors";
const MOMENTS: &str = "optimizer.safetensors";
const MOMENT_NAMES: [&str; 2] = ["exp_avg", "exp_avg_sq"];

/// What a checkpoint is written of.
#[derive(Clone, Copy, Debug)]
pub struct Checkpoint<'a> {
    /// What the loop keeps.
    pub state: &'a TrainerState,
    /// The weights. Those that are not trained are not written, for they are those of the model that
    /// the training began with; their SHA-256 is, so that no other model takes their place.
    pub parameters: &'a Parameters,
    /// What the optimiser keeps.
    pub optimizer: &'a AdamWState,
}

/// `state.json`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StateFile {
    format: u64,
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
        let file = StateFile {
            format: FORMAT,
            updates: self.optimizer.updates,
            files: [(WEIGHTS.to_owned(), weights), (MOMENTS.to_owned(), moments)].into(),
            frozen: frozen(self.parameters),
            state: self.state.clone(),
        };
        let path = folder.join(STATE);
        let invalid = |error: serde_json::Error| invalid(&path, error.to_string());
        let text = serde_json::to_string_pretty(&to_json(&file).map_err(invalid)?);
        let text = text.map_err(invalid)? + "\n";
        let written = File::create(&path).and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(|error| PolicyError::io(&path, error))
    }
}

impl TrainerState {
    /// The state as JSON. Numbers that are not finite are `"NaN"`, `"Infinity"` and `"-Infinity"`.
    ///
    /// # Errors
    /// A value that JSON has no form for.
    pub fn to_json(&self) -> Result<serde_json::Value, serde_json::Error> {
        to_json(self)
    }

    /// Reads what [`Self::to_json`] gave: the same state, but for the sign and payload of NaN.
    ///
    /// # Errors
    /// A field that is unknown, missing or of another type.
    pub fn from_json(value: serde_json::Value) -> Result<Self, serde_json::Error> {
        from_json(value)
    }
}

/// Reads a checkpoint into weights and optimiser of a training that begins with this seed. Returns
/// what the loop kept.
///
/// # Errors
/// A file that cannot be read, is torn or changed, or is of another training: another seed, names,
/// shapes, weights that are not trained. Neither weights nor optimiser are changed then.
pub fn read_checkpoint(
    folder: &Path,
    seed: u64,
    parameters: &mut Parameters,
    optimizer: &mut AdamW,
) -> Result<TrainerState, PolicyError> {
    let path = folder.join(STATE);
    let file = read_state(&path)?;
    agree(&path, "seed", &file.state.seed, &seed)?;
    agree(&path, "frozen", &*file.frozen, &*frozen(parameters))?;
    let weights = read_tensors(folder, WEIGHTS, &file.files)?;
    let moments = read_tensors(folder, MOMENTS, &file.files)?;
    let [first, second] = moments.vectors(MOMENT_NAMES, optimizer.state().first.len())?;
    weights.read_into(parameters)?;
    let restored = optimizer.restore(AdamWState { updates: file.updates, first, second });
    restored.map_err(|error| invalid(&folder.join(MOMENTS), error.to_string()))?;
    Ok(file.state)
}

fn read_state(path: &Path) -> Result<StateFile, PolicyError> {
    let bytes = fs::read(path).map_err(|error| PolicyError::io(path, error))?;
    let broken = |error: serde_json::Error| invalid(path, error.to_string());
    let value: serde_json::Value = serde_json::from_slice(&bytes).map_err(broken)?;
    let format = value.get("format").cloned().unwrap_or_default();
    agree(path, "format", &format, &FORMAT.into())?;
    from_json(value).map_err(broken)
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
    digest_of(frozen.map(|tensor| {
        let values = parameters.values().get(tensor.range.clone()).unwrap_or_default();
        (&*tensor.name, &*tensor.shape, values)
    }))
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
