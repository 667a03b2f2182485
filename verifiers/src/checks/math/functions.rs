//! The functions that answers apply, by name.

use super::Stop;
use super::poly::{Canon, Ctx, Kind};

/// Larger double factorials are not computed.
const DOUBLE_MAX: i64 = 300;

impl Ctx<'_, '_> {
    /// The function called `name` of its arguments; a logarithm's base comes last.
    pub(super) fn apply(&mut self, name: &'static str, args: Vec<Canon>) -> Result<Canon, Stop> {
        match (name, args.as_slice()) {
            ("sin", [x]) => self.sin(x),
            ("cos", [x]) => self.cos(x),
            ("tan" | "cot" | "sec" | "csc", [x]) => self.quotient_wave(name, x),
            ("ln", [x]) => self.ln(x),
            ("log", [x]) => self.log_bare(x),
            ("lg", [x]) => self.log(&Canon::int(10), x),
            ("log" | "ln" | "lg", [x, base]) => self.log(base, x),
            ("exp", [x]) => {
                let base = self.of(Kind::Euler)?;
                self.pow(&base, x)
            }
            ("abs", [x]) => self.abs(x),
            ("floor", [x]) => self.rounded(x, false),
            ("ceil", [x]) => self.rounded(x, true),
            ("binom", [n, k]) => self.binomial(n, k),
            ("factorial2", [n]) => self.double_factorial(n),
            ("mod" | "gcd" | "lcm", [first, rest @ ..]) if !rest.is_empty() => {
                self.divided(name, first, rest, &args)
            }
            ("min" | "max", [_, ..]) => self.extreme(name, args),
            _ => self.opaque(name, args),
        }
    }

    /// Every second whole number down from `n`.
    fn double_factorial(&mut self, n: &Canon) -> Result<Canon, Stop> {
        let Some(n) = n.as_rational() else { return self.opaque("factorial2", vec![n.clone()]) };
        let n =
            super::number::whole(&n).filter(|n| (0..=DOUBLE_MAX).contains(n)).ok_or(Stop::Cap)?;
        let mut product = dashu_ratio::RBig::ONE;
        for factor in (1..=n).rev().step_by(2) {
            self.meter.spend(20)?;
            product *= dashu_ratio::RBig::from(factor);
        }
        Ok(Canon::rational(product))
    }

    /// Remainders and common divisors of whole numbers; opaque with variables.
    fn divided(
        &mut self,
        name: &'static str,
        first: &Canon,
        rest: &[Canon],
        args: &[Canon],
    ) -> Result<Canon, Stop> {
        let mut value = first.as_rational();
        for next in rest {
            value = match (value, next.as_rational()) {
                (Some(one), Some(two)) => super::number::divided(name, &one, &two),
                _ => None,
            };
        }
        match value {
            Some(value) => Ok(Canon::rational(value)),
            None => self.opaque(name, args.to_vec()),
        }
    }

    fn quotient_wave(&mut self, name: &str, x: &Canon) -> Result<Canon, Stop> {
        let (sine, cosine) = (self.sin(x)?, self.cos(x)?);
        match name {
            "tan" => self.div(&sine, &cosine),
            "cot" => self.div(&cosine, &sine),
            "sec" => self.div(&Canon::int(1), &cosine),
            _ => self.div(&Canon::int(1), &sine),
        }
    }

    /// The least or greatest of numbers; with variables an opaque set of its arguments.
    fn extreme(&mut self, name: &'static str, args: Vec<Canon>) -> Result<Canon, Stop> {
        let mut best: Option<dashu_ratio::RBig> = None;
        for arg in &args {
            let Some(value) = arg.as_rational() else {
                let mut args = args;
                args.sort_by_key(|arg| format!("{:?}", arg.num));
                return self.opaque(name, args);
            };
            let better = best.as_ref().is_none_or(|best| (value < *best) == (name == "min"));
            if better {
                best = Some(value);
            }
        }
        best.map(Canon::rational).ok_or(Stop::Unreadable)
    }
}
