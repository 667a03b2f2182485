//! Calculations that a text writes down (`<<48/2=24>>`, `48 / 2 = 24`), checked by exact fractions.

use std::ops::Range;

use crate::DEPTH_MAX;

/// A fraction in lowest terms; the denominator is positive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fraction {
    above: i128,
    below: i128,
}

impl Fraction {
    /// A fraction. `None` where the denominator is 0 or a part is out of range.
    pub fn new(above: i128, below: i128) -> Option<Self> {
        let divisor = greatest_divisor(above.unsigned_abs(), below.unsigned_abs());
        let divisor = i128::try_from(divisor).ok().filter(|divisor| *divisor != 0 && below != 0)?;
        let sign = if below < 0 { -1 } else { 1 };
        Some(Self {
            above: (above / divisor).checked_mul(sign)?,
            below: (below / divisor).checked_mul(sign)?,
        })
    }

    fn combine(self, other: Self, sign: char) -> Option<Self> {
        let (a, b, c, d) = (self.above, self.below, other.above, other.below);
        match sign {
            '+' => Self::new(a.checked_mul(d)?.checked_add(c.checked_mul(b)?)?, b.checked_mul(d)?),
            '-' => Self::new(a.checked_mul(d)?.checked_sub(c.checked_mul(b)?)?, b.checked_mul(d)?),
            '*' => Self::new(a.checked_mul(c)?, b.checked_mul(d)?),
            '/' => Self::new(a.checked_mul(d)?, b.checked_mul(c)?),
            '^' => {
                let power = u32::try_from(c.unsigned_abs()).ok().filter(|_| d == 1)?;
                let (above, below) = (a.checked_pow(power)?, b.checked_pow(power)?);
                if c < 0 { Self::new(below, above) } else { Self::new(above, below) }
            }
            _ => None,
        }
    }

    /// Whether another fraction is at most `1 / (2 * 10^digits)` away.
    fn rounds_to(self, other: Self, digits: u32) -> Option<bool> {
        let off = self.combine(other, '-')?;
        let scale = 10_i128.checked_pow(digits)?.checked_mul(2)?;
        Some(off.above.checked_abs()?.checked_mul(scale)? <= off.below)
    }
}

fn greatest_divisor(mut one: u128, mut two: u128) -> u128 {
    while two != 0 {
        (one, two) = (two, one % two);
    }
    one
}

/// What came of a calculation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The result is exact.
    Exact,
    /// The result is the value, rounded to the digits that it is written with.
    Rounded,
    /// The result is another number.
    Wrong,
    /// It does not parse, divides by zero, or needs more than 38 digits.
    Unreadable,
}

/// A calculation of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Calculation {
    /// Its bytes.
    pub span: Range<usize>,
    /// What came of it.
    pub outcome: Outcome,
}

/// The calculations in marks such as `<<` and `>>`. One without an operator is left out: it calculates
/// nothing. Linear in the text.
pub fn marked(text: &str, open: &str, close: &str) -> Vec<Calculation> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some((start, inner)) = text.get(at..).and_then(|rest| {
        let start = at + rest.find(open)? + open.len();
        Some((start, &text[start..start + text[start..].find(close)?]))
    }) {
        let span = start - open.len()..start + inner.len() + close.len();
        at = span.end;
        found.extend(judged(&signs(inner)).map(|outcome| Calculation { span, outcome }));
    }
    found
}

/// The calculations of prose: an expression with an operator, `=`, and a number, and what goes on in a chain
/// of these. Signs may be those of LaTeX, results in a box or emphasised. Linear in the text.
pub fn plain(text: &str) -> Vec<Calculation> {
    let text = signs(text);
    let is_part = |c: char| c.is_ascii_digit() || "+-*/^()., \u{a0}×·÷−%$€£x".contains(c);
    let mut found = Vec::new();
    for (at, _) in text.match_indices('=') {
        let before = text[..at]
            .rfind(|c: char| !is_part(c))
            .map_or(0, |end| text.ceil_char_boundary(end + 1));
        let behind =
            at + 1 + text[at + 1..].find(|c: char| !is_part(c)).unwrap_or(text.len() - at - 1);
        // "3 x 4" multiplies; what closes before a calculation is no part of it.
        let whole = &text[before..at];
        let left =
            [". ", ", "].iter().fold(whole, |left, mark| left.rsplit(mark).next().unwrap_or(left));
        let left = left[unopened(left)..].trim_start_matches(['x', ' ', ',', '.', ')']);
        let right = &text[at + 1..behind];
        let right = right[..unclosed(right)].trim_end_matches([' ', '.', ',', '(']);
        // "7 * 2 = 14 = 12": what stands between two signs is a side of both.
        let in_chain = text[..before].ends_with('=') && left.len() == whole.trim_start().len();
        let has_unit = text[behind..].starts_with(char::is_alphabetic);
        let outcome = equation(left, right, in_chain && !left.is_empty(), has_unit);
        let outcome = outcome.filter(|outcome| *outcome != Outcome::Unreadable);
        found.extend(
            outcome.map(|outcome| Calculation {
                span: at - left.len()..at + 1 + right.len(),
                outcome,
            }),
        );
    }
    found
}

