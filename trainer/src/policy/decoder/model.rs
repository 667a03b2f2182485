//! The decoder: a shape, weights, and where each of them lies.

use assay_kernels::buffers::Buffers;
use assay_kernels::rope::Rotations;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use super::batch::Bounds;
use super::layer::Model;
use super::linear::Span;
use super::weights::{Initial, Weights, specs};
use crate::policy::architecture::Architecture;
use crate::policy::{Parameters, PolicyError};

/// A decoder of the families of Llama, Qwen2 and Qwen3, whose weights are `f32`.
#[derive(Clone, Debug)]
pub struct Decoder {
    architecture: Architecture,
    parameters: Parameters,
    pub(crate) weights: Weights,
    buffers: Buffers,
}

impl Decoder {
    /// A decoder with random weights: a normal distribution of this standard deviation, 1 for norms,
    /// 0 for biases.
    ///
    /// # Errors
    /// Sizes that do not fit one another.
    pub fn new(
        architecture: Architecture,
        seed: u64,
        initializer_range: f64,
    ) -> Result<Self, PolicyError> {
        let architecture = architecture.checked()?;
        let mut random = StdRng::seed_from_u64(seed);
        let mut parameters = Parameters::default();
        for spec in specs(&architecture) {
            let size = spec.shape.iter().product();
            let values = match spec.initial {
                Initial::Normal => normal(&mut random, initializer_range, size),
                Initial::Ones => vec![1.0; size],
                Initial::Zeros => Vec::new(),
            };
            parameters.push(&spec.name, &spec.shape, &values, true);
        }
        Self::of_parts(architecture, parameters)
    }

    /// A decoder with these weights, by the names of transformers. Names that it does not have are left
    /// out; all weights are trained.
    ///
    /// # Errors
    /// A tensor that is missing or has another shape.
    pub fn from_parameters(
        architecture: Architecture,
        parameters: &Parameters,
    ) -> Result<Self, PolicyError> {
        let architecture = architecture.checked()?;
        let mut own = Parameters::default();
        for spec in specs(&architecture) {
            let found = parameters.tensors().iter().find(|info| info.name == spec.name);
            let found = found.ok_or_else(|| PolicyError::invalid(&spec.name, "missing"))?;
            if found.shape != spec.shape {
                let message = format!("shape {:?}, expected {:?}", found.shape, spec.shape);
                return Err(PolicyError::invalid(spec.name, message));
            }
            own.push(&spec.name, &spec.shape, Span::of(found).weights(parameters), true);
        }
        Self::of_parts(architecture, own)
    }

    /// Weights that were laid out by [`specs`], and others after them.
    pub(crate) fn of_parts(
        architecture: Architecture,
        parameters: Parameters,
    ) -> Result<Self, PolicyError> {
        let weights = Weights::locate(&architecture, &parameters)?;
        Ok(Self { architecture, parameters, weights, buffers: Buffers::default() })
    }

    /// Its shape.
    pub fn architecture(&self) -> &Architecture {
        &self.architecture
    }

    /// Its weights; the same as those of the trait.
    pub(crate) fn weights_of(&self) -> &Parameters {
        &self.parameters
    }

    /// Its weights, to be changed.
    pub(crate) fn weights_of_mut(&mut self) -> &mut Parameters {
        &mut self.parameters
    }

    /// What a sequence may have.
    pub(crate) fn bounds(&self) -> Bounds {
        Bounds {
            vocabulary: self.architecture.vocab_size,
            positions: self.architecture.max_position_embeddings,
        }
    }

    /// Memory that is used again.
    pub(crate) fn buffers(&self) -> &Buffers {
        &self.buffers
    }

    /// What layers need to know.
    pub(crate) fn model<'a>(&'a self, rotations: &'a Rotations) -> Model<'a> {
        Model {
            architecture: &self.architecture,
            parameters: &self.parameters,
            buffers: &self.buffers,
            rotations,
        }
    }
}

/// Numbers of a normal distribution ("A Note on the Generation of Random Normal Deviates", Box and
/// Muller).
pub(crate) fn normal(random: &mut StdRng, deviation: f64, count: usize) -> Vec<f32> {
    let mut values = Vec::with_capacity(count + 1);
    while values.len() < count {
        let (first, second): (f64, f64) = (random.random(), random.random());
        let radius = deviation * (-2.0 * (1.0 - first).ln()).sqrt();
        let (sine, cosine) = (std::f64::consts::TAU * second).sin_cos();
        #[expect(clippy::cast_possible_truncation, reason = "weights are f32")]
        values.extend([(radius * cosine) as f32, (radius * sine) as f32]);
    }
    values.truncate(count);
    values
}
