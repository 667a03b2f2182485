//! Where a pass may be cut: the values that later nodes need of earlier ones. A backend that cannot
//! stop within a pass runs it piece by piece, and looks between the pieces whether to go on.

use std::collections::{BTreeMap, BTreeSet};

use rten_onnx::onnx::{GraphProto, NodeProto};

/// The most pieces of a pass.
const PIECES: u64 = 64;

/// A place between two nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// Multiplications by a weight that are before it, a token.
    pub work: u64,
    /// The values that nodes after it read: inputs of the graph, and what nodes before it make.
    pub crossing: Vec<String>,
    /// The graph's outputs that are made before it.
    pub outputs: Vec<String>,
}

/// The cuts of a graph in order: of every 64th of the work, the place that the
/// fewest values cross.
pub fn cuts(graph: &GraphProto) -> Vec<Cut> {
    let nodes = weighed(graph);
    let whole = nodes.iter().map(|node| node.work).fold(0, u64::saturating_add);
    let mut last_read: BTreeMap<&str, usize> = BTreeMap::new();
    for (at, node) in nodes.iter().enumerate() {
        last_read.extend(node.reads.iter().map(|name| (*name, at)));
    }
    let outputs: BTreeSet<&str> =
        graph.output.iter().filter_map(|value| value.name.as_deref()).collect();
    let mut cuts: Vec<Cut> = Vec::new();
    let inputs = graph.input.iter().filter_map(|value| value.name.as_deref());
    let mut live: BTreeSet<&str> = inputs.filter(|name| last_read.contains_key(name)).collect();
    let (mut work, mut made) = (0_u64, Vec::new());
    for (at, node) in nodes.iter().enumerate() {
        work = work.saturating_add(node.work);
        made.extend(node.makes.iter().filter(|name| outputs.contains(*name)).copied());
        live.extend(node.makes.iter().filter(|name| last_read.contains_key(*name)));
        for name in node.reads.iter().filter(|name| last_read.get(*name) == Some(&at)) {
            live.remove(name);
        }
        let piece = |work: u64| work.saturating_mul(PIECES) / whole.max(1);
        let same = cuts.last().filter(|cut| piece(cut.work) == piece(work));
        let better = same.is_none_or(|cut| live.len() < cut.crossing.len());
        if live.is_empty() || piece(work) == 0 || work == whole || !better {
            continue;
        }
        if same.is_some() {
            cuts.pop();
        }
        let own = |name: &&str| (*name).to_owned();
        let (crossing, outputs) = (live.iter().map(own).collect(), made.iter().map(own).collect());
        cuts.push(Cut { work, crossing, outputs });
    }
    cuts
}

/// A node that is computed anew in every pass.
struct Weighed<'a> {
    work: u64,
    reads: Vec<&'a str>,
    makes: Vec<&'a str>,
}

/// The nodes that depend on an input, in the order of the file, which is one in which they can run.
/// The elements of the weights that a node reads, also by way of nodes that only turn them, are its
/// work; a table that is looked up is none.
fn weighed(graph: &GraphProto) -> Vec<Weighed<'_>> {
    let mut constants: BTreeMap<&str, u64> = BTreeMap::new();
    for tensor in &graph.initializer {
        let count = tensor.dims.iter().map(|dim| dim.unsigned_abs()).product();
        constants.insert(tensor.name.as_deref().unwrap_or_default(), count);
    }
    let mut nodes = Vec::new();
    for node in &graph.node {
        let reads = reads(node);
        let makes: Vec<&str> = node.output.iter().map(String::as_str).collect();
        let weights = reads.iter().filter_map(|name| constants.get(name).copied());
        let weights = weights.fold(0, u64::saturating_add);
        if reads.iter().all(|name| constants.contains_key(name)) {
            constants.extend(makes.iter().map(|name| (*name, weights)));
            continue;
        }
        let work = if node.op_type.as_deref() == Some("Gather") { 0 } else { weights };
        let reads = reads.into_iter().filter(|name| !constants.contains_key(name)).collect();
        nodes.push(Weighed { work, reads, makes });
    }
    nodes
}

/// What a node reads, its inner graphs included: whatever name they use, whether it is their own.
fn reads(node: &NodeProto) -> Vec<&str> {
    let mut names = Vec::new();
    let mut nodes = vec![node];
    while let Some(node) = nodes.pop() {
        names.extend(node.input.iter().map(String::as_str).filter(|name| !name.is_empty()));
        nodes.extend(inner(node).flat_map(|graph| &graph.node));
    }
    names
}

/// The graphs within a node: the branches of a condition, the body of a loop.
pub(super) fn inner(node: &NodeProto) -> impl Iterator<Item = &GraphProto> {
    node.attribute.iter().filter_map(|attribute| attribute.g.as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(reads: &[&str], makes: &str) -> NodeProto {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        NodeProto { input: names(reads), output: names(&[makes]), ..NodeProto::default() }
    }

    #[test]
    fn weights_that_double_without_end_are_counted_to_the_most() {
        let names: Vec<String> = (0..100).map(|at| format!("w{at}")).collect();
        let mut graph = GraphProto::default();
        graph.initializer.push(rten_onnx::onnx::TensorProto {
            name: Some("w0".to_owned()),
            dims: vec![2],
            ..Default::default()
        });
        for (from, to) in names.iter().zip(names.iter().skip(1)) {
            graph.node.push(node(&[from, from], to));
        }
        graph.node.push(node(&["x", "w99"], "y"));
        graph.node.push(node(&["y", "w99"], "z"));
        let nodes = weighed(&graph);
        assert_eq!(nodes.iter().map(|node| node.work).collect::<Vec<_>>(), [u64::MAX, u64::MAX]);
        assert!(cuts(&graph).len() < 2);
    }
}
