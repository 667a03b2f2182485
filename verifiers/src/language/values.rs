//! Values of a text, in the form in which they are compared.

use std::ops::Range;

use super::sentences::{foreign_digit, is_unspaced};

/// Signs by which a number is a part of a formula, or another form of the answer.
const PARTS: &str = "/%^=+×·÷\\";

/// A value as it is compared: a number by its digits, an option by its letter, a formula as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Number(String),
    Letter(char),
    Formula(String),
}

impl Value {
    /// Whether one may be offered in place of the other.
    fn is_like(&self, other: &Self) -> bool {
        matches!(self, Self::Letter(_)) == matches!(other, Self::Letter(_))
    }

    /// Whether it is of the kind of an answer with these values, and none of them.
    pub(super) fn is_other(&self, own: &[Self]) -> bool {
        !own.contains(self) && own.iter().any(|one| one.is_like(self))
    }

    /// The values of an answer.
    pub(super) fn own(text: &str) -> Vec<Self> {
        let bare = text.trim_matches(['$', ' ', '*', '.', '{', '}']);
        if bare.contains(['\\', '^', '/', '+', '*']) && !text.contains(' ') {
            return vec![Self::formula(bare)];
        }
        Self::all(&text.replace("{,}", ","))
    }

    /// A formula, with fractions on one line.
    fn formula(text: &str) -> Self {
        let line = text.replace("}{", "/").replace("\\dfrac", "").replace("\\frac", "");
        let line = line.replace("\\div", "/").replace('÷', "/");
        Self::Formula(line.chars().filter(|c| !(c.is_whitespace() || "{}".contains(*c))).collect())
    }

    /// The values of a text.
    pub(super) fn all(text: &str) -> Vec<Self> {
        Self::places(text).into_iter().map(|(value, _)| value).collect()
    }

    /// The values of a text, and where they stand.
    pub(super) fn places(text: &str) -> Vec<(Self, Range<usize>)> {
        let mut values = Vec::new();
        let mut start = 0;
        for (at, part) in text.split('$').enumerate() {
            // Between dollars is a formula, or a number.
            let is_formula =
                at % 2 == 1 && part.contains(|c: char| c.is_alphabetic() || PARTS.contains(c));
            if is_formula {
                values.push((Self::formula(part), start..start + part.len()));
            } else {
                Self::plain(part, start, &mut values);
            }
            start += part.len() + 1;
        }
        values
    }

    /// The numbers and letters of a text that starts at a place of another.
    fn plain(text: &str, start: usize, values: &mut Vec<(Self, Range<usize>)>) {
        let mut before = ' ';
        let mut at = 0;
        while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
            let rest = &text[at..];
            if c.is_numeric() && (!before.is_alphabetic() || is_unspaced(before)) {
                let end = at + number_end(rest);
                let next = text[end..].chars().find(|c| *c != ' ');
                // "2x" is a part of a formula.
                let mut behind = text[end..].chars();
                let is_factor = behind.next().is_some_and(|c| c.is_ascii_lowercase())
                    && !behind.next().is_some_and(char::is_alphabetic);
                if !(is_factor || PARTS.contains(before) || next.is_some_and(|c| PARTS.contains(c)))
                {
                    // Separators are left out: languages differ in them.
                    let digit = |c: char| foreign_digit(c).or(c.is_ascii_digit().then_some(c));
                    let digits = text[at..end].chars().filter_map(digit);
                    values.push((Self::Number(digits.collect()), start + at..start + end));
                }
                before = '0';
                at = end;
                continue;
            }
            let next = rest.chars().nth(1);
            let ends = next
                .is_none_or(|next| is_unspaced(next) || !next.is_alphanumeric() && next != '\'');
            // "I think", "O próximo passo", "Y así".
            let mut behind = rest.chars().skip(1);
            let is_word = "IOY".contains(c)
                && behind.next() == Some(' ')
                && behind.next().is_some_and(char::is_lowercase);
            let begins = is_unspaced(before) || !before.is_alphanumeric();
            if c.is_ascii_uppercase() && begins && ends && !is_word {
                values.push((Self::Letter(c), start + at..start + at + 1));
            }
            // "3 · 14 = 42": a sign is next to a number over a blank too.
            before = if c == ' ' && PARTS.contains(before) { before } else { c };
            at += c.len_utf8();
        }
    }
}

/// Where the number at the start of a text ends: digits, with separators between them.
fn number_end(text: &str) -> usize {
    let mut end = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let separates = ".,٬٫".contains(c) && chars.peek().is_some_and(|(_, c)| c.is_numeric());
        if !(c.is_numeric() || separates) {
            break;
        }
        end = at + c.len_utf8();
    }
    end
}
