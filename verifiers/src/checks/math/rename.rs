//! Forms with one atom replaced, also inside functions: another name for a variable, one case of
//! an absolute value.

use dashu_ratio::RBig;

use super::Stop;
use super::number::Exp;
use super::poly::{Atom, Canon, Ctx, Kind, Poly};

impl Ctx<'_, '_> {
    /// The form with one variable called by another name.
    pub(super) fn renamed(&mut self, value: &Canon, from: &str, to: &str) -> Result<Canon, Stop> {
        // Two variables must not become one.
        if self.names_in(value).iter().any(|name| name == to) {
            return Err(Stop::Cap);
        }
        let old = self.atom(Kind::Var(from.to_owned()))?;
        let new = self.of(Kind::Var(to.to_owned()))?;
        self.replaced(value, old, &new)
    }

    /// The form with `new` in the place of an atom.
    pub(super) fn replaced(
        &mut self,
        value: &Canon,
        old: Atom,
        new: &Canon,
    ) -> Result<Canon, Stop> {
        let num = self.replaced_in_poly(&value.num, old, new)?;
        let den = self.replaced_in_poly(&value.den, old, new)?;
        self.div(&num, &den)
    }

    fn replaced_in_poly(&mut self, poly: &Poly, old: Atom, new: &Canon) -> Result<Canon, Stop> {
        let mut sum = Canon::int(0);
        for (mono, coef) in &poly.0 {
            let mut term = Canon::rational(coef.clone());
            for &(atom, exp) in mono {
                let base = self.replaced_in_atom(atom, old, new)?;
                let power = self.pow(&base, &Canon::rational(exp.to_rational()))?;
                term = self.mul(&term, &power)?;
            }
            sum = self.add(&sum, &term)?;
        }
        Ok(sum)
    }

    fn replaced_in_atom(&mut self, atom: Atom, old: Atom, new: &Canon) -> Result<Canon, Stop> {
        self.meter.spend(20)?;
        if atom == old {
            return Ok(new.clone());
        }
        let inner = if self.varies(atom) { self.kind(atom).cloned() } else { None };
        match inner {
            Some(Kind::Sin(angle)) => {
                let angle = self.replaced(&angle, old, new)?;
                self.sin(&angle)
            }
            Some(Kind::Cos(angle)) => {
                let angle = self.replaced(&angle, old, new)?;
                self.cos(&angle)
            }
            Some(Kind::Fun(name, args)) => {
                let args = args.iter().map(|arg| self.replaced(arg, old, new));
                let args = args.collect::<Result<Vec<_>, _>>()?;
                match (name, args.as_slice()) {
                    ("pow", [base, exponent]) => self.pow(base, exponent),
                    ("factorial", [n]) => self.factorial(n),
                    _ => self.apply(name, args),
                }
            }
            Some(Kind::Base(base)) => self.replaced_in_poly(&base, old, new),
            Some(Kind::Power(base, mono)) => {
                let base = self.replaced_in_atom(base, old, new)?;
                let exponent = Poly(vec![(mono, RBig::ONE)]);
                let exponent = self.replaced_in_poly(&exponent, old, new)?;
                self.pow(&base, &exponent)
            }
            _ => Ok(Canon::atom(atom, Exp::ONE)),
        }
    }
}
