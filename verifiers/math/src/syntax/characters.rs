//! Normalisation of Unicode characters: superscripts, fractions, digits of other scripts.

use std::borrow::Cow;

const RAISED: &str = "⁰¹²³⁴⁵⁶⁷⁸⁹";
/// Characters with their LaTeX equivalent.
#[rustfmt::skip]
const MEANINGS: &[(char, &str)] = &[
    ('½', "\\frac12"), ('⅓', "\\frac13"), ('⅔', "\\frac23"), ('¼', "\\frac14"), ('¾', "\\frac34"),
    ('⅕', "\\frac15"), ('⅖', "\\frac25"), ('⅗', "\\frac35"), ('⅘', "\\frac45"), ('⅙', "\\frac16"),
    ('⅚', "\\frac56"), ('⅐', "\\frac17"), ('⅛', "\\frac18"), ('⅜', "\\frac38"), ('⅝', "\\frac58"),
    ('⅞', "\\frac78"), ('⅑', "\\frac19"), ('⅒', "\\frac1{10}"), ('∛', "\\sqrt[3]"), ('∜', "\\sqrt[4]"),
    ('″', "''"), ('¬', "\\neg "), ('ℕ', "\\mathbb{N}"), ('ℤ', "\\mathbb{Z}"), ('ℚ', "\\mathbb{Q}"),
    ('ℂ', "\\mathbb{C}"), ('٫', "."), ('٬', "{,}"), ('．', "."), ('㎜', "mm"), ('㎝', "cm"), ('㎞', "km"), ('㎡', "m^2"),
    ('㎥', "m^3"), ('㎎', "mg"), ('㎏', "kg"), ('㎖', "mL"), ('㎚', "nm"), ('㎛', "µm"), ('㎐', "Hz"),
    ('㎾', "kW"),
    // \frac, \text and \boxed after an escape sequence was taken for the control character.
    ('\u{c}', "\\f"), ('\t', "\\t"), ('\u{8}', "\\b"),
];
/// The zeros of scripts whose digits follow each other: Arabic, Persian, Devanagari, Bengali, Thai.
const ZEROS: [char; 5] = ['٠', '۰', '०', '০', '๐'];
/// The first and the last of the full-width forms, and how far they lie from ASCII.
const WIDE: (u32, u32, u32) = (0xFF01, 0xFF5E, 0xFEE0);

/// The text with normalised characters; commands that lost their backslash to an escape sequence
/// have it again.
pub(crate) fn cleaned(text: &str) -> Cow<'_, str> {
    let plain = |byte: u8| (b' '..0x80).contains(&byte) || matches!(byte, b'\n' | b'\r');
    if text.bytes().all(plain) || !text.contains(is_special) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut raised = false;
    for c in text.chars() {
        let digit = RAISED.chars().position(|have| have == c);
        if (digit.is_some() || c == '⁻') != raised {
            out.push_str(if raised { "}" } else { "^{" });
            raised = !raised;
        }
        if let Some(digit) = digit {
            out.extend(u32::try_from(digit).ok().and_then(|digit| char::from_digit(digit, 10)));
        } else if c == '⁻' {
            out.push('-');
        } else if let Some((_, meaning)) = MEANINGS.iter().find(|(have, _)| *have == c) {
            out.push_str(meaning);
        } else {
            out.push(plain_form(c).unwrap_or(c));
        }
    }
    if raised {
        out.push('}');
    }
    // Tabs that are not part of a command are spaces again.
    Cow::Owned(if out.contains("\\t") { restore_tabs(&out) } else { out })
}

fn is_special(c: char) -> bool {
    (c < ' ' && !matches!(c, '\n' | '\r'))
        || c >= '\u{80}'
            && (RAISED.contains(c)
                || c == '⁻'
                || MEANINGS.iter().any(|(have, _)| *have == c)
                || plain_form(c).is_some())
}

/// The ASCII character that a digit of another script or a full-width form stands for.
fn plain_form(c: char) -> Option<char> {
    let code = u32::from(c);
    let (first, last, distance) = WIDE;
    if (first..=last).contains(&code) {
        return char::from_u32(code - distance);
    }
    let digit =
        ZEROS.iter().find_map(|zero| code.checked_sub(u32::from(*zero)).filter(|d| *d < 10));
    digit.and_then(|digit| char::from_digit(digit, 10))
}

fn restore_tabs(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\\t") {
        let (head, tail) = rest.split_at(at);
        out.push_str(head);
        let after = &tail[2..];
        let command = [
            "ext", "imes", "frac", "heta", "an", "au", "o", "binom", "riangle", "ilde", "herefore",
        ];
        out.push_str(if command.iter().any(|name| after.starts_with(name)) { "\\t" } else { " " });
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::cleaned;

    #[test]
    fn characters_of_one_meaning_are_written_alike() {
        for (text, wanted) in [
            ("x^2", "x^2"),
            ("x²", "x^{2}"),
            ("１２．５", "12.5"),
            ("٤٢", "42"),
            ("४२", "42"),
            ("１，２", "1,2"),
            ("2½", "2\\frac12"),
            ("∛8", "\\sqrt[3]8"),
            ("ℤ", "\\mathbb{Z}"),
        ] {
            assert_eq!(cleaned(text), wanted, "{text}");
        }
    }
}
