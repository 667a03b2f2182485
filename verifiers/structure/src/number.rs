//! Plain numbers: in cells of tables, in lists, before units.

use std::ops::Range;

/// How close two numbers must be to be equal: within an absolute distance, or within a share of the
/// second one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tolerance {
    /// The distance.
    pub absolute: f64,
    /// The share.
    pub relative: f64,
}

impl Tolerance {
    /// Whether a number is close enough to the wanted one. Decimals that differ by rounding of doubles
    /// alone are equal. What is out of range is close to nothing.
    pub fn accepts(self, number: f64, wanted: f64) -> bool {
        if !(number.is_finite() && wanted.is_finite()) {
            return false;
        }
        let off = (number - wanted).abs();
        let rounding = 4.0 * f64::EPSILON * number.abs().max(wanted.abs());
        off <= self.absolute + rounding || off <= self.relative * wanted.abs() + rounding
    }
}

/// A text that is one number and nothing else but a currency or a percent sign: `1,234.5`, `-3e8`,
/// `1/2`, `\frac{1}{2}`, `$18`, `37 %`. Linear in the text.
pub fn whole(text: &str) -> Option<f64> {
    const SIGNS: [char; 6] = ['$', '€', '£', '¥', '₹', ' '];
    let bare = text.trim().trim_end_matches(['%', ' ']);
    let bare = bare.strip_suffix('\\').filter(|_| text.contains("\\%")).unwrap_or(bare);
    let (sign, bare) = match bare.strip_prefix(['-', '−']) {
        Some(bare) => (-1.0, bare),
        None => (1.0, bare),
    };
    let bare = bare.strip_prefix("\\$").unwrap_or(bare);
    let bare = bare.trim_start_matches(SIGNS).trim_end_matches(SIGNS);
    let (span, value) = first(bare, 0)?;
    (span == (0..bare.len())).then_some(sign * value)
}

/// What stands at a place.
enum Read {
    Number(Range<usize>, f64),
    /// No number before this place.
    Skip(usize),
}

/// The first number from a byte on, with its bytes: digits with thousands separators, a fraction
/// (`3/4`, `\frac{3}{4}`, `1 1/2`, `1\frac12`, `½`), an exponent (`e5`, `×10^5`), a power (`10^{-3}`), a
/// sign. A digit within a word (`H2`), a script (`x^2`, `a_{1}`) or a root (`3\sqrt{2}`) begins none, and
/// what doubles cannot hold is none. Linear in the text.
pub fn first(text: &str, from: usize) -> Option<(Range<usize>, f64)> {
    let mut at = from;
    loop {
        let rest = text.get(at..)?;
        let begins = |c: char| c.is_ascii_digit() || c == '\\' || vulgar(c).is_some();
        let start = at + rest.find(begins)?;
        match if text[start..].starts_with('\\') {
            command(text, start)
        } else {
            digit(text, start)
        } {
            Read::Number(span, value) => return Some((span, value)),
            Read::Skip(end) => at = end,
        }
    }
}

/// All numbers of a text. Linear in the text.
pub fn all(text: &str) -> Vec<(Range<usize>, f64)> {
    let next = |last: &(Range<usize>, f64)| first(text, last.0.end);
    std::iter::successors(first(text, 0), next).collect()
}

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// Fractions of one character.
fn vulgar(c: char) -> Option<f64> {
    let (above, below) = match c {
        '¼'..='¾' => {
            [(1.0, 4.0), (1.0, 2.0), (3.0, 4.0)].get(c as usize - '¼' as usize).copied()?
        }
        '⅓'..='⅞' => VULGAR.get(c as usize - '⅓' as usize).copied()?,
        _ => return None,
    };
    Some(above / below)
}

#[rustfmt::skip]
const VULGAR: [(f64, f64); 12] = [
    (1.0, 3.0), (2.0, 3.0), (1.0, 5.0), (2.0, 5.0), (3.0, 5.0), (4.0, 5.0), (1.0, 6.0), (5.0, 6.0), (1.0, 8.0),
    (3.0, 8.0), (5.0, 8.0), (7.0, 8.0),
];

/// The most bytes of an argument of a command.
const ARGUMENT_BYTES_MAX: usize = 200;
/// Commands of fractions.
const FRACTIONS: [&str; 4] = ["\\frac", "\\dfrac", "\\tfrac", "\\cfrac"];

/// What the command at a place is: a fraction, or what has no number by itself.
fn command(text: &str, start: usize) -> Read {
    let rest = &text[start..];
    match fraction(rest) {
        Some((Some(value), length)) => signed(text, start..start + length, value),
        Some((None, length)) => Read::Skip(start + length),
        None if rest.starts_with("\\sqrt") => Read::Skip(start + root(rest)),
        None => {
            let letters = rest[1..].bytes().take_while(u8::is_ascii_alphabetic).count();
            Read::Skip(start + 1 + letters)
        }
    }
}

