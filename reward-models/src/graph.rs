//! What an ONNX file says of itself, read before any backend sees it.

mod constants;
pub mod cuts;
mod external;
mod loops;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Component, Path};

use rten_onnx::onnx::{AttributeProto, DataType, GraphProto, ModelProto, NodeProto, TensorProto};

use self::constants::constants;
use self::cuts::{Cut, inner};
use crate::error::ModelError;
use crate::manifest::{Graph, Manifest, ModelKind, PastShape};

/// Opsets that may be used. Version 23 exports, and then fails at run time.
const OPSETS: std::ops::RangeInclusive<i64> = 11..=25;
const OPSET_REFUSED: i64 = 23;
/// Bits of a `MatMulNBits` that does not say how many.
const BITS: i64 = 4;

/// What is known of a graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GraphInfo {
    /// The version of the standard operators.
    pub opset: i64,
    /// Names of inputs.
    pub inputs: BTreeSet<String>,
    /// Names of outputs.
    pub outputs: BTreeSet<String>,
    /// Files with external weights, as the graph names them, and how many bytes it reads of each.
    pub external: BTreeMap<String, u64>,
    /// Whether it uses the fused attention that some backends mask in their own way.
    pub grouped_attention: bool,
    /// Whether integer ranges are found at run time.
    pub dynamic_int8: bool,
    /// Whether a matrix of it is in 16-bit floats.
    pub half: bool,
    /// Bits of the integers that matrices of it are stored in by blocks.
    pub blocks: BTreeSet<i64>,
    /// Where a pass may be cut.
    pub cuts: Vec<Cut>,
}

impl GraphInfo {
    /// Reads the file of a graph.
    ///
    /// # Errors
    /// A file that is not an ONNX graph.
    pub fn read(path: &Path) -> Result<Self, ModelError> {
        let none = |why: String| ModelError::graph(path, format!("not an ONNX graph: {why}"));
        let scan = external::scan(path).map_err(|error| none(error.to_string()))?;
        let file = File::open(path).map_err(|error| ModelError::file(path, error))?;
        let model = ModelProto::parse_file(file).map_err(|error| none(error.to_string()))?;
        let graph = model.graph.ok_or_else(|| ModelError::graph(path, "holds no graph"))?;
        let standard = ["", "ai.onnx"];
        let opsets = model
            .opset_import
            .iter()
            .filter(|set| standard.contains(&set.domain.as_deref().unwrap_or_default()));
        let mut info = Self {
            opset: opsets.filter_map(|set| set.version).max().unwrap_or(0),
            ..Self::default()
        };
        let initialized: BTreeSet<&str> =
            graph.initializer.iter().filter_map(|tensor| tensor.name.as_deref()).collect();
        let inputs = graph.input.iter().filter_map(|value| value.name.clone());
        info.inputs = inputs.filter(|name| !initialized.contains(name.as_str())).collect();
        info.outputs = graph.output.iter().filter_map(|value| value.name.clone()).collect();
        info.external = scan.files;
        info.look_at(&graph).map_err(|why| ModelError::graph(path, why))?;
        let known: BTreeMap<&str, Vec<i64>> = constants(&graph).collect();
        loops::bounded(&graph, &known).map_err(|why| ModelError::graph(path, why))?;
        if scan.loops_in_functions {
            return Err(ModelError::graph(path, "a function of it has a Loop; export it inlined"));
        }
        info.cuts = cuts::cuts(&graph);
        Ok(info)
    }

    /// Nodes and weights, those of inner graphs included. The error says which of them asks for
    /// memory that no model needs.
    fn look_at(&mut self, graph: &GraphProto) -> Result<(), String> {
        let mut graphs = vec![graph];
        while let Some(graph) = graphs.pop() {
            let shapes: BTreeMap<&str, Vec<i64>> = constants(graph).collect();
            for tensor in &graph.initializer {
                filled(tensor)?;
                self.half |= tensor.data_type == Some(DataType::FLOAT16) && tensor.dims.len() > 1;
            }
            for node in &graph.node {
                bounded(node, &shapes)?;
                match node.op_type.as_deref() {
                    Some("GroupQueryAttention") => self.grouped_attention = true,
                    Some("MatMulNBits") => {
                        let named = |one: &&AttributeProto| one.name.as_deref() == Some("bits");
                        let bits = node.attribute.iter().find(named).and_then(|one| one.i);
                        self.blocks.insert(bits.unwrap_or(BITS));
                    }
                    Some("DynamicQuantizeLinear" | "DynamicQuantizeMatMul") => {
                        self.dynamic_int8 = true;
                    }
                    _ => {}
                }
                graphs.extend(inner(node));
            }
        }
        Ok(())
    }

    /// Holds the graph to its manifest and to what can be run.
    ///
    /// # Errors
    /// What does not fit, by name.
    pub fn check(&self, path: &Path, manifest: &Manifest, graph: &Graph) -> Result<(), ModelError> {
        let refuse = |why: String| Err(ModelError::graph(path, why));
        if self.opset == OPSET_REFUSED {
            return refuse(
                "opset 23 is refused: its RotaryEmbedding fails at run time; export with opset 22"
                    .to_owned(),
            );
        }
        if !OPSETS.contains(&self.opset) {
            return refuse(format!("opset {} is not known; expected 11 to 25", self.opset));
        }
        let listed: BTreeSet<&Path> = graph.data.iter().map(|data| Path::new(&data.file)).collect();
        for (external, needed) in &self.external {
            let plain =
                Path::new(external).components().all(|part| matches!(part, Component::Normal(_)));
            if !plain || external.is_empty() {
                return refuse(format!("external data \"{external}\" is outside the folder"));
            }
            // The graph names them from where it lies.
            let place = Path::new(&graph.file).with_file_name(external);
            if !listed.contains(place.as_path()) {
                return refuse(format!("external data \"{external}\" is not listed in graph.data"));
            }
            let has = path.with_file_name(external).metadata().map_or(0, |about| about.len());
            if has < *needed {
                return refuse(format!(
                    "external data \"{external}\" has {has} bytes; the graph reads {needed}"
                ));
            }
        }
        self.check_inputs(path, graph)?;
        self.check_outputs(path, manifest, graph)
    }

