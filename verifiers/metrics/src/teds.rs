//! Tree edit distance between tables (TEDS; Zhong et al. 2020), as the scorer of `PubTabNet` has it.

use std::ops::Range;

use crate::bits::{self, Masks};
use crate::score::float;
use crate::table_tree::{Node, TableReader, TableTree};

/// How alike two tables are: 1 less the least cost of insertions, deletions and changes of nodes over
/// the elements of the larger table. It is 1 for equal tables, and can be below 0 only where nodes are
/// few. A change costs 1 if names or spans differ, and else the normalised edit distance of the cells.
///
/// Both trees come from `reader`. The distance is that of Zhang and Shasha (1989), which APTED also
/// finds, of what is left without equal ends. Pays for each pair of cells and of subtrees.
///
/// # Errors
/// What `pay` refuses.
pub fn teds<E>(
    given: &TableTree,
    wanted: &TableTree,
    reader: &TableReader,
    pay: &mut dyn FnMut(u64) -> Result<(), E>,
) -> Result<f64, E> {
    let distance = Sides::unequal(&given.nodes, &wanted.nodes).distance(reader, pay)?;
    let elements = given.elements.max(wanted.elements);
    // A table without rows has no elements: equal tables are alike, all else is not.
    let share = if elements == 0 { distance } else { distance / float(elements) };
    Ok(1.0 - share)
}

/// What a node costs: distances are whole numbers of parts of it, of which a table has far too few to sum
/// up to an error that counts.
const NODE: u64 = 1 << 40;

/// Two forests, and between which nodes they differ.
struct Sides<'t> {
    nodes: [&'t [Node]; 2],
    spans: [Range<usize>; 2],
}

/// The roots of a forest, from the last.
fn roots(nodes: &[Node], span: &Range<usize>) -> Vec<usize> {
    let mut end = span.end;
    let next = || {
        let at = end.checked_sub(1).filter(|at| *at >= span.start)?;
        end = nodes.get(at)?.first;
        Some(at)
    };
    std::iter::from_fn(next).collect()
}

#[expect(clippy::indexing_slicing, reason = "nodes of a span are below the length of their tree")]
impl<'t> Sides<'t> {
    /// Leaves out equal trees at both ends, and a root that both have alone. A mapping of least cost keeps
    /// them: whatever else it maps them to costs as many insertions and deletions as it saves.
    fn unequal(one: &'t [Node], two: &'t [Node]) -> Self {
        let (nodes, mut spans) = ([one, two], [0..one.len(), 0..two.len()]);
        loop {
            let both = [0, 1].map(|side| roots(nodes[side], &spans[side]));
            let trees = |at: (&usize, &usize)| one[*at.0].subtree == two[*at.1].subtree;
            let last = both[0].iter().zip(&both[1]).take_while(|at| trees(*at)).count();
            let [left, right] = [0, 1].map(|side: usize| &both[side][last..]);
            let first =
                left.iter().rev().zip(right.iter().rev()).take_while(|at| trees(*at)).count();
            for (side, rest) in [left, right].into_iter().enumerate() {
                spans[side].end = rest.first().map_or(spans[side].start, |root| root + 1);
                if let Some(root) = rest.len().checked_sub(first).and_then(|at| rest.get(at)) {
                    spans[side].start = root + 1;
                }
            }
            match [&left[..left.len() - first], &right[..right.len() - first]] {
                [[root], [other]] if one[*root].is_as(&two[*other]) => {
                    for span in &mut spans {
                        span.end -= 1;
                    }
                }
                _ => return Self { nodes, spans },
            }
        }
    }

    /// The distance in nodes.
    fn distance<E>(
        &self,
        reader: &TableReader,
        pay: &mut dyn FnMut(u64) -> Result<(), E>,
    ) -> Result<f64, E> {
        let [height, width] = [0, 1].map(|side: usize| self.spans[side].len());
        if height == 0 || width == 0 {
            return Ok(float(height.max(width)));
        }
        let cells = Cells::of(self, reader, pay)?;
        let parts = Distances::new(self, &cells, pay)?.between(pay)?;
        Ok(parts_of_a_node(parts))
    }

    fn side(&self, side: usize) -> &'t [Node] {
        &self.nodes[side][self.spans[side].clone()]
    }
}

