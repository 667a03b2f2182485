//! Numbers in a program's output.

use super::tolerance::Errors;

/// A decimal number that a float can hold, and whether it is written as an integer.
fn decimal(token: &str) -> Option<(f64, bool)> {
    let body = token.strip_prefix(['+', '-']).unwrap_or(token);
    let (mantissa, power) = match body.split_once(['e', 'E']) {
        Some((mantissa, power)) => (mantissa, Some(power)),
        None => (body, None),
    };
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mantissa_fine = digits(whole) && digits(part) && !(whole.is_empty() && part.is_empty());
    let power_fine = power.is_none_or(|power| {
        let power = power.strip_prefix(['+', '-']).unwrap_or(power);
        !power.is_empty() && digits(power)
    });
    let fine = mantissa_fine && power_fine;
    let number: f64 = fine.then(|| token.parse().ok()).flatten()?;
    number.is_finite().then_some((number, digits(body)))
}

/// Whether `got` is near enough. Two integers are never near: they are equal or not.
pub(super) fn near(expected: &str, got: &str, errors: Errors) -> bool {
    let (Some((expected, whole)), Some((got, got_whole))) = (decimal(expected), decimal(got))
    else {
        return false;
    };
    let off = (expected - got).abs();
    let allowed = errors.absolute.max(errors.relative * expected.abs());
    // Both were rounded when they were read: 1.01 is within 0.01 of 1.
    let rounding = if allowed > 0.0 { f64::EPSILON * expected.abs().max(got.abs()) } else { 0.0 };
    !(whole && got_whole) && off <= allowed + rounding
}

/// The number by which a token is sorted.
pub(super) fn value(token: &str) -> Option<f64> {
    decimal(token).map(|(number, _)| number + 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_decimal_numbers_are_near() {
        let errors = Errors { absolute: 0.5, relative: 0.0 };
        for (expected, got) in
            [("1", "1.5"), ("1e0", "1"), (".5", "0.25"), ("5.", "5.5"), ("-1.0", "-1")]
        {
            assert!(near(expected, got, errors), "{expected} {got}");
        }
        for (expected, got) in [
            ("1", "1.6"),
            ("1", "2"),
            ("nan", "nan"),
            ("NaN", "1.0"),
            ("1.0", "nan"),
            ("inf", "inf"),
            ("1e1000", "1e1000"),
            ("0x1p0", "1.0"),
            ("0x1", "1.0"),
            ("1.0", "1_0"),
            ("1.0", "."),
            ("1.0", "1e"),
            ("1.0", ""),
            ("1.0", "1.0f"),
            ("1,0", "1.0"),
            ("1.0", "١.0"),
            ("1.0", "--1.0"),
        ] {
            assert!(!near(expected, got, errors), "{expected} {got}");
        }
        assert!(!near("1.0", "1.0000000000000002", Errors { absolute: 0.0, relative: 0.0 }));
        assert!(near("1.0", "1.01", Errors { absolute: 0.01, relative: 0.0 }));
        let relative = Errors { absolute: 0.0, relative: 0.1 };
        assert!(near("100.0", "110", relative) && !near("100.0", "111", relative));
        assert!(!near("0.0", "0.001", relative) && !near("1.0", "1e300", relative));
    }
}
