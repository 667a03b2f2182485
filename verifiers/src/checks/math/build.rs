//! From syntax to values.

use super::Stop;
use super::algebra::negated;
use super::ast::{Id, Node, Rel, Tree};
use super::number::small;
use super::poly::{Canon, Ctx, Kind};
use super::value::{Named, Region, Relation, Scalar, Sign, Value};

/// The names that functions have.
const FUNCTIONS: [&str; 18] = [
    "f", "g", "h", "F", "G", "H", "f'", "g'", "h'", "F'", "G'", "H'", "f^-1", "g^-1", "h^-1",
    "f''", "g''", "h''",
];

/// Builds the values of one tree.
pub(super) struct Builder<'c, 'm, 'b> {
    pub(super) ctx: &'c mut Ctx<'m, 'b>,
    pub(super) tree: &'c Tree,
    /// Take the lower sign of every plus-minus.
    lower_sign: bool,
    /// Leave out percent and degree signs.
    bare: bool,
    seen: Seen,
    unit: Option<String>,
    /// Whether there are plus-minus signs at all.
    pub(super) signed: bool,
    /// The variables of the operators around.
    pub(super) bound: Vec<String>,
}

/// The marks that were met on the way.
#[derive(Clone, Copy, Default)]
struct Seen {
    plus_minus: bool,
    percent: bool,
    degrees: bool,
}

/// The value of the tree under `root`.
pub(super) fn build(ctx: &mut Ctx<'_, '_>, tree: &Tree, root: Id) -> Result<Value, Stop> {
    let mut builder = Builder {
        ctx,
        tree,
        lower_sign: false,
        bare: false,
        seen: Seen::default(),
        unit: None,
        signed: tree.nodes().any(|node| matches!(node, Node::PlusMinus { .. })),
        bound: Vec::new(),
    };
    builder.value(root)
}

