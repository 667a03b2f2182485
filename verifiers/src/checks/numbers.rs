//! `numbers`: the numbers of an answer, within a tolerance.

use assay_structure::assignment;
use assay_structure::number::Tolerance;

use super::number;
use crate::prelude::*;
use crate::text_parts::{said, share};

/// Right when the numbers of the answer are those of the reference.
///
/// The reference is a number, a list of numbers, or a text with numbers in it. The answer is the one in
/// the box, the answer tag or the announcement, or else a short completion; of it all numbers count.
/// For one number in prose use `number`. A comma without a blank before three digits separates
/// thousands. `\frac{3}{4}`, `1\frac12`, `1 1/2`, `½`, `10^{-3}`, `3\times10^5` and `5 million` are one number
/// each. What is denied, a bound or a name is none ("not 5", "at least 5", "page 5"), nor is a part of a term
/// (`\sqrt{2}`, `5!`, `5\pi`) or what a double cannot hold.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Numbers {
    /// The numbers may come in any order.
    free_order: bool,
    /// How far a number may be off.
    absolute: f64,
    /// How far it may be off, as a share of that of the reference.
    relative: f64,
    /// A column with the tolerance of the row: a number, which is absolute, or
    /// `{ absolute = ..., relative = ... }`.
    tolerance: Option<String>,
    /// Pay the F1 of numbers.
    partial: bool,
}

/// What a byte of an answer costs to read: the text around each number is looked at.
const NUMBER_UNITS: u64 = 300;

/// The most numbers of an answer.
const NUMBERS_MAX: usize = 1000;

impl Check for Numbers {
    const ID: &'static str = "numbers";
    const ASPECT: Aspect = Aspect::Value;

    fn load(&mut self, _: &dyn Files) -> Result<(), BuildError> {
        for (name, tolerance) in [("absolute", self.absolute), ("relative", self.relative)] {
            if !(tolerance.is_finite() && tolerance >= 0.0) {
                return Err(BuildError::new(name, "a tolerance is zero or more"));
            }
        }
        Ok(())
    }

    fn columns(&self) -> Vec<(&'static str, String)> {
        self.tolerance.iter().map(|column| ("tolerance", column.clone())).collect()
    }

    fn check(&self, sample: &Sample, meter: &mut Meter<'_>) -> Result<Verdict, Fault> {
        let Some(reference) = sample.reference() else { return Ok(Verdict::no_reference()) };
        let wanted = wanted(reference)?;
        let tolerance = self.tolerance(sample)?;
        let Some(said) = said(sample, "", meter)? else {
            return Ok(Verdict::graded(false).because("nothing-found"));
        };
        meter.spend(NUMBER_UNITS * said.text.len() as u64)?;
        let given = number::all(&said.text, true);
        if given.is_empty() || given.len() > NUMBERS_MAX {
            let reason = if given.is_empty() { "nothing-found" } else { "too-many" };
            return Ok(Verdict::graded(false).because(reason));
        }
        let weight = |row: usize, column: usize| {
            let pair = given.get(row).zip(wanted.get(column));
            f64::from(u8::from(pair.is_some_and(|(one, two)| tolerance.accepts(*one, *two))))
        };
        let assign = if self.free_order { assignment::best } else { assignment::in_order };
        let pairs =
            assign(given.len(), wanted.len(), &weight, &mut |units| meter.spend(10 * units))?;
        let right = pairs.iter().flatten().count();
        let is_right = right == given.len() && right == wanted.len();
        #[expect(clippy::cast_precision_loss, reason = "lists are far shorter than 2^53")]
        let f1 = 2.0 * right as f64 / (given.len() + wanted.len()) as f64;
        let partial = self.partial;
        let verdict = said.verdict(is_right, |stands| {
            if is_right { Verdict::graded(stands) } else { share(if partial { f1 } else { 0.0 }) }
        });
        Ok(verdict.with("right", right).with("given", given.len()).with("wanted", wanted.len()))
    }

    fn gold(&self, sample: &Sample) -> Option<Vec<String>> {
        let numbers: Vec<String> =
            wanted(sample.reference()?).ok()?.iter().map(f64::to_string).collect();
        Some(vec![format!("<answer>{}</answer>", numbers.join(", "))])
    }
}

impl Numbers {
    fn tolerance(&self, sample: &Sample) -> Result<Tolerance, Fault> {
        let own = Tolerance { absolute: self.absolute, relative: self.relative };
        let Some(column) = &self.tolerance else { return Ok(own) };
        let bad = || {
            Fault::bad_input(format!("column \"{column}\" holds no tolerance: a number from 0 on"))
        };
        let value = sample.column(column).ok_or_else(bad)?;
        let part = |name: &str| match value.get(name) {
            None => Some(0.0),
            Some(part) => part.as_f64(),
        };
        let read = match value {
            Value::Object(_) => part("absolute").zip(part("relative")),
            value => value.as_f64().zip(Some(0.0)),
        };
        let read = read.filter(|(absolute, relative)| *absolute >= 0.0 && *relative >= 0.0);
        read.map(|(absolute, relative)| Tolerance { absolute, relative }).ok_or_else(bad)
    }
}

fn wanted(reference: &Value) -> Result<Vec<f64>, Fault> {
    let of = |value: &Value| match value {
        Value::Number(number) => number.as_f64().map(|number| vec![number]),
        Value::String(text) => Some(number::all(text, false)),
        _ => None,
    };
    let lists: Option<Vec<Vec<f64>>> = match reference {
        Value::Array(values) => values.iter().map(of).collect(),
        value => of(value).map(|list| vec![list]),
    };
    let all: Vec<f64> = lists.unwrap_or_default().concat();
    let is_list = !all.is_empty() && all.len() <= NUMBERS_MAX;
    if is_list { Ok(all) } else { Err(Fault::bad_reference("the reference holds no numbers")) }
}
