//! Vectors of single precision in files of safetensors.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::Path;

use assay_verifiers::canonical::hex;
use safetensors::tensor::{Metadata, TensorInfo as Entry, TensorView};
use safetensors::{Dtype, SafeTensors};
use sha2::{Digest as _, Sha256};

use crate::policy::{Parameters, PolicyError};

/// How many numbers become bytes at once.
const BLOCK: usize = 1 << 14;

/// A tensor that is written: its name, its shape, its values.
pub(super) type NamedTensor<'a> = (&'a str, &'a [usize], &'a [f32]);

/// Writes the weights that are trained as safetensors of single precision, by their names. Returns the
/// SHA-256 of the file in hexadecimal.
///
/// # Errors
/// A file that cannot be written, two tensors of one name.
pub fn write_parameters(path: &Path, parameters: &Parameters) -> Result<String, PolicyError> {
    let trained = parameters.tensors().iter().filter(|tensor| tensor.trainable);
    let named = trained.map(|tensor| (&*tensor.name, &*tensor.shape, parameters.values_of(tensor)));
    write_tensors(path, named.collect())
}

/// Reads weights that [`write_parameters`] wrote. Returns the SHA-256 of the file in hexadecimal.
///
/// # Errors
/// A file that cannot be read, that is not safetensors, or whose names, types or shapes are not those of
/// the weights that are trained. No weight is changed then.
pub fn read_parameters(path: &Path, parameters: &mut Parameters) -> Result<String, PolicyError> {
    let file = TensorFile::open(path)?;
    file.read_into(parameters)?;
    Ok(file.digest)
}

/// A file whose bytes were read, and their SHA-256 in hexadecimal.
pub(super) struct TensorFile {
    name: String,
    bytes: Vec<u8>,
    pub(super) digest: String,
}

impl TensorFile {
    /// Reads a file.
    pub(super) fn open(path: &Path) -> Result<Self, PolicyError> {
        let bytes = fs::read(path).map_err(|error| PolicyError::io(path, error))?;
        let digest = hex(&Sha256::digest(&bytes));
        Ok(Self { name: path.display().to_string(), bytes, digest })
    }

    /// Its tensors as vectors, each of these names and lengths, and no others.
    pub(super) fn vectors<const N: usize>(
        &self,
        names: [&str; N],
        len: usize,
    ) -> Result<[Vec<f32>; N], PolicyError> {
        let shape = [len];
        let tensors = self.tensors(names.map(|name| (name, &shape[..])).to_vec())?;
        let mut vectors = [const { Vec::new() }; N];
        for (vector, tensor) in vectors.iter_mut().zip(tensors) {
            vector.resize(len, 0.0);
            copy(tensor.data(), vector);
        }
        Ok(vectors)
    }

    /// Whether its tensors are the weights that are trained, by their names and shapes.
    pub(super) fn check(&self, parameters: &Parameters) -> Result<(), PolicyError> {
        self.tensors(trained(parameters)).map(|_| ())
    }

    /// Puts its tensors into the weights that are trained.
    #[expect(clippy::indexing_slicing, reason = "the range of a tensor is one of the weights")]
    pub(super) fn read_into(&self, parameters: &mut Parameters) -> Result<(), PolicyError> {
        let tensors = self.tensors(trained(parameters))?;
        let infos = parameters.tensors().iter().filter(|info| info.trainable);
        let ranges: Vec<_> = infos.map(|info| info.range.clone()).collect();
        for (tensor, range) in tensors.iter().zip(ranges) {
            copy(tensor.data(), &mut parameters.values_mut()[range]);
        }
        Ok(())
    }

