//! What runs a graph. Two backends: ONNX Runtime where its library is found, and `rten`, which is
//! compiled in.

pub mod library;
pub mod ort;
pub mod rten;

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::ModelError;
use crate::graph::GraphInfo;
use crate::graph::cuts::Cut;
use crate::manifest::Precision;
use crate::tensor::Tensor;

/// Loads graphs.
pub trait Backend: Send + Sync {
    /// What runs here: name, version and provider, as provenance names them.
    fn identity(&self) -> String;

    /// The same, with how it was built.
    fn build(&self) -> String {
        self.identity()
    }

    /// Whether something else than the processor runs the graphs that were loaded. Kernels are then
    /// chosen by the shape of a batch, so that scores move in their last bits with what else is in it.
    fn is_accelerated(&self) -> bool {
        false
    }

    /// How far scores may be from those of the processor, whatever a golden pair allows.
    fn tolerance(&self, precision: Precision) -> f64 {
        let _ = precision;
        0.0
    }

    /// Loads a graph for `sessions` workers, one session each.
    ///
    /// # Errors
    /// A graph that the backend cannot run.
    fn load(&self, graph: &GraphFile, sessions: usize)
    -> Result<Vec<Box<dyn Session>>, ModelError>;
}

/// A graph that is ready to run, owned by one worker.
pub trait Session: Send {
    /// Runs the graph. Outputs come in the order in which they are asked for.
    ///
    /// # Errors
    /// What the backend says; [`ModelError::Stopped`] where somebody stopped the run.
    fn run(
        &mut self,
        inputs: &[(&str, &Tensor)],
        outputs: &[&str],
    ) -> Result<Vec<Tensor>, ModelError>;

    /// What stops a run from another thread, at the latest before the next one.
    fn stopper(&self) -> Arc<dyn Interrupt>;
}

/// Stops the run of a session.
pub trait Interrupt: Send + Sync {
    /// Stops the run that goes on, and those that follow until [`rearm`](Self::rearm).
    fn stop(&self);

    /// Lets runs go on again.
    fn rearm(&self);
}

/// A graph in its folder, checked.
#[derive(Clone, Debug)]
pub struct GraphFile {
    /// Where it lies.
    pub path: PathBuf,
    /// Threads that work on one run.
    pub threads: usize,
    /// Where a pass may be cut.
    pub cuts: Vec<Cut>,
    /// Whether its weights are used as they lie in their files.
    pub unpacked: bool,
}

/// Matrices in 32 bits are packed for the processor where a model has at most so many bytes of external weights. To
/// pack them reads all and holds a copy: 2.2 GB took 5 s of CPU at each start. Products of large ones take 1.1
/// to 1.25 times as long as they lie; those of blocks of integers take a hundred times as long.
const PACKED_MAX: u64 = 8 << 30;

impl GraphFile {
    /// A graph of which this is known.
    pub fn new(path: PathBuf, threads: usize, info: &GraphInfo) -> Self {
        let bytes = |name| path.with_file_name(name).metadata().map_or(0, |data| data.len());
        let is_large = info.external.keys().map(bytes).sum::<u64>() > PACKED_MAX;
        let unpacked = is_large && !(info.half || !info.blocks.is_empty() || info.dynamic_int8);
        Self { path, threads, cuts: info.cuts.clone(), unpacked }
    }
}

/// Which backend runs the models.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum BackendChoice {
    /// ONNX Runtime where its library is found, else `rten`.
    #[default]
    Auto,
    /// ONNX Runtime.
    Ort,
    /// `rten`, compiled in.
    Rten,
}

/// What makes an execution provider of ONNX Runtime.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Provider {
    /// The processor.
    Cpu,
    /// NVIDIA's GPUs.
    Cuda,
    /// NVIDIA's GPUs through `TensorRT`.
    Tensorrt,
    /// Any GPU through WebGPU.
    Webgpu,
}
