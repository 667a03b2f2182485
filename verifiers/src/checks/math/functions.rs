//! The functions that answers apply, by name.

use super::Stop;
use super::poly::{Canon, Ctx, Kind};

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
            ("mod" | "gcd" | "lcm", [first, rest @ ..]) if !rest.is_empty() => {
                self.divided(name, first, rest, &args)
            }
            ("min" | "max", [_, ..]) => self.extreme(name, args),
            _ => self.opaque(name, args),
        }
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
