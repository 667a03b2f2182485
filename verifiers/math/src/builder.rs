//! The builder: from the syntax tree to the value of an answer.

mod array;
mod decimal;
mod equality;
mod expression;
mod label;
mod measured;
mod named;
mod operator;
mod plus_minus;
mod sequence;
mod set_builder;

use named::named;

use crate::algebra::Context;
use crate::sets::{Region, Relation, Sign, complement, intersection, solve_inequality, union};
use crate::stop::Stop;
use crate::syntax::{Id, Node, Rel, Tree, units};
use crate::values::{Scalar, Value, measure_parts, region_of};

/// Builds the values of one tree.
struct Builder<'c> {
    pub(crate) cx: &'c mut Context,
    pub(crate) tree: &'c Tree,
    /// Take the lower sign of every plus-minus.
    lower_sign: bool,
    /// Leave out percent and degree signs.
    bare: bool,
    seen: Seen,
    units: Units,
    /// Whether there are plus-minus signs at all.
    pub(crate) signed: bool,
    /// The bound variables of the enclosing operators.
    pub(crate) bound: Vec<String>,
}

/// The units found while an expression was built.
#[derive(Default)]
struct Units {
    last: Option<String>,
    /// Whether they are factors: powers of base units.
    in_base: bool,
}

/// The signs found while an expression was built.
#[derive(Clone, Copy, Default)]
struct Seen {
    plus_minus: bool,
    percent: bool,
    degrees: bool,
}

/// The value of the tree under `root`.
pub(crate) fn build(cx: &mut Context, tree: &Tree, root: Id) -> Result<Value, Stop> {
    let mut builder = Builder {
        cx,
        tree,
        lower_sign: false,
        bare: false,
        seen: Seen::default(),
        units: Units::default(),
        signed: tree.nodes().any(|node| matches!(node, Node::PlusMinus { .. })),
        bound: Vec::new(),
    };
    builder.value(root)
}

