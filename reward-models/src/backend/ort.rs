//! Graphs on ONNX Runtime, through its shared library.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread::ScopedJoinHandle;

use ort::environment::Environment;
use ort::ep::{self, ExecutionProviderDispatch};
use ort::logging::LogLevel;
use ort::session::builder::GraphOptimizationLevel;
use ort::session::{NoSelectedOutputs, RunOptions, SessionInputValue};
use ort::value::{DynValue, TensorRef};

use super::{Backend, GraphFile, Provider, Session, Stop};
use crate::error::ModelError;
use crate::tensor::{Data, Tensor};

/// The backend of the library that was loaded.
pub struct Ort {
    environment: Environment,
    version: String,
    providers: Vec<Provider>,
    /// Whether a provider that does not start gives way to the next.
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
        let session = || {
            let session = self
                .session(graph)
                .map_err(|error| ModelError::graph(&graph.path, format!("onnxruntime: {error}")))?;
            let options = RunOptions::new().map_err(failed)?;
            Ok(Box::new(Run { session, running: Arc::new(Running(options)) }) as Box<dyn Session>)
        };
        // Each packs the weights anew: side by side.
        std::thread::scope(|scope| {
            let made: Vec<_> = (0..sessions).map(|_| scope.spawn(session)).collect();
            let ended = made.into_iter().map(ScopedJoinHandle::join);
            ended.map(|made| made.unwrap_or_else(|panic| resume_unwind(panic))).collect()
        })
    }
}

/// One worker's session.
struct Run {
    session: ort::session::Session,
    running: Arc<Running>,
}

/// The options of a session's runs: they carry the flag that stops one.
struct Running(RunOptions<NoSelectedOutputs>);

impl Stop for Running {
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
        let mut given: Vec<(&str, SessionInputValue<'_>)> = Vec::with_capacity(inputs.len());
        for (name, tensor) in inputs {
            given.push((name, value(tensor).map_err(failed)?));
        }
        match self.session.run_with_options(given, &self.running.0) {
            Ok(found) => outputs.iter().map(|name| tensor(name, found.get(name))).collect(),
            Err(error) => Err(run_error(&error)),
        }
    }

    fn stopper(&self) -> Arc<dyn Stop> {
        Arc::clone(&self.running) as Arc<dyn Stop>
    }
}

fn value(tensor: &Tensor) -> Result<SessionInputValue<'_>, ort::Error> {
    let shape = tensor.shape.as_slice();
    Ok(match &tensor.data {
        Data::Int(data) => TensorRef::from_array_view((shape, data.as_slice()))?.into(),
        Data::Float(data) => TensorRef::from_array_view((shape, data.as_slice()))?.into(),
    })
}

fn tensor(name: &str, value: Option<&DynValue>) -> Result<Tensor, ModelError> {
    let missing = || ModelError::Run(format!("onnxruntime: no output is called \"{name}\""));
    let value = value.ok_or_else(missing)?;
    let sized = |shape: &[i64]| shape.iter().map(|&n| usize::try_from(n).unwrap_or(0)).collect();
    if let Ok((shape, data)) = value.try_extract_tensor::<f32>() {
        return Ok(Tensor::floats(sized(shape), data.to_vec()));
    }
    let (shape, data) = value.try_extract_tensor::<i64>().map_err(failed)?;
    Ok(Tensor { shape: sized(shape), data: Data::Int(data.to_vec()) })
}

fn failed(error: impl std::fmt::Display) -> ModelError {
    ModelError::Run(format!("onnxruntime: {error}"))
}

/// The library tells what happened by its message alone.
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
