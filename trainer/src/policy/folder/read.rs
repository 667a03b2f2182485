//! Weights from safetensors files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use half::slice::HalfFloatSliceExt as _;
use half::{bf16, f16};
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};

use crate::policy::architecture::Architecture;
use crate::policy::decoder::weights::specs;
use crate::policy::files;
use crate::policy::{Parameters, PolicyError, TensorId};

/// The file of all weights.
pub(super) const WEIGHTS_FILE: &str = "model.safetensors";
const INDEX_FILE: &str = "model.safetensors.index.json";
const EMBEDDING: &str = "model.embed_tokens.weight";
const HEAD: &str = "lm_head.weight";

/// Reads the tensors of an architecture from a folder.
pub(super) fn parameters(
    folder: &Path,
    architecture: &Architecture,
) -> Result<Parameters, PolicyError> {
    let (listing, files) = weight_files(folder)?;
    let mut reader = Reader::new(architecture);
    for file in &files {
        reader.read(file)?;
    }
    reader.finish(&listing)
}

/// The file that lists the tensors, and the files that hold them, in the order of their names.
fn weight_files(folder: &Path) -> Result<(PathBuf, Vec<PathBuf>), PolicyError> {
    let (single, index) = (folder.join(WEIGHTS_FILE), folder.join(INDEX_FILE));
    if single.is_file() {
        return Ok((single.clone(), vec![single]));
    }
    let Some(listed) = files::read_object(&index)? else {
        let why = format!("there is no such file, and no {INDEX_FILE}");
        return Err(files::invalid(&single, &why));
    };
    let map = listed.get("weight_map").and_then(|map| map.as_object());
    let map = map.ok_or_else(|| files::invalid(&index, "has no object weight_map"))?;
    let mut names = BTreeSet::new();
    for (tensor, file) in map {
        let name = file.as_str().filter(|name| Path::new(name).file_name() == Some(name.as_ref()));
        let wrong = || format!("{tensor} is in {file}, expected the name of a file beside it");
        names.insert(name.ok_or_else(|| files::invalid(&index, &wrong()))?);
    }
    Ok((index.clone(), names.into_iter().map(|name| folder.join(name)).collect()))
}

/// Weights that are filled file by file.
struct Reader {
    parameters: Parameters,
    /// Tensors that no file had so far.
    missing: BTreeMap<String, TensorId>,
    found: BTreeSet<String>,
    /// Of an output layer that is the embedding.
    tied_head: Option<Vec<f32>>,
    is_tied: bool,
}

impl Reader {
    fn new(architecture: &Architecture) -> Self {
        let mut parameters = Parameters::default();
        let mut missing = BTreeMap::new();
        for spec in specs(architecture) {
            let id = parameters.push(&spec.name, &spec.shape, &[], true);
            missing.insert(spec.name, id);
        }
        let (found, is_tied) = (BTreeSet::new(), architecture.tie_word_embeddings);
        Self { parameters, missing, found, tied_head: None, is_tied }
    }

    fn read(&mut self, path: &Path) -> Result<(), PolicyError> {
        let bytes = fs::read(path).map_err(|error| PolicyError::io(path, error))?;
        let file = SafeTensors::deserialize(&bytes);
        let file = file.map_err(|error| files::invalid(path, &error.to_string()))?;
        let mut tensors = file.tensors();
        tensors.sort_by(|(one, _), (other, _)| one.cmp(other));
        for (name, view) in tensors {
            let wrong = |why: String| files::invalid(path, &format!("tensor {name} {why}"));
            self.take(&name, &view).map_err(wrong)?;
        }
        Ok(())
    }

    /// Takes one tensor, or says why not.
    fn take(&mut self, name: &str, view: &TensorView) -> Result<(), String> {
        if self.is_tied && name == HEAD {
            let mut values = vec![0.0; view.shape().iter().product()];
            convert(view, &mut values)?;
            self.tied_head = Some(values);
            return Ok(());
        }
        // Older folders of Llama hold the frequencies of the rotation.
        if name.ends_with(".rotary_emb.inv_freq") {
            return Ok(());
        }
        if self.found.contains(name) {
            return Err("is there a second time".to_owned());
        }
        let Some(id) = self.missing.remove(name) else {
            return Err("is not one of this architecture".to_owned());
        };
        let expected = self.parameters.info(id).map(|info| info.shape.as_slice());
        if expected.is_some_and(|shape| shape != view.shape()) {
            let expected = expected.unwrap_or_default();
            return Err(format!("has the shape {:?}, expected {expected:?}", view.shape()));
        }
        self.found.insert(name.to_owned());
        convert(view, self.parameters.tensor_mut(id))
    }

    fn finish(self, listing: &Path) -> Result<Parameters, PolicyError> {
        if let Some(name) = self.missing.keys().next() {
            let others = match self.missing.len() - 1 {
                0 => String::new(),
                count => format!(", and {count} more"),
            };
            return Err(files::invalid(listing, &format!("tensor {name} is missing{others}")));
        }
        let embedding = self.parameters.tensors().iter().find(|info| info.name == EMBEDDING);
        let embedding = embedding.and_then(|info| self.parameters.values().get(info.range.clone()));
        if self.tied_head.is_some_and(|head| Some(head.as_slice()) != embedding) {
            let why = format!("tensor {HEAD} is not {EMBEDDING}, expected by tie_word_embeddings");
            return Err(files::invalid(listing, &why));
        }
        Ok(self.parameters)
    }
}

/// Writes the values of a tensor as `f32`, or says why not. `into` has as many.
fn convert(view: &TensorView, into: &mut [f32]) -> Result<(), String> {
    match view.dtype() {
        Dtype::F32 => {
            let bytes = view.data().as_chunks().0;
            into.iter_mut().zip(bytes).for_each(|(to, bytes)| *to = f32::from_le_bytes(*bytes));
        }
        Dtype::F16 => {
            let bytes = view.data().as_chunks().0;
            let halves: Vec<f16> = bytes.iter().map(|bytes| f16::from_le_bytes(*bytes)).collect();
            halves.as_slice().convert_to_f32_slice(into);
        }
        Dtype::BF16 => {
            let bytes = view.data().as_chunks().0;
            let values = bytes.iter().map(|bytes| bf16::from_le_bytes(*bytes).to_f32());
            into.iter_mut().zip(values).for_each(|(to, value)| *to = value);
        }
        other => return Err(format!("has the type {other:?}, expected F32, F16 or BF16")),
    }
    match into.iter().find(|value| !value.is_finite()) {
        Some(value) => Err(format!("has a value of {value}")),
        None => Ok(()),
    }
}