impl Builder<'_> {
    fn value(&mut self, id: Id) -> Result<Value, Stop> {
        self.cx.meter.spend(20)?;
        let tree = self.tree;
        match tree.get(id)? {
            Node::Seq(items, join) => self.sequence(items, *join),
            Node::Group { open, close, items } => self.group(*open, *close, items),
            Node::Set(items) => Ok(Value::Set(self.flattened(items)?)),
            Node::Builder(parts) => self.set_builder(parts),
            Node::EmptySet => Ok(Value::Region(Region::empty())),
            Node::Reals => Ok(Value::Region(Region::everything())),
            Node::Chain(sides, signs) => self.chain(sides, signs),
            Node::Union(left, right) => {
                let (left, right) = self.regions(*left, *right)?;
                union(self.cx, left, right).map(Value::Region)
            }
            Node::Intersection(left, right) => {
                let (left, right) = self.regions(*left, *right)?;
                intersection(self.cx, &left, &right).map(Value::Region)
            }
            Node::Without(left, right) => self.without(*left, *right),
            Node::Add(terms) if self.is_set_difference(terms)? => {
                let [left, right] = terms.as_slice() else { return Err(Stop::Unreadable) };
                let Node::Neg(right) = tree.get(*right)? else { return Err(Stop::Unreadable) };
                self.without(*left, *right)
            }
            Node::Cases(branches) => self.cases(branches),
            Node::Matrix(rows) => {
                let rows = rows.iter().map(|row| self.flattened(row));
                rows.collect::<Result<Vec<_>, _>>().map(Value::Matrix)
            }
            Node::Ratio(parts, clock) => Ok(Value::Ratio(self.ratio(parts)?, *clock)),
            Node::Labelled(label, inner) => {
                let value = self.value(*inner)?;
                Ok(named(label.clone(), None, value, None))
            }
            Node::Call(name, args) if args.len() == 2 => {
                let label = self.shown_call(name, args)?;
                let value = self.scalar(id)?;
                Ok(named(label, None, value, None))
            }
            Node::Words(text) => Ok(Value::Text(text.clone())),
            Node::Dots => Ok(Value::Text("…".to_owned())),
            Node::PlusMinus { at, .. } if self.is_array(*at)? => self.both_signs(*at),
            Node::Infinity => Ok(Value::Infinity { negative: false }),
            Node::Neg(inner) if matches!(tree.get(*inner)?, Node::Infinity) => {
                Ok(Value::Infinity { negative: true })
            }
            Node::Quantity(inner, unit) if !self.is_scalar(*inner)? => {
                let mut value = self.value(*inner)?;
                if units::is_measure(unit) {
                    measure_parts(&mut value, unit);
                }
                Ok(value)
            }
            Node::Mul(parts) if self.point_name(parts)?.is_some() => {
                let (Some(name), Some(point)) = (self.point_name(parts)?, parts.last()) else {
                    return Err(Stop::Unreadable);
                };
                let value = self.value(*point)?;
                Ok(named(name, None, value, None))
            }
            Node::Neg(_) | Node::Mul(_) | Node::Add(_) | Node::Div(..) | Node::Pow(..)
                if self.is_array(id)? =>
            {
                self.array(id)
            }
            _ => self.scalar(id),
        }
    }

    /// `A - B` of two sets.
    fn is_set_difference(&self, terms: &[Id]) -> Result<bool, Stop> {
        let [left, right] = terms else { return Ok(false) };
        let Node::Neg(right) = self.tree.get(*right)? else { return Ok(false) };
        let set = |id: Id| {
            self.tree.get(id).map(|node| {
                matches!(node, Node::Set(_) | Node::Builder(_) | Node::Reals | Node::Group { .. })
            })
        };
        Ok(set(*left)? && set(*right)?)
    }

    fn without(&mut self, left: Id, right: Id) -> Result<Value, Stop> {
        let (left, right) = self.regions(left, right)?;
        let outside = complement(self.cx, &right)?;
        intersection(self.cx, &left, &outside).map(Value::Region)
    }

    fn is_scalar(&self, id: Id) -> Result<bool, Stop> {
        Ok(!matches!(
            self.tree.get(id)?,
            Node::Seq(..)
                | Node::Group { .. }
                | Node::Set(_)
                | Node::Chain(..)
                | Node::Matrix(_)
                | Node::Ratio(..)
        ))
    }

    /// The values of items; a plus-minus sign makes two of one.
    fn flattened(&mut self, items: &[Id]) -> Result<Vec<Value>, Stop> {
        let mut out = Vec::with_capacity(items.len());
        for item in items {
            match self.value(*item)? {
                Value::List(inner) => out.extend(inner),
                value => out.push(value),
            }
        }
        Ok(out)
    }

    fn group(&mut self, open: char, close: char, items: &[Id]) -> Result<Value, Stop> {
        if let ('(', ')', Some(points)) = (open, close, self.points(items)?) {
            return Ok(points);
        }
        let items = self.flattened(items)?;
        let endless = items.iter().any(|item| matches!(item, Value::Infinity { .. }));
        let mixed = (open == '(') != (close == ')');
        let value = Value::Tuple { open, close, items };
        if endless || mixed {
            return match region_of(self.cx, &value)? {
                Some(region) => Ok(Value::Region(region)),
                None => Err(Stop::Unreadable),
            };
        }
        Ok(value)
    }

    fn regions(&mut self, left: Id, right: Id) -> Result<(Region, Region), Stop> {
        let (left, right) = (self.value(left)?, self.value(right)?);
        let left = region_of(self.cx, &left)?.ok_or(Stop::Unreadable)?;
        Ok((left, region_of(self.cx, &right)?.ok_or(Stop::Unreadable)?))
    }

    fn inequality(&mut self, left: Id, right: Id, sign: Rel) -> Result<Value, Stop> {
        self.seen = Seen::default();
        let upper = self.one_inequality(left, right, sign)?;
        if !std::mem::take(&mut self.seen.plus_minus) {
            return Ok(upper);
        }
        // `x \ne \pm 2` excludes both values. With other signs of relation, the meaning is not
        // clear.
        if sign != Rel::Unequal {
            return Err(Stop::Unreadable);
        }
        self.lower_sign = true;
        let lower = self.one_inequality(left, right, sign);
        (self.lower_sign, self.seen.plus_minus) = (false, false);
        let (Value::Region(upper), Value::Region(lower)) = (upper, lower?) else {
            return Err(Stop::Unreadable);
        };
        intersection(self.cx, &upper, &lower).map(Value::Region)
    }

    fn one_inequality(&mut self, left: Id, right: Id, sign: Rel) -> Result<Value, Stop> {
        let (left, right) = (self.canon(left), self.canon(right));
        let (left, right) = (left?, right?);
        let (low, high, sign) = match sign {
            Rel::Less => (left, right, Sign::Negative),
            Rel::LessEqual => (left, right, Sign::NotPositive),
            Rel::More => (right, left, Sign::Negative),
            Rel::MoreEqual => (right, left, Sign::NotPositive),
            Rel::Unequal => (left, right, Sign::NotZero),
            Rel::Equal | Rel::Approx => (left, right, Sign::Zero),
            Rel::In | Rel::To => return Err(Stop::Unreadable),
        };
        let left = self.cx.sub(&low, &high)?;
        let relation = Relation { sign, left };
        let solution = solve_inequality(self.cx, &relation)?;
        Ok(solution.map_or(Value::Relation(relation), Value::Region))
    }

    /// An expression with its unit, its percent and degree signs, and its decimal places.
    fn scalar(&mut self, id: Id) -> Result<Value, Stop> {
        let upper = self.one_scalar(id, false)?;
        if !self.seen.plus_minus {
            return Ok(upper);
        }
        self.seen.plus_minus = false;
        let lower = self.one_scalar(id, true)?;
        self.seen.plus_minus = false;
        Ok(Value::List(vec![upper, lower]))
    }

    fn one_scalar(&mut self, id: Id, lower_sign: bool) -> Result<Value, Stop> {
        (self.seen, self.units) = (Seen::default(), Units::default());
        self.lower_sign = lower_sign;
        let canon = self.canon(id)?;
        let (percent, degrees) = (self.seen.percent, self.seen.degrees);
        let bare = if percent || degrees {
            self.bare = true;
            let bare = self.canon(id);
            self.bare = false;
            Some(bare?)
        } else {
            None
        };
        self.lower_sign = false;
        let unit = self.units.last.take().filter(|unit| !unit.is_empty());
        let (canon, unit) = match unit {
            Some(unit) if !self.is_measured(id)? => self.computed(id, canon, unit)?,
            unit => (canon, unit),
        };
        let (decimal, letters) = (self.decimal(id)?, self.letters(id)?);
        let scalar = Scalar { canon, bare, percent, degrees, unit, decimal, letters };
        Ok(Value::Scalar(Box::new(scalar)))
    }
}