/// The fraction at the start of a text, `None` for one of no numbers; and its length.
fn fraction(text: &str) -> Option<(Option<f64>, usize)> {
    let mut rest = FRACTIONS.iter().find_map(|name| text.strip_prefix(name))?;
    let mut parts = [None; 2];
    for part in &mut parts {
        let (value, length) = argument(rest)?;
        *part = value;
        rest = &rest[length..];
    }
    let [above, below] = parts;
    let value = above.zip(below.filter(|below| *below != 0.0)).map(|(above, below)| above / below);
    Some((value, text.len() - rest.len()))
}

/// The argument of a command at the start of a text, as a number where it is one; and its length.
fn argument(text: &str) -> Option<(Option<f64>, usize)> {
    let rest = text.trim_start_matches(' ');
    let blank = text.len() - rest.len();
    let first = rest.chars().next()?;
    if first == '\\' {
        let letters = rest[1..].bytes().take_while(u8::is_ascii_alphabetic).count();
        return Some((None, blank + 1 + letters));
    }
    let Some(inner) = rest.strip_prefix('{') else {
        return Some((first.to_digit(10).map(f64::from), blank + first.len_utf8()));
    };
    let mut depth = 0_usize;
    let mut near = inner[..inner.floor_char_boundary(ARGUMENT_BYTES_MAX)].bytes();
    let length = near.position(|byte| {
        let closes = byte == b'}' && depth == 0;
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        closes
    })?;
    let inner = &inner[..length];
    let value = if inner.contains('\\') { None } else { whole(inner) };
    Some((value, blank + length + 2))
}

/// The length of `\sqrt[3]{2}` at the start of a text.
fn root(text: &str) -> usize {
    const NAME: usize = "\\sqrt".len();
    let rest = &text[NAME..];
    let near = &rest[..rest.floor_char_boundary(ARGUMENT_BYTES_MAX)];
    let degree = near.strip_prefix('[').and_then(|inner| inner.find(']')).map_or(0, |end| end + 2);
    NAME + degree + argument(&rest[degree..]).map_or(0, |(_, length)| length)
}

/// What the digit, or the fraction of one character, at a place begins.
fn digit(text: &str, start: usize) -> Read {
    let head = &text[..start];
    let before = head.chars().next_back();
    let rest = &text[start..];
    let is_script = head.ends_with(['^', '√']) || head.ends_with("^{") || head.ends_with("_{");
    if is_script || before.is_some_and(|c| c.is_alphabetic() || c == '_') {
        let length = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
        return Read::Skip(start + length);
    }
    match rest.chars().next().and_then(|c| Some((c, vulgar(c)?))) {
        Some((c, value)) => signed(text, start..start + c.len_utf8(), value),
        None => read(text, start),
    }
}

/// The number whose first digit is at `start`.
fn read(text: &str, start: usize) -> Read {
    let head = &text[..start];
    // ".5" is a half; a full stop before it ends a sentence.
    let has_point = head
        .strip_suffix('.')
        .is_some_and(|head| !head.ends_with(|c: char| c.is_alphanumeric() || c == '.'));
    let begin = start - usize::from(has_point);
    let mut end = start + digits(&text[start..]);
    let mut written = text[begin..end].to_owned();
    if !has_point {
        let may_group = end - start <= 3;
        while let Some(mark) = separator(&text[end..]).filter(|_| may_group) {
            written.push_str(&text[end + mark..end + mark + 3]);
            end += mark + 3;
        }
        let fraction = text[end..].strip_prefix('.').map_or(0, digits);
        if fraction > 0 {
            written.push_str(&text[end..=end + fraction]);
            end += 1 + fraction;
        }
    }
    let is_whole = !written.contains('.');
    let scale = exponent(&text[end..]);
    if let Some((length, power)) = &scale {
        written.push('e');
        written.push_str(power);
        end += length;
    }
    let mut value: f64 = written.parse().unwrap_or(f64::NAN);
    let (found, part, divisor) = (power(&text[end..]), part(&text[end..]), divisor(&text[end..]));
    if let Some((power, length)) = found.filter(|_| scale.is_none()) {
        value = value.powi(power);
        end += length;
    } else if let Some((part, length)) = part.filter(|_| scale.is_none() && is_whole) {
        value += part;
        end += length;
    } else if let Some((divisor, length)) = divisor.filter(|_| !has_point) {
        value /= divisor;
        end += length;
    }
    // "3\sqrt{2}" is no number that is written here.
    let behind = text[end..].trim_start_matches(' ');
    if behind.starts_with("\\sqrt") {
        return Read::Skip(text.len() - behind.len() + root(behind));
    }
    if behind.starts_with('√') {
        return Read::Skip(end);
    }
    signed(text, begin..end, value)
}

