//! The fast path: an integer against an integer, without a syntax tree.

/// `18`, `-7`, `$1,234`: digits, perhaps in groups of three.
pub(crate) fn integer(text: &str) -> Option<i64> {
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
    use super::integer;

    #[test]
    fn plain_whole_numbers_only() {
        assert_eq!(integer("18"), Some(18));
        assert_eq!(integer("-7"), Some(-7));
        assert_eq!(integer("$1,234"), Some(1234));
        assert_eq!(integer("007"), Some(7));
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
            assert_eq!(integer(text), None, "{text}");
        }
    }
}
