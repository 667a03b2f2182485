//! Normalisation of texts: without outer delimiters, markup, punctuation, articles.

use super::number_words;

/// Without Markdown's stars, outer dollars and a final dot.
pub fn trimmed(text: &str) -> &str {
    let mut text = trimmed_start(text).trim_end();
    for _ in 0..4 {
        let before = text;
        text = trimmed_start(text.trim_matches(['`', '"', ' ', '\n', '\r'])).trim_end();
        if !text.ends_with("\\,") && !text.ends_with("\\;") {
            let dots = text.ends_with("...");
            text = text.strip_suffix(['.', ',', ';', '^', '_']).filter(|_| !dots).unwrap_or(text);
        }
        text = text.strip_suffix("**").unwrap_or(text);
        text = text.strip_prefix("**").unwrap_or(text);
        for (open, close) in [("$", "$"), ("\\(", "\\)"), ("\\[", "\\]")] {
            if let Some(inner) = text.strip_prefix(open).and_then(|text| text.strip_suffix(close)) {
                text = inner;
            }
        }
        if text == before {
            break;
        }
    }
    text
}

/// Without the space in front. A tab or a form feed before a letter may be what an escape sequence
/// made of `\\text` or `\\frac`.
pub fn trimmed_start(text: &str) -> &str {
    let mut rest = text;
    while let Some(first) = rest.chars().next().filter(|c| c.is_whitespace()) {
        let tail = &rest[first.len_utf8()..];
        if matches!(first, '\t' | '\u{c}') && tail.starts_with(|c: char| c.is_ascii_lowercase()) {
            break;
        }
        rest = tail;
    }
    rest
}

/// Commands that only style what follows.
#[rustfmt::skip]
const STYLES: &[&str] = &[
    "text", "textbf", "textit", "mathrm", "mbox", "textrm", "left", "right", "operatorname",
];

/// The words of a text without markup, punctuation, case and articles.
pub fn plain_text(text: &str) -> String {
    without_articles(&without_markup(text))
}

/// The text in lower case, without markup and punctuation.
fn without_markup(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(256));
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if c == '\\' {
            let tail = &rest[1..];
            let end = tail.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(tail.len());
            let name = &tail[..end];
            if !STYLES.contains(&name) {
                out.push_str(if name == "lnot" { "neg" } else { name });
            }
            rest = &tail[end..];
            continue;
        }
        // The point of a decimal number.
        let point = c == '.'
            && out.ends_with(|c: char| c.is_ascii_digit())
            && rest.get(1..).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        if point || c.is_alphanumeric() || "+-<>=/^*|([)]_".contains(c) {
            out.extend(c.to_lowercase());
        } else if c.is_whitespace() || c == ',' || c == ';' {
            out.push(if c.is_whitespace() { ' ' } else { c });
        }
        rest = &rest[c.len_utf8()..];
    }
    out
}

fn without_articles(text: &str) -> String {
    let mut kept = Vec::new();
    let mut words = text.split_whitespace().peekable();
    while let Some(word) = words.next() {
        match word {
            // "A third" is a fraction, and "the third" an ordinal.
            "a" | "an" if words.peek().is_some_and(|next| number_words::is_part(next)) => {
                kept.push("one");
            }
            "the" | "a" | "an" => {}
            word => kept.push(word),
        }
    }
    kept.join(" ")
}
