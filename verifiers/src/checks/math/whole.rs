//! The shortest way: a whole number against a whole number, without a tree.

use super::Trial;
use super::compare::{Judged, Rung};
use crate::extract::{Candidate, Scope};

/// Judges the first announced answer where it and the reference are plain whole numbers: what the
/// long way would say.
pub(super) fn trial(
    reference: &str,
    scope: &Scope<'_>,
    announced: &[Candidate<'_>],
) -> Option<Trial> {
    let first = announced.first()?;
    let (want, have) = (number(reference)?, number(&first.text)?);
    let judged = if *first.text == *reference {
        Judged::Equal(Rung::Bytes)
    } else if want == have {
        Judged::Equal(Rung::Rational)
    } else {
        Judged::Unequal
    };
    Some(Trial {
        judged,
        extracted: Some(scope.taken(first.clone())),
        normal: have.to_string(),
        reference_normal: want.to_string(),
        refusal: None,
    })
}

/// `18`, `-7`, `$1,234`: digits, perhaps in groups of three.
fn number(text: &str) -> Option<i64> {
    let (negative, size) = match text.strip_prefix('-') {
        Some(size) => (true, size),
        None => (false, text.strip_prefix('$').unwrap_or(text)),
    };
    let (mut value, mut digits, mut group, mut grouped) = (0i64, 0usize, 0usize, false);
    for byte in size.bytes() {
        if byte.is_ascii_digit() {
            value = value.checked_mul(10)?.checked_add(i64::from(byte - b'0'))?;
            (digits, group) = (digits + 1, group + 1);
        } else if byte == b',' && if grouped { group == 3 } else { (1..=3).contains(&digits) } {
            (grouped, group) = (true, 0);
        } else {
            return None;
        }
    }
    let whole = digits > 0 && (!grouped || group == 3);
    whole.then_some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn plain_whole_numbers_only() {
        assert_eq!(number("18"), Some(18));
        assert_eq!(number("-7"), Some(-7));
        assert_eq!(number("$1,234"), Some(1234));
        assert_eq!(number("007"), Some(7));
        for text in [
            "",
            "-",
            "1.5",
            "1,22",
            "12,3456",
            "1234,567",
            ",123",
            "5$",
            "1 2",
            "9223372036854775808",
        ] {
            assert_eq!(number(text), None, "{text}");
        }
    }
}