/// Judges both sides of a sign. `None` where nothing is calculated.
fn equation(left: &str, right: &str, in_chain: bool, has_unit: bool) -> Option<Outcome> {
    // "3 * 4 = 12 + 5 = 17": the number alone may be meant, or all of the right side.
    let inner = right.trim_start();
    let signs = ['+', '*', '/', '^', '×', '·', '÷', ' ', '('];
    let length =
        inner.get(1..).and_then(|rest| rest.find(signs)).map_or(inner.len(), |end| end + 1);
    let number = inner[..length].trim_end_matches(['.', ',']);
    let judge = |right: &str| match (calculates(left), calculates(right)) {
        (true, _) => Some(compared(left, right)),
        (false, true) if in_chain => Some(compared(right, left)),
        _ if in_chain && !has_unit => {
            Some(compared(left, right)).filter(|outcome| *outcome == Outcome::Wrong)
        }
        _ => None,
    };
    if number.starts_with(|c: char| c.is_ascii_digit() || "-−$€£.".contains(c)) {
        let is_right = |outcome: &Outcome| matches!(outcome, Outcome::Exact | Outcome::Rounded);
        judge(number).filter(is_right).or_else(|| judge(right)).or_else(|| judge(number))
    } else if inner.starts_with('(') {
        judge(right)
    } else {
        None
    }
}

/// The end of the last bracket that opens in a text and does not close.
fn unopened(text: &str) -> usize {
    let mut depth = 0_usize;
    let open = text.char_indices().rev().find(|(_, c)| match c {
        ')' => {
            depth += 1;
            false
        }
        '(' if depth == 0 => true,
        '(' => {
            depth -= 1;
            false
        }
        _ => false,
    });
    open.map_or(0, |(at, _)| at + 1)
}

/// The start of the first bracket that closes in a text and does not open.
fn unclosed(text: &str) -> usize {
    let mut depth = 0_usize;
    let close = text.char_indices().find(|(_, c)| match c {
        '(' => {
            depth += 1;
            false
        }
        ')' if depth == 0 => true,
        ')' => {
            depth -= 1;
            false
        }
        _ => false,
    });
    close.map_or(text.len(), |(at, _)| at)
}

/// Commands of LaTeX and other signs, with the sign that they are.
const SIGNS: [(&str, char); 18] = [
    ("\\times", '*'),
    ("\\cdot", '*'),
    ("\\ast", '*'),
    ("\\div", '/'),
    ("\\left", ' '),
    ("\\right", ' '),
    ("\\$", '$'),
    ("\\%", '%'),
    ("\\,", ' '),
    ("\\;", ' '),
    ("\\ ", ' '),
    ("&", ' '),
    ("==", '='),
    ("∗", '*'),
    ("⋅", '*'),
    ("∙", '*'),
    ("\r", ' '),
    ("~", ' '),
];

/// Commands around a result.
const FRAMES: [&str; 6] =
    ["\\boxed{", "\\fbox{", "\\mathbf{", "\\textbf{", "\\text{", "\\underline{"];

/// A text with one form of signs, as many bytes long: what marks a result is blank, and so is a line break
/// beside `=`. An asterisk multiplies between operands.
fn signs(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    // What stands for each brace that is open, at its end; and the last character that is no blank.
    let (mut open, mut last) = (Vec::new(), '\n');
    while let Some(c) = text[out.len()..].chars().next() {
        let rest = &text[out.len()..];
        let next = |behind: &str| behind.trim_start_matches([' ', '$']).chars().next();
        let frame = FRAMES.iter().find(|name| rest.starts_with(**name));
        let sign = SIGNS.iter().find(|(name, _)| rest.starts_with(name));
        let (sign, length) = match (frame, sign, c) {
            (Some(frame), ..) => {
                open.push(' ');
                (' ', frame.len())
            }
            (_, Some((name, sign)), _) => (*sign, name.len()),
            (.., '{') => {
                open.push(if last == '^' { ')' } else { '}' });
                (if last == '^' { '(' } else { '{' }, 1)
            }
            (.., '}') => (open.pop().unwrap_or('}'), 1),
            (.., '*') => {
                let run = rest.len() - rest.trim_start_matches('*').len();
                let is_left = last.is_ascii_digit() || ")%*".contains(last);
                let is_right = |c: char| c.is_ascii_digit() || "(-−.".contains(c);
                let multiplies = is_left && next(&rest[run..]).is_some_and(is_right);
                if multiplies { ('*', 1) } else { (' ', run) }
            }
            (.., '\n') if last == '=' || next(&rest[1..]).is_some_and(|c| "=&".contains(c)) => {
                (' ', 1)
            }
            _ => (c, c.len_utf8()),
        };
        out.push(sign);
        out.extend(std::iter::repeat_n(' ', length - sign.len_utf8()));
        if sign != ' ' || c == '\n' {
            last = if c == '\n' { c } else { sign };
        }
    }
    out
}

