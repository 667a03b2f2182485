//! What formulas are made of: axes, names, nodes, and the numbers that they are computed from.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use super::functions::{Class, Function};
use crate::code::Code;
use crate::script::ScriptError;

/// Over what a value varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Axis {
    /// Nothing: one number.
    Number,
    /// The groups of a batch.
    Group,
    /// The rows of a group.
    Row,
    /// The steps of a row.
    Step,
}

impl Axis {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Number => "a number",
            Self::Group => "a number for each group",
            Self::Row => "a column over rows",
            Self::Step => "a column over steps",
        }
    }

    /// What a reduction of a column over this axis gives.
    pub(super) fn reduced(self) -> Self {
        match self {
            Self::Number | Self::Group => Self::Number,
            Self::Row => Self::Group,
            Self::Step => Self::Row,
        }
    }
}

/// A number that is not there: a NaN of its own.
pub const MISSING: f64 = f64::from_bits(0x7ff8_0000_0000_0a55);

/// Whether a number is [`MISSING`].
#[inline]
pub fn is_missing(number: f64) -> bool {
    number.to_bits() == MISSING.to_bits()
}

/// What a name of a setting stands for in a formula.
#[derive(Clone, Debug, PartialEq)]
pub enum Setting {
    /// A number.
    Number(f64),
    /// A word, which is compared or handed to a function.
    Word(String),
    /// Another name of the scope, such as `rewards.quality`.
    Name(String),
}

/// The names that a formula may use, and what it must give.
#[derive(Clone, Debug, Default)]
pub struct FormulaScope {
    pub(super) names: BTreeMap<String, Axis>,
    /// Names with any member after a point, such as `meta`.
    pub(super) open: BTreeMap<String, Axis>,
    pub(super) settings: BTreeMap<String, Setting>,
    pub(super) outputs: Vec<(String, Axis)>,
    pub(super) has_batch: bool,
}

impl FormulaScope {
    /// Names with the axis of each; what the formula gives, the first of which it gives where its value
    /// is not a map.
    pub fn new<N: Into<String>, O: Into<String>>(
        names: impl IntoIterator<Item = (N, Axis)>,
        outputs: impl IntoIterator<Item = (O, Axis)>,
    ) -> Self {
        let own = |(name, axis): (N, Axis)| (name.into(), axis);
        let outputs = outputs.into_iter().map(|(name, axis)| (name.into(), axis));
        Self {
            names: names.into_iter().map(own).collect(),
            outputs: outputs.collect(),
            ..Self::default()
        }
    }

    /// Adds a name that has any member, such as `meta`: `meta.x` varies over `axis`.
    #[must_use]
    pub fn open(mut self, name: &str, axis: Axis) -> Self {
        self.open.insert(name.to_owned(), axis);
        self
    }

    /// Adds names.
    #[must_use]
    pub fn with<N: Into<String>>(mut self, names: impl IntoIterator<Item = (N, Axis)>) -> Self {
        self.names.extend(names.into_iter().map(|(name, axis)| (name.into(), axis)));
        self
    }

    /// Adds settings.
    #[must_use]
    pub fn settings(mut self, settings: impl IntoIterator<Item = (String, Setting)>) -> Self {
        self.settings.extend(settings);
        self
    }

    /// Allows `batch()`: the groups that the formula is shown are all there are.
    #[must_use]
    pub fn batches(self) -> Self {
        Self { has_batch: true, ..self }
    }
}

/// A name that a formula reads, and where it is a text, what it is compared with.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FormulaInput {
    /// Such as `r`, `meta.level` or `rewards.quality`.
    pub name: String,
    /// For a text: the input is 1 where it is this one, else 0.
    pub is: Option<String>,
    /// Over what it varies.
    pub axis: Axis,
}

/// Rows for which a formula does not apply.
#[derive(Clone, Debug)]
pub(super) struct Guard {
    pub(super) when: usize,
    /// Whether it is a fault; else the row is left as it is.
    pub(super) fails: bool,
    pub(super) why: String,
}

/// What is computed of one node.
#[derive(Clone, Debug)]
pub(super) enum Op {
    Constant(f64),
    Input(usize),
    Call { function: Function, class: Class, args: Vec<usize> },
}

/// A value of the formula, and its place in the source.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) op: Op,
    pub(super) axis: Axis,
    /// What a reduction of it gives.
    pub(super) over: Axis,
    /// Whether it is true or false, as 1 or 0.
    pub(super) is_truth: bool,
    pub(super) place: Range<usize>,
}

/// A formula that was checked against its [`FormulaScope`].
#[derive(Clone, Debug)]
pub struct Formula {
    pub(super) source: String,
    pub(super) inputs: Vec<FormulaInput>,
    pub(super) nodes: Vec<Node>,
    /// The `let` statements, but those whose name begins with `_`.
    pub(super) named: Vec<(String, usize)>,
    pub(super) guards: Vec<Guard>,
    pub(super) outputs: Vec<(String, usize, Axis)>,
    pub(super) compares_rows: bool,
}

/// Why a formula is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct FormulaError {
    /// What is wrong.
    pub code: Code,
    /// Lower case, no final dot.
    pub message: String,
    /// The bytes of the source that are wrong.
    pub place: Option<Range<usize>>,
    /// What would be taken, for an unknown name.
    pub expected: Vec<String>,
}

impl From<ScriptError> for FormulaError {
    fn from(ScriptError { message, place }: ScriptError) -> Self {
        Self { code: Code::BadExpression, message, place, expected: Vec::new() }
    }
}

/// The numbers that a formula is computed from.
#[derive(Clone, Debug)]
pub struct Frame<'a> {
    pub(super) inputs: Vec<Cow<'a, [f64]>>,
    pub(super) groups: Cow<'a, [usize]>,
    pub(super) steps: Cow<'a, [usize]>,
}

impl<'a> Frame<'a> {
    /// Inputs in the order of [`Formula::inputs`], each with as many numbers as its axis has places;
    /// for each group the row after its last one, and for each row the step after its last one.
    pub fn new(
        inputs: Vec<Cow<'a, [f64]>>,
        groups: impl Into<Cow<'a, [usize]>>,
        steps: impl Into<Cow<'a, [usize]>>,
    ) -> Self {
        Self { inputs, groups: groups.into(), steps: steps.into() }
    }

    /// How many places an axis has.
    pub(super) fn len(&self, axis: Axis) -> usize {
        match axis {
            Axis::Number => 1,
            Axis::Group => self.groups.len(),
            Axis::Row => self.groups.last().copied().unwrap_or_default(),
            Axis::Step => self.steps.last().copied().unwrap_or_default(),
        }
    }
}

impl Formula {
    /// What it reads, each once.
    pub fn inputs(&self) -> &[FormulaInput] {
        &self.inputs
    }

    /// Whether it compares the rows of a group, or more.
    pub fn compares_rows(&self) -> bool {
        self.compares_rows
    }

    /// Whether it gives the output of this name.
    pub fn gives(&self, output: &str) -> bool {
        self.outputs.iter().any(|(name, ..)| name == output)
    }

    /// The text of it.
    pub fn source(&self) -> &str {
        &self.source
    }
}
