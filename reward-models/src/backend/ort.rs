//! Graphs on ONNX Runtime, through its shared library.

use std::ffi::{CString, c_char};
use std::ptr::{NonNull, null_mut};
use std::sync::{Arc, OnceLock};

use ort::AsPointer as _;
use ort::environment::Environment;
use ort::ep::{self, ExecutionProviderDispatch};
use ort::logging::LogLevel;
use ort::session::builder::GraphOptimizationLevel;
use ort::session::{NoSelectedOutputs, RunOptions, SessionInputValue};
use ort::value::{DynValue, TensorRef};

use super::{Backend, GraphFile, Interrupt, Provider, Session};
use crate::error::ModelError;
use crate::manifest::Precision;
use crate::tensor::{Tensor, TensorData};

/// The backend of the library that was loaded.
pub struct Ort {
    environment: Environment,
    version: String,
    settings: ProviderSettings,
    /// The first of the providers that started, by its place.
    started: OnceLock<usize>,
}

/// Which execution providers run a graph.
#[derive(Clone, Debug, Default)]
pub struct ProviderSettings {
    /// In order of preference.
    pub providers: Vec<Provider>,
    /// Whether the next provider is tried where one does not start.
    pub fall_back: bool,
    /// Whether CUDA multiplies 32-bit matrices in `TensorFloat-32`.
    pub tf32: bool,
}

/// How far a score of a model in 16-bit floats may be off where it is not computed in 32 bits, as the
/// processor does: their machine epsilon is 1e-3.
const FP16_TOLERANCE: f64 = 1e-2;
/// The same for products in `TensorFloat-32`, which keeps 10 bits of the significand as they do.
const TF32_TOLERANCE: f64 = 1e-2;

impl Ort {
    /// A backend on a library that [`super::library`] loaded.
    pub fn new(environment: Environment, version: String, settings: ProviderSettings) -> Self {
        Self { environment, version, settings, started: OnceLock::new() }
    }

    /// The providers that run graphs.
    fn providers(&self) -> &[Provider] {
        let first = self.started.get().copied().unwrap_or_default();
        self.settings.providers.split_at(first).1
    }

    fn dispatches(&self, providers: &[Provider]) -> Vec<ExecutionProviderDispatch> {
        let built = |provider: &Provider| match provider {
            Provider::Cpu => ep::CPU::default().with_arena_allocator(true).build(),
            Provider::Cuda => ep::CUDA::default().with_tf32(self.settings.tf32).build(),
            Provider::Tensorrt => ep::TensorRT::default().build(),
            Provider::Webgpu => ep::WebGPU::default().build(),
        };
        providers.iter().map(|provider| built(provider).error_on_failure()).collect()
    }

    /// A session of the first provider that starts: some say that they cannot only when they load a
    /// graph.
    fn session(&self, graph: &GraphFile) -> Result<ort::session::Session, ort::Error<()>> {
        let providers = self.providers();
        // All graphs of a model run on the provider of the first.
        let is_open = self.settings.fall_back && self.started.get().is_none();
        let last = if is_open { providers.len().saturating_sub(1) } else { 0 };
        let from = |at| self.session_by(graph, providers.split_at(at).1);
        let started = (0..last).find_map(|at| Some((at, from(at).ok()?)));
        let (at, session) = match started {
            Some(started) => started,
            None => (last, from(last)?),
        };
        if is_open {
            let _ = self.started.set(at);
        }
        Ok(session)
    }

    fn session_by(
        &self,
        graph: &GraphFile,
        providers: &[Provider],
    ) -> Result<ort::session::Session, ort::Error<()>> {
        let builder = ort::session::Session::builder(&self.environment)?;
        let mut builder = builder
            .with_optimization_level(GraphOptimizationLevel::All)?
            .with_execution_providers(self.dispatches(providers))?
            .with_intra_threads(graph.threads)?
            .with_inter_threads(1)?
            // Threads that spin take the processor from the trainer beside us.
            .with_intra_op_spinning(false)?
            .with_inter_op_spinning(false)?
            // Lengths differ from batch to batch: a plan for one shape is of no use for the next.
            .with_memory_pattern(false)?
            // What goes wrong is in the error that we get; the library need not print it as well.
            .with_log_level(LogLevel::Fatal)?;
        if graph.unpacked {
            builder = builder.with_config_entry("session.disable_prepacking", "1")?;
        }
        builder.commit_from_file(&graph.path)
    }
}

impl Ort {
    fn uses_tf32(&self) -> bool {
        self.settings.tf32 && self.providers().contains(&Provider::Cuda)
    }
}

impl Backend for Ort {
    fn identity(&self) -> String {
        let name = |provider: &Provider| format!("{provider:?}").to_lowercase();
        let names: Vec<String> = self.providers().iter().map(name).collect();
        let tf32 = if self.uses_tf32() { " tf32" } else { "" };
        format!("onnxruntime {} {}{tf32}", self.version, names.join("+"))
    }

    fn build(&self) -> String {
        format!("{}\n{}", self.identity(), ort::info())
    }

    fn is_accelerated(&self) -> bool {
        self.providers().first().is_some_and(|provider| *provider != Provider::Cpu)
    }

    fn tolerance(&self, precision: Precision) -> f64 {
        match precision {
            Precision::Fp16 | Precision::Int8Blocks | Precision::Int4Blocks
                if self.is_accelerated() =>
            {
                FP16_TOLERANCE
            }
            _ if self.uses_tf32() => TF32_TOLERANCE,
            _ => 0.0,
        }
    }

