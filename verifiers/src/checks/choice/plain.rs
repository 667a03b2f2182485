//! The text of an option without case, markup, and blanks, so that `5\%` is `5%` and
//! `\dfrac{1}{2}` is `\frac12`.

/// Commands of LaTeX that only style their argument.
#[rustfmt::skip]
const DRESS: [&str; 10] = [
    "textbf", "textit", "textrm", "texttt", "text", "mathrm", "mathbf", "mathit", "mathsf", "mbox",
];

/// Commands of LaTeX, and characters that are the same.
const SAME: [(&str, &str); 12] = [
    ("\\dfrac", "\\frac"),
    ("\\tfrac", "\\frac"),
    ("\\left", ""),
    ("\\right", ""),
    ("\\large", ""),
    ("\\Large", ""),
    ("\\,", ""),
    ("\\;", ""),
    ("\\!", ""),
    ("−", "-"),
    ("π", "\\pi"),
    ("×", "\\times"),
];

/// A text without case, markup, blanks, and the signs that end its sentence.
pub(super) fn plain(text: &str) -> String {
    let mut plain = if text.contains(['\\', '{']) || !text.is_ascii() {
        stripped(&undressed(&replaced(text)))
    } else {
        stripped(text)
    };
    // What ends a sentence may stand inside its markup: "**It shrinks.**"
    plain.truncate(plain.trim_end_matches(['.', ',', ';']).len());
    plain
}

fn stripped(text: &str) -> String {
    if text.is_ascii() {
        let mut plain = text.to_ascii_lowercase();
        plain.retain(|c| !matches!(c, '\t'..='\r' | ' ' | '\\' | '$' | '*' | '`' | '"' | '\''));
        return plain;
    }
    text.chars()
        .filter(|c| !c.is_whitespace() && !"\\$*`\"'".contains(*c))
        .flat_map(char::to_lowercase)
        .collect()
}

/// With one way to write what looks the same. `\leftarrow` is no `\left`.
fn replaced(text: &str) -> String {
    let mut text = text.to_owned();
    for (from, to) in SAME {
        if !text.contains(from) {
            continue;
        }
        let mut parts = text.split(from);
        let mut new = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let goes_on = from.ends_with(|c: char| c.is_ascii_alphabetic())
                && part.starts_with(|c: char| c.is_ascii_alphabetic());
            new.push_str(if goes_on { from } else { to });
            new.push_str(part);
        }
        text = new;
    }
    text
}

/// Without commands that only style their argument, and without braces around one character.
fn undressed(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    // Whether each open brace is kept, and where it stands.
    let mut open: Vec<(bool, usize)> = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        let dress = if c == '\\' { DRESS.as_slice() } else { &[] };
        let command = dress
            .iter()
            .find_map(|name| rest.strip_prefix(name)?.trim_start().strip_prefix('{'));
        match (command, c) {
            (Some(inner), _) => {
                rest = inner;
                open.push((false, plain.len()));
            }
            (None, '{') => {
                open.push((true, plain.len()));
                plain.push(c);
            }
            (None, '}') => match open.pop() {
                Some((false, _)) => {}
                Some((true, at))
                    if plain.get(at..).is_some_and(|held| held.chars().count() == 2) =>
                {
                    plain.remove(at);
                }
                _ => plain.push(c),
            },
            _ => plain.push(c),
        }
    }
    plain
}
