//! Paths, cycles, orders, colourings and matchings, checked in a given graph.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use serde_json::Value;

/// A graph with named nodes and weighted edges.
#[derive(Debug, Default)]
pub struct NamedGraph {
    names: BTreeMap<String, usize>,
    /// The weight of an edge, by its ends. An undirected edge is there both ways.
    edges: BTreeMap<(usize, usize), f64>,
    directed: bool,
}

/// What of an answer does not fit a graph, and why.
pub type Misfit = (String, &'static str);

/// The most nodes of a graph.
const NODES_MAX: usize = 100_000;

fn name(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

impl NamedGraph {
    /// The graph of a description: `edges` as `[from, to]` or `[from, to, weight]`, or as objects with
    /// these keys (or `source`, `target`), or `adjacency` from a node to its neighbours, or to their
    /// weights; `nodes` that have no edge; `directed`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn of(value: &Value) -> Result<Self, String> {
        let directed = value.get("directed").and_then(Value::as_bool) == Some(true);
        let mut graph = Self { directed, ..Self::default() };
        for node in value.get("nodes").and_then(Value::as_array).into_iter().flatten() {
            graph.node(name(node).ok_or("a node is a text or a number")?)?;
        }
        for edge in value.get("edges").and_then(Value::as_array).into_iter().flatten() {
            let part = |at: usize, keys: [&str; 2]| match edge {
                Value::Array(parts) => parts.get(at),
                edge => keys.iter().find_map(|key| edge.get(key)),
            };
            let ends = part(0, ["from", "source"]).zip(part(1, ["to", "target"]));
            let names = ends.and_then(|(from, to)| name(from).zip(name(to)));
            let (from, to) = names.ok_or("an edge names two nodes")?;
            graph.edge(from, to, part(2, ["weight", "cost"]))?;
        }
        for (from, next) in value.get("adjacency").and_then(Value::as_object).into_iter().flatten()
        {
            graph.node(from.clone())?;
            match next {
                Value::Array(list) => {
                    for to in list {
                        let to = name(to).ok_or("a neighbour is a text or a number")?;
                        graph.edge(from.clone(), to, None)?;
                    }
                }
                Value::Object(map) => {
                    for (to, weight) in map {
                        graph.edge(from.clone(), to.clone(), Some(weight))?;
                    }
                }
                _ => return Err("`adjacency` lists the neighbours of each node".to_owned()),
            }
        }
        if graph.names.is_empty() { Err("the graph has no nodes".to_owned()) } else { Ok(graph) }
    }

    fn node(&mut self, name: String) -> Result<usize, String> {
        let next = self.names.len();
        if next >= NODES_MAX {
            return Err(format!("more than {NODES_MAX} nodes"));
        }
        Ok(*self.names.entry(name).or_insert(next))
    }

    fn edge(&mut self, from: String, to: String, weight: Option<&Value>) -> Result<(), String> {
        let weight = weight.map_or(Some(1.0), Value::as_f64).filter(|own| own.is_finite());
        let weight = weight.ok_or("a weight is a number")?;
        let (from, to) = (self.node(from)?, self.node(to)?);
        let mut put = |ends| {
            let own = self.edges.entry(ends).or_insert(weight);
            *own = own.min(weight);
        };
        put((from, to));
        if !self.directed {
            put((to, from));
        }
        Ok(())
    }

    /// The number of a node.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.names.get(name.trim()).copied()
    }

    /// How many nodes and edges there are.
    pub fn size(&self) -> u64 {
        (self.names.len() + self.edges.len()) as u64
    }

    /// The nodes that a text lists: a JSON list, or names between arrows, commas and blanks. Names
    /// that the graph has not are an error. Linear.
    ///
    /// # Errors
    /// The first name that is not a node.
    pub fn listed(&self, text: &str) -> Result<Vec<usize>, String> {
        let list: Option<Vec<Value>> = serde_json::from_str(text.trim()).ok();
        let names: Vec<String> = match list {
            Some(values) => values
                .iter()
                .map(|value| name(value).unwrap_or_else(|| value.to_string()))
                .collect(),
            None => text
                .replace("->", " ")
                .replace("=>", " ")
                .split(|c: char| c.is_whitespace() || ",;→⟶➔()[]{}\"'`*".contains(c))
                .map(|part| part.trim_end_matches('.'))
                .filter(|part| !part.is_empty())
                .map(str::to_owned)
                .collect(),
        };
        names.into_iter().map(|name| self.find(&name).ok_or(name)).collect()
    }

    /// The colours of a text: an object of JSON, or `name: colour` in lines or between commas. Linear,
    /// times the logarithm of the nodes.
    ///
    /// # Errors
    /// A name that is not a node, or has two colours.
    pub fn colors(&self, text: &str) -> Result<BTreeMap<usize, String>, Misfit> {
        let map: Option<serde_json::Map<String, Value>> = serde_json::from_str(text).ok();
        let shown = |value: &Value| name(value).unwrap_or_else(|| value.to_string());
        let pairs: Vec<(String, String)> = match map {
            Some(map) => map.iter().map(|(name, color)| (name.clone(), shown(color))).collect(),
            None => text
                .split(['\n', ',', ';'])
                .filter_map(|line| line.split_once([':', '=']))
                .map(|(name, color)| (name.trim().to_owned(), color.trim().to_owned()))
                .collect(),
        };
        let mut colors = BTreeMap::new();
        // A bullet and emphasis are no part of a name.
        let bare = |text: &str| {
            let text = text.strip_prefix("- ").unwrap_or(text);
            text.trim_matches(['*', '`', ' ']).to_owned()
        };
        for (name, color) in pairs.iter().map(|(name, color)| (bare(name), bare(color))) {
            let Some(node) = self.find(&name) else { return Err((name, "unknown-node")) };
            let color = color.to_lowercase();
            if *colors.entry(node).or_insert_with(|| color.clone()) != color {
                return Err((name, "two-colors"));
            }
        }
        Ok(colors)
    }

    /// The pairs of a text: a list of JSON, or a pair in each line. Linear, times the logarithm of the
    /// nodes.
    ///
    /// # Errors
    /// A line that is not two nodes.
    pub fn pairs(&self, text: &str) -> Result<Vec<(usize, usize)>, Misfit> {
        let list: Option<Vec<Value>> = serde_json::from_str(text).ok();
        let lines: Vec<String> = match list {
            Some(list) => list.iter().map(Value::to_string).collect(),
            None => text.lines().map(|line| line.replace(" - ", " ")).collect(),
        };
        let pair = |line: &String| match self.listed(line).as_deref() {
            Ok(&[from, to]) => Ok((from, to)),
            Ok(_) => Err((line.clone(), "not-a-pair")),
            Err(name) => Err((name.clone(), "unknown-node")),
        };
        lines.iter().filter(|line| !line.trim().is_empty()).map(pair).collect()
    }

    /// The weight of a walk along edges. `None` where one is missing, or where it has no nodes.
    pub fn weight(&self, walk: &[usize]) -> Option<f64> {
        let step = |pair: &[usize]| match pair {
            [from, to] => self.edges.get(&(*from, *to)).copied(),
            _ => None,
        };
        let sum: Option<f64> = walk.windows(2).map(step).sum();
        sum.filter(|_| !walk.is_empty())
    }

    /// Whether a list has every node once.
    pub fn is_permutation(&self, nodes: &[usize]) -> bool {
        let different: BTreeSet<usize> = nodes.iter().copied().collect();
        nodes.len() == self.names.len() && different.len() == nodes.len()
    }

    /// Whether no edge goes back in an order of all nodes.
    pub fn is_topological(&self, order: &[usize]) -> bool {
        let mut place = vec![0; self.names.len()];
        for (at, node) in order.iter().enumerate() {
            if let Some(own) = place.get_mut(*node) {
                *own = at;
            }
        }
        let forward = |(from, to): &(usize, usize)| place.get(*from) < place.get(*to);
        self.is_permutation(order) && self.edges.keys().all(forward)
    }

    /// Whether no order of all nodes keeps to the direction of edges. Linear, times the logarithm of the edges.
    pub fn is_unordered(&self) -> bool {
        let mut before = vec![0_usize; self.names.len()];
        let count = |before: &mut Vec<usize>, node: usize, by: fn(usize) -> usize| {
            before.get_mut(node).map_or(usize::MAX, |own| {
                *own = by(*own);
                *own
            })
        };
        for (_, to) in self.edges.keys() {
            count(&mut before, *to, |own| own + 1);
        }
        let mut free: Vec<usize> =
            (0..before.len()).filter(|node| before.get(*node) == Some(&0)).collect();
        let mut placed = 0;
        while let Some(node) = free.pop() {
            placed += 1;
            for ((_, next), _) in self.edges.range((node, 0)..=(node, usize::MAX)) {
                if count(&mut before, *next, |own| own - 1) == 0 {
                    free.push(*next);
                }
            }
        }
        !self.directed || placed < self.names.len()
    }

    /// Whether every node has a colour that none of its neighbours has.
    pub fn is_coloring(&self, colors: &BTreeMap<usize, String>) -> bool {
        colors.len() == self.names.len()
            && self.edges.keys().all(|(from, to)| colors.get(from) != colors.get(to))
    }

    /// Whether pairs are edges without a common node.
    pub fn is_matching(&self, pairs: &[(usize, usize)]) -> bool {
        let mut seen = BTreeSet::new();
        pairs.iter().all(|(from, to)| {
            let is_edge =
                self.edges.contains_key(&(*from, *to)) || self.edges.contains_key(&(*to, *from));
            is_edge && seen.insert(*from) && seen.insert(*to)
        })
    }

    /// Whether a weight is negative: the shortest path cannot be found then.
    pub fn has_negative(&self) -> bool {
        self.edges.values().any(|weight| *weight < 0.0)
    }

    /// The least weight of a path, by Dijkstra's algorithm. `None` where there is none.
    ///
    /// # Errors
    /// What `pay` returns.
    pub fn shortest<E>(
        &self,
        from: usize,
        to: usize,
        pay: &mut dyn FnMut(u64) -> Result<(), E>,
    ) -> Result<Option<f64>, E> {
        let mut best: BTreeMap<usize, f64> = BTreeMap::new();
        let mut queue = BinaryHeap::from([Reached { weight: 0.0, node: from }]);
        while let Some(Reached { weight, node }) = queue.pop() {
            pay(20)?;
            if node == to {
                return Ok(Some(weight));
            }
            if best.get(&node).is_some_and(|own| *own <= weight) {
                continue;
            }
            best.insert(node, weight);
            for ((_, next), step) in self.edges.range((node, 0)..=(node, usize::MAX)) {
                pay(20)?;
                queue.push(Reached { weight: weight + step, node: *next });
            }
        }
        Ok(None)
    }
}

/// A node that was reached; the lightest comes first.
struct Reached {
    weight: f64,
    node: usize,
}

impl PartialEq for Reached {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Reached {}

impl PartialOrd for Reached {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Reached {
    fn cmp(&self, other: &Self) -> Ordering {
        other.weight.total_cmp(&self.weight).then(other.node.cmp(&self.node))
    }
}
