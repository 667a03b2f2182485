//! Numbers and expressions: exact forms, units, percent and degree signs.

use super::judged::{Equivalence, Rung};
use super::{Comparer, Side};
use crate::algebra::{Canon, Context, Kind, approx, has_constant, only_parameter, rename};
use crate::number::small;
use crate::numeric::{Near, near_zero};
use crate::stop::Stop;
use crate::syntax::units::{self, Conversion};
use crate::values::{Decimal, Scalar, converted, measured_alike, measures};

impl Comparer<'_> {
    pub(crate) fn scalars(&mut self, one: &Scalar, two: &Scalar) -> Result<Equivalence, Stop> {
        for unit in [&one.unit, &two.unit].into_iter().flatten() {
            self.cx.meter.spend(100 * unit.len() as u64)?;
        }
        // Letters are variables where both sides have the same, else perhaps units.
        let alike = one.letters.is_some() && self.cx.equal(&one.canon, &two.canon)?;
        let read = if alike { [None, None] } else { measured_alike(self.cx, one, two) };
        let [read_one, read_two] = &read;
        let (one, two) = (read_one.as_ref().unwrap_or(one), read_two.as_ref().unwrap_or(two));
        let mut scale = None;
        if self.strict.units && one.unit.is_some() != two.unit.is_some() {
            return Ok(Equivalence::Unequal);
        }
        if let (Some(want), Some(have)) = (&one.unit, &two.unit)
            && want != have
        {
            match units::convert(want, have) {
                Some(same) if same == Conversion::NONE => {}
                Some(conversion) => scale = Some(conversion),
                None => return Ok(Equivalence::Unequal),
            }
        }
        let mut steps = (one.step(false), two.step(false));
        let scaled = match &scale {
            Some(conversion) => {
                if let Some(decimal) = &mut steps.1 {
                    decimal.step *= &conversion.factor;
                }
                Some(converted(self.cx, &two.canon, conversion)?)
            }
            None => None,
        };
        let answer = scaled.as_ref().unwrap_or(&two.canon);
        let first = self.numbers(
            &Side { value: &one.canon, decimal: steps.0, percent: one.percent },
            &Side { value: answer, decimal: steps.1, percent: two.percent },
        )?;
        let marks = one.percent != two.percent || one.degrees != two.degrees;
        if !marks
            || scale.is_some()
            || matches!(first, Equivalence::Equal(_))
            || measures::marks_clash(one, two)
        {
            return Ok(first);
        }
        // One side has a percent or degree sign that the other leaves to the question.
        let (left, right) =
            (one.bare.as_ref().unwrap_or(&one.canon), two.bare.as_ref().unwrap_or(&two.canon));
        let steps = (one.step(true), two.step(true));
        let second = self.numbers(
            &Side { value: left, decimal: steps.0, percent: one.percent },
            &Side { value: right, decimal: steps.1, percent: two.percent },
        )?;
        Ok(if second == Equivalence::Unequal { first } else { second })
    }

    /// Numbers and expressions, with the tolerance of decimals.
    pub(crate) fn numbers(&mut self, one: &Side<'_>, two: &Side<'_>) -> Result<Equivalence, Stop> {
        let exact = self.exact(one.value, two.value)?;
        if matches!(exact, Equivalence::Equal(_)) {
            return Ok(exact);
        }
        Ok(if self.rounded(one, two)? { Equivalence::Equal(Rung::Decimal) } else { exact })
    }

    /// Compares exact forms; at last by floating point and by sampling.
    pub(crate) fn exact(&mut self, one: &Canon, two: &Canon) -> Result<Equivalence, Stop> {
        if self.cx.equal(one, two)? {
            return Ok(Equivalence::Equal(rung(self.cx, one).max(rung(self.cx, two))));
        }
        if rung(self.cx, one).max(rung(self.cx, two)) <= Rung::Surd {
            return Ok(Equivalence::Unequal);
        }
        if self.up_to_names(one, two)? {
            return Ok(Equivalence::Equal(Rung::Polynomial));
        }
        let difference = self.cx.sub(one, two)?;
        let plain = is_plain(self.cx, &difference);
        let apart = approx(self.cx, &difference)
            .is_some_and(|(near, error)| near.abs() > error * 4.0 + 1e-12);
        if plain || apart {
            return Ok(Equivalence::Unequal);
        }
        Ok(match near_zero(self.cx, &difference)? {
            Near::Apart => Equivalence::Unequal,
            Near::Zero => Equivalence::Equal(Rung::Numeric),
            Near::Open => Equivalence::Undecided,
        })
    }

    /// Equal up to a free name: the integer in `k pi`, the constant of integration in `x + C`.
    fn up_to_names(&mut self, one: &Canon, two: &Canon) -> Result<bool, Stop> {
        let difference = self.cx.sub(one, two)?;
        if !difference.is_zero() && !self.cx.has_variable(&difference) {
            return Ok(has_constant(self.cx, one) && has_constant(self.cx, two));
        }
        let names = (only_parameter(self.cx, one), only_parameter(self.cx, two));
        let (Some(want), Some(have)) = names else { return Ok(false) };
        if want == have {
            return Ok(false);
        }
        let renamed = rename(self.cx, two, &have, &want)?;
        self.cx.equal(one, &renamed)
    }
}

impl Scalar {
    /// The decimal notation, in the scale of the value or of the value without percent sign.
    pub(crate) fn step(&self, bare: bool) -> Option<Decimal> {
        let decimal = self.decimal.clone()?;
        if self.percent && !bare {
            return Some(Decimal { step: decimal.step / small(100, 1), ..decimal });
        }
        Some(decimal)
    }
}

/// The lowest rung that decides a form.
fn rung(cx: &Context, value: &Canon) -> Rung {
    if value.as_rational().is_some() {
        return Rung::Rational;
    }
    let surd = value.monomials().all(|mono| {
        mono.iter().all(|(atom, exp)| {
            matches!(cx.kind(*atom), Some(Kind::Prime(_))) && (0..exp.den).contains(&exp.num)
        })
    });
    if surd { Rung::Surd } else { Rung::Polynomial }
}

/// Whether a form is made of variables and rationals only, so that its canonical form decides.
fn is_plain(cx: &Context, value: &Canon) -> bool {
    value.monomials().all(|mono| {
        mono.iter().all(|(atom, exp)| {
            exp.is_int() && matches!(cx.kind(*atom), Some(Kind::Var(_) | Kind::Imaginary))
        })
    })
}