/// A number with the sign before it. A minus is a sign where no operand stands before it; one apart from
/// its number, where nothing does, or what opens a value. On a line of several it opens an item.
fn signed(text: &str, span: Range<usize>, value: f64) -> Read {
    if !value.is_finite() {
        return Read::Skip(span.end);
    }
    let head = &text[..span.start];
    let near = head.strip_suffix(['-', '−']).filter(|head| {
        head.chars().next_back().is_none_or(|c| !c.is_alphanumeric() && c != ')' && c != '%')
    });
    let apart = || {
        let head = head.strip_suffix(' ')?.trim_end_matches(' ').strip_suffix(['-', '−'])?;
        let lead = head.trim_end_matches(' ');
        let opens = lead.ends_with(['(', '[', '{', ',', ';', '=', ':', '$', '>']);
        (opens || lead.is_empty() && !text.contains('\n')).then_some(head)
    };
    let signed = near.or_else(apart);
    match signed {
        Some(head) => Read::Number(head.len()..span.end, -value),
        None => Read::Number(span, value),
    }
}

/// The part of a mixed number: `\frac12`, `½`, ` 1/2`, and its length.
fn part(text: &str) -> Option<(f64, usize)> {
    let rest = text.trim_start_matches(' ');
    let blank = text.len() - rest.len();
    let first = rest.chars().next()?;
    let (above, below) = rest.split_at(digits(rest));
    if let (1, Ok(above), Some((divisor, length))) = (blank, above.parse::<f64>(), divisor(below)) {
        let length = rest.len() - below.len() + length;
        return (above < divisor).then_some((above / divisor, blank + length));
    }
    let (value, length) = match vulgar(first) {
        Some(value) => (value, first.len_utf8()),
        None => fraction(rest).and_then(|(value, length)| Some((value?, length)))?,
    };
    (value > 0.0 && value < 1.0).then_some((value, blank + length))
}

/// The divisor behind a number, `/4`, where it is not the start of a date; and its length.
fn divisor(text: &str) -> Option<(f64, usize)> {
    let below = text.strip_prefix('/')?;
    let length = digits(below);
    let goes_on = below[length..].starts_with(['/', '.'])
        && below[length + 1..].starts_with(|c: char| c.is_ascii_digit());
    let divisor = below[..length].parse::<f64>().ok().filter(|one| *one != 0.0 && !goes_on)?;
    Some((divisor, 1 + length))
}

/// The length of a separator that three digits follow.
fn separator(rest: &str) -> Option<usize> {
    let first = rest.chars().next()?;
    let length = if ",\u{a0}\u{202f}\u{2009}'".contains(first) {
        first.len_utf8()
    } else {
        ["{,}", "\\,"].iter().find(|mark| rest.starts_with(**mark))?.len()
    };
    (digits(&rest[length..]) == 3).then_some(length)
}

/// The power at the start of a text, `^5`, `^{-3}` or `⁻³`, and its length.
fn power(text: &str) -> Option<(i32, usize)> {
    const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let Some(behind) = text.strip_prefix('^') else {
        let digits = text.strip_prefix('⁻').unwrap_or(text);
        let run = digits.find(|c| !RAISED.contains(&c)).unwrap_or(digits.len());
        let place = |c: char| RAISED.iter().position(|one| *one == c);
        let written: String =
            digits[..run].chars().filter_map(place).map(|at| at.to_string()).collect();
        let power = saturated(&written)?;
        let sign = if digits.len() < text.len() { -1 } else { 1 };
        return Some((sign * power, text.len() - digits.len() + run));
    };
    let bare = behind.strip_prefix('{').unwrap_or(behind);
    let unsigned = bare.strip_prefix(['-', '−', '+']).unwrap_or(bare);
    let length = digits(unsigned);
    let (written, rest) = unsigned.split_at(length);
    let rest = if bare.len() < behind.len() { rest.strip_prefix('}')? } else { rest };
    let power = saturated(written)?;
    let sign = if bare.starts_with(['-', '−']) { -1 } else { 1 };
    let goes_on = rest.starts_with(|c: char| c.is_alphanumeric());
    (!goes_on).then_some((sign * power, text.len() - rest.len()))
}

/// Digits as a power; one that is out of range is the greatest.
fn saturated(digits: &str) -> Option<i32> {
    (!digits.is_empty()).then(|| digits.parse().unwrap_or(i32::MAX))
}

/// An exponent, `e5`, `×10^5` or `\times 10^{5}`: its length and its digits with their sign.
fn exponent(rest: &str) -> Option<(usize, String)> {
    let lead = rest.trim_start_matches(' ');
    let times =
        ["×", "\\times", "\\cdot", "·", "*", "x"].iter().find_map(|sign| lead.strip_prefix(sign));
    if let Some(ten) = times.and_then(|behind| behind.trim_start_matches(' ').strip_prefix("10"))
        && let Some((power, length)) = power(ten)
    {
        return Some((rest.len() - ten.len() + length, power.to_string()));
    }
    let power = rest.strip_prefix(['e', 'E'])?;
    let sign = usize::from(power.starts_with(['-', '+']));
    let length = digits(&power[sign..]);
    let (written, behind) = power.split_at(sign + length);
    let goes_on = behind.starts_with(|c: char| c.is_alphanumeric());
    (length > 0 && !goes_on).then_some((rest.len() - behind.len(), written.to_owned()))
}