impl<'m, 'b> Builder<'_, 'm, 'b> {
    pub(super) fn value(&mut self, id: Id) -> Result<Value, Stop> {
        self.ctx.meter.spend(20)?;
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
                self.ctx.union(left, right).map(Value::Region)
            }
            Node::Intersection(left, right) => {
                let (left, right) = self.regions(*left, *right)?;
                self.ctx.intersection(&left, &right).map(Value::Region)
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
            Node::Ratio(parts) => {
                let parts = parts.iter().map(|part| self.canon(*part));
                parts.collect::<Result<Vec<_>, _>>().map(Value::Ratio)
            }
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
                self.unit = Some(unit.clone());
                self.value(*inner)
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
        let outside = self.ctx.complement(&right)?;
        self.ctx.intersection(&left, &outside).map(Value::Region)
    }

    fn is_scalar(&self, id: Id) -> Result<bool, Stop> {
        Ok(!matches!(
            self.tree.get(id)?,
            Node::Seq(..)
                | Node::Group { .. }
                | Node::Set(_)
                | Node::Chain(..)
                | Node::Matrix(_)
                | Node::Ratio(_)
        ))
    }

    /// A list of values; a plus-minus makes two.
    pub(super) fn flattened(&mut self, items: &[Id]) -> Result<Vec<Value>, Stop> {
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
            return match self.ctx.region(&value)? {
                Some(region) => Ok(Value::Region(region)),
                None => Err(Stop::Unreadable),
            };
        }
        Ok(value)
    }

    fn regions(&mut self, left: Id, right: Id) -> Result<(Region, Region), Stop> {
        let (left, right) = (self.value(left)?, self.value(right)?);
        let left = self.ctx.region(&left)?.ok_or(Stop::Unreadable)?;
        Ok((left, self.ctx.region(&right)?.ok_or(Stop::Unreadable)?))
    }

    fn chain(&mut self, sides: &[Id], signs: &[Rel]) -> Result<Value, Stop> {
        if let ([left, right], [sign]) = (sides, signs) {
            match sign {
                Rel::In => return self.member(*left, *right),
                Rel::Equal | Rel::Approx => {}
                _ => return self.inequality(*left, *right, *sign),
            }
        }
        if signs.iter().all(|sign| matches!(sign, Rel::Equal | Rel::Approx)) {
            if !self.agree(sides, signs)? {
                return Err(Stop::Unreadable);
            }
            return self.equalities(sides, signs);
        }
        // a < x < b: both hold.
        let mut whole: Option<Region> = None;
        for (pair, sign) in sides.windows(2).zip(signs) {
            let [left, right] = pair else { continue };
            let region = match self.inequality(*left, *right, *sign)? {
                Value::Region(region) => region,
                Value::Relation(_) => return self.ranks(sides, signs)?.ok_or(Stop::Unreadable),
                _ => return Err(Stop::Unreadable),
            };
            whole = Some(match whole {
                Some(before) => self.ctx.intersection(&before, &region)?,
                None => region,
            });
        }
        whole.map(Value::Region).ok_or(Stop::Unreadable)
    }

    fn member(&mut self, left: Id, right: Id) -> Result<Value, Stop> {
        let value = self.value(right)?;
        let Some((label, _)) = self.label(left)? else { return Err(Stop::Unreadable) };
        Ok(match self.ctx.region(&value)? {
            Some(region) if !matches!(value, Value::Set(_)) => {
                Value::Region(Region { var: Some(label), ..region })
            }
            _ => named(label, None, value, None),
        })
    }

    /// `a = b = c`, perhaps with an approximation at the end: the last exact side is the value.
    fn equalities(&mut self, sides: &[Id], signs: &[Rel]) -> Result<Value, Stop> {
        let exact =
            signs.iter().position(|sign| *sign == Rel::Approx).map_or(sides.len(), |at| at + 1);
        let kept = sides.get(..exact).unwrap_or(sides);
        let label = match sides.first() {
            Some(first) => self.label(*first)?,
            None => None,
        };
        let last = match (kept.last(), sides.last()) {
            (Some(only), Some(last)) if kept.len() == 1 && label.is_some() => (*last, *only),
            (Some(last), _) => (*last, sides.first().copied().unwrap_or(*last)),
            _ => return Err(Stop::Unreadable),
        };
        let (value_id, first_id) = last;
        if value_id == first_id {
            return self.value(value_id);
        }
        if let Some((label, parameter)) = label {
            let value = self.value(value_id)?;
            let both = kept.len() == 2 && !matches!(self.tree.get(first_id)?, Node::Ratio(_));
            let equation = match (&value, parameter.is_none() && both) {
                // A name in words is no expression.
                (Value::Scalar(scalar), true) => match self.canon(first_id) {
                    Ok(left) => Some(self.ctx.sub(&left, &scalar.canon)?),
                    Err(Stop::Unreadable) => None,
                    Err(stop) => return Err(stop),
                },
                _ => None,
            };
            return Ok(named(label, parameter, value, equation));
        }
        self.equation(first_id, value_id, kept.len() == 2)
    }

    /// An equation between two expressions; between two numbers the second is the value.
    fn equation(&mut self, left: Id, right: Id, only_two: bool) -> Result<Value, Stop> {
        let value = self.value(right)?;
        let Value::Scalar(scalar) = &value else { return Ok(value) };
        let first = self.canon(left)?;
        if !only_two || !(self.ctx.has_variable(&first) || self.ctx.has_variable(&scalar.canon)) {
            return Ok(value);
        }
        if let Some((label, parameter)) = self.label(right)?
            && parameter.is_none()
        {
            let equation = self.ctx.sub(&first, &scalar.canon)?;
            let value = self.value(left)?;
            return Ok(named(label, None, value, Some(equation)));
        }
        let left = self.ctx.sub(&first, &scalar.canon)?;
        Ok(Value::Relation(Relation { sign: Sign::Zero, left }))
    }

    /// A name that stands alone, with its parameter where it is a function.
    fn label(&self, id: Id) -> Result<Option<(String, Option<String>)>, Stop> {
        Ok(match self.tree.get(id)? {
            // What stands above a letter is no part of the name of an answer.
            Node::Var(name) => Some((name.rsplit(' ').next().unwrap_or(name).to_owned(), None)),
            Node::Words(name) => Some((name.clone(), None)),
            Node::Call(name, args) => match args.as_slice() {
                [arg] => match self.tree.get(*arg)? {
                    Node::Var(parameter) => Some((name.clone(), Some(parameter.clone()))),
                    Node::Num(value, _) => Some((format!("{name}({value})"), None)),
                    _ => None,
                },
                _ => None,
            },
            Node::Ratio(parts) => {
                let mut names = Vec::with_capacity(parts.len());
                for part in parts {
                    match self.tree.get(*part)? {
                        Node::Var(name) => names.push(name.clone()),
                        _ => names.extend(self.segment(*part)?),
                    }
                }
                (names.len() == parts.len()).then(|| (names.join(":"), None))
            }
            _ => self.segment(id)?.map(|name| (name, None)),
        })
    }

    /// `AB`, `|AB|`, `\frac{AB}{CD}`: lengths and their ratios are named by points.
    fn segment(&self, id: Id) -> Result<Option<String>, Stop> {
        Ok(match self.tree.get(id)? {
            Node::Mul(points) if points.len() > 1 => {
                let mut name = String::new();
                for point in points {
                    match self.tree.get(*point)? {
                        // The measure of an angle has the name of the angle.
                        Node::Var(letter) if name.is_empty() && letter == "m" => {}
                        Node::Var(shape)
                            if name.is_empty()
                                && matches!(shape.as_str(), "angle" | "triangle") => {}
                        Node::Var(letter)
                            if letter.len() == 1
                                && letter.starts_with(|c: char| c.is_ascii_uppercase()) =>
                        {
                            name.push_str(letter);
                        }
                        Node::Mul(_) if name.is_empty() => match self.segment(*point)? {
                            Some(points) => name = points,
                            None => return Ok(None),
                        },
                        _ => return Ok(None),
                    }
                }
                (!name.is_empty()).then_some(name)
            }
            Node::Fun("abs", inner) => match inner.as_slice() {
                [inner] => self.segment(*inner)?,
                _ => None,
            },
            Node::Div(top, below) => self
                .segment(*top)?
                .zip(self.segment(*below)?)
                .map(|(top, below)| format!("{top}/{below}")),
            _ => None,
        })
    }

    fn inequality(&mut self, left: Id, right: Id, sign: Rel) -> Result<Value, Stop> {
        self.seen = Seen::default();
        let upper = self.one_inequality(left, right, sign)?;
        if !std::mem::take(&mut self.seen.plus_minus) {
            return Ok(upper);
        }
        // Different from plus and from minus: two conditions. Other signs say nothing clear.
        if sign != Rel::Unequal {
            return Err(Stop::Unreadable);
        }
        self.lower_sign = true;
        let lower = self.one_inequality(left, right, sign);
        (self.lower_sign, self.seen.plus_minus) = (false, false);
        let (Value::Region(upper), Value::Region(lower)) = (upper, lower?) else {
            return Err(Stop::Unreadable);
        };
        self.ctx.intersection(&upper, &lower).map(Value::Region)
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
        let left = self.ctx.sub(&low, &high)?;
        self.ctx.solved(Relation { sign, left })
    }

    /// An expression with everything that its writing says.
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
        (self.seen, self.unit) = (Seen::default(), None);
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
        let unit = self.unit.take().filter(|unit| !unit.is_empty());
        let decimal = self.decimal(id)?;
        Ok(Value::Scalar(Box::new(Scalar { canon, bare, percent, degrees, unit, decimal })))
    }

    /// The canonical form of an expression.
    pub(super) fn canon(&mut self, id: Id) -> Result<Canon, Stop> {
        self.ctx.meter.spend(20)?;
        let tree = self.tree;
        match tree.get(id)? {
            Node::Num(value, _) => Ok(Canon::rational(value.clone())),
            Node::Based(digits, base) => {
                Ctx::based(digits, *base).map(Canon::rational).ok_or(Stop::Unreadable)
            }
            Node::Var(name) => self.variable(name),
            Node::Pi => self.ctx.of(Kind::Pi),
            Node::Add(terms) => match self.dotted("sum of", terms)? {
                Some(sum) => Ok(sum),
                None => self.folded(terms, 0, Ctx::add),
            },
            Node::Neg(inner) => Ok(negated(&self.canon(*inner)?)),
            Node::Mul(factors) => match self.dotted("product of", factors)? {
                Some(product) => Ok(product),
                None => self.folded(factors, 1, Ctx::mul),
            },
            Node::Div(top, below) => {
                let (top, below) = (self.canon(*top)?, self.canon(*below)?);
                self.ctx.div(&top, &below)
            }
            Node::Pow(base, exponent) => {
                let (base, exponent) = (self.canon(*base)?, self.canon(*exponent)?);
                self.ctx.pow(&base, &exponent)
            }
            Node::PlusMinus { at, minus_first } => {
                self.seen.plus_minus = true;
                let value = self.canon(*at)?;
                Ok(if self.lower_sign == *minus_first { value } else { negated(&value) })
            }
            Node::Root(inner, index) => {
                let (inner, index) = (self.canon(*inner)?, self.canon(*index)?);
                let exponent = self.ctx.div(&Canon::int(1), &index)?;
                self.ctx.pow(&inner, &exponent)
            }
            Node::Fun(name, args) => self.function(name, args),
            Node::Call(name, args) => self.called(name, args),
            Node::Factorial(inner) => {
                let inner = self.canon(*inner)?;
                self.ctx.factorial(&inner)
            }
            Node::Percent(inner) => self.percent(*inner),
            Node::Degrees(inner) => self.degrees(*inner),
            Node::Quantity(inner, unit) => {
                let inner = self.canon(*inner)?;
                self.unit = Some(unit.clone());
                Ok(inner)
            }
            Node::Operator(operator) => self.operator(operator),
            _ => Err(Stop::Unreadable),
        }
    }

    /// A sum or a product.
    fn folded(
        &mut self,
        parts: &[Id],
        start: i64,
        join: fn(&mut Ctx<'m, 'b>, &Canon, &Canon) -> Result<Canon, Stop>,
    ) -> Result<Canon, Stop> {
        let mut whole = Canon::int(start);
        for part in parts {
            let part = self.canon(*part)?;
            whole = join(self.ctx, &whole, &part)?;
        }
        Ok(whole)
    }

    /// A count of choices as it is written, which may be the name of a point.
    fn shown_call(&self, name: &str, args: &[Id]) -> Result<String, Stop> {
        let mut shown = Vec::with_capacity(args.len());
        for arg in args {
            let Node::Num(value, _) = self.tree.get(*arg)? else { return Err(Stop::Unreadable) };
            shown.push(value.to_string());
        }
        Ok(format!("{name}({})", shown.join(", ")))
    }

    /// `f(x)`, or with two arguments a count of choices or arrangements.
    fn called(&mut self, name: &str, args: &[Id]) -> Result<Canon, Stop> {
        let args = args.iter().map(|arg| self.canon(*arg)).collect::<Result<Vec<_>, _>>()?;
        if let [n, k] = args.as_slice() {
            let choices = self.ctx.binomial(n, k)?;
            let orders = if name == "C" { Canon::int(1) } else { self.ctx.factorial(k)? };
            return self.ctx.mul(&choices, &orders);
        }
        let known = FUNCTIONS.into_iter().find(|have| *have == name);
        self.ctx.opaque(known.unwrap_or("function"), args)
    }

    fn percent(&mut self, inner: Id) -> Result<Canon, Stop> {
        self.seen.percent = true;
        let inner = self.canon(inner)?;
        let scale = if self.bare { small(1, 1) } else { small(1, 100) };
        self.ctx.mul(&inner, &Canon::rational(scale))
    }

    fn variable(&mut self, name: &str) -> Result<Canon, Stop> {
        self.ctx.of(match name {
            name if self.bound.iter().any(|bound| bound == name) => Kind::Var(name.to_owned()),
            "e" => Kind::Euler,
            "i" => Kind::Imaginary,
            name => Kind::Var(name.to_owned()),
        })
    }

    fn degrees(&mut self, inner: Id) -> Result<Canon, Stop> {
        self.seen.degrees = true;
        let inner = self.canon(inner)?;
        if self.bare {
            return Ok(inner);
        }
        let pi = self.ctx.of(Kind::Pi)?;
        let radians = self.ctx.mul(&inner, &pi)?;
        self.ctx.mul(&radians, &Canon::rational(small(1, 180)))
    }

    fn function(&mut self, name: &'static str, args: &[Id]) -> Result<Canon, Stop> {
        if let ("det" | "abs", [only]) = (name, args)
            && self.is_array(*only)?
        {
            let array = self.value(*only)?;
            return self.ctx.determinant_of(&array);
        }
        // A degree sign inside a function is never dropped.
        let (bare, saw) = (std::mem::take(&mut self.bare), self.seen.degrees);
        let args = args.iter().map(|arg| self.canon(*arg)).collect::<Result<Vec<_>, _>>()?;
        (self.bare, self.seen.degrees) = (bare, saw);
        self.ctx.apply(name, args)
    }
}

fn named(label: String, parameter: Option<String>, value: Value, equation: Option<Canon>) -> Value {
    // A region keeps the name of its variable itself.
    if let (Value::Region(region), None) = (&value, &parameter)
        && region.var.is_none()
    {
        return Value::Region(Region { var: Some(label), parts: region.parts.clone() });
    }
    Value::Named(Box::new(Named { label, parameter, value, equation }))
}
