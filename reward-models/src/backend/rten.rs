//! Graphs on `rten`, which is part of the program.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rten::{Model, ModelOptions, NodeId, RunOptions, ThreadPool, Value, ValueOrView, ValueView};
use rten_tensor::Layout as _;

use super::{Backend, GraphFile, Interrupt, Session};
use crate::error::ModelError;
use crate::tensor::{Tensor, TensorData};

/// The backend that needs nothing.
pub struct Rten;

/// What runs the graphs that this backend does not.
pub(crate) const INSTEAD: &str =
    "ONNX Runtime may run it: `assay doctor` says where its library is looked for";

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
        let loaded = Arc::new(Loaded::new(graph, LOOK_EVERY)?);
        let session = |_| Box::new(Run::new(&loaded, graph.threads)) as Box<dyn Session>;
        Ok((0..sessions).map(session).collect())
    }
}

/// Multiplications between two looks at whether to go on: about ten milliseconds of one core.
const LOOK_EVERY: u64 = 200_000_000;

/// What all workers share.
struct Loaded {
    model: Model,
    cuts: Vec<Cut>,
    look_every: u64,
}

/// A [`crate::graph::cuts::Cut`] by node.
struct Cut {
    work: u64,
    crossing: Vec<NodeId>,
    outputs: Vec<NodeId>,
    /// Whether it is not a place to stop at: `rten` makes one node of several where it can, and what
    /// lay between them is not to be had, or not enough.
    gone: AtomicBool,
}

impl Loaded {
    fn new(graph: &GraphFile, look_every: u64) -> Result<Self, ModelError> {
        let model = ModelOptions::with_all_ops()
            .prepack_weights(true)
            .load_file(&graph.path)
            .map_err(|error| ModelError::graph(&graph.path, format!("rten: {error}; {INSTEAD}")))?;
        let node = |name: &String| model.find_node(name);
        let cuts = graph.cuts.iter().filter_map(|cut| {
            let crossing = cut.crossing.iter().map(node).collect::<Option<_>>()?;
            let outputs = cut.outputs.iter().map(node).collect::<Option<_>>()?;
            Some(Cut { work: cut.work, crossing, outputs, gone: AtomicBool::new(false) })
        });
        let cuts = cuts.collect();
        Ok(Self { model, cuts, look_every })
    }

    /// Where a pass of so many tokens is cut.
    fn cuts(&self, tokens: u64) -> impl Iterator<Item = &Cut> {
        let mut before = 0;
        self.cuts.iter().filter(move |cut| {
            let far = (cut.work - before).saturating_mul(tokens) >= self.look_every
                && !cut.gone.load(Ordering::Relaxed);
            before = if far { cut.work } else { before };
            far
        })
    }
}

/// One worker: the model is shared, the threads are its own.
struct Run {
    loaded: Arc<Loaded>,
    pool: Arc<ThreadPool>,
    stopped: Arc<Stopped>,
}

/// `rten` cannot be stopped within a run: it is the next piece of the pass that is not begun.
#[derive(Default)]
struct Stopped(AtomicBool);

impl Interrupt for Stopped {
    fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn rearm(&self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// Values by their node.
type Values<'a> = BTreeMap<NodeId, ValueOrView<'a>>;

fn views<'a>(values: &'a Values<'_>) -> impl Iterator<Item = (NodeId, ValueOrView<'a>)> {
    values.iter().map(|(node, value)| (*node, value.as_view().into()))
}

impl Run {
    fn new(loaded: &Arc<Loaded>, threads: usize) -> Self {
        Self {
            loaded: Arc::clone(loaded),
            pool: Arc::new(ThreadPool::with_num_threads(threads)),
            stopped: Arc::default(),
        }
    }

    /// A pass, piece by piece: the values of `wanted`, from the inputs that are `given`.
    fn pass<'a>(
        &self,
        given: &'a Values<'_>,
        wanted: &[NodeId],
        tokens: u64,
    ) -> Result<Values<'a>, ModelError> {
        let mut kept: Values<'a> = views(given).collect();
        let mut last = None;
        for cut in self.loaded.cuts(tokens) {
            let made = cut.outputs.iter().filter(|node| wanted.contains(node));
            let needed: BTreeSet<NodeId> = made.chain(&cut.crossing).copied().collect();
            match self.piece(given, &mut kept, last, needed.iter()) {
                Err(ModelError::Run(_)) => cut.gone.store(true, Ordering::Relaxed),
                made => {
                    made?;
                    kept.retain(|node, _| needed.contains(node));
                    last = Some(cut);
                }
            }
        }
        self.piece(given, &mut kept, last, wanted.iter())?;
        Ok(kept)
    }

    /// Adds what is `needed` to what was `kept` at the last cut. Where that is not enough, it is
    /// made from what is `given`, once: the cut is not used again.
    fn piece<'n>(
        &self,
        given: &Values<'_>,
        kept: &mut Values<'_>,
        last: Option<&Cut>,
        needed: impl Iterator<Item = &'n NodeId>,
    ) -> Result<(), ModelError> {
        let missing = needed.filter(|node| !kept.contains_key(node));
        let missing: Vec<NodeId> = missing.copied().collect();
        let found = match (self.evaluate(views(kept), &missing), last) {
            (Err(ModelError::Run(_)), Some(last)) => {
                let all: Values<'_> = views(given).chain(views(kept)).collect();
                let found = self.evaluate(views(&all), &missing)?;
                last.gone.store(true, Ordering::Relaxed);
                found
            }
            (found, _) => found?,
        };
        kept.extend(missing.into_iter().zip(found.into_iter().map(ValueOrView::Value)));
        Ok(())
    }

    fn evaluate<'a>(
        &self,
        values: impl Iterator<Item = (NodeId, ValueOrView<'a>)>,
        wanted: &[NodeId],
    ) -> Result<Vec<Value>, ModelError> {
        if self.stopped.0.load(Ordering::Relaxed) {
            return Err(ModelError::Stopped);
        }
        let options = RunOptions::default().with_thread_pool(Some(Arc::clone(&self.pool)));
        self.loaded.model.run(values.collect(), wanted, Some(options)).map_err(failed)
    }
}

