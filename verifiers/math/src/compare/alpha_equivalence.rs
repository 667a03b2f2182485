//! Equality up to renaming of free letters: the constants of a function, the parameters of a point.
//!
//! `f(x) = cx` and `f(x) = ax` denote the same functions, `(t, 2t)` and `(k, 2k)` the same points.
//! A letter that occurs in the question is not free to be renamed.

use super::Comparer;
use super::judged::Equivalence;
use crate::algebra::{Context, added_constant, names_in};
use crate::question::Question;
use crate::stop::Stop;
use crate::values::{Value, free_letters, measured, with_letter};

/// The most letters that are renamed.
const LETTERS_MAX: usize = 3;

/// Letters after a number that are rather units than variables.
#[rustfmt::skip]
const UNITS: [&str; 17] = [
    "m", "s", "g", "h", "N", "L", "l", "J", "W", "V", "K", "A", "F", "H", "T", "Omega", "mu",
];
/// The usual name of a constant of integration.
const USUAL: &str = "C";
/// Signs that a question asks for an integral.
const INTEGRALS: [&str; 5] = ["\\int", "∫", "ntegra", "ntiderivative", "onstant"];

impl Comparer<'_> {
    /// Equal where any meaning of the answer equals any meaning of the reference.
    pub fn any_equal(
        &mut self,
        wanted: &[Value],
        values: &[Value],
        question: &Question<'_>,
    ) -> Result<Equivalence, Stop> {
        let open = wanted.is_empty() || values.is_empty();
        let mut judged = if open { Equivalence::Undecided } else { Equivalence::Unequal };
        for want in wanted {
            for have in values {
                match self.up_to_letters(want, have, question) {
                    Ok(equal @ Equivalence::Equal(_)) => return Ok(equal),
                    Ok(Equivalence::Unequal) => {}
                    Err(Stop::Fault(fault)) => return Err(Stop::Fault(fault)),
                    Ok(Equivalence::Undecided) | Err(_) => judged = Equivalence::Undecided,
                }
            }
        }
        Ok(judged)
    }

    /// Equal as they are, or after letters of the answer alone are renamed to letters of the
    /// reference alone.
    fn up_to_letters(
        &mut self,
        one: &Value,
        two: &Value,
        question: &Question<'_>,
    ) -> Result<Equivalence, Stop> {
        let judged = self.compare(one, two)?;
        if judged != Equivalence::Unequal {
            return Ok(judged);
        }
        // In another question, 2:30 is a time.
        if let (Value::Ratio(one, _), Value::Ratio(two, _)) = (one, two)
            && question.asks_for_ratio()
            && let equal @ Equivalence::Equal(_) = self.ratios(one, two)?
        {
            return Ok(equal);
        }
        if let Some(judged) = self.up_to_constants(one, two, question)? {
            return Ok(judged);
        }
        if let Some(measured) = self.in_units(one, two, question)? {
            return self.compare(one, &measured);
        }
        // Two units cannot be exchanged for each other, as names can.
        let is_measured =
            |value: &Value| matches!(value, Value::Scalar(scalar) if scalar.letters.is_some());
        if is_measured(one) && is_measured(two) {
            return Ok(Equivalence::Unequal);
        }
        let (mut want, mut have) = (Vec::new(), Vec::new());
        if !(free_letters(self.cx, one, &mut want) && free_letters(self.cx, two, &mut have)) {
            return Ok(Equivalence::Unequal);
        }
        let shared: Vec<String> = want.iter().filter(|name| have.contains(name)).cloned().collect();
        for names in [&mut want, &mut have] {
            names.retain(|name| !shared.contains(name));
        }
        if want.is_empty() || want.len() != have.len() || want.len() > LETTERS_MAX {
            return Ok(Equivalence::Unequal);
        }
        for name in want.iter().chain(&have) {
            if question.mentions(name, &mut self.cx.meter)? {
                return Ok(Equivalence::Unequal);
            }
        }
        self.exchanged(one, two, &want, &have)
    }

    /// The answer with its letters as units, where the reference is a number, and the question has
    /// them for no variables: `12 m`.
    fn in_units(
        &mut self,
        one: &Value,
        two: &Value,
        question: &Question<'_>,
    ) -> Result<Option<Value>, Stop> {
        let (Value::Scalar(want), Value::Scalar(have)) = (one, two) else { return Ok(None) };
        if question.is_empty() || want.unit.is_some() || self.cx.has_variable(&want.canon) {
            return Ok(None);
        }
        let Some(measured) = measured(have) else { return Ok(None) };
        for name in names_in(self.cx, &have.canon) {
            if !(UNITS.contains(&name.as_str())
                && question.has_for_units_alone(&name, &mut self.cx.meter)?)
            {
                return Ok(None);
            }
        }
        Ok(Some(Value::Scalar(Box::new(measured))))
    }

    /// Compares functions whose constants of integration have two names, one of which is the usual
    /// one. `None` where they have not.
    fn up_to_constants(
        &mut self,
        one: &Value,
        two: &Value,
        question: &Question<'_>,
    ) -> Result<Option<Equivalence>, Stop> {
        let (Some(want), Some(have)) = (constant(self.cx, one), constant(self.cx, two)) else {
            return Ok(None);
        };
        if want == have || !(want == USUAL || have == USUAL) {
            return Ok(None);
        }
        for name in [&want, &have] {
            let given = question.mentions(name, &mut self.cx.meter)?;
            if given
                && !(name == USUAL && INTEGRALS.iter().any(|sign| question.text.contains(sign)))
            {
                return Ok(None);
            }
        }
        let renamed = if want == USUAL { (two, &have) } else { (one, &want) };
        let Some(usual) = with_letter(self.cx, renamed.0, renamed.1, USUAL)? else {
            return Ok(None);
        };
        if want == USUAL {
            return self.compare(one, &usual).map(Some);
        }
        self.compare(&usual, two).map(Some)
    }

    /// Tries every bijection from the letters `have` to the letters `want`.
    fn exchanged(
        &mut self,
        one: &Value,
        two: &Value,
        want: &[String],
        have: &[String],
    ) -> Result<Equivalence, Stop> {
        let Some((to, rest)) = want.split_first() else { return self.compare(one, two) };
        for from in have {
            let Some(renamed) = with_letter(self.cx, two, from, to)? else { break };
            let others: Vec<String> = have.iter().filter(|name| *name != from).cloned().collect();
            let judged = self.exchanged(one, &renamed, rest, &others)?;
            if matches!(judged, Equivalence::Equal(_)) {
                return Ok(judged);
            }
        }
        Ok(Equivalence::Unequal)
    }
}

/// The constant of integration of a function.
fn constant(cx: &Context, value: &Value) -> Option<String> {
    match value {
        Value::Scalar(scalar) => added_constant(cx, &scalar.canon),
        Value::Named(named) => constant(cx, &named.value),
        _ => None,
    }
}
