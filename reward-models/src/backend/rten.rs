//! Graphs on `rten`, which is part of the program.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rten::{Model, ModelOptions, NodeId, RunOptions, ThreadPool, Value, ValueOrView, ValueView};
use rten_tensor::Layout as _;

use super::{Backend, GraphFile, Session, Stop};
use crate::error::ModelError;
use crate::tensor::{Data, Tensor};

/// The backend that needs nothing.
pub struct Rten;

/// What `Cargo.toml` pins.
pub const VERSION: &str = "0.27";

impl Backend for Rten {
    fn identity(&self) -> String {
        format!("rten {VERSION} cpu")
    }

    fn load(
        &self,
        graph: &GraphFile,
        sessions: usize,
    ) -> Result<Vec<Box<dyn Session>>, ModelError> {
        let model = ModelOptions::with_all_ops()
            .prepack_weights(true)
            .load_file(&graph.path)
            .map_err(|error| ModelError::graph(&graph.path, format!("rten: {error}")))?;
        let model = Arc::new(model);
        let session = |_| {
            let pool = Arc::new(ThreadPool::with_num_threads(graph.threads));
            let stopped = Arc::new(Stopped::default());
            Box::new(Run { model: Arc::clone(&model), pool, stopped }) as Box<dyn Session>
        };
        Ok((0..sessions).map(session).collect())
    }
}

/// One worker: the model is shared, the threads are its own.
struct Run {
    model: Arc<Model>,
    pool: Arc<ThreadPool>,
    stopped: Arc<Stopped>,
}

/// A pass of `rten` cannot be stopped: it is the next one that is not begun, so that a text that is
/// being written ends.
#[derive(Default)]
struct Stopped(AtomicBool);

impl Stop for Stopped {
    fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn rearm(&self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

impl Session for Run {
    fn run(
        &mut self,
        inputs: &[(&str, &Tensor)],
        outputs: &[&str],
    ) -> Result<Vec<Tensor>, ModelError> {
        if self.stopped.0.load(Ordering::Relaxed) {
            return Err(ModelError::Stopped);
        }
        let node = |name: &str| self.model.node_id(name).map_err(failed);
        let mut given: Vec<(NodeId, ValueOrView<'_>)> = Vec::with_capacity(inputs.len());
        for (name, tensor) in inputs {
            given.push((node(name)?, value(tensor)?));
        }
        let wanted = outputs.iter().map(|name| node(name)).collect::<Result<Vec<_>, _>>()?;
        let options = RunOptions::default().with_thread_pool(Some(Arc::clone(&self.pool)));
        let found = self.model.run(given, &wanted, Some(options)).map_err(failed)?;
        found.into_iter().map(tensor).collect()
    }

    fn stopper(&self) -> Arc<dyn Stop> {
        Arc::clone(&self.stopped) as Arc<dyn Stop>
    }
}

fn value(tensor: &Tensor) -> Result<ValueOrView<'_>, ModelError> {
    match &tensor.data {
        // `rten` takes 32 bits where a graph says 64.
        Data::Int(data) => {
            let narrow = |&number: &i64| i32::try_from(number);
            let data = data.iter().map(narrow).collect::<Result<Vec<i32>, _>>();
            let data =
                data.map_err(|_| ModelError::Run("rten: an id beyond 32 bits".to_owned()))?;
            Ok(Value::from_shape(&tensor.shape, data).map_err(failed)?.into())
        }
        Data::Float(data) => Ok(ValueView::from_shape(tensor.shape.as_slice(), data.as_slice())
            .map_err(failed)?
            .into()),
    }
}

fn tensor(value: Value) -> Result<Tensor, ModelError> {
    match value {
        Value::FloatTensor(found) => {
            let shape = found.shape().to_vec();
            Ok(Tensor::floats(shape, found.into_data()))
        }
        Value::Int32Tensor(found) => {
            let shape = found.shape().to_vec();
            let data = found.into_data().into_iter().map(i64::from).collect();
            Ok(Tensor { shape, data: Data::Int(data) })
        }
        _ => {
            Err(ModelError::Run("rten: an output is neither of floats nor of integers".to_owned()))
        }
    }
}

fn failed(error: impl std::fmt::Display) -> ModelError {
    ModelError::Run(format!("rten: {error}"))
}
