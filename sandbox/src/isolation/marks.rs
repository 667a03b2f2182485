//! Marks are tuples that stand for values which are not plain. Here each becomes the plain value
//! that the host compares, where there is one.

use num_bigint::BigInt;

use crate::value::PyValue;

/// Digits of a decimal that is written out.
const DIGITS_MAX: i64 = 400;

/// The plain value behind marks: of dictionaries of other classes, of values of classes derived
/// from plain ones, and of numbers and dates of the standard library, which JSON has as numbers and
/// as text.
pub(super) fn unmarked(value: PyValue) -> Option<PyValue> {
    match value {
        PyValue::List(items) => Some(PyValue::List(all_unmarked(items)?)),
        PyValue::Dict(pairs) => Some(PyValue::Dict(pairs_unmarked(pairs)?)),
        PyValue::Tuple(items) if items.first() == Some(&PyValue::Ellipsis) => meant(items),
        PyValue::Tuple(items) => Some(PyValue::Tuple(all_unmarked(items)?)),
        value => Some(value),
    }
}

fn meant(mut items: Vec<PyValue>) -> Option<PyValue> {
    let Some(PyValue::Str(kind)) = items.get(1).cloned() else { return None };
    let payload = items.pop()?;
    match (kind.as_slice(), payload, items.pop()) {
        (b"t", PyValue::List(items), _) => Some(PyValue::Tuple(all_unmarked(items)?)),
        (b"e", _, _) => Some(PyValue::Ellipsis),
        (b"y", bytes @ PyValue::Bytes(_), _) => Some(bytes),
        (b"s", value, _) => unmarked(value),
        (b"C" | b"O", PyValue::List(pairs), _) => {
            let pairs = pairs.into_iter().map(pair).collect::<Option<_>>()?;
            Some(PyValue::Dict(pairs_unmarked(pairs)?))
        }
        (b"D", PyValue::Str(text), _) => decimal(std::str::from_utf8(&text).ok()?),
        (b"Q", PyValue::Int(below), Some(PyValue::Int(above))) => fraction(&above, &below),
        (b"d", PyValue::List(parts), Some(PyValue::Str(name))) => {
            written(&name, &parts).map(|text| PyValue::Str(text.into_bytes()))
        }
        _ => None,
    }
}

fn all_unmarked(items: Vec<PyValue>) -> Option<Vec<PyValue>> {
    items.into_iter().map(unmarked).collect()
}

fn pairs_unmarked(pairs: Vec<(PyValue, PyValue)>) -> Option<Vec<(PyValue, PyValue)>> {
    pairs.into_iter().map(|(key, value)| Some((unmarked(key)?, unmarked(value)?))).collect()
}

fn pair(item: PyValue) -> Option<(PyValue, PyValue)> {
    let PyValue::Tuple(items) = item else { return None };
    let [key, value] = <[PyValue; 2]>::try_from(items).ok()?;
    Some((key, value))
}

/// The number that a `Decimal` is, or the float nearest to it.
fn decimal(text: &str) -> Option<PyValue> {
    let (digits, exponent) = text.split_once(['E', 'e']).unwrap_or((text, "0"));
    let (whole, decimals) = digits.split_once('.').unwrap_or((digits, ""));
    let decimals = decimals.trim_end_matches('0');
    let shift = exponent.parse::<i64>().ok()? - i64::try_from(decimals.len()).ok()?;
    let written = format!("{whole}{decimals}");
    let is_written_out = i64::try_from(written.len()).ok()? + shift.abs() <= DIGITS_MAX;
    match written.parse::<BigInt>() {
        Ok(number) if number == BigInt::ZERO => Some(PyValue::Int(number)),
        Ok(_) if !is_written_out => None,
        Ok(number) => {
            let ten = BigInt::from(10);
            let scale = ten.pow(u32::try_from(shift.unsigned_abs()).ok()?);
            if shift >= 0 {
                return Some(PyValue::Int(number * scale));
            }
            if &number % &scale == BigInt::ZERO {
                return Some(PyValue::Int(number / scale));
            }
            text.parse().ok().map(PyValue::Float)
        }
        // `NaN` and `Infinity`.
        Err(_) => text.parse().ok().map(PyValue::Float),
    }
}

/// The number that a `Fraction` is, or the float nearest to it.
fn fraction(above: &BigInt, below: &BigInt) -> Option<PyValue> {
    if *below <= BigInt::ZERO {
        return None;
    }
    if above % below == BigInt::ZERO {
        return Some(PyValue::Int(above / below));
    }
    // Sixty-four bits of the quotient and a sticky bit below them round as the whole quotient
    // would.
    let shift = 66 + i64::try_from(below.bits()).ok()? - i64::try_from(above.bits()).ok()?;
    let places = u64::try_from(shift.max(0)).ok()?;
    let scaled: BigInt = (above << places) / below;
    let is_exact = &scaled * below == above << places;
    let sticky: BigInt = (scaled << 1) + if is_exact { 0 } else { above_sign(above) };
    let value: f64 = sticky.to_string().parse().ok()?;
    let power = i32::try_from(places + 1).ok()?;
    // Two steps, so that neither power leaves the range of floats before the value does.
    let half = power / 2;
    Some(PyValue::Float(value * 2_f64.powi(-half) * 2_f64.powi(half - power)))
}

