//! What an announced number is dressed in: colours and styles of LaTeX, and full-width digits.

/// Commands with a colour in front of what they colour.
const COLOURS: [&str; 3] = ["\\textcolor{", "\\color{", "\\colorbox{"];
/// Commands that style what follows.
#[rustfmt::skip]
const STYLES: [&str; 12] = [
    "\\boldsymbol", "\\mbox", "\\bm", "\\bf", "\\mathsf", "\\mathit", "\\mathtt", "\\textsf", "\\texttt", "\\displaystyle", "\\large",
    "\\Large",
];

/// The longest name of a colour, in bytes.
const NAME_BYTES_MAX: usize = 256;

/// The text without colours and styles, and with digits of usual width; none where it has neither.
pub(super) fn undressed(text: &str) -> Option<String> {
    let is_wide = text.contains(|c| plain_digit(c).is_some());
    let mut commands = COLOURS.iter().chain(&STYLES);
    if !is_wide && !commands.any(|command| text.contains(command)) {
        return None;
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if let Some(tail) = after_command(rest) {
            rest = tail;
            continue;
        }
        out.push(plain_digit(first).unwrap_or(first));
        rest = &rest[first.len_utf8()..];
    }
    Some(out)
}

/// What follows a colour or a style at the start of a text.
fn after_command(text: &str) -> Option<&str> {
    let colour = COLOURS.iter().find_map(|command| text.strip_prefix(command));
    if let Some(inner) = colour {
        let name = inner.get(..inner.floor_char_boundary(NAME_BYTES_MAX))?;
        return inner.get(name.find('}')? + 1..);
    }
    let mut tails = STYLES.iter().filter_map(|command| text.strip_prefix(command));
    tails.find(|tail| !tail.starts_with(|c: char| c.is_ascii_alphabetic()))
}

/// The digit or sign that a character of full width means.
fn plain_digit(c: char) -> Option<char> {
    let ascii = u32::from(c).checked_sub(0xFEE0).and_then(char::from_u32)?;
    (ascii.is_ascii_digit() || ".,-+%/".contains(ascii)).then_some(ascii)
}

#[cfg(test)]
mod tests {
    use super::undressed;

    #[test]
    fn dress_is_taken_off() {
        for (text, plain) in [
            (r"\textcolor{red}{3}", Some("{3}")),
            (r"\color{blue}3", Some("3")),
            (r"\boldsymbol{3}", Some("{3}")),
            (r"\bf 3", Some(" 3")),
            ("３．５", Some("3.5")),
            (r"\frac{1}{2}", None),
        ] {
            assert_eq!(undressed(text).as_deref(), plain);
        }
    }
}
