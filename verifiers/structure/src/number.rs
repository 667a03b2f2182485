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
    /// alone are equal.
    pub fn accepts(self, number: f64, wanted: f64) -> bool {
        let off = (number - wanted).abs();
        let rounding = 4.0 * f64::EPSILON * number.abs().max(wanted.abs());
        off <= self.absolute + rounding || off <= self.relative * wanted.abs() + rounding
    }
}

/// A text that is one number and nothing else but a currency or a percent sign: `1,234.5`, `-3e8`,
/// `1/2`, `$18`, `37 %`. Linear in the text.
pub fn whole(text: &str) -> Option<f64> {
    const SIGNS: [char; 6] = ['$', '€', '£', '¥', '₹', ' '];
    let bare = text.trim().trim_end_matches(['%', ' ']);
    let (sign, bare) = match bare.strip_prefix(['-', '−']) {
        Some(bare) => (-1.0, bare),
        None => (1.0, bare),
    };
    let bare = bare.trim_start_matches(SIGNS).trim_end_matches(SIGNS);
    let (span, value) = first(bare, 0)?;
    (span == (0..bare.len())).then_some(sign * value)
}

/// The first number from a byte on, with its bytes: digits with thousands separators, a fraction,
/// an exponent (`e5`, `×10^5`), a sign. A digit within a word (`H2`) begins none. Linear in the text.
pub fn first(text: &str, from: usize) -> Option<(Range<usize>, f64)> {
    let mut at = from;
    loop {
        let rest = text.get(at..)?;
        let start = at + rest.find(|c: char| c.is_ascii_digit())?;
        let before = text[..start].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() && c.is_alphabetic() || c == '_') {
            let rest = &text[start..];
            at = start + rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
            continue;
        }
        return Some(read(text, start));
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

/// The number whose first digit is at `start`.
fn read(text: &str, start: usize) -> (Range<usize>, f64) {
    let head = &text[..start];
    // ".5" is a half; a full stop before it ends a sentence.
    let has_point = head
        .strip_suffix('.')
        .is_some_and(|head| !head.ends_with(|c: char| c.is_alphanumeric() || c == '.'));
    let mut begin = start - usize::from(has_point);
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
    if let Some((length, power)) = exponent(&text[end..]) {
        written.push('e');
        written.push_str(power);
        end += length;
    }
    let mut value: f64 = written.parse().unwrap_or(f64::NAN);
    if let Some(below) = text[end..].strip_prefix('/').filter(|_| !has_point) {
        let length = digits(below);
        let goes_on = below[length..].starts_with(['/', '.'])
            && below[length + 1..].starts_with(|c: char| c.is_ascii_digit());
        if let Some(divisor) =
            below[..length].parse::<f64>().ok().filter(|one| *one != 0.0 && !goes_on)
        {
            value /= divisor;
            end += 1 + length;
        }
    }
    // A minus is a sign where no operand stands before it.
    let signed = text[..begin].strip_suffix(['-', '−']).filter(|head| {
        head.chars().next_back().is_none_or(|c| !c.is_alphanumeric() && c != ')' && c != '%')
    });
    if let Some(head) = signed {
        begin = head.len();
        value = -value;
    }
    (begin..end, value)
}

/// The length of a separator that three digits follow.
fn separator(rest: &str) -> Option<usize> {
    let mark = rest.chars().next().filter(|c| ",\u{a0}\u{202f}\u{2009}'".contains(*c))?;
    (digits(&rest[mark.len_utf8()..]) == 3).then_some(mark.len_utf8())
}

/// An exponent, `e5`, `×10^5` or `\times 10^{5}`: its length and its digits with their sign.
fn exponent(rest: &str) -> Option<(usize, &str)> {
    let lead = rest.trim_start_matches(' ');
    let times =
        ["×", "\\times", "\\cdot", "*", "x"].iter().find_map(|sign| lead.strip_prefix(sign));
    let power = times.and_then(|behind| behind.trim_start_matches(' ').strip_prefix("10^"));
    let power = power.or_else(|| rest.strip_prefix(['e', 'E']))?;
    let bare = power.strip_prefix('{').unwrap_or(power);
    let sign = usize::from(bare.starts_with(['-', '+']));
    let length = digits(&bare[sign..]);
    let (written, behind) = bare.split_at_checked(sign + length)?;
    let behind = if bare.len() < power.len() { behind.strip_prefix('}')? } else { behind };
    let goes_on = behind.starts_with(|c: char| c.is_alphanumeric());
    (length > 0 && !goes_on).then_some((rest.len() - behind.len(), written))
}
