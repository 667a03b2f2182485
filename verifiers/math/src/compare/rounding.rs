//! Rounded numbers: the tolerance of a comparison.

use dashu_base::Signed as _;
use dashu_ratio::RBig;

use super::{Comparer, Side};
use crate::algebra::{Canon, approx};
use crate::number::small;
use crate::settings::Decimals;
use crate::stop::Stop;
use crate::values::{Decimal, Value};

/// The fewest digits of a number that is taken for a measurement.
const MEASURED: u32 = 3;
/// The fewest digits of a reference whose last one may have been cut off instead of rounded.
const CUT_OFF: u32 = 5;

impl Comparer<'_> {
    /// Whether the difference is explained by the rounding of one side.
    pub(crate) fn rounded(&mut self, one: &Side<'_>, two: &Side<'_>) -> Result<bool, Stop> {
        if let Some(slack) = self.slack(one, two)
            && self.within(one.value, two.value, &slack)?
        {
            return Ok(true);
        }
        self.cut_off(one, two)
    }

    /// The tolerance.
    fn slack(&self, one: &Side<'_>, two: &Side<'_>) -> Option<RBig> {
        if one.decimal.is_none() && two.decimal.is_none() {
            return None;
        }
        if let Decimals::Relative(eps) = self.decimals {
            let size = one
                .value
                .as_rational()
                .map(|value| if value.is_negative() { -value } else { value });
            return Some(RBig::try_from(*eps).ok()? * size.unwrap_or(RBig::ONE));
        }
        if *self.decimals == Decimals::Exact {
            return None;
        }
        match (&one.decimal, &two.decimal) {
            // A short decimal is as likely exact as rounded: another decimal must equal it. A
            // share in percent is a measurement with one digit less.
            (Some(want), Some(have)) => {
                let percent = one.percent && two.percent;
                let measured = want.significant + u32::from(percent) >= MEASURED;
                if measured && have.step < want.step {
                    return Some(half(want));
                }
                let digits = if percent { small(100, 1) } else { small(10, 1) };
                let coarser = have.step > want.step && have.step <= &want.step * digits;
                (coarser && have.significant >= MEASURED).then(|| half(have))
            }
            (Some(want), None) => {
                let long = want.significant >= MEASURED || !terminates(two.value);
                long.then(|| half(want))
            }
            // The reference is exact: only a number without a finite decimal may be rounded.
            (None, Some(have)) => {
                (have.significant >= 5 && !terminates(one.value)).then(|| half(have))
            }
            (None, None) => None,
        }
    }

    /// Whether the reference is the answer truncated to its digits.
    fn cut_off(&mut self, one: &Side<'_>, two: &Side<'_>) -> Result<bool, Stop> {
        let (Some(want), None, Decimals::ReferenceDigits) =
            (&one.decimal, &two.decimal, self.decimals)
        else {
            return Ok(false);
        };
        let Some(value) = one.value.as_rational() else { return Ok(false) };
        if want.significant < CUT_OFF || terminates(two.value) {
            return Ok(false);
        }
        let half = half(want);
        let middle = if value.is_negative() { value - &half } else { value + &half };
        self.within(&Canon::rational(middle), two.value, &half)
    }

    fn within(&mut self, one: &Canon, two: &Canon, slack: &RBig) -> Result<bool, Stop> {
        let difference = self.cx.sub(one, two)?;
        if let Some(value) = difference.as_rational() {
            let size = if value.is_negative() { -value } else { value };
            return Ok(size <= *slack);
        }
        let near = approx(self.cx, &difference);
        Ok(near.is_some_and(|(near, error)| near.abs() + error <= slack.to_f64_fast()))
    }
}

/// The list, point or matrix with as many decimal places in each entry as the longest has, where that one
/// is a measurement: beside 0.196, 0.29 is 0.290. `None` where nothing changes.
pub(crate) fn with_common_places(value: &Value) -> Option<Value> {
    let mut value = value.clone();
    let mut entries: Vec<&mut Decimal> = match &mut value {
        Value::Matrix(rows) => rows.iter_mut().flatten().filter_map(decimal_of).collect(),
        Value::Tuple { items, .. } | Value::List(items) => {
            items.iter_mut().filter_map(decimal_of).collect()
        }
        _ => return None,
    };
    let finest = entries.iter().min_by(|one, two| one.step.cmp(&two.step))?;
    let (step, significant) = (finest.step.clone(), finest.significant);
    if significant < MEASURED || entries.iter().all(|entry| entry.step == step) {
        return None;
    }
    for entry in &mut entries {
        while entry.step > step {
            entry.step = &entry.step * small(1, 10);
            entry.significant += 1;
        }
    }
    Some(value)
}

fn decimal_of(value: &mut Value) -> Option<&mut Decimal> {
    match value {
        Value::Scalar(scalar) => scalar.decimal.as_mut(),
        _ => None,
    }
}

fn half(decimal: &Decimal) -> RBig {
    &decimal.step * small(1, 2)
}

/// Whether the value can be written as a finite decimal.
fn terminates(value: &Canon) -> bool {
    let Some(value) = value.as_rational() else { return false };
    let mut rest = value.denominator().clone();
    for prime in [2u8, 5] {
        rest.remove(&prime.into());
    }
    rest.is_one()
}
