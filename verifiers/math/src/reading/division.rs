//! Quotients with remainders: "17 R 3", `17 \text{ R } 3`, "17 with a remainder of 3".

use super::pieces::{Piece, pieces};
use super::quantifiers::TEXT_MAX;
use crate::syntax::is_minus;

/// What may be before a quotient.
const LEADS: &[&str] = &["quotient", "q", "the", "is", "of", ":", "=", "商"];
/// Words for the remainder.
const REMAINDERS: &[&str] = &["r", "rem", "remainder", "remaining", "rest", "reste", "resto", "余"];
/// What may be around the word for the remainder.
#[rustfmt::skip]
const BESIDE: &[&str] = &[
    ",", ";", ".", ":", "=", "(", "with", "and", "a", "the", "has", "of", "is", "mit", "avec", "con", "数",
];

/// The quotient and the remainder of a text that is nothing else, in one way of writing.
pub(crate) fn quotient_with_remainder(text: &str) -> Option<String> {
    // Most texts have no letter of such a word.
    if text.len() > TEXT_MAX || !text.contains(['r', 'R', '余']) {
        return None;
    }
    // "122 \div 7 = 17 R 3"
    read(text).or_else(|| read(text.rsplit_once('=')?.1))
}

fn read(text: &str) -> Option<String> {
    let pieces = pieces(text);
    let (quotient, rest) = number(behind(&pieces, LEADS))?;
    let (word, rest) = behind(rest, BESIDE).split_first()?;
    let (remainder, rest) = number(behind(rest, BESIDE)).filter(|_| word.is(REMAINDERS))?;
    behind(rest, &[".", ")"]).is_empty().then(|| format!("{quotient} remainder {remainder}"))
}

/// The pieces behind those that are one of `words`.
fn behind<'p, 't>(pieces: &'p [Piece<'t>], words: &[&str]) -> &'p [Piece<'t>] {
    let skipped = pieces.iter().take_while(|piece| piece.is(words)).count();
    pieces.split_at(skipped).1
}

/// A whole number, perhaps in groups of three digits, and the pieces after it.
fn number<'p, 't>(pieces: &'p [Piece<'t>]) -> Option<(String, &'p [Piece<'t>])> {
    let is_negative = pieces.first().is_some_and(|piece| piece.text.starts_with(is_minus));
    let mut rest = pieces.get(usize::from(is_negative)..)?;
    let mut digits = String::new();
    while let Some((first, behind)) = rest.split_first()
        && first.text.starts_with(|c: char| c.is_ascii_digit())
        && (digits.is_empty() || first.text.len() == 3)
    {
        digits.push_str(first.text);
        let grouped = behind.split_first().filter(|(comma, tail)| {
            let next = tail
                .first()
                .is_some_and(|next| next.text.starts_with(|c: char| c.is_ascii_digit()));
            comma.text == "," && next
        });
        rest = grouped.map_or(behind, |(_, tail)| tail);
        if grouped.is_none() {
            break;
        }
    }
    let value = digits.trim_start_matches('0');
    let value = if value.is_empty() { "0" } else { value };
    let sign = if is_negative { "-" } else { "" };
    (!digits.is_empty()).then(|| (format!("{sign}{value}"), rest))
}

#[cfg(test)]
mod tests {
    use super::quotient_with_remainder;

    #[test]
    fn both_numbers_are_read() {
        for text in [
            "17 R 3",
            "17R3",
            "17 r 3",
            "17 r. 3",
            "17 \\text{ R } 3",
            "17\\,R\\,3",
            "17~\\mathrm{R}~3",
            "17 rem 3",
            "17 remainder 3",
            "17, remainder 3",
            "17 with a remainder of 3",
            "17 \\text{ remainder } 3",
            "17 (remainder 3)",
            "quotient 17, remainder 3",
            "q = 17, r = 3",
            "122 \\div 7 = 17 R 3",
            "商17余3",
            "17 Rest 3",
        ] {
            assert_eq!(quotient_with_remainder(text).as_deref(), Some("17 remainder 3"), "{text}");
        }
        assert_eq!(quotient_with_remainder("1,234 R 05").as_deref(), Some("1234 remainder 5"));
        assert_eq!(quotient_with_remainder("-4 R 0").as_deref(), Some("-4 remainder 0"));
        for text in [
            "51R",
            "R 3",
            "17",
            "17 R",
            "17 R 3 R 2",
            "17R^3",
            "17 or 3",
            "17 r x",
            "remainder 3",
            "17.5 R 3",
        ] {
            assert_eq!(quotient_with_remainder(text), None, "{text}");
        }
    }
}
