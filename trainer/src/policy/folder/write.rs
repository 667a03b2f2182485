//! Weights to safetensors files.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

use safetensors::{Dtype, View};

use super::read::WEIGHTS_FILE;
use crate::policy::architecture::Architecture;
use crate::policy::decoder::weights::specs;
use crate::policy::files;
use crate::policy::{Parameters, PolicyError};

/// Writes the tensors of an architecture into a folder.
pub(super) fn parameters(
    folder: &Path,
    architecture: &Architecture,
    parameters: &Parameters,
) -> Result<(), PolicyError> {
    let mut tensors = Vec::new();
    for spec in specs(architecture) {
        let info = parameters.tensors().iter().find(|info| info.name == spec.name);
        let values = info.and_then(|info| parameters.values().get(info.range.clone()));
        let values = values.ok_or_else(|| PolicyError::invalid(&spec.name, "is missing"))?;
        tensors.push((spec.name, Tensor { shape: spec.shape, values }));
    }
    self::tensors(&folder.join(WEIGHTS_FILE), tensors)
}

/// Writes tensors into a file.
pub(super) fn tensors(path: &Path, tensors: Vec<(String, Tensor)>) -> Result<(), PolicyError> {
    // transformers refuses a file that does not say of which framework it is.
    let format = HashMap::from([("format".to_owned(), "pt".to_owned())]);
    files::write_renamed(path, |temporary| {
        safetensors::serialize_to_file(tensors, Some(format), temporary)
            .map_err(std::io::Error::other)
    })
}

/// A tensor of `f32`, whose bytes are made when they are written.
pub(super) struct Tensor<'a> {
    /// Its shape.
    pub(super) shape: Vec<usize>,
    /// As many values as the shape says.
    pub(super) values: &'a [f32],
}

impl View for Tensor<'_> {
    fn dtype(&self) -> Dtype {
        Dtype::F32
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        self.values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    fn data_len(&self) -> usize {
        size_of_val(self.values)
    }
}
