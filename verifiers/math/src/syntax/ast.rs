//! The syntax tree: nodes in one flat list, named by their index.

use dashu_ratio::RBig;

use crate::stop::Stop;

/// The index of a node.
pub(crate) type Id = u32;
/// The deepest tree that is built.
const DEPTH_MAX: u8 = 64;
/// The most nodes of one tree.
const NODES_MAX: usize = 10_000;

/// A relation between two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rel {
    Equal,
    Unequal,
    Less,
    LessEqual,
    More,
    MoreEqual,
    Approx,
    In,
    /// `x \to 0`.
    To,
}

/// How the items of a sequence are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Join {
    Comma,
    And,
    Or,
}

/// What numbers with colons between them are as a time of day: `h:mm` or `h:mm:ss`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockForm {
    /// None: they are written as no time is.
    None,
    /// `1:05`, in either half of the day.
    Half,
    /// `13:05`, `01:05`: the hours are counted to 24.
    Day,
}

/// The decimal notation of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    /// Digits after the point.
    pub(crate) places: u32,
    /// Digits from the first that is not zero.
    pub(crate) significant: u32,
}

/// One node. Children were made before it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Node {
    Num(RBig, Option<Written>),
    /// Digits with a base: `1010_2`.
    Based(String, u32),
    Var(String),
    /// Terms that go on: `1 + 2 + \cdots + n`.
    Dots,
    Pi,
    Infinity,
    EmptySet,
    Reals,
    Add(Vec<Id>),
    Neg(Id),
    Mul(Vec<Id>),
    Div(Id, Id),
    Pow(Id, Id),
    /// Both signs: the minus sign first where the flag is set.
    PlusMinus {
        at: Id,
        minus_first: bool,
    },
    Root(Id, Id),
    Fun(&'static str, Vec<Id>),
    /// `f(x)`.
    Call(String, Vec<Id>),
    Factorial(Id),
    Percent(Id),
    Degrees(Id),
    /// A value and the words after it.
    Quantity(Id, String),
    /// Brackets around several things: a point or an interval.
    Group {
        open: char,
        close: char,
        items: Vec<Id>,
    },
    /// `{...}`.
    Set(Vec<Id>),
    /// `{x | ...}`: the conditions.
    Builder(Vec<Id>),
    Seq(Vec<Id>, Join),
    /// A chain of relations: one more side than signs.
    Chain(Vec<Id>, Vec<Rel>),
    Union(Id, Id),
    Intersection(Id, Id),
    Without(Id, Id),
    Matrix(Vec<Vec<Id>>),
    /// `3 : 4`, and what it is as a time of day.
    Ratio(Vec<Id>, ClockForm),
    /// Branches with their conditions.
    Cases(Vec<(Id, Option<Id>)>),
    /// A name before a colon.
    Labelled(String, Id),
    /// A sum, an integral, a limit, a derivative.
    Operator(Operator),
    Words(String),
}

/// An operator and what it applies to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Operator {
    /// `sum`, `prod`, `int`, `lim`, `diff`, or another integral sign.
    pub(crate) name: &'static str,
    pub(crate) variable: Option<String>,
    /// The lower bound, or what the variable tends to.
    pub(crate) from: Option<Id>,
    pub(crate) to: Option<Id>,
    pub(crate) body: Id,
}

impl Node {
    /// Appends the children of the node.
    fn children(&self, out: &mut Vec<Id>) {
        match self {
            Self::Num(..)
            | Self::Based(..)
            | Self::Var(_)
            | Self::Dots
            | Self::Pi
            | Self::Infinity
            | Self::EmptySet
            | Self::Reals
            | Self::Words(_) => {}
            Self::Neg(at)
            | Self::PlusMinus { at, .. }
            | Self::Factorial(at)
            | Self::Percent(at)
            | Self::Degrees(at)
            | Self::Quantity(at, _)
            | Self::Labelled(_, at) => out.push(*at),
            Self::Div(one, two)
            | Self::Pow(one, two)
            | Self::Root(one, two)
            | Self::Union(one, two)
            | Self::Intersection(one, two)
            | Self::Without(one, two) => out.extend([one, two]),
            Self::Add(items)
            | Self::Mul(items)
            | Self::Fun(_, items)
            | Self::Call(_, items)
            | Self::Group { items, .. }
            | Self::Set(items)
            | Self::Builder(items)
            | Self::Seq(items, _)
            | Self::Chain(items, _)
            | Self::Ratio(items, _) => out.extend(items),
            Self::Matrix(rows) => out.extend(rows.iter().flatten()),
            Self::Cases(branches) => {
                out.extend(
                    branches.iter().flat_map(|(value, when)| [Some(*value), *when]).flatten(),
                );
            }
            Self::Operator(operator) => {
                out.extend([operator.from, operator.to, Some(operator.body)].into_iter().flatten());
            }
        }
    }
}

