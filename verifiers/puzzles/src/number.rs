//! Numbers: exact fractions, and decimals as Python reads and compares them.

use std::cmp::Ordering;

/// A fraction in lowest terms; the denominator is positive. Every operation is `None` where a part
/// leaves 128 bits, or where the divisor is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ratio {
    above: i128,
    below: i128,
}

/// The greatest exponent of a power.
const POWER_MAX: i128 = 1000;

impl Ratio {
    /// A fraction.
    pub fn new(above: i128, below: i128) -> Option<Self> {
        let divisor = divisor(above.unsigned_abs(), below.unsigned_abs());
        let divisor = i128::try_from(divisor).ok().filter(|divisor| *divisor != 0 && below != 0)?;
        let sign = if below < 0 { -1 } else { 1 };
        Some(Self {
            above: (above / divisor).checked_mul(sign)?,
            below: (below / divisor).checked_mul(sign)?,
        })
    }

    /// A whole number.
    pub fn whole(value: i128) -> Self {
        Self { above: value, below: 1 }
    }

    /// The fraction that a decimal is, `12`, `1.5`, `.5` or `2e3`.
    pub fn parse(text: &str) -> Option<Self> {
        let decimal = DecimalNumber::parse(text)?;
        let digits: i128 =
            if decimal.digits.is_empty() { 0 } else { decimal.digits.parse().ok()? };
        let scale = 10_i128.checked_pow(u32::try_from(decimal.exponent.unsigned_abs()).ok()?)?;
        let signed = if decimal.negative { -digits } else { digits };
        if decimal.exponent < 0 {
            Self::new(signed, scale)
        } else {
            Some(Self::whole(signed.checked_mul(scale)?))
        }
    }

    /// The whole number that it is.
    pub fn integer(self) -> Option<i128> {
        (self.below == 1).then_some(self.above)
    }

    /// Its sum with another one.
    pub fn plus(self, other: Self) -> Option<Self> {
        let (left, right) =
            (self.above.checked_mul(other.below)?, other.above.checked_mul(self.below)?);
        Self::new(left.checked_add(right)?, self.below.checked_mul(other.below)?)
    }

    /// The negated value.
    pub fn negated(self) -> Option<Self> {
        Some(Self { above: self.above.checked_neg()?, below: self.below })
    }

    /// The difference.
    pub fn minus(self, other: Self) -> Option<Self> {
        self.plus(other.negated()?)
    }

    /// The product.
    pub fn times(self, other: Self) -> Option<Self> {
        Self::new(self.above.checked_mul(other.above)?, self.below.checked_mul(other.below)?)
    }

    /// The quotient.
    pub fn over(self, other: Self) -> Option<Self> {
        Self::new(self.above.checked_mul(other.below)?, self.below.checked_mul(other.above)?)
    }

    /// The greatest whole number that is not greater.
    #[must_use]
    pub fn floor(self) -> Self {
        Self::whole(self.above.div_euclid(self.below))
    }

    /// The whole number towards zero.
    pub fn truncated(self) -> i128 {
        self.above / self.below
    }

    /// A power with a whole exponent of at most 1000.
    pub fn power(self, exponent: Self) -> Option<Self> {
        let exponent = exponent.integer().filter(|power| power.abs() <= POWER_MAX)?;
        let power = u32::try_from(exponent.unsigned_abs()).ok()?;
        let (above, below) = (self.above.checked_pow(power)?, self.below.checked_pow(power)?);
        if exponent < 0 { Self::new(below, above) } else { Self::new(above, below) }
    }

    /// Whether the distance to another one is at most `1 / inverse`; `inverse` is positive.
    pub fn is_near(self, other: Self, inverse: i128) -> bool {
        let off = self.minus(other).and_then(|off| off.above.checked_abs()?.checked_mul(inverse));
        off.zip(self.minus(other)).is_some_and(|(scaled, off)| scaled <= off.below)
    }

    /// The nearest float.
    #[expect(clippy::cast_precision_loss, reason = "a float is what is asked for")]
    pub fn float(self) -> f64 {
        self.above as f64 / self.below as f64
    }
}

fn divisor(mut one: u128, mut two: u128) -> u128 {
    while two != 0 {
        (one, two) = (two, one % two);
    }
    one
}

/// A decimal number: `digits` times a power of 10. Digits have neither leading nor trailing zeros, so
/// equal values are equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecimalNumber {
    /// Below zero.
    pub negative: bool,
    /// The significant digits; none for zero.
    pub digits: String,
    /// The power of 10 by which the digits count.
    pub exponent: i64,
}

impl DecimalNumber {
    /// Reads `-1_000.50e-3`, with blanks around it. Infinities and NaN are none.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, exponent) = match text.find(['e', 'E']) {
            Some(at) => (&text[..at], text[at + 1..].parse::<i32>().ok()?),
            None => (text, 0),
        };
        let mantissa = mantissa.replace('_', "");
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((&mantissa, ""));
        let all = format!("{whole}{fraction}");
        if all.is_empty() || !all.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let exponent = i64::from(exponent) - i64::try_from(fraction.len()).ok()?;
        Some(Self::of(negative, &all, exponent))
    }

    fn of(negative: bool, digits: &str, exponent: i64) -> Self {
        let kept = digits.trim_end_matches('0');
        let zeros = i64::try_from(digits.len() - kept.len()).unwrap_or(i64::MAX);
        let kept = kept.trim_start_matches('0');
        if kept.is_empty() {
            return Self { negative: false, digits: String::new(), exponent: 0 };
        }
        Self { negative, digits: kept.to_owned(), exponent: exponent.saturating_add(zeros) }
    }

    /// Rounded to `count` significant digits, half to even.
    #[must_use]
    pub fn rounded(&self, count: usize) -> Self {
        let (Some(kept), Some(cut)) = (self.digits.get(..count), self.digits.get(count..)) else {
            return self.clone();
        };
        let half = format!("5{}", "0".repeat(cut.len().saturating_sub(1)));
        let odd = kept.bytes().last().is_some_and(|byte| byte % 2 == 1);
        let up = match cut.cmp(&half) {
            Ordering::Greater => true,
            Ordering::Equal => odd && !cut.is_empty(),
            Ordering::Less => false,
        };
        let exponent = self.exponent.saturating_add(i64::try_from(cut.len()).unwrap_or(i64::MAX));
        if !up {
            return Self::of(self.negative, kept, exponent);
        }
        let mut digits = vec![b'0'];
        digits.extend(kept.bytes());
        for digit in digits.iter_mut().rev() {
            if *digit == b'9' {
                *digit = b'0';
            } else {
                *digit += 1;
                break;
            }
        }
        Self::of(self.negative, &String::from_utf8_lossy(&digits), exponent)
    }
}

/// A whole number as Python's `int` reads it, within 128 bits: blanks around it, a sign, `_` between
/// digits.
pub fn integer(text: &str) -> Option<i128> {
    let text = text.trim();
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_sound = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_')
        && !digits.starts_with('_')
        && !digits.ends_with('_')
        && !digits.contains("__");
    if is_sound { text.replace('_', "").parse().ok() } else { None }
}

/// A float as Python's `float` reads it. Infinities and NaN are none.
pub fn float(text: &str) -> Option<f64> {
    let text = text.trim();
    DecimalNumber::parse(text)?;
    text.replace('_', "").parse().ok().filter(|value: &f64| value.is_finite())
}

/// A count as a float.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
pub fn count(value: usize) -> f64 {
    value as f64
}