/// Whether an operator stands in an expression.
fn calculates(text: &str) -> bool {
    let inner = text.trim().trim_start_matches(['-', '−', '(']);
    inner.contains(['+', '-', '−', '*', '×', '·', '/', '÷', '^', '%', 'x'])
}

/// Judges `a*b=c`. `None` where no operator stands in it.
fn judged(text: &str) -> Option<Outcome> {
    match text.rsplit_once('=') {
        None => Some(Outcome::Unreadable),
        Some((left, right)) => calculates(left).then(|| compared(left, right)),
    }
}

/// What comes of a calculation and its result.
fn compared(left: &str, right: &str) -> Outcome {
    let (Some(value), Some(result)) = (evaluate(left), evaluate(right)) else {
        return Outcome::Unreadable;
    };
    if value == result {
        return Outcome::Exact;
    }
    let written = right.trim().trim_end_matches('%');
    let digits = written.split_once('.').map_or(0, |(_, digits)| digits.len());
    let digits = digits + if right.contains('%') { 2 } else { 0 };
    let rounds = u32::try_from(digits).ok().and_then(|digits| value.rounds_to(result, digits));
    // A whole number stands for itself, unless the value is far above one.
    let may_round =
        digits > 0 || value.above.unsigned_abs() >= value.below.unsigned_abs().saturating_mul(100);
    if rounds == Some(true) && may_round { Outcome::Rounded } else { Outcome::Wrong }
}

/// The value of an expression of numbers, `+ - * / ^ ( )`, their typographic forms, and percent signs.
/// `None` where it does not parse, divides by zero or leaves the range. Linear in the text.
pub fn evaluate(text: &str) -> Option<Fraction> {
    let (mut values, mut signs): (Vec<Fraction>, Vec<char>) = (Vec::new(), Vec::new());
    let mut wants_operand = true;
    let text = text.replace("**", "^");
    let mut rest = text.trim();
    while let Some(first) = rest.chars().next() {
        let behind = &rest[first.len_utf8()..];
        rest = match first {
            ' ' | '\u{a0}' | '$' | '€' | '£' => behind,
            '0'..='9' | '.' if wants_operand => {
                let (value, behind) = decimal(rest)?;
                values.push(value);
                wants_operand = false;
                behind
            }
            '%' if !wants_operand => {
                let value = values.pop()?;
                values.push(value.combine(Fraction { above: 100, below: 1 }, '/')?);
                behind
            }
            '(' => {
                if !wants_operand {
                    push(&mut values, &mut signs, '*')?;
                }
                wants_operand = true;
                signs.push('(');
                behind
            }
            ')' if !wants_operand => {
                loop {
                    match signs.pop()? {
                        '(' => break,
                        sign => apply(&mut values, sign)?,
                    }
                }
                behind
            }
            '-' | '−' if wants_operand => {
                signs.push('~');
                behind
            }
            sign if !wants_operand => {
                let sign = match sign {
                    '+' | '-' | '*' | '/' | '^' => sign,
                    '−' => '-',
                    '×' | '·' | 'x' => '*',
                    '÷' => '/',
                    _ => return None,
                };
                push(&mut values, &mut signs, sign)?;
                wants_operand = true;
                behind
            }
            _ => return None,
        };
        if signs.len() > DEPTH_MAX {
            return None;
        }
    }
    while let Some(sign) = signs.pop() {
        apply(&mut values, sign)?;
    }
    values.pop().filter(|_| values.is_empty() && !wants_operand)
}

fn binds(sign: char) -> u8 {
    match sign {
        '(' => 0,
        '+' | '-' => 1,
        '*' | '/' => 2,
        '~' => 3,
        _ => 4,
    }
}

/// Adds an operator. Powers and signs group from the right.
fn push(values: &mut Vec<Fraction>, signs: &mut Vec<char>, sign: char) -> Option<()> {
    while let Some(last) = signs
        .pop_if(|last| binds(*last) > binds(sign) || binds(*last) == binds(sign) && sign != '^')
    {
        apply(values, last)?;
    }
    signs.push(sign);
    Some(())
}

fn apply(values: &mut Vec<Fraction>, sign: char) -> Option<()> {
    let last = values.pop()?;
    let value = match sign {
        '~' => last.combine(Fraction { above: -1, below: 1 }, '*')?,
        '(' => return None,
        sign => values.pop()?.combine(last, sign)?,
    };
    values.push(value);
    Some(())
}

/// A decimal with thousands separators, and what follows it.
fn decimal(text: &str) -> Option<(Fraction, &str)> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || ",.".contains(c))).unwrap_or(text.len());
    let written = text[..end].trim_end_matches([',', '.']);
    let (whole, fraction) = written.split_once('.').unwrap_or((written, ""));
    let mut groups = whole.split(',');
    let is_first_good = groups.next().is_some_and(|first| first.len() <= 3 || !whole.contains(','));
    if !is_first_good || !groups.all(|group| group.len() == 3) {
        return None;
    }
    let digits = format!("{}{fraction}", whole.replace(',', ""));
    let scale = 10_i128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    Some((Fraction::new(digits.parse().ok()?, scale)?, &text[written.len()..]))
}
