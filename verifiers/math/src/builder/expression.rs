//! The canonical form of an expression.

use super::Builder;
use crate::algebra::{
    Canon, Context, Kind, apply, binomial, factorial, from_digits, negated, pow, show,
};
use crate::number::small;
use crate::stop::Stop;
use crate::syntax::{Id, Node};
use crate::values::determinant_of;

/// The names that functions have.
const FUNCTIONS: [&str; 34] = [
    "Gamma", "zeta", "Phi", "f", "g", "h", "F", "G", "H", "f'", "g'", "h'", "F'", "G'", "H'",
    "f^-1", "g^-1", "h^-1", "f''", "g''", "h''", "f'''", "g'''", "h'''", "y'", "y''", "u'", "u''",
    "v'", "v''", "s'", "s''", "x'", "x''",
];

impl Builder<'_> {
    /// The canonical form of an expression.
    pub(crate) fn canon(&mut self, id: Id) -> Result<Canon, Stop> {
        self.cx.meter.spend(20)?;
        let tree = self.tree;
        if self.units.in_base
            && let Some(letters) = tree.measured(id)
        {
            let value = self.canon(letters.value)?;
            self.units.last = Some(letters.unit.clone());
            return self.times_base(&value, &letters.unit);
        }
        match tree.get(id)? {
            Node::Num(value, _) => Ok(Canon::rational(value.clone())),
            Node::Based(digits, base) => {
                from_digits(digits, *base).map(Canon::rational).ok_or(Stop::Unreadable)
            }
            Node::Var(name) => self.variable(name),
            Node::Pi => self.cx.of(Kind::Pi),
            Node::Add(terms) => match self.dotted("sum of", terms)? {
                Some(sum) => Ok(sum),
                None => self.folded(terms, 0, Context::add),
            },
            Node::Neg(inner) => Ok(negated(&self.canon(*inner)?)),
            Node::Mul(factors) => match self.dotted("product of", factors)? {
                Some(product) => Ok(product),
                None => self.folded(factors, 1, Context::mul),
            },
            Node::Div(top, below) => {
                let (top, below) = (self.canon(*top)?, self.canon(*below)?);
                self.cx.div(&top, &below)
            }
            Node::Pow(base, exponent) => {
                let (base, exponent) = (self.canon(*base)?, self.canon(*exponent)?);
                pow(self.cx, &base, &exponent)
            }
            Node::PlusMinus { at, minus_first } => {
                self.seen.plus_minus = true;
                let value = self.canon(*at)?;
                Ok(if self.lower_sign == *minus_first { value } else { negated(&value) })
            }
            Node::Root(inner, index) => {
                let (inner, index) = (self.canon(*inner)?, self.canon(*index)?);
                let exponent = self.cx.div(&Canon::int(1), &index)?;
                pow(self.cx, &inner, &exponent)
            }
            Node::Fun(name, args) => self.function(name, args),
            Node::Call(name, args) => self.called(name, args),
            Node::Factorial(inner) => {
                let inner = self.canon(*inner)?;
                factorial(self.cx, &inner)
            }
            Node::Percent(inner) => self.percent(*inner),
            Node::Degrees(inner) => self.degrees(*inner),
            Node::Quantity(inner, unit) => {
                let inner = self.canon(*inner)?;
                self.units.last = Some(unit.clone());
                if self.units.in_base { self.times_base(&inner, unit) } else { Ok(inner) }
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
        join: fn(&mut Context, &Canon, &Canon) -> Result<Canon, Stop>,
    ) -> Result<Canon, Stop> {
        let mut whole = Canon::int(start);
        for part in parts {
            let part = self.canon(*part)?;
            whole = join(self.cx, &whole, &part)?;
        }
        Ok(whole)
    }

    /// `C(4, 1)` as it is written: it may also be the name of a point.
    pub(crate) fn shown_call(&self, name: &str, args: &[Id]) -> Result<String, Stop> {
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
            let choices = binomial(self.cx, n, k)?;
            let orders = if name == "C" { Canon::int(1) } else { factorial(self.cx, k)? };
            return self.cx.mul(&choices, &orders);
        }
        let known = FUNCTIONS.into_iter().find(|have| *have == name);
        self.cx.opaque(known.unwrap_or("function"), args)
    }

    pub(crate) fn percent(&mut self, inner: Id) -> Result<Canon, Stop> {
        self.seen.percent = true;
        let inner = self.canon(inner)?;
        let scale = if self.bare { small(1, 1) } else { small(1, 100) };
        self.cx.mul(&inner, &Canon::rational(scale))
    }

    pub(crate) fn variable(&mut self, name: &str) -> Result<Canon, Stop> {
        self.cx.of(match name {
            name if self.bound.iter().any(|bound| bound == name) => Kind::Var(name.to_owned()),
            "e" => Kind::Euler,
            "i" => Kind::Imaginary,
            // A partial derivative that is not read.
            "partial" => return Err(Stop::Unreadable),
            name => Kind::Var(name.to_owned()),
        })
    }

    pub(crate) fn degrees(&mut self, inner: Id) -> Result<Canon, Stop> {
        self.seen.degrees = true;
        let inner = self.canon(inner)?;
        if self.bare {
            return Ok(inner);
        }
        let pi = self.cx.of(Kind::Pi)?;
        let radians = self.cx.mul(&inner, &pi)?;
        self.cx.mul(&radians, &Canon::rational(small(1, 180)))
    }

    pub(crate) fn function(&mut self, name: &'static str, args: &[Id]) -> Result<Canon, Stop> {
        if let ("det" | "abs", [only]) = (name, args)
            && self.is_array(*only)?
        {
            let array = self.value(*only)?;
            return determinant_of(self.cx, &array);
        }
        // A degree sign in the argument of a function always counts.
        let (bare, saw) = (std::mem::take(&mut self.bare), self.seen.degrees);
        let args = args.iter().map(|arg| self.canon(*arg)).collect::<Result<Vec<_>, _>>()?;
        (self.bare, self.seen.degrees) = (bare, saw);
        apply(self.cx, name, args)
    }

    /// `1 + 2 + \cdots + n` as an opaque function of its terms, sorted. `None` without dots.
    fn dotted(&mut self, name: &'static str, parts: &[Id]) -> Result<Option<Canon>, Stop> {
        let tree = self.tree;
        let is_dots = |id: &Id| matches!(tree.get(*id), Ok(Node::Dots));
        if !parts.iter().any(is_dots) {
            return Ok(None);
        }
        let mut terms = Vec::with_capacity(parts.len());
        for part in parts.iter().filter(|part| !is_dots(part)) {
            let term = self.canon(*part)?;
            terms.push((show(self.cx, &term), term));
        }
        terms.sort_by(|one, two| one.0.cmp(&two.0));
        let terms = terms.into_iter().map(|(_, term)| term).collect();
        self.cx.opaque(name, terms).map(Some)
    }
}