#[expect(clippy::cast_precision_loss, reason = "tables have far fewer than 2^13 times 2^40 parts")]
fn parts_of_a_node(parts: u64) -> f64 {
    parts as f64 / NODE as f64
}

/// What it costs to change the content of one cell into that of another.
struct Cells {
    /// Where the cells of each side stand in the table, by their numbers.
    places: [Vec<usize>; 2],
    width: usize,
    costs: Vec<u64>,
}

/// No place.
const NONE: usize = usize::MAX;

#[expect(
    clippy::indexing_slicing,
    reason = "cells of both trees have numbers below those of the reader"
)]
impl Cells {
    fn of<E>(
        sides: &Sides<'_>,
        reader: &TableReader,
        pay: &mut dyn FnMut(u64) -> Result<(), E>,
    ) -> Result<Self, E> {
        let (contents, kinds) = reader.contents();
        let distinct = |side: usize| {
            let (mut places, mut own) = (vec![NONE; contents.len()], Vec::new());
            for cell in sides.side(side).iter().filter_map(|node| node.cell) {
                let cell = cell as usize;
                if places[cell] == NONE {
                    places[cell] = own.len();
                    own.push(cell);
                }
            }
            (places, own)
        };
        let ((rows, one), (columns, two)) = (distinct(0), distinct(1));
        let blocks: u64 = one.iter().map(|cell| contents[*cell].len().div_ceil(64) as u64).sum();
        let letters: u64 = two.iter().map(|cell| contents[*cell].len() as u64).sum();
        let pairs = (one.len() as u64).saturating_mul(two.len() as u64);
        pay(blocks.saturating_mul(letters).saturating_add(pairs.saturating_mul(8)))?;
        let (mut masks, mut across) = (Masks::new(kinds), Vec::new());
        let mut costs = Vec::with_capacity(one.len() * two.len());
        for row in &one {
            let content = contents[*row];
            let is_short = content.len() <= 64;
            if is_short {
                masks.set(content);
            }
            for column in &two {
                let other = contents[*column];
                let longest = content.len().max(other.len()) as u64;
                costs.push(if row == column {
                    0
                } else if content.is_empty() || other.is_empty() {
                    NODE
                } else if is_short {
                    NODE * masks.distance(content.len(), other) as u64 / longest
                } else {
                    NODE * bits::blocks(content, other, &mut masks, &mut across) as u64 / longest
                });
            }
            if is_short {
                masks.clear(content);
            }
        }
        Ok(Self { places: [rows, columns], width: two.len(), costs })
    }

    fn change(&self, one: &Node, two: &Node) -> u64 {
        match (one.cell, two.cell) {
            _ if one.label != two.label => NODE,
            (Some(one), Some(two)) => {
                let [rows, columns] = &self.places;
                self.costs[rows[one as usize] * self.width + columns[two as usize]]
            }
            _ => 0,
        }
    }
}

/// The distances of subtrees, and of the forests between the first of a subtree and a node of it.
struct Distances<'s> {
    sides: [&'s [Node]; 2],
    /// The first node below each.
    firsts: [Vec<usize>; 2],
    cells: &'s Cells,
    trees: Vec<u64>,
    forests: Vec<u64>,
}

#[expect(clippy::indexing_slicing, reason = "nodes are below the lengths of both sides")]
impl<'s> Distances<'s> {
    fn new<E>(
        sides: &Sides<'s>,
        cells: &'s Cells,
        pay: &mut dyn FnMut(u64) -> Result<(), E>,
    ) -> Result<Self, E> {
        let both = [0, 1].map(|side| sides.side(side));
        let [height, width] = both.map(<[Node]>::len);
        pay(16 * (height as u64 + 1).saturating_mul(width as u64 + 1))?;
        let firsts = [0, 1].map(|side: usize| {
            both[side].iter().map(|node| node.first - sides.spans[side].start).collect()
        });
        let (trees, forests) = (vec![0; height * width], vec![0; (height + 1) * (width + 1)]);
        Ok(Self { sides: both, firsts, cells, trees, forests })
    }

