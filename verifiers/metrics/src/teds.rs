//! Tree edit distance between tables (TEDS; Zhong et al. 2020), as the scorer of `PubTabNet` has it.

use crate::bits::{self, Masks};
use crate::score::float;
use crate::table_tree::{TableReader, TableTree};

/// How alike two tables are: 1 less the least cost of insertions, deletions and changes of nodes over
/// the elements of the larger table. It is 1 for equal tables, and can be below 0 only where nodes are
/// few. A change costs 1 if names or spans differ, and else the normalised edit distance of the cells.
///
/// Both trees come from `reader`. The distance is that of Zhang and Shasha (1989), which APTED also
/// finds. Pays for each pair of cells and of subtrees.
///
/// # Errors
/// What `pay` refuses.
pub fn teds<E>(
    given: &TableTree,
    wanted: &TableTree,
    reader: &TableReader,
    pay: &mut dyn FnMut(u64) -> Result<(), E>,
) -> Result<f64, E> {
    let cells = Cells::of(given, wanted, reader, pay)?;
    let distance = distance(given, wanted, &cells, pay)?;
    let elements = given.elements.max(wanted.elements);
    // A table without rows has no elements: equal tables are alike, all else is not.
    let share = if elements == 0 { distance } else { distance / float(elements) };
    Ok(1.0 - share)
}

/// The distances between the contents of cells.
struct Cells {
    /// Where the cells of each tree stand in the table, by their numbers.
    rows: Vec<usize>,
    columns: Vec<usize>,
    width: usize,
    distances: Vec<f64>,
}

/// No place.
const NONE: usize = usize::MAX;

#[expect(
    clippy::indexing_slicing,
    reason = "cells of both trees have numbers below those of the reader"
)]
impl Cells {
    fn of<E>(
        given: &TableTree,
        wanted: &TableTree,
        reader: &TableReader,
        pay: &mut dyn FnMut(u64) -> Result<(), E>,
    ) -> Result<Self, E> {
        let (contents, kinds) = reader.contents();
        let distinct = |tree: &TableTree| {
            let (mut places, mut own) = (vec![NONE; contents.len()], Vec::new());
            for cell in tree.nodes.iter().filter_map(|node| node.cell) {
                let cell = cell as usize;
                if places[cell] == NONE {
                    places[cell] = own.len();
                    own.push(cell);
                }
            }
            (places, own)
        };
        let (rows, one) = distinct(given);
        let (columns, two) = distinct(wanted);
        let blocks: u64 = one.iter().map(|cell| contents[*cell].len().div_ceil(64) as u64).sum();
        let letters: u64 = two.iter().map(|cell| contents[*cell].len() as u64).sum();
        let pairs = (one.len() as u64).saturating_mul(two.len() as u64);
        pay(blocks.saturating_mul(letters).saturating_add(pairs.saturating_mul(8)))?;
        let (mut masks, mut across) = (Masks::new(kinds), Vec::new());
        let mut distances = Vec::with_capacity(one.len() * two.len());
        for row in &one {
            for column in &two {
                let (one, two) = (&contents[*row], &contents[*column]);
                let longest = one.len().max(two.len());
                distances.push(if row == column {
                    0.0
                } else if one.is_empty() || two.is_empty() {
                    1.0
                } else {
                    float(bits::blocks(one, two, &mut masks, &mut across)) / float(longest)
                });
            }
        }
        Ok(Self { rows, columns, width: two.len(), distances })
    }

    fn get(&self, one: u32, two: u32) -> f64 {
        self.distances[self.rows[one as usize] * self.width + self.columns[two as usize]]
    }
}

/// The nodes whose subtree starts at another node than that of their parent, in order.
fn roots(tree: &TableTree) -> Vec<usize> {
    let mut seen = vec![false; tree.nodes.len()];
    let mut out = Vec::new();
    for (at, node) in tree.nodes.iter().enumerate().rev() {
        if let Some(seen) = seen.get_mut(node.first)
            && !*seen
        {
            *seen = true;
            out.push(at);
        }
    }
    out.reverse();
    out
}

#[expect(clippy::indexing_slicing, reason = "nodes are below the lengths of both tables")]
fn distance<E>(
    one: &TableTree,
    two: &TableTree,
    cells: &Cells,
    pay: &mut dyn FnMut(u64) -> Result<(), E>,
) -> Result<f64, E> {
    let (height, width) = (one.nodes.len(), two.nodes.len());
    pay(8 * (height as u64 + 1).saturating_mul(width as u64 + 1))?;
    let change = |row: usize, column: usize| {
        let (one, two) = (&one.nodes[row], &two.nodes[column]);
        match (one.cell, two.cell) {
            _ if one.label != two.label => 1.0,
            (Some(one), Some(two)) => cells.get(one, two),
            _ => 0.0,
        }
    };
    // The distances of subtrees, and of forests that end at two nodes, from the first of a subtree on.
    let mut trees = vec![0.0_f64; height * width];
    let mut forests = vec![0.0_f64; (height + 1) * (width + 1)];
    let (rows, columns) = (roots(one), roots(two));
    for row in &rows {
        let top = one.nodes[*row].first;
        pay(4 * columns.len() as u64)?;
        for column in &columns {
            let left = two.nodes[*column].first;
            if top == *row && left == *column {
                trees[row * width + column] = change(*row, *column);
                continue;
            }
            let (tall, wide) = (row - top + 1, column - left + 1);
            pay(3 * (tall as u64).saturating_mul(wide as u64))?;
            let stride = wide + 1;
            for (place, cell) in forests.iter_mut().take(stride).enumerate() {
                *cell = float(place);
            }
            for x in 1..=tall {
                forests[x * stride] = float(x);
                let node = top + x - 1;
                let first = one.nodes[node].first;
                for y in 1..=wide {
                    let other = left + y - 1;
                    let start = two.nodes[other].first;
                    let least =
                        (forests[(x - 1) * stride + y]).min(forests[x * stride + y - 1]) + 1.0;
                    let subtree = &mut trees[node * width + other];
                    let here = if first == top && start == left {
                        let both = forests[(x - 1) * stride + y - 1] + change(node, other);
                        *subtree = least.min(both);
                        *subtree
                    } else {
                        least.min(forests[(first - top) * stride + start - left] + *subtree)
                    };
                    forests[x * stride + y] = here;
                }
            }
        }
    }
    Ok(trees.last().copied().unwrap_or(0.0))
}
