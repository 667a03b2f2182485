//! Functions of the numbers of a segment: the rows of a group, the steps of a row.

use std::borrow::Cow;

use super::elementwise::truth;
use super::functions::{Divisor, Function};
use super::tree::{MISSING, is_missing};
use crate::stats::{float, quantile};

/// A column to a number. `further` are the arguments after the column.
pub(super) fn reduced(function: Function, column: &[f64], further: &[f64]) -> f64 {
    let present = present(column);
    let values = &*present;
    if values.iter().any(|value| value.is_nan()) {
        return if function == Function::Count { float(values.len()) } else { f64::NAN };
    }
    let least = || values.iter().copied().reduce(f64::min);
    let found = match function {
        Function::Sum => Some(sum(values)),
        Function::Product => Some(values.iter().product()),
        Function::Mean => mean(values),
        Function::Median => quantile(values, 0.5),
        Function::Quantile => further.first().and_then(|share| quantile(values, *share)),
        Function::Least => least(),
        Function::Greatest => values.iter().copied().reduce(f64::max),
        Function::Count => Some(float(values.len())),
        Function::Any => Some(truth(values.iter().any(|value| *value != 0.0))),
        Function::All => Some(truth(values.iter().all(|value| *value != 0.0))),
        Function::First => values.first().copied(),
        Function::Last => values.last().copied(),
        Function::Var(deviation) => Some(variance(values, deviation)),
        Function::Std(deviation) => Some(variance(values, deviation).sqrt()),
        _ => Some(f64::NAN),
    };
    found.unwrap_or(MISSING)
}

/// A column to a column.
pub(super) fn scanned(function: Function, column: &[f64], further: &[f64], out: &mut [f64]) {
    let argument = further.first().copied();
    match function {
        Function::Zscore(deviation) => zscore(column, deviation, argument.unwrap_or(0.0), out),
        Function::Rank => rank(column, out),
        Function::Sort => {
            out.copy_from_slice(column);
            // Missing numbers are NaN, which come last.
            out.sort_by(f64::total_cmp);
        }
        Function::Index => {
            for (at, out) in out.iter_mut().enumerate() {
                *out = float(at);
            }
        }
        Function::CumulativeSum => running(column, out, 0.0, |sum, value| sum + value),
        Function::CumulativeProduct => running(column, out, 1.0, |product, value| product * value),
        Function::CumulativeMin => running(column, out, f64::INFINITY, f64::min),
        Function::Difference => {
            let before = std::iter::once(0.0).chain(column.iter().copied());
            for ((out, value), before) in out.iter_mut().zip(column).zip(before) {
                *out = if is_missing(before) { before } else { value - before };
                if is_missing(*value) {
                    *out = MISSING;
                }
            }
        }
        Function::Shift => shift(column, argument.unwrap_or(0.0), out),
        Function::Ema => {
            let decay = argument.unwrap_or(0.0);
            let mut former: Option<f64> = None;
            for (out, value) in out.iter_mut().zip(column).filter(|(_, value)| !is_missing(**value))
            {
                let next = former.map_or(*value, |former| decay * former + (1.0 - decay) * value);
                former = Some(next);
                *out = next;
            }
            missing_stay(column, out);
        }
        Function::Discounted => {
            let gamma = argument.unwrap_or(1.0);
            let mut sum = 0.0;
            for (out, value) in out.iter_mut().zip(column).rev() {
                sum = gamma * sum + if is_missing(*value) { 0.0 } else { *value };
                *out = sum;
            }
        }
        _ => out.fill(f64::NAN),
    }
}

/// A column to a column, over the places of an equal key.
#[expect(
    clippy::indexing_slicing,
    reason = "the column, its keys and the result are of one length"
)]
pub(super) fn keyed(function: Function, column: &[f64], keys: &[f64], out: &mut [f64]) {
    let mut places: Vec<(u64, usize)> =
        keys.iter().enumerate().map(|(at, key)| (unsigned(*key).to_bits(), at)).collect();
    places.sort_unstable();
    for equal in places.chunk_by(|one, other| one.0 == other.0) {
        let values: Vec<f64> = equal.iter().map(|place| column[place.1]).collect();
        let of = match function {
            Function::SumBy => Function::Sum,
            Function::MeanBy => Function::Mean,
            Function::CountBy => Function::Count,
            Function::MinBy => Function::Least,
            Function::MaxBy => Function::Greatest,
            Function::StdBy(deviation) => Function::Std(deviation),
            other => other,
        };
        let value = reduced(of, &values, &[]);
        for (_, place) in equal {
            out[*place] = value;
        }
    }
}