    /// The tensors of these names and shapes, in their order, if there are no others.
    fn tensors(&self, expected: Vec<(&str, &[usize])>) -> Result<Vec<TensorView<'_>>, PolicyError> {
        let file = SafeTensors::deserialize(&self.bytes).map_err(|error| {
            PolicyError::invalid(&self.name, format!("no safetensors: {error}"))
        })?;
        let mut there: BTreeMap<String, TensorView<'_>> = file.tensors().into_iter().collect();
        let mut found = Vec::with_capacity(expected.len());
        for (name, shape) in expected {
            let Some(tensor) = there.remove(name) else {
                return Err(self.fault(name, "is not there"));
            };
            if tensor.dtype() != Dtype::F32 || tensor.shape() != shape {
                let (dtype, has) = (tensor.dtype(), tensor.shape());
                let message = format!("has {dtype:?} {has:?}, expected F32 {shape:?}");
                return Err(self.fault(name, message));
            }
            found.push(tensor);
        }
        match there.keys().next() {
            Some(name) => Err(self.fault(name, "is not expected")),
            None => Ok(found),
        }
    }

    fn fault(&self, tensor: &str, message: impl Into<String>) -> PolicyError {
        PolicyError::invalid(format!("{}: {tensor}", self.name), message)
    }
}

/// The names and shapes of the weights that are trained.
fn trained(parameters: &Parameters) -> Vec<(&str, &[usize])> {
    let infos = parameters.tensors().iter().filter(|info| info.trainable);
    infos.map(|info| (&*info.name, &*info.shape)).collect()
}

/// Writes tensors as safetensors. Returns the SHA-256 of the file in hexadecimal.
pub(super) fn write_tensors(
    path: &Path,
    mut tensors: Vec<NamedTensor<'_>>,
) -> Result<String, PolicyError> {
    tensors.sort_by_key(|(name, ..)| *name);
    if let Some([(name, ..), _]) = tensors.array_windows().find(|[left, right]| left.0 == right.0) {
        return Err(PolicyError::invalid(path.display().to_string(), format!("two of `{name}`")));
    }
    let head = head(&tensors)
        .map_err(|message| PolicyError::invalid(path.display().to_string(), message))?;
    let write = || -> io::Result<String> {
        let mut hash = Sha256::new();
        let mut file = BufWriter::new(File::create(path)?);
        let mut write = |bytes: &[u8]| {
            hash.update(bytes);
            file.write_all(bytes)
        };
        write(&head)?;
        for (.., values) in &tensors {
            each_block(values, &mut write)?;
        }
        file.flush()?;
        Ok(hex(&hash.finalize()))
    };
    write().map_err(|error| PolicyError::io(path, error))
}

/// The SHA-256 of names and values, in hexadecimal.
pub(super) fn digest_of<'a>(tensors: impl Iterator<Item = NamedTensor<'a>>) -> String {
    let mut hash = Sha256::new();
    for (name, shape, values) in tensors {
        hash.update(format!("{name} {shape:?}\n"));
        // Nothing fails in what only hashes.
        let _ = each_block(values, &mut |bytes| {
            hash.update(bytes);
            Ok(())
        });
    }
    hex(&hash.finalize())
}

/// What is before the data of a file: the length of the description as 8 bytes, the description.
fn head(tensors: &[NamedTensor<'_>]) -> Result<Vec<u8>, String> {
    let mut end = 0;
    let entries = tensors.iter().map(|(name, shape, values)| {
        let start = end;
        end += size_of_val(*values);
        let entry = Entry { dtype: Dtype::F32, shape: shape.to_vec(), data_offsets: (start, end) };
        ((*name).to_owned(), entry)
    });
    let format = [("format".to_owned(), "pt".to_owned())].into();
    let described = Metadata::new(Some(format), entries.collect());
    let described = described.map_err(|error| error.to_string())?;
    let mut text = serde_json::to_vec(&described).map_err(|error| error.to_string())?;
    text.resize(text.len().next_multiple_of(8), b' ');
    Ok([&(text.len() as u64).to_le_bytes()[..], &text].concat())
}

fn each_block(values: &[f32], write: &mut impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    let mut bytes = Vec::with_capacity(values.len().min(BLOCK) * 4);
    for block in values.chunks(BLOCK) {
        bytes.clear();
        bytes.extend(block.iter().flat_map(|value| value.to_le_bytes()));
        write(&bytes)?;
    }
    Ok(())
}

fn copy(bytes: &[u8], into: &mut [f32]) {
    let (quads, _) = bytes.as_chunks::<4>();
    for (value, quad) in into.iter_mut().zip(quads) {
        *value = f32::from_le_bytes(*quad);
    }
}
