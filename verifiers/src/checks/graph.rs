//! `graph`: paths, orders, colourings and matchings in a given graph.

use std::collections::BTreeSet;

use assay_puzzles::entry::weight;
use assay_puzzles::graph::{Misfit, NamedGraph};

use super::constraints::described;
use crate::prelude::*;
use crate::text_parts::Place;

/// Right when the answer is what `kind` asks for in the graph of the row.
///
/// The graph is a column or the reference: `edges` (`[from, to]`, or with a weight), or `adjacency`,
/// further `nodes`, `directed`, and the bounds that `kind` names. The answer is the last code fence or
/// answer tag, or else the completion: nodes between arrows or commas behind the last colon of its last
/// line, or JSON, which names with blanks need. A node that the graph has not makes it wrong.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GraphCheck {
    /// What is asked for.
    kind: GraphKind,
    /// The column with the graph.
    #[serde(default = "graph")]
    graph: String,
    /// A path must be one of the least weight.
    #[serde(default)]
    optimal: bool,
}

/// What is asked for in a graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GraphKind {
    /// A path from `start` to `end`.
    Path,
    /// A path with every node once; `weight` is the most that it may weigh.
    HamiltonianPath,
    /// The same, closed to a cycle.
    HamiltonianCycle,
    /// An order of all nodes in which no edge goes back.
    TopologicalOrder,
    /// A colour for each node, other than those of its neighbours; `colors` is the most colours.
    Coloring,
    /// Edges without a common node; `size` is the fewest edges, 1 without it.
    Matching,
}

fn graph() -> String {
    "graph".to_owned()
}

impl Check for GraphCheck {
    const ID: &'static str = "graph";
    const NO_GOLD: bool = true;

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        if self.optimal && self.kind != GraphKind::Path {
            return Err(BuildError::new("optimal", "it goes with `kind = \"path\"`"));
        }
        Ok(())
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let Some(value) = sample.column(&self.graph).or_else(|| sample.reference()) else {
            return Ok(Verdict::no_reference());
        };
        meter.spend(100 * weight(value))?;
        let value = &*described(value)?;
        let graph = NamedGraph::of(value).map_err(Fault::bad_reference)?;
        let completion = sample.completion();
        meter.spend(100 * (completion.len() as u64 + graph.size()))?;
        let part = match Place::Any.find(completion, &["json"]) {
            Ok(span) => completion[span].trim(),
            Err(reason) => return Ok(Verdict::graded(false).because(reason)),
        };
        let judged = match self.kind {
            GraphKind::Coloring => coloring(&graph, value, part)?,
            GraphKind::Matching => matching(&graph, value, part)?,
            _ => {
                let last = part.rsplit('\n').next().unwrap_or(part);
                let last = last.rsplit(": ").next().unwrap_or(last);
                let nodes = graph.listed(if part.starts_with('[') { part } else { last });
                // "The path is A -> B."
                let stated = last.rsplit_once(" is ").and_then(|(_, rest)| graph.listed(rest).ok());
                match nodes.or_else(|name| stated.ok_or(name)) {
                    Ok(nodes) => return self.walk(&graph, value, nodes, meter),
                    Err(name) => Err((name, "unknown-node")),
                }
            }
        };
        Ok(match judged {
            Ok(size) => Verdict::graded(true).with("size", size).because("valid"),
            Err((what, reason)) => Verdict::graded(false).with("what", what).because(reason),
        })
    }
}

impl GraphCheck {
    fn walk(
        &self,
        graph: &NamedGraph,
        value: &Value,
        mut nodes: Vec<usize>,
        meter: &mut Meter<'_>,
    ) -> Result<Verdict, Fault> {
        let end = |key: &str| {
            let name = value.get(key).map(crate::sample::value_text);
            name.and_then(|name| graph.find(&name))
                .ok_or_else(|| Fault::bad_reference(format!("`{key}` is not a node")))
        };
        let wrong = |reason| Ok(Verdict::graded(false).because(reason));
        if self.kind == GraphKind::TopologicalOrder {
            if graph.is_unordered() {
                let why = "an order needs `\"directed\": true` and a graph without a cycle";
                return Err(Fault::bad_reference(why));
            }
            let right = graph.is_topological(&nodes);
            return Ok(Verdict::graded(right).because(if right { "valid" } else { "order" }));
        }
        if self.kind == GraphKind::HamiltonianCycle {
            let first = nodes.first().copied();
            if nodes.len() < 2 || nodes.last().copied() != first {
                nodes.extend(first);
            }
        }
        let Some(own) = graph.weight(&nodes) else { return wrong("missing-edge") };
        let mut most = value.get("weight").and_then(Value::as_f64);
        match self.kind {
            GraphKind::Path => {
                let (start, end) = (end("start")?, end("end")?);
                if nodes.first() != Some(&start) || nodes.last() != Some(&end) {
                    return wrong("other-ends");
                }
                if self.optimal {
                    if graph.has_negative() {
                        return Err(Fault::bad_reference("a shortest path needs weights from 0"));
                    }
                    most = graph.shortest(start, end, &mut |units| meter.spend(units))?;
                }
            }
            GraphKind::HamiltonianCycle
                if !graph.is_permutation(nodes.split_first().map_or(&[][..], |(_, rest)| rest)) =>
            {
                return wrong("not-all-once");
            }
            GraphKind::HamiltonianPath if !graph.is_permutation(&nodes) => {
                return wrong("not-all-once");
            }
            _ => {}
        }
        let is_light = most.is_none_or(|most| own <= most + 1e-9 * most.abs().max(1.0));
        let verdict = Verdict::graded(is_light).with("weight", own);
        Ok(verdict.because(if is_light { "valid" } else { "too-heavy" }))
    }
}

/// The size of an answer, or what is wrong with it and why.
type Found = Result<usize, Misfit>;

/// A bound of the description.
fn bound(value: &Value, key: &str, default: usize) -> Result<usize, Fault> {
    let Some(own) = value.get(key) else { return Ok(default) };
    let own = own.as_u64().and_then(|own| usize::try_from(own).ok());
    own.ok_or_else(|| Fault::bad_reference(format!("`{key}` is not a count")))
}

fn coloring(graph: &NamedGraph, value: &Value, text: &str) -> Result<Found, Fault> {
    let most = bound(value, "colors", usize::MAX)?;
    Ok(graph.colors(text).and_then(|colors| {
        let kinds = colors.values().collect::<BTreeSet<_>>().len();
        match (graph.is_coloring(&colors), kinds <= most) {
            (false, _) => Err((String::new(), "not-a-coloring")),
            (true, false) => Err((kinds.to_string(), "too-many-colors")),
            (true, true) => Ok(kinds),
        }
    }))
}

fn matching(graph: &NamedGraph, value: &Value, text: &str) -> Result<Found, Fault> {
    let fewest = bound(value, "size", 1)?;
    Ok(graph.pairs(text).and_then(|pairs| {
        match (graph.is_matching(&pairs), pairs.len() >= fewest) {
            (false, _) => Err((String::new(), "not-a-matching")),
            (true, false) => Err((pairs.len().to_string(), "too-few")),
            (true, true) => Ok(pairs.len()),
        }
    }))
}
