//! The values of sums, products, integrals, limits and derivatives.

use super::Builder;
use crate::algebra::{Canon, Kind, Target, antiderivative, derivative, integral, limit, series};
use crate::numeric::{Near, near_zero};
use crate::stop::{Stop, unless_fault};
use crate::syntax::{Id, Node, Operator};

impl Builder<'_> {
    /// The value of an operator; opaque where it is not found.
    pub(crate) fn operator(&mut self, operator: &Operator) -> Result<Canon, Stop> {
        let Some(name) = &operator.variable else { return self.opaque_operator(operator) };
        self.bound.push(name.clone());
        let form = self.canon(operator.body);
        self.bound.pop();
        let form = form?;
        match self.evaluated(operator, &form, name) {
            Err(Stop::Cap | Stop::Undefined | Stop::Unreadable) => self.opaque_operator(operator),
            other => other,
        }
    }

    fn evaluated(&mut self, operator: &Operator, form: &Canon, name: &str) -> Result<Canon, Stop> {
        let variable = self.cx.atom(Kind::Var(name.to_owned()))?;
        if operator.name == "diff" {
            return derivative(self.cx, form, variable);
        }
        let from = operator.from.map(|id| self.target(id)).transpose()?;
        let to = operator.to.map(|id| self.target(id)).transpose()?;
        match (operator.name, from, to) {
            ("lim", Some(target), None) => limit(self.cx, form, variable, &target),
            ("sum" | "prod", Some(Target::At(from)), Some(Target::At(to))) => {
                series(self.cx, form, variable, &from, Some(&to), operator.name == "prod")
            }
            ("sum", Some(Target::At(from)), Some(Target::Infinity { negative: false })) => {
                series(self.cx, form, variable, &from, None, false)
            }
            ("int", None, None) => {
                let found = antiderivative(self.cx, form, variable)?;
                let constant = self.cx.of(Kind::Var("C".into()))?;
                self.cx.add(&found, &constant)
            }
            ("int", Some(from), Some(to)) => integral(self.cx, form, variable, &from, &to),
            _ => Err(Stop::Cap),
        }
    }

    /// Whether what an equation states for an operator, as a function of its variables, is proved to
    /// be another value. An indefinite integral is one up to a constant.
    pub(crate) fn is_other_value(
        &mut self,
        operator: &Operator,
        value: &Canon,
        stated: &Canon,
    ) -> Result<bool, Stop> {
        let difference = self.off_by(operator, value, stated);
        let near = match difference {
            Ok(difference) if difference.is_zero() => Near::Zero,
            Ok(difference) => unless_fault(near_zero(self.cx, &difference))?.unwrap_or(Near::Open),
            Err(Stop::Fault(fault)) => return Err(Stop::Fault(fault)),
            Err(_) => Near::Open,
        };
        Ok(matches!(near, Near::Apart))
    }

    fn off_by(
        &mut self,
        operator: &Operator,
        value: &Canon,
        stated: &Canon,
    ) -> Result<Canon, Stop> {
        let difference = self.cx.sub(value, stated)?;
        match (operator.name, operator.from, &operator.variable) {
            ("int", None, Some(name)) => {
                let variable = self.cx.atom(Kind::Var(name.clone()))?;
                derivative(self.cx, &difference, variable)
            }
            _ => Ok(difference),
        }
    }

    fn target(&mut self, id: Id) -> Result<Target, Stop> {
        let negative = match self.tree.get(id)? {
            Node::Infinity => Some(false),
            Node::Neg(inner) if matches!(self.tree.get(*inner)?, Node::Infinity) => Some(true),
            _ => None,
        };
        Ok(match negative {
            Some(negative) => Target::Infinity { negative },
            None => Target::At(self.canon(id)?),
        })
    }

    fn opaque_operator(&mut self, operator: &Operator) -> Result<Canon, Stop> {
        let mut parts = Vec::with_capacity(4);
        if let Some(name) = &operator.variable {
            parts.push(self.cx.of(Kind::Var(name.clone()))?);
        }
        for part in [operator.from, operator.to, Some(operator.body)].into_iter().flatten() {
            let part = self.operator_part(part)?;
            parts.push(part);
        }
        self.cx.opaque(operator.name, parts)
    }

    /// A part of an opaque operator: a bound may be a relation or infinity.
    fn operator_part(&mut self, id: Id) -> Result<Canon, Stop> {
        let tree = self.tree;
        match tree.get(id)? {
            Node::Chain(sides, _) => {
                let sides = sides.iter().map(|side| self.operator_part(*side));
                let sides = sides.collect::<Result<Vec<_>, _>>()?;
                self.cx.opaque("relation", sides)
            }
            Node::Infinity => self.cx.opaque("infinity", Vec::new()),
            Node::Neg(inner) if matches!(tree.get(*inner)?, Node::Infinity) => {
                self.cx.opaque("infinity below", Vec::new())
            }
            _ => self.canon(id),
        }
    }
}