    fn check_inputs(&self, path: &Path, graph: &Graph) -> Result<(), ModelError> {
        let mut known: BTreeSet<String> =
            INPUTS.iter().map(|name| graph.input(name).to_owned()).collect();
        for name in past_names(graph.past, "past_key_values") {
            if !self.inputs.contains(&name) {
                return Err(ModelError::graph(path, missing("input", &name, &self.inputs)));
            }
            known.insert(name);
        }
        let ids = graph.input("input_ids");
        if !self.inputs.contains(ids) {
            return Err(ModelError::graph(path, missing("input", ids, &self.inputs)));
        }
        match self.inputs.iter().find(|name| !known.contains(*name)) {
            Some(name) => {
                let why = format!("input \"{name}\" is not named by the manifest");
                Err(ModelError::graph(path, why))
            }
            None => Ok(()),
        }
    }

    fn check_outputs(
        &self,
        path: &Path,
        manifest: &Manifest,
        graph: &Graph,
    ) -> Result<(), ModelError> {
        let main = match manifest.kind {
            ModelKind::Embedding => "embeddings",
            _ => "scores",
        };
        let mut wanted = vec![graph.output(main).to_owned()];
        if manifest.score.transform == crate::manifest::Transform::Gated {
            wanted.push(graph.output("gates").to_owned());
        }
        wanted.extend(past_names(graph.past, "present"));
        match wanted.iter().find(|name| !self.outputs.contains(*name)) {
            Some(name) => Err(ModelError::graph(path, missing("output", name, &self.outputs))),
            None => Ok(()),
        }
    }
}

/// The most elements that a tensor of a constant shape may have.
const ELEMENTS_MAX: i64 = 1 << 31;

/// The product of dimensions; `None` where it is negative, or larger than any tensor is.
fn elements(dims: &[i64]) -> Option<i64> {
    let product = dims.iter().try_fold(1_i64, |product, dim| product.checked_mul(*dim));
    product.filter(|product| (0..=ELEMENTS_MAX).contains(product))
}

/// Holds weights to their shape: a backend that trusts a shape reads or allocates by it.
fn filled(tensor: &TensorProto) -> Result<(), String> {
    let name = tensor.name.as_deref().unwrap_or_default();
    let Some(count) = elements(&tensor.dims) else {
        return Err(format!("weights \"{name}\" have the shape {:?}", tensor.dims));
    };
    let (Some(raw), Some(bits)) = (&tensor.raw_data, tensor.data_type.and_then(bits)) else {
        return Ok(());
    };
    let (found, wanted) = (raw.borrow().len(), (count * bits).cast_unsigned().div_ceil(8));
    if u64::try_from(found).is_ok_and(|found| found == wanted) {
        return Ok(());
    }
    let shape = &tensor.dims;
    Err(format!("weights \"{name}\" of shape {shape:?} need {wanted} bytes; has {found}"))
}

/// Bits of an element.
fn bits(of: DataType) -> Option<i64> {
    Some(match of {
        DataType::UINT4 | DataType::INT4 => 4,
        DataType::UINT8 | DataType::INT8 | DataType::BOOL => 8,
        DataType::UINT16 | DataType::INT16 | DataType::FLOAT16 | DataType::BFLOAT16 => 16,
        DataType::FLOAT | DataType::INT32 | DataType::UINT32 => 32,
        DataType::DOUBLE | DataType::INT64 | DataType::UINT64 => 64,
        _ => return None,
    })
}

/// Operators that make a tensor as large as an input says, and which input that is.
const SIZED: [(&str, usize); 4] =
    [("ConstantOfShape", 0), ("Expand", 1), ("Tile", 1), ("Range", 1)];

/// Refuses a node that makes a tensor larger than any model needs.
fn bounded(node: &NodeProto, shapes: &BTreeMap<&str, Vec<i64>>) -> Result<(), String> {
    let op = node.op_type.as_deref().unwrap_or_default();
    let input = SIZED.iter().find(|(name, _)| *name == op).and_then(|(_, at)| node.input.get(*at));
    // A dimension of -1 is one that the input decides.
    let known = input.and_then(|name| shapes.get(name.as_str()));
    let sizes: Vec<i64> = known.into_iter().flatten().copied().filter(|size| *size > 0).collect();
    if elements(&sizes).is_some() {
        return Ok(());
    }
    let name = node.name.as_deref().unwrap_or_default();
    Err(format!("node \"{name}\" ({op}) makes a tensor of shape {sizes:?}"))
}

/// Inputs that assay can give, by their standard names.
const INPUTS: [&str; 5] =
    ["input_ids", "attention_mask", "token_type_ids", "position_ids", "score_positions"];

/// The names of past or present keys and values.
pub(crate) fn past_names(shape: Option<PastShape>, stem: &str) -> Vec<String> {
    let layers = shape.map_or(0, |shape| shape.layers);
    let of = |layer| ["key", "value"].map(|part| format!("{stem}.{layer}.{part}"));
    (0..layers).flat_map(of).collect()
}

fn missing(what: &str, name: &str, have: &BTreeSet<String>) -> String {
    let have: Vec<&str> = have.iter().map(String::as_str).collect();
    format!("{what} \"{name}\" missing; has: {}", have.join(", "))
}
