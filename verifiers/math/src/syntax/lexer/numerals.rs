//! Numerals with letters for digits: `(1A)_{16}`, `\text{1A}_{16}`, `1A_{hex}`.

/// Wrappers around the digits.
const WRAPPERS: [(&str, &str); 6] = [
    ("\\text{", "}"),
    ("\\mathrm{", "}"),
    ("\\texttt{", "}"),
    ("\\textrm{", "}"),
    ("\\mathtt{", "}"),
    ("(", ")"),
];
/// Bases by their names.
const NAMES: [(&str, u32); 4] = [("hex", 16), ("dec", 10), ("oct", 8), ("bin", 2)];
/// More digits than this are not read.
const DIGITS_MAX: usize = 64;

/// The digits, the base and the whole length of a numeral at `at`.
///
/// `2A_{16}` may also be twice a variable. So without brackets, the base is named, or a digit
/// follows a letter, or the first digit is a one, which is not written before a variable.
pub(super) fn numeral(text: &str, at: usize) -> Option<(&str, u32, usize)> {
    let start = text.get(at..)?;
    if !start.starts_with(|c: char| {
        c.is_ascii_digit() || c.is_ascii_uppercase() || matches!(c, '(' | '\\')
    }) {
        return None;
    }
    let (mut rest, mut closing) = (start, [""; 2]);
    for close in &mut closing {
        if let Some((open, end)) = WRAPPERS.iter().find(|(open, _)| rest.starts_with(open)) {
            rest = rest.get(open.len()..)?;
            *close = end;
        }
    }
    let length = rest.bytes().take_while(u8::is_ascii_alphanumeric).take(DIGITS_MAX + 1).count();
    let digits = rest.get(..length).filter(|_| (2..=DIGITS_MAX).contains(&length))?;
    rest = rest.get(length..)?;
    for close in closing.iter().rev() {
        rest = rest.strip_prefix(close)?;
    }
    let (base, named, rest) = base(rest.strip_prefix('_')?)?;
    let wrapped = !closing.first()?.is_empty();
    let before = text.get(..at)?.chars().next_back();
    if !wrapped && before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '\\')) {
        return None;
    }
    let upper = !digits.contains(|c: char| c.is_ascii_lowercase());
    let one_case = upper || !digits.contains(|c: char| c.is_ascii_uppercase());
    let fits = one_case && digits.chars().all(|c| c.is_digit(base));
    let letter = digits.find(|c: char| c.is_ascii_alphabetic());
    let digit = digits.contains(|c: char| c.is_ascii_digit());
    let sure = match (letter, named, wrapped) {
        (None, named, _) => named,
        (Some(_), true, _) => digit || wrapped,
        (Some(_), false, true) => digit || (base == 16 && upper),
        (Some(first), false, false) => {
            let (head, tail) = digits.split_at(first);
            upper && (head == "1" || tail.contains(|c: char| c.is_ascii_digit()))
        }
    };
    (fits && sure).then_some((digits, base, start.len() - rest.len()))
}

/// The base below, whether it has a name, and what follows it.
fn base(text: &str) -> Option<(u32, bool, &str)> {
    let (mut rest, mut closing) = (text, [""; 2]);
    for (close, opens) in closing.iter_mut().zip([&["{"][..], &["\\text{", "\\mathrm{"]]) {
        if let Some(open) = opens.iter().find(|open| rest.starts_with(**open)) {
            rest = rest.get(open.len()..)?;
            *close = "}";
        }
    }
    let braced = closing.first()?.len() == 1;
    let name = NAMES.iter().find(|(name, _)| braced && rest.starts_with(name));
    let (base, length) = if let Some((name, base)) = name {
        (*base, name.len())
    } else {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        (rest.get(..digits)?.parse().ok()?, digits)
    };
    rest = rest.get(length..)?;
    for close in closing.iter().rev() {
        rest = rest.strip_prefix(close)?;
    }
    (2..=36).contains(&base).then_some((base, name.is_some(), rest))
}