impl Session for Run {
    fn run(
        &mut self,
        inputs: &[(&str, &Tensor)],
        outputs: &[&str],
    ) -> Result<Vec<Tensor>, ModelError> {
        let node = |name: &str| self.loaded.model.node_id(name).map_err(failed);
        let mut given = Values::new();
        let mut tokens = 0;
        for (name, tensor) in inputs {
            if let TensorData::Int(ids) = &tensor.data {
                tokens = tokens.max(ids.len() as u64);
            }
            given.insert(node(name)?, value(tensor)?);
        }
        let wanted = outputs.iter().map(|name| node(name)).collect::<Result<Vec<_>, _>>()?;
        let mut found = self.pass(&given, &wanted, tokens)?;
        let missing = || ModelError::Run("rten: an output is asked for twice".to_owned());
        let take = |node| tensor(found.remove(node).ok_or_else(missing)?.into_owned());
        wanted.iter().map(take).collect()
    }

    fn stopper(&self) -> Arc<dyn Interrupt> {
        Arc::clone(&self.stopped) as Arc<dyn Interrupt>
    }
}

fn value(tensor: &Tensor) -> Result<ValueOrView<'_>, ModelError> {
    match &tensor.data {
        // `rten` takes 32 bits where a graph says 64.
        TensorData::Int(data) => {
            let narrow = |&number: &i64| i32::try_from(number);
            let data = data.iter().map(narrow).collect::<Result<Vec<i32>, _>>();
            let data =
                data.map_err(|_| ModelError::Run("rten: an id beyond 32 bits".to_owned()))?;
            Ok(Value::from_shape(&tensor.shape, data).map_err(failed)?.into())
        }
        TensorData::Float(data) => {
            Ok(ValueView::from_shape(tensor.shape.as_slice(), data.as_slice())
                .map_err(failed)?
                .into())
        }
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
            Ok(Tensor { shape, data: TensorData::Int(data) })
        }
        _ => {
            Err(ModelError::Run("rten: an output is neither of floats nor of integers".to_owned()))
        }
    }
}

fn failed(error: impl std::fmt::Display) -> ModelError {
    ModelError::Run(format!("rten: {error}"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test stops at what it does not expect")]

    use std::path::Path;

    use super::*;
    use crate::forward::{Forward, probe};
    use crate::graph::GraphInfo;
    use crate::manifest::{Graph, Manifest, Precision};

    #[test]
    fn a_pass_in_pieces_has_the_bits_of_a_whole_one() {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/models");
        let (mut graphs, mut pieces) = (0, 0);
        for folder in std::fs::read_dir(fixtures).unwrap().map(|entry| entry.unwrap().path()) {
            let Ok(manifest) = Manifest::read(&folder) else { continue };
            let places = manifest.goldens.iter().find_map(|golden| golden.positions.as_ref());
            let places = places.map_or(1, Vec::len);
            let (short, long) = (probe(places + 4, places), probe(places + 9, places));
            let is_run = |graph: &&Graph| {
                !matches!(graph.precision, Precision::Bf16 | Precision::Int4Blocks)
            };
            for graph in manifest.graphs.iter().filter(is_run) {
                let path = folder.join(&graph.file);
                let info = GraphInfo::read(&path).unwrap();
                let file = GraphFile::new(path, 1, &info);
                let forward = Forward::new(&manifest, graph, &info, &Rten.identity());
                let run = |look_every| {
                    let loaded = Arc::new(Loaded::new(&file, look_every).unwrap());
                    let mut session = Run::new(&loaded, 1);
                    let rows = forward.run(&mut session, &[&long, &short], None).unwrap();
                    (rows, loaded.cuts(1).count())
                };
                let ((whole, none), (cut, cuts)) = (run(u64::MAX), run(1));
                assert_eq!(none, 0);
                assert!(2 * cuts > file.cuts.len(), "{} cannot be cut", file.path.display());
                for (whole, cut) in whole.iter().zip(&cut) {
                    assert!(whole.same_bits(cut), "{}", file.path.display());
                }
                graphs += 1;
                pieces += cuts + 1;
            }
        }
        assert!(graphs > 30 && pieces > 10 * graphs, "{pieces} pieces of {graphs} graphs");
    }
}