    fn load(
        &self,
        graph: &GraphFile,
        sessions: usize,
    ) -> Result<Vec<Box<dyn Session>>, ModelError> {
        let failed_here = |error| ModelError::graph(&graph.path, format!("onnxruntime: {error}"));
        let session = Arc::new(self.session(graph).map_err(failed_here)?);
        let run = || {
            let running = Arc::new(Running(RunOptions::new().map_err(failed)?));
            Ok(Box::new(Run { session: Arc::clone(&session), running }) as Box<dyn Session>)
        };
        (0..sessions).map(|_| run()).collect()
    }
}

/// A worker's way into the session that it shares with the others: the weights, and what the
/// library packs of them, are in memory once.
struct Run {
    session: Arc<ort::session::Session>,
    running: Arc<Running>,
}

/// The options of a session's runs: they carry the flag that stops one.
struct Running(RunOptions<NoSelectedOutputs>);

impl Interrupt for Running {
    fn stop(&self) {
        // It fails where the library is gone, and then nothing runs.
        let _ = self.0.terminate();
    }

    fn rearm(&self) {
        let _ = self.0.unterminate();
    }
}

impl Session for Run {
    fn run(
        &mut self,
        inputs: &[(&str, &Tensor)],
        outputs: &[&str],
    ) -> Result<Vec<Tensor>, ModelError> {
        let given = inputs
            .iter()
            .map(|(name, tensor)| Ok((c_string(name)?, value(tensor).map_err(failed)?)));
        let given: Vec<_> = given.collect::<Result<_, ModelError>>()?;
        let asked: Vec<_> = outputs.iter().map(|name| c_string(name)).collect::<Result<_, _>>()?;
        let found = run_shared(&self.session, &self.running.0, &given, &asked);
        let found = found.map_err(|error| run_error(&error))?;
        found.iter().map(tensor).collect()
    }

    fn stopper(&self) -> Arc<dyn Interrupt> {
        Arc::clone(&self.running) as Arc<dyn Interrupt>
    }
}

/// Runs a session that other threads may run at the same time.
///
/// `Session::run` of the binding asks for an exclusive reference, which would cost a copy
/// of the weights a worker. The library does not: "Multiple threads are allowed to run this
/// function; hence its thread-safe" (`InferenceSession::Run`).
#[allow(unsafe_code, reason = "the binding has no safe way to share a session")]
fn run_shared(
    session: &ort::session::Session,
    options: &RunOptions<NoSelectedOutputs>,
    inputs: &[(CString, SessionInputValue<'_>)],
    outputs: &[CString],
) -> Result<Vec<DynValue>, ort::Error> {
    let names: Vec<*const c_char> = inputs.iter().map(|(name, _)| name.as_ptr()).collect();
    let values: Vec<_> = inputs.iter().map(|(_, value)| value.ptr()).collect();
    let asked: Vec<*const c_char> = outputs.iter().map(|name| name.as_ptr()).collect();
    let mut found = vec![null_mut(); outputs.len()];
    // SAFETY: names and values live until the call returns, along the lengths that go with them;
    // `found` has a place for each output, null, which has the library make the value.
    let status = unsafe {
        (ort::api().Run)(
            session.ptr().cast_mut(),
            options.ptr(),
            names.as_ptr(),
            values.as_ptr(),
            values.len(),
            asked.as_ptr(),
            asked.len(),
            found.as_mut_ptr(),
        )
    };
    // SAFETY: the status is the one that the call gave, and is owned here alone.
    unsafe { ort::Error::result_from_status(status) }?;
    let none = || ort::Error::new("an output was not made");
    let owned = |value| {
        let value = NonNull::new(value).ok_or_else(none)?;
        // SAFETY: a run that went well made the value with the session's allocator, for us.
        Ok(unsafe { DynValue::from_ptr(value, Some(session.allocator())) })
    };
    found.into_iter().map(owned).collect()
}

fn c_string(name: &str) -> Result<CString, ModelError> {
    CString::new(name).map_err(failed)
}

fn value(tensor: &Tensor) -> Result<SessionInputValue<'_>, ort::Error> {
    let shape = tensor.shape.as_slice();
    Ok(match &tensor.data {
        TensorData::Int(data) => TensorRef::from_array_view((shape, data.as_slice()))?.into(),
        TensorData::Float(data) => TensorRef::from_array_view((shape, data.as_slice()))?.into(),
    })
}

fn tensor(value: &DynValue) -> Result<Tensor, ModelError> {
    let sized = |shape: &[i64]| shape.iter().map(|&n| usize::try_from(n).unwrap_or(0)).collect();
    if let Ok((shape, data)) = value.try_extract_tensor::<f32>() {
        return Ok(Tensor::floats(sized(shape), data.to_vec()));
    }
    let other = |_| failed(format!("an output is a {}, not 32-bit floats", value.dtype()));
    let (shape, data) = value.try_extract_tensor::<i64>().map_err(other)?;
    Ok(Tensor { shape: sized(shape), data: TensorData::Int(data.to_vec()) })
}

fn failed(error: impl std::fmt::Display) -> ModelError {
    ModelError::Run(format!("onnxruntime: {error}"))
}

/// The kind of an error of the library is known by its message alone.
fn run_error(error: &ort::Error) -> ModelError {
    let text = error.to_string();
    let has = |part: &str| text.contains(part);
    if has("terminate flag") {
        ModelError::Stopped
    } else if has("Failed to allocate memory") || has("bad_alloc") || has("out of memory") {
        ModelError::Memory(format!("onnxruntime: {text}"))
    } else {
        failed(text)
    }
}