/// The tree under construction.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
    depths: Vec<u8>,
    letters: Vec<(Id, UnitLetters)>,
}

/// The other reading of a number before letters: a value with a unit.
#[derive(Clone, Debug)]
pub(crate) struct UnitLetters {
    pub(crate) value: Id,
    pub(crate) unit: String,
    /// Whether the unit has a name or a sign of several letters, apart from the number.
    pub(crate) sure: bool,
}

impl Tree {
    /// Adds a node whose deepest child is among `children`.
    pub(crate) fn add(&mut self, node: Node, children: &[Id]) -> Result<Id, Stop> {
        let below = children.iter().filter_map(|id| self.depths.get(*id as usize)).max();
        let depth = below.map_or(0, |depth| depth + 1);
        if depth > DEPTH_MAX || self.nodes.len() >= NODES_MAX {
            return Err(Stop::Cap);
        }
        self.nodes.push(node);
        self.depths.push(depth);
        Id::try_from(self.nodes.len() - 1).map_err(|_| Stop::Cap)
    }

    /// Notes that the product `id` may be a value with a unit.
    pub(crate) fn may_be_measured(&mut self, id: Id, letters: UnitLetters) {
        self.letters.push((id, letters));
    }

    /// A product as a value with a unit, where it may be one.
    pub(crate) fn measured(&self, id: Id) -> Option<&UnitLetters> {
        self.letters.iter().find(|(at, _)| *at == id).map(|(_, letters)| letters)
    }

    /// Whether a product in it may be a value with a unit.
    pub(crate) fn has_letters(&self) -> bool {
        !self.letters.is_empty()
    }

    /// All nodes.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.nodes.iter()
    }

    /// Calls `show` for every node of the subtree at `id`.
    pub(crate) fn visit<'t>(&'t self, id: Id, show: &mut impl FnMut(&'t Node)) {
        let mut todo = vec![id];
        while let Some(node) = todo.pop().and_then(|id| self.nodes.get(id as usize)) {
            show(node);
            node.children(&mut todo);
        }
    }

    /// What the tree at `id` comes to: of `a = b = c` the last side, before any approximation.
    pub(crate) fn result(&self, id: Id) -> Id {
        let Ok(Node::Chain(sides, signs)) = self.get(id) else { return id };
        let exact = signs.iter().position(|sign| *sign != Rel::Equal).unwrap_or(signs.len());
        let equates = signs.iter().all(|sign| matches!(sign, Rel::Equal | Rel::Approx));
        sides.get(exact).copied().filter(|_| equates).unwrap_or(id)
    }

    /// Whether a sum, an integral, a limit or a derivative is in it.
    pub(crate) fn has_operator(&self) -> bool {
        self.nodes.iter().any(|node| matches!(node, Node::Operator(_)))
    }

    /// Whether one is in what the tree at `id` comes to.
    pub(crate) fn leaves_operator(&self, id: Id) -> bool {
        self.any_below(self.result(id), |node| matches!(node, Node::Operator(_)))
    }

    /// Whether a node of the subtree at `id` passes a test.
    pub(crate) fn any_below(&self, id: Id, test: impl Fn(&Node) -> bool) -> bool {
        let mut found = false;
        self.visit(id, &mut |node| found |= test(node));
        found
    }

    /// The node called `id`.
    pub(crate) fn get(&self, id: Id) -> Result<&Node, Stop> {
        self.nodes.get(id as usize).ok_or(Stop::Unreadable)
    }
}