/// The number, and 0 for -0, which equals it.
fn unsigned(number: f64) -> f64 {
    if number == 0.0 { 0.0 } else { number }
}

/// The numbers that are there.
fn present(column: &[f64]) -> Cow<'_, [f64]> {
    if column.iter().any(|value| is_missing(*value)) {
        column.iter().copied().filter(|value| !is_missing(*value)).collect()
    } else {
        Cow::Borrowed(column)
    }
}

/// What is missing in the column stays missing.
fn missing_stay(column: &[f64], out: &mut [f64]) {
    for (out, _) in out.iter_mut().zip(column).filter(|(_, value)| is_missing(**value)) {
        *out = MISSING;
    }
}

fn running(column: &[f64], out: &mut [f64], start: f64, of: impl Fn(f64, f64) -> f64) {
    let mut last = start;
    for (out, value) in out.iter_mut().zip(column) {
        if !is_missing(*value) {
            last = of(last, *value);
        }
        *out = last;
    }
}

fn shift(column: &[f64], places: f64, out: &mut [f64]) {
    out.fill(MISSING);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast saturates")]
    let distance = places.abs().round_ties_even() as usize;
    let kept = column.len().saturating_sub(distance);
    let (from, to) = if places < 0.0 { (distance, 0) } else { (0, distance) };
    for (out, value) in out.iter_mut().skip(to).zip(column.iter().skip(from)).take(kept) {
        *out = *value;
    }
}

fn zscore(column: &[f64], deviation: Divisor, eps: f64, out: &mut [f64]) {
    let values = sorted(column);
    let mean = reduced(Function::Mean, &values, &[]);
    let unit = reduced(Function::Std(deviation), &values, &[]) + eps;
    let is_constant = values.first() == values.last();
    for (out, value) in out.iter_mut().zip(column) {
        *out = if is_constant || unit == 0.0 { 0.0 } else { (value - mean) / unit };
    }
    missing_stay(column, out);
}

/// The numbers that are there, in ascending order: sums of them do not depend on the order of rows.
pub(super) fn sorted(column: &[f64]) -> Vec<f64> {
    let mut values = present(column).into_owned();
    values.sort_by(f64::total_cmp);
    values
}

/// Ranks from 1; equal numbers share the mean of theirs.
#[expect(clippy::indexing_slicing, reason = "the result is as long as the column")]
fn rank(column: &[f64], out: &mut [f64]) {
    let mut places: Vec<(f64, usize)> = column
        .iter()
        .copied()
        .map(unsigned)
        .zip(0..)
        .filter(|(own, _)| !is_missing(*own))
        .collect();
    places.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut before = 0;
    for equal in places.chunk_by(|one, other| one.0.total_cmp(&other.0).is_eq()) {
        let rank = float(before) + 0.5 * (float(equal.len()) + 1.0);
        before += equal.len();
        for (_, place) in equal {
            out[*place] = rank;
        }
    }
    missing_stay(column, out);
}

/// The sum, in the order of the numbers, compensated by Neumaier's algorithm.
fn sum(values: &[f64]) -> f64 {
    let (mut sum, mut lost) = (0.0_f64, 0.0_f64);
    for value in values {
        let next = sum + value;
        lost += if sum.abs() >= value.abs() { (sum - next) + value } else { (value - next) + sum };
        sum = next;
    }
    if lost.is_nan() { sum } else { sum + lost }
}

fn mean(values: &[f64]) -> Option<f64> {
    let first = *values.first()?;
    // The mean of equal numbers is each of them, whatever rounding says.
    #[expect(clippy::float_cmp, reason = "numbers that are equal to the bit")]
    let is_constant = values.iter().all(|value| *value == first);
    Some(if is_constant { first } else { sum(values) / float(values.len()) })
}

fn variance(values: &[f64], deviation: Divisor) -> f64 {
    let less = usize::from(deviation == Divisor::Sample);
    let Some(mean) = mean(values).filter(|_| values.len() > 1) else { return 0.0 };
    let squares: Vec<f64> = values.iter().map(|value| (value - mean) * (value - mean)).collect();
    sum(&squares) / float(values.len() - less)
}
