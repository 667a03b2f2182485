//! Graphs on ONNX Runtime, through its shared library.

use std::ffi::{CString, c_char};
use std::ptr::{NonNull, null_mut};
use std::sync::Arc;

use ort::AsPointer as _;
use ort::environment::Environment;
use ort::ep::{self, ExecutionProviderDispatch};
use ort::logging::LogLevel;
use ort::session::builder::GraphOptimizationLevel;
use ort::session::{NoSelectedOutputs, RunOptions, SessionInputValue};
use ort::value::{DynValue, TensorRef};

use super::{Backend, GraphFile, Interrupt, Provider, Session};
use crate::error::ModelError;
use crate::tensor::{Tensor, TensorData};

/// The backend of the library that was loaded.
pub struct Ort {
    environment: Environment,
    version: String,
    providers: Vec<Provider>,
    /// Whether the next provider is tried where one does not start.
    fall_back: bool,
}

impl Ort {
    /// A backend on a library that [`super::library`] loaded. Providers in order of preference.
    pub fn new(
        environment: Environment,
        version: String,
        providers: Vec<Provider>,
        fall_back: bool,
    ) -> Self {
        Self { environment, version, providers, fall_back }
    }

    fn dispatches(&self) -> Vec<ExecutionProviderDispatch> {
        let built = self.providers.iter().map(|provider| match provider {
            Provider::Cpu => ep::CPU::default().with_arena_allocator(true).build(),
            Provider::Cuda => ep::CUDA::default().build(),
            Provider::Tensorrt => ep::TensorRT::default().build(),
            Provider::Webgpu => ep::WebGPU::default().build(),
        });
        let strict = |one: ExecutionProviderDispatch| {
            if self.fall_back { one.fail_silently() } else { one.error_on_failure() }
        };
        built.map(strict).collect()
    }

    fn session(&self, graph: &GraphFile) -> Result<ort::session::Session, ort::Error<()>> {
        let builder = ort::session::Session::builder(&self.environment)?;
        let mut builder = builder
            .with_optimization_level(GraphOptimizationLevel::All)?
            .with_execution_providers(self.dispatches())?
            .with_intra_threads(graph.threads)?
            .with_inter_threads(1)?
            // Threads that spin take the processor from the trainer beside us.
            .with_intra_op_spinning(false)?
            .with_inter_op_spinning(false)?
            // Lengths differ from batch to batch: a plan for one shape is of no use for the next.
            .with_memory_pattern(false)?
            // What goes wrong is in the error that we get; the library need not print it as well.
            .with_log_level(LogLevel::Fatal)?;
        builder.commit_from_file(&graph.path)
    }
}

impl Backend for Ort {
    fn identity(&self) -> String {
        let providers: Vec<String> =
            self.providers.iter().map(|provider| format!("{provider:?}").to_lowercase()).collect();
        format!("onnxruntime {} {}", self.version, providers.join("+"))
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
    let (shape, data) = value.try_extract_tensor::<i64>().map_err(failed)?;
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
