//! Markup other than LaTeX: HTML tags and entities, circled numbers, dots.

use std::borrow::Cow;

/// Tags and entities of HTML with what they mean. The first of two that match counts.
#[rustfmt::skip]
const HTML: &[(&str, &str)] = &[
    ("<sup>", "^{"), ("</sup>", "}"), ("<sub>", "_{"), ("</sub>", "}"), ("<br>", " "),
    ("<br/>", " "), ("<b>", ""), ("</b>", ""), ("<i>", ""), ("</i>", ""), ("<em>", ""),
    ("</em>", ""), ("<strong>", ""), ("</strong>", ""), ("&lt;", "<"), ("&gt;", ">"),
    ("&le;", "≤"), ("&ge;", "≥"), ("&leq;", "≤"), ("&geq;", "≥"), ("&ne;", "≠"), ("&times;", "×"),
    ("&divide;", "÷"), ("&minus;", "-"), ("&plusmn;", "±"), ("&pi;", "π"), ("&radic;", "√"),
    ("&infin;", "∞"), ("&deg;", "°"), ("&nbsp;", " "), ("&middot;", "·"), ("&sup2;", "^2"),
    ("&sup3;", "^3"), ("&frac12;", "½"), ("&amp;", "&"),
];
/// Commands for dots, the longer ones first.
const DOTS: [&str; 9] = [
    "\\ldots", "\\cdots", "\\dotsb", "\\dotsc", "\\dotsm", "\\dotsi", "\\dotso", "\\hdots",
    "\\dots",
];

/// The text with such markup replaced by LaTeX and Unicode.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    let (mut html, mut dotted, mut ringed) = (false, false, !text.is_ascii());
    for pair in text.as_bytes().windows(2) {
        html |= matches!(pair, [b'<' | b'&', b'a'..=b'z' | b'/']);
        dotted |= matches!(pair, [b'.', b'.'] | [b't', b's']);
        ringed |= matches!(pair, [b'l', b'e']);
    }
    html = html && HTML.iter().any(|(mark, _)| text.contains(mark));
    dotted = dotted && (text.contains("dots") || text.contains("..."));
    ringed = ringed && (text.contains("\\textcircled") || text.contains(|c| ring(c).is_some()));
    if !(html || dotted || ringed) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let found = match first {
            '<' | '&' if html => HTML.iter().find(|(mark, _)| rest.starts_with(mark)).copied(),
            '\\' if dotted => dots_command(rest),
            '.' if dotted => dots_between(&out, rest),
            _ => None,
        };
        if let Some((mark, meaning)) = found {
            out.push_str(meaning);
            rest = &rest[mark.len()..];
        } else if let Some((number, length)) = ringed_number(rest).filter(|_| ringed) {
            // Adjacent numbers of statements are a list.
            if out.ends_with(|c: char| c.is_ascii_digit()) {
                out.push_str(", ");
            }
            out.push_str(&number.to_string());
            rest = &rest[length..];
        } else {
            out.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    Cow::Owned(out)
}

fn dots_command(rest: &str) -> Option<(&'static str, &'static str)> {
    let command = DOTS.into_iter().find(|command| rest.starts_with(command))?;
    let tail = rest.get(command.len()..)?;
    (!tail.starts_with(|c: char| c.is_ascii_alphabetic())).then_some((command, "…"))
}

/// Three dots between the terms of a sum, a product or a list; elsewhere they end a sentence.
fn dots_between(before: &str, rest: &str) -> Option<(&'static str, &'static str)> {
    let tail = rest.strip_prefix("...")?;
    let joined = before.trim_end().ends_with(['+', '-', ',', '*', '=', '×', '·', '<']);
    (joined && !tail.starts_with('.') && !tail.trim().is_empty()).then_some(("...", "…"))
}

/// A number in a circle, and the length of its sign.
fn ringed_number(rest: &str) -> Option<(u32, usize)> {
    let first = rest.chars().next()?;
    if let Some(number) = ring(first) {
        return Some((number, first.len_utf8()));
    }
    let inner = rest.strip_prefix("\\textcircled{")?;
    let (digits, _) = inner.split_once('}')?;
    let number = digits.parse().ok().filter(|number| *number <= 50)?;
    Some((number, rest.len() - inner.len() + digits.len() + 1))
}

fn ring(c: char) -> Option<u32> {
    let first = match c {
        '①'..='⑳' => '①',
        '❶'..='❿' => '❶',
        '➀'..='➉' => '➀',
        '⑴'..='⒇' => '⑴',
        _ => return None,
    };
    Some(u32::from(c) - u32::from(first) + 1)
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn only_what_is_no_latex_is_changed() {
        for (text, meaning) in [
            ("x<sup>2</sup>+1", "x^{2}+1"),
            ("a<sub>n</sub>", "a_{n}"),
            ("x &lt; 3", "x < 3"),
            ("①③", "1, 3"),
            ("①、③", "1、3"),
            (r"\textcircled{1}\textcircled{2}", "1, 2"),
            (r"1+2+\cdots+n", "1+2+…+n"),
            ("1+2+...+n", "1+2+…+n"),
            ("42...", "42..."),
            (r"1 < x & 2", r"1 < x & 2"),
        ] {
            assert_eq!(plain(text), meaning);
        }
    }
}