fn above_sign(above: &BigInt) -> i32 {
    if *above < BigInt::ZERO { -1 } else { 1 }
}

/// A date or a time as JSON has it: in ISO 8601, as `isoformat()` writes it.
fn written(name: &[u8], parts: &[PyValue]) -> Option<String> {
    let (zone, numbers) = match parts.split_last() {
        Some((zone @ PyValue::Tuple(_), numbers)) => (offset(zone)?, numbers),
        _ => (String::new(), parts),
    };
    let numbers: Vec<i64> = numbers.iter().map(small).collect::<Option<_>>()?;
    let time = |hour: i64, minute: i64, second: i64, micros: i64| {
        let rest = if micros == 0 { String::new() } else { format!(".{micros:06}") };
        format!("{hour:02}:{minute:02}:{second:02}{rest}{zone}")
    };
    match (name, numbers.as_slice()) {
        (b"date", [year, month, day]) => Some(format!("{year:04}-{month:02}-{day:02}")),
        (b"time", [hour, minute, second, micros]) => Some(time(*hour, *minute, *second, *micros)),
        (b"datetime", [year, month, day, hour, minute, second, micros]) => {
            let time = time(*hour, *minute, *second, *micros);
            Some(format!("{year:04}-{month:02}-{day:02}T{time}"))
        }
        _ => None,
    }
}

/// `+02:00`, of the mark of a time zone.
fn offset(zone: &PyValue) -> Option<String> {
    let PyValue::Tuple(items) = zone else { return None };
    let [PyValue::Ellipsis, PyValue::Str(_), PyValue::List(delta), _] = items.as_slice() else {
        return None;
    };
    let [days, seconds, _] = delta.as_slice() else { return None };
    let seconds = small(days)?.checked_mul(86_400)?.checked_add(small(seconds)?)?;
    let (sign, minutes) = (if seconds < 0 { '-' } else { '+' }, seconds.unsigned_abs() / 60);
    Some(format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60))
}

fn small(value: &PyValue) -> Option<i64> {
    let PyValue::Int(number) = value else { return None };
    i64::try_from(number).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(number: i64) -> PyValue {
        PyValue::Int(number.into())
    }

    fn mark(items: impl IntoIterator<Item = PyValue>) -> PyValue {
        PyValue::Tuple([PyValue::Ellipsis].into_iter().chain(items).collect())
    }

    fn text(text: &str) -> PyValue {
        PyValue::Str(text.as_bytes().to_vec())
    }

    #[test]
    fn decimals_are_numbers() {
        let of = |value: &str| unmarked(mark([text("D"), text(value)]));
        for (value, whole) in
            [("2", 2), ("2.00", 2), ("2E+2", 200), ("-0.0", 0), ("1.5E+1", 15), ("120E-1", 12)]
        {
            assert_eq!(of(value), Some(int(whole)), "{value}");
        }
        assert_eq!(of("0.15"), Some(PyValue::Float(0.15)));
        assert_eq!(of("-1.5E-3"), Some(PyValue::Float(-0.0015)));
        assert_eq!(of("Infinity"), Some(PyValue::Float(f64::INFINITY)));
        assert!(matches!(of("NaN"), Some(PyValue::Float(value)) if value.is_nan()));
        assert_eq!(of("1E+999999999"), None);
        assert_eq!(of("0E+999999999"), Some(int(0)));
        assert_eq!(of("x"), None);
    }

    #[test]
    fn fractions_are_numbers() {
        let of = |above: i64, below: i64| unmarked(mark([text("Q"), int(above), int(below)]));
        assert_eq!(of(6, 3), Some(int(2)));
        assert_eq!(of(1, 0), None);
        for (above, below) in
            [(1_i32, 3_i32), (-1, 3), (2, 7), (355, 113), (1, 8), (-22, 7), (1, 1_000_003)]
        {
            let value = f64::from(above) / f64::from(below);
            assert_eq!(
                of(above.into(), below.into()),
                Some(PyValue::Float(value)),
                "{above}/{below}"
            );
        }
    }

    #[test]
    fn dates_are_text() {
        let of = |name: &str, parts: Vec<PyValue>| {
            unmarked(mark([text("d"), text(name), PyValue::List(parts)]))
        };
        let numbers = |parts: &[i64]| parts.iter().copied().map(int).collect::<Vec<_>>();
        assert_eq!(of("date", numbers(&[2024, 2, 9])), Some(text("2024-02-09")));
        assert_eq!(of("time", numbers(&[1, 2, 3, 40])), Some(text("01:02:03.000040")));
        let mut parts = numbers(&[2024, 2, 9, 1, 2, 3, 0]);
        assert_eq!(of("datetime", parts.clone()), Some(text("2024-02-09T01:02:03")));
        let west = PyValue::List(numbers(&[-1, 66_600, 0]));
        parts.push(mark([text("z"), west, PyValue::None]));
        assert_eq!(of("datetime", parts), Some(text("2024-02-09T01:02:03-05:30")));
        assert_eq!(of("timedelta", numbers(&[1, 2, 3])), None);
    }
}
