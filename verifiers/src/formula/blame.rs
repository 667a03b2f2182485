//! Where in a formula a number came to be that is none.

use std::ops::Range;

use super::run::Values;
use super::tree::{Axis, Op, is_missing};

#[expect(
    clippy::indexing_slicing,
    reason = "nodes are those of the formula, and rows those of the frame"
)]
impl Values<'_> {
    /// Why the number of an output at `row` cannot be used: the first value in the formula that is not
    /// finite there, with its place and its arguments; or the names that are missing.
    pub fn blame(&self, row: usize) -> String {
        self.blame_if_bad(row).unwrap_or_else(|| self.missing(row))
    }

    /// The first value at `row` that is not finite, with its place and its arguments.
    pub fn blame_if_bad(&self, row: usize) -> Option<String> {
        let formula = self.formula;
        let is_bad = |at: &usize| {
            self.seen(*at, row).iter().any(|own| !own.is_finite() && !is_missing(*own))
        };
        let at = (0..formula.nodes.len()).find(is_bad)?;
        let node = formula.nodes.get(at)?;
        let found = self.seen(at, row).into_iter().find(|own| !own.is_finite())?;
        let args = match &node.op {
            Op::Call { args, .. } => args.iter().map(|arg| shown(&self.seen(*arg, row))).collect(),
            _ => Vec::new(),
        };
        let of =
            if args.is_empty() { String::new() } else { format!(" of {}", args.join(" and ")) };
        Some(format!("formula: {}{of} is {found}", self.spot(&node.place)))
    }

    /// The numbers of a node that a row sees.
    fn seen(&self, node: usize, row: usize) -> Vec<f64> {
        let axis = self.formula.nodes[node].axis;
        self.of_row(node, axis, row)
    }

    /// The names that are missing at `row`.
    fn missing(&self, row: usize) -> String {
        let formula = self.formula;
        let missing = formula.nodes.iter().enumerate().filter_map(|(at, node)| match node.op {
            Op::Input(input) => {
                let seen = self.seen(at, row);
                let lacks = seen.is_empty() || seen.iter().any(|own| is_missing(*own));
                formula.inputs.get(input).filter(|_| lacks)
            }
            _ => None,
        });
        let mut names: Vec<&str> = missing.map(|input| input.name.as_str()).collect();
        names.dedup();
        format!("formula: the row has no {}", names.join(", "))
    }

    /// The numbers of a node that a row sees.
    fn of_row(&self, node: usize, axis: Axis, row: usize) -> Vec<f64> {
        self.node(node)[self.places_of(axis, row)].to_vec()
    }

    /// Where the numbers of a row lie along an axis.
    pub(super) fn places_of(&self, axis: Axis, row: usize) -> Range<usize> {
        match axis {
            Axis::Number => 0..1,
            Axis::Group => {
                let group = (0..self.frame.len(Axis::Group)).find(|group| {
                    self.frame.segment(Axis::Row, Axis::Group, *group).contains(&row)
                });
                group.map_or(0..0, |group| group..group + 1)
            }
            Axis::Row => row..row + 1,
            Axis::Step => self.frame.segment(Axis::Step, Axis::Row, row),
        }
    }

    /// The word of a place in the source, with its line and column.
    fn spot(&self, place: &Range<usize>) -> String {
        let source = self.formula.source();
        let (before, rest) = source.split_at(place.start);
        let (word, _) = rest.split_at(place.len());
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        format!("`{word}` (line {line}, column {column})")
    }
}

fn shown(numbers: &[f64]) -> String {
    match numbers {
        [] => "nothing".to_owned(),
        [number] => number.to_string(),
        [first, ..] => format!("{first} and {} more", numbers.len() - 1),
    }
}
