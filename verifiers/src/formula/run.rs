//! Computes the nodes of a formula, one after another, each along all places of its axis.

use std::borrow::Cow;
use std::ops::Range;

use super::elementwise::{self, Operand};
use super::functions::{Class, Function};
use serde_json::Value;

use super::segments;
use super::tree::{Axis, Formula, FormulaInput, Frame, Guard, Node, Op, is_missing};
use crate::fault::Fault;

/// What a formula gave.
#[derive(Clone, Debug)]
pub struct Values<'a> {
    pub(super) formula: &'a Formula,
    pub(super) frame: &'a Frame<'a>,
    numbers: Vec<f64>,
    places: Vec<Range<usize>>,
}

impl Formula {
    /// How much computing a frame takes, in units of a [`crate::Meter`].
    pub fn fuel(&self, frame: &Frame<'_>) -> u64 {
        let places: usize = self.nodes.iter().map(|node| frame.len(node.axis)).sum();
        places as u64
    }

    /// What one row of this many steps takes of it.
    pub fn fuel_of_row(&self, steps: usize) -> u64 {
        let of = |node: &Node| if node.axis == Axis::Step { steps } else { 1 };
        self.nodes.iter().map(of).sum::<usize>() as u64
    }

    /// Computes the formula.
    ///
    /// # Errors
    /// An internal fault: the frame has not the inputs of the formula, or one of another length.
    pub fn run<'a>(&'a self, frame: &'a Frame<'a>) -> Result<Values<'a>, Fault> {
        let has_length =
            |(input, given): (&FormulaInput, &Cow<'_, [f64]>)| given.len() == frame.len(input.axis);
        let fits = self.inputs.len() == frame.inputs.len()
            && self.inputs.iter().zip(&frame.inputs).all(has_length);
        if !fits {
            return Err(Fault::internal("a formula was given other columns than it reads"));
        }
        let mut places = Vec::with_capacity(self.nodes.len());
        let mut end = 0;
        for node in &self.nodes {
            let start = end;
            end += frame.len(node.axis);
            places.push(start..end);
        }
        let mut values = Values { formula: self, frame, numbers: vec![0.0; end], places };
        for at in 0..self.nodes.len() {
            values.compute(at);
        }
        Ok(values)
    }
}

#[expect(
    clippy::indexing_slicing,
    reason = "nodes come after their arguments, and places are those of the nodes"
)]
impl<'a> Values<'a> {
    /// The numbers of an output along its axis.
    pub fn output(&self, name: &str) -> Option<&[f64]> {
        let (_, node, _) = self.formula.outputs.iter().find(|(own, ..)| own == name)?;
        Some(self.node(*node))
    }

    /// The `let` statements, each with its axis and its numbers.
    pub fn named(&self) -> impl Iterator<Item = (&'a str, Axis, &[f64])> {
        let formula = self.formula;
        formula
            .named
            .iter()
            .map(|(name, node)| (name.as_str(), formula.nodes[*node].axis, self.node(*node)))
    }

    /// The numbers of an output over steps, of one row.
    pub fn steps(&self, name: &str, row: usize) -> Option<&[f64]> {
        self.output(name)?.get(self.frame.segment(Axis::Step, Axis::Row, row))
    }

    /// What the evidence of a row says: its length where the formula reads it, and the `let` statements. What
    /// is missing is left out; a `_` at the end of a name is too.
    pub fn notes(&self, row: usize) -> impl Iterator<Item = (&'a str, Value)> {
        let formula = self.formula;
        let length = formula.inputs.iter().position(|input| input.name == "length");
        let length = length.filter(|_| formula.named.iter().all(|(name, _)| name != "length"));
        let length = length.and_then(|at| self.frame.inputs.get(at)?.get(row).copied());
        let length = length.filter(|own| !is_missing(*own)).map(|own| ("length", Value::from(own)));
        let own = formula.named.iter().filter_map(move |(name, node)| {
            let own = &formula.nodes[*node];
            let numbers = &self.node(*node)[self.places_of(own.axis, row)];
            let is_truth = |number: f64| own.is_truth && !number.is_nan();
            let noted = |number: f64| {
                if is_truth(number) { Value::Bool(number != 0.0) } else { Value::from(number) }
            };
            let value = match own.axis {
                Axis::Step => numbers.iter().copied().map(noted).collect(),
                _ => noted(numbers.first().copied().filter(|own| !is_missing(*own))?),
            };
            Some((name.trim_end_matches('_'), value))
        });
        length.into_iter().chain(own)
    }

    /// Why the formula does not apply to a row: whether that is a fault, and the text.
    pub fn guard(&self, row: usize) -> Option<(bool, &'a str)> {
        let applies = |guard: &&Guard| {
            let when = self.node(guard.when)[row];
            when != 0.0 && !when.is_nan()
        };
        let guard = self.formula.guards.iter().find(applies)?;
        Some((guard.fails, &guard.why))
    }

    pub(super) fn node(&self, node: usize) -> &[f64] {
        &self.numbers[self.places[node].clone()]
    }

