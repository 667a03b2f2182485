//! What a formula does not need: branches that its settings rule out, and what they alone read.

use super::functions::{Class, Function};
use super::tree::{Formula, FormulaError, Node, Op, is_missing};
use crate::code::Code;

impl Formula {
    /// The formula without the branches that are never taken, and without what nothing reads. Named values
    /// stay: the evidence shows them.
    pub(super) fn pruned(mut self) -> Self {
        for at in 0..self.nodes.len() {
            if let Some(chosen) = self.chosen(at)
                && let Some(node) = self.nodes.get_mut(at)
            {
                let (function, class) = (Function::Spread, Class::Elementwise);
                node.op = Op::Call { function, class, args: vec![chosen] };
            }
        }
        let places = self.read_places();
        let place = |node: &mut usize| *node = places.get(*node).copied().flatten().unwrap_or(0);
        let inputs = std::mem::take(&mut self.inputs);
        let mut kept: Vec<usize> = Vec::new();
        let read = self.nodes.into_iter().zip(&places).filter(|(_, place)| place.is_some());
        self.nodes = read
            .map(|(mut node, _)| {
                match &mut node.op {
                    Op::Call { args, .. } => args.iter_mut().for_each(place),
                    Op::Input(input) => {
                        let own = kept.iter().position(|own| own == input);
                        let next = kept.len();
                        kept.extend(own.is_none().then_some(*input));
                        *input = own.unwrap_or(next);
                    }
                    Op::Constant(_) => {}
                }
                node
            })
            .collect();
        self.inputs = kept.iter().filter_map(|input| inputs.get(*input).cloned()).collect();
        self.named.iter_mut().for_each(|(_, node)| place(node));
        self.outputs.iter_mut().for_each(|(_, node, _)| place(node));
        self.guards.iter_mut().for_each(|guard| place(&mut guard.when));
        self
    }

    /// The branch that a condition always takes.
    fn chosen(&self, at: usize) -> Option<usize> {
        let Op::Call { function: Function::Where, args, .. } = &self.nodes.get(at)?.op else {
            return None;
        };
        let [when, yes, no] = args.as_slice() else { return None };
        match self.nodes.get(*when)?.op {
            Op::Constant(own) if !own.is_nan() => Some(if own == 0.0 { *no } else { *yes }),
            _ => None,
        }
    }

    /// Where each node is among those that something reads.
    fn read_places(&self) -> Vec<Option<usize>> {
        let roots = self.named.iter().map(|(_, node)| *node);
        let roots = roots.chain(self.outputs.iter().map(|(_, node, _)| *node));
        let roots = roots.chain(self.guards.iter().map(|guard| guard.when));
        let mut is_read = vec![false; self.nodes.len()];
        let read = |node: usize, is_read: &mut [bool]| {
            if let Some(own) = is_read.get_mut(node) {
                *own = true;
            }
        };
        roots.for_each(|node| read(node, &mut is_read));
        for (at, node) in self.nodes.iter().enumerate().rev() {
            if is_read.get(at) == Some(&true)
                && let Op::Call { args, .. } = &node.op
            {
                for arg in args {
                    read(*arg, &mut is_read);
                }
            }
        }
        let count = |next: &mut usize, is_read: bool| {
            let place = is_read.then_some(*next);
            *next += usize::from(is_read);
            Some(place)
        };
        is_read.into_iter().scan(0, count).collect()
    }

    /// Whether it copes without an input: it reads it by `??`, `fill` and `is_missing` alone.
    pub fn may_lack(&self, input: usize) -> bool {
        let is_it = |node: &usize| matches!(self.nodes.get(*node), Some(Node { op: Op::Input(own), .. }) if *own == input);
        let is_asked = |node: &Node| match &node.op {
            Op::Call { function: Function::IsMissing, .. } => true,
            Op::Call { function: Function::Default, args, .. } => !args.iter().skip(1).any(is_it),
            Op::Call { args, .. } => !args.iter().any(is_it),
            _ => true,
        };
        let is_shown = self.named.iter().map(|(_, node)| *node);
        let is_shown = is_shown.chain(self.outputs.iter().map(|(_, node, _)| *node));
        self.nodes.iter().all(is_asked) && !is_shown.into_iter().any(|node| is_it(&node))
    }

    /// Refuses a number that is none whatever the rows are, of a formula without settings, and a quantile
    /// that there is not.
    pub(super) fn defined(self, has_settings: bool) -> Result<Self, FormulaError> {
        let refused = |node: &Node, message: String| {
            let place = Some(node.place.clone());
            Err(FormulaError { code: Code::BadExpression, message, place, expected: Vec::new() })
        };
        for node in &self.nodes {
            let Op::Call { function: Function::Quantile, args, .. } = &node.op else { continue };
            let share = args.get(1).and_then(|share| self.nodes.get(*share));
            if let Some(Node { op: Op::Constant(own), .. }) = share
                && !(0.0..=1.0).contains(own)
            {
                return refused(node, format!("the quantile {own} is not from 0 to 1"));
            }
        }
        let is_none = |node: &&Node| match node.op {
            Op::Constant(own) => !own.is_finite() && !is_missing(own),
            _ => false,
        };
        let Some(node) = self.nodes.iter().find(is_none).filter(|_| !has_settings) else {
            return Ok(self);
        };
        let Op::Constant(number) = node.op else { return Ok(self) };
        refused(node, format!("this is {number} whatever the rows are"))
    }

    /// The texts of its `skip()` statements.
    pub fn skips(&self) -> impl Iterator<Item = &str> {
        self.guards.iter().filter(|guard| !guard.fails).map(|guard| guard.why.as_str())
    }
}