    fn between<E>(mut self, pay: &mut dyn FnMut(u64) -> Result<(), E>) -> Result<u64, E> {
        self.leaves();
        let [rows, columns] = [0, 1].map(|side| self.keys(side));
        for row in &rows {
            pay(4 * columns.len() as u64)?;
            for column in &columns {
                let (top, left) = (self.firsts[0][*row], self.firsts[1][*column]);
                // The forests from the first nodes on come last, all of them.
                if top > 0 || left > 0 {
                    self.forest(top..row + 1, left..column + 1, pay)?;
                }
            }
        }
        self.forest(0..self.sides[0].len(), 0..self.sides[1].len(), pay)
    }

    /// A leaf to a subtree: all nodes but the one that it changes into are insertions.
    fn leaves(&mut self) {
        let [one, two] = self.sides;
        let [rows, columns] = &self.firsts;
        for (row, leaf) in one.iter().enumerate().filter(|(row, _)| rows[*row] == *row) {
            let change = |column: usize| self.cells.change(leaf, &two[column]);
            for (column, cost) in least_changes(columns, change).into_iter().enumerate() {
                self.trees[row * two.len() + column] = cost;
            }
        }
        for (column, leaf) in
            two.iter().enumerate().filter(|(column, _)| columns[*column] == *column)
        {
            let change = |row: usize| self.cells.change(&one[row], leaf);
            for (row, cost) in least_changes(rows, change).into_iter().enumerate() {
                self.trees[row * two.len() + column] = cost;
            }
        }
    }

    /// The nodes above leaves whose subtree starts at another node than that of their parent, in order.
    fn keys(&self, side: usize) -> Vec<usize> {
        let firsts = &self.firsts[side];
        let mut seen = vec![false; firsts.len()];
        let is_key = |(at, first): &(usize, &usize)| {
            !std::mem::replace(&mut seen[**first], true) && at != *first
        };
        let mut out: Vec<usize> =
            firsts.iter().enumerate().rev().filter(is_key).map(|(at, _)| at).collect();
        out.reverse();
        out
    }

    fn forest<E>(
        &mut self,
        rows: Range<usize>,
        columns: Range<usize>,
        pay: &mut dyn FnMut(u64) -> Result<(), E>,
    ) -> Result<u64, E> {
        let (stride, width) = (columns.len() + 1, self.sides[1].len());
        pay(3 * (rows.len() as u64).saturating_mul(columns.len() as u64))?;
        for (cell, cost) in self.forests.iter_mut().zip(0..stride as u64) {
            *cell = cost * NODE;
        }
        let starts = &self.firsts[1][columns.clone()];
        for (above, row) in rows.clone().enumerate() {
            let first = self.firsts[0][row] - rows.start;
            let (done, rest) = self.forests.split_at_mut((above + 1) * stride);
            let (without, upper) = (&done[first * stride..], &done[above * stride..]);
            let trees = &mut self.trees[row * width..][columns.clone()];
            let mut before = (above as u64 + 1) * NODE;
            rest[0] = before;
            for (at, (tree, start)) in trees.iter_mut().zip(starts).enumerate() {
                let least = upper[at + 1].min(before) + NODE;
                before = if first == 0 && *start == columns.start {
                    let change =
                        self.cells.change(&self.sides[0][row], &self.sides[1][columns.start + at]);
                    *tree = least.min(upper[at] + change);
                    *tree
                } else {
                    least.min(without[start - columns.start] + *tree)
                };
                rest[at + 1] = before;
            }
        }
        Ok(self.forests[rows.len() * stride + columns.len()])
    }
}

/// What it costs to make one node into each subtree, or each subtree into it, by the costs of a change.
#[expect(clippy::indexing_slicing, reason = "nodes are below the length of their side")]
fn least_changes(firsts: &[usize], change: impl Fn(usize) -> u64) -> Vec<u64> {
    let mut out: Vec<u64> = Vec::with_capacity(firsts.len());
    for (at, first) in firsts.iter().enumerate() {
        let (mut least, mut end) = (change(at), at);
        while end > *first {
            least = least.min(out[end - 1]);
            end = firsts[end - 1];
        }
        out.push(least);
    }
    for (at, (cost, first)) in out.iter_mut().zip(firsts).enumerate() {
        *cost += (at - first) as u64 * NODE;
    }
    out
}