    fn compute(&mut self, at: usize) {
        let formula = self.formula;
        let node = &formula.nodes[at];
        let (before, rest) = self.numbers.split_at_mut(self.places[at].start);
        let out = &mut rest[..self.places[at].len()];
        let earlier = |node: usize| &before[self.places[node].clone()];
        match &node.op {
            Op::Constant(number) => out.fill(*number),
            Op::Input(input) => out.copy_from_slice(&self.frame.inputs[*input]),
            Op::Call { function, class, args } => {
                let args = args.iter().map(|arg| (&formula.nodes[*arg], earlier(*arg)));
                call((*function, *class), node, args, self.frame, out);
            }
        }
    }
}

#[expect(clippy::indexing_slicing, reason = "segments are places of the columns that they divide")]
fn call<'a>(
    (function, class): (Function, Class),
    node: &Node,
    args: impl Iterator<Item = (&'a Node, &'a [f64])>,
    frame: &Frame<'_>,
    out: &mut [f64],
) {
    let args: Vec<(&Node, &[f64])> = args.collect();
    let first_of_each = |args: &[(&Node, &[f64])]| -> Vec<f64> {
        args.iter().filter_map(|(_, own)| own.first().copied()).collect()
    };
    match (class, args.as_slice()) {
        (Class::Widening, [(_, column), ..]) => out.copy_from_slice(column),
        (Class::Reduction, [(own, column), further @ ..]) => {
            let further = first_of_each(further);
            // Over a batch, the order of the groups changes no bit.
            let is_ordered = matches!(function, Function::First | Function::Last);
            let whole = own.over == Axis::Number && !is_ordered;
            for (segment, out) in frame.segments(own.axis, own.over).zip(out) {
                let column = &column[segment];
                let column =
                    if whole { segments::sorted(column).into() } else { Cow::Borrowed(column) };
                *out = segments::reduced(function, &column, &further);
            }
        }
        (Class::Scan, [(own, column), further @ ..]) => {
            let further = first_of_each(further);
            for segment in frame.segments(own.axis, own.over) {
                segments::scanned(function, &column[segment.clone()], &further, &mut out[segment]);
            }
        }
        (Class::Keyed, [(own, column), (_, keys), ..]) => {
            for segment in frame.segments(own.axis, own.over) {
                let (column, keys) = (&column[segment.clone()], &keys[segment.clone()]);
                segments::keyed(function, column, keys, &mut out[segment]);
            }
        }
        _ => {
            let along: Vec<Cow<'_, [f64]>> = args
                .iter()
                .map(|(own, numbers)| frame.along(numbers, own.axis, node.axis))
                .collect();
            let operand = |(numbers, (own, _)): (&'_ Cow<'_, [f64]>, &(&Node, &[f64]))| {
                own.axis == Axis::Number && numbers.len() == 1
            };
            let operands: Vec<Operand<'_>> = along
                .iter()
                .zip(&args)
                .map(|both| match both.0.first() {
                    Some(number) if operand(both) => Operand::One(*number),
                    _ => Operand::Many(both.0),
                })
                .collect();
            elementwise::fill(function, &operands, out);
        }
    }
}

#[expect(clippy::indexing_slicing, reason = "groups end at rows, rows at steps")]
impl Frame<'_> {
    /// The places over `axis` that one place over `over` holds, for each.
    fn segments(&self, axis: Axis, over: Axis) -> impl Iterator<Item = Range<usize>> {
        let count = self.len(over);
        (0..count).map(move |at| self.segment(axis, over, at))
    }

    pub(super) fn segment(&self, axis: Axis, over: Axis, at: usize) -> Range<usize> {
        match (axis, over) {
            (_, Axis::Number) => 0..self.len(axis),
            (Axis::Row, Axis::Group) => between(&self.groups, at),
            (Axis::Step, Axis::Row) => between(&self.steps, at),
            (Axis::Step, Axis::Group) => {
                let rows = between(&self.groups, at);
                start_of(&self.steps, rows.start)..start_of(&self.steps, rows.end)
            }
            _ => at..at + 1,
        }
    }

    /// Numbers over one axis along a longer one. A single number stays alone.
    fn along<'n>(&self, numbers: &'n [f64], from: Axis, to: Axis) -> Cow<'n, [f64]> {
        if from == to || from == Axis::Number {
            return Cow::Borrowed(numbers);
        }
        let mut along = vec![0.0; self.len(to)];
        for (at, number) in numbers.iter().enumerate() {
            along[self.segment(to, from, at)].fill(*number);
        }
        Cow::Owned(along)
    }
}

/// The places of the segment at `at`, of segments that end so.
#[expect(clippy::indexing_slicing, reason = "segments are counted by their ends")]
fn between(ends: &[usize], at: usize) -> Range<usize> {
    start_of(ends, at)..ends[at]
}

/// Where the segment at `at` starts: where the one before it ends. That after the last is empty.
#[expect(clippy::indexing_slicing, reason = "segments are counted by their ends")]
fn start_of(ends: &[usize], at: usize) -> usize {
    if at == 0 { 0 } else { ends[at - 1] }
}
