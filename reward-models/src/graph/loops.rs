//! Loops of a graph: each must say before it runs how often it goes round.

use std::collections::BTreeMap;

use rten_onnx::onnx::{GraphProto, NodeProto};

use super::constants::constants as known;
use super::cuts::inner;

/// The most rounds of a loop whose count is written in the graph, loops within it included.
const ROUNDS_MAX: i64 = 1 << 16;
/// The most nodes between a count and the shape that it is read from.
const TRACE_MAX: usize = 64;
/// Operators that hand a count on, and make none larger.
const HANDS_ON: [&str; 8] =
    ["Cast", "Gather", "Identity", "Reshape", "ReduceMin", "Slice", "Squeeze", "Unsqueeze"];

/// Refuses a loop that may never end.
pub(super) fn bounded<'a>(
    graph: &'a GraphProto,
    constants: &BTreeMap<&'a str, Vec<i64>>,
) -> Result<(), String> {
    within(graph, &mut constants.clone(), &mut BTreeMap::new(), 1)
}

fn within<'a>(
    graph: &'a GraphProto,
    constants: &mut BTreeMap<&'a str, Vec<i64>>,
    makers: &mut BTreeMap<&'a str, &'a NodeProto>,
    outer: i64,
) -> Result<(), String> {
    constants.extend(known(graph));
    for node in &graph.node {
        makers.extend(node.output.iter().map(|name| (name.as_str(), node)));
    }
    for node in &graph.node {
        let rounds = if node.op_type.as_deref() == Some("Loop") {
            let count = node.input.first().map(String::as_str).unwrap_or_default();
            let rounds = rounds(count, constants, makers);
            let rounds = rounds.and_then(|rounds| rounds.checked_mul(outer));
            rounds.filter(|rounds| *rounds <= ROUNDS_MAX).ok_or_else(|| {
                let name = node.name.as_deref().unwrap_or_default();
                format!(
                    "node \"{name}\" (Loop) does not say how often it goes round: expected a count of at \
                     most {ROUNDS_MAX}, or one that is the size of an input"
                )
            })?
        } else {
            outer
        };
        for graph in inner(node) {
            within(graph, &mut constants.clone(), &mut makers.clone(), rounds)?;
        }
    }
    Ok(())
}

/// How often a loop goes round that is given this count; a size of an input counts as one, because the
/// input bounds it. `None` where nothing does.
fn rounds<'a>(
    mut name: &'a str,
    constants: &BTreeMap<&'a str, Vec<i64>>,
    makers: &BTreeMap<&'a str, &'a NodeProto>,
) -> Option<i64> {
    for _ in 0..TRACE_MAX {
        if let Some(values) = constants.get(name) {
            return values.iter().copied().max().map(|count| count.max(1));
        }
        let maker = makers.get(name)?;
        let op = maker.op_type.as_deref()?;
        if ["Shape", "Size"].contains(&op) {
            return Some(1);
        }
        HANDS_ON.contains(&op).then_some(())?;
        name = maker.input.first()?;
    }
    None
}
