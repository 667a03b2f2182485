//! Ways of laying out formulas that have a plain form: aligned rows, matrices of plain TeX, percent
//! in Chinese.

use std::borrow::Cow;

use super::number_words;

/// Environments whose rows are clauses.
const ALIGNED: [&str; 12] = crate::words::list(
    "aligned align align* gathered gather gather* split eqnarray eqnarray* alignedat multline \
     multline*",
);
/// Commands of plain TeX with the environment of the same name.
const COMMANDS: [(&str, &str); 3] =
    [("\\pmatrix{", "pmatrix"), ("\\matrix{", "matrix"), ("\\bmatrix{", "bmatrix")];
/// How a row begins that goes on with the relation of the row before it.
const RELATIONS: [&str; 10] = ["=", "<", ">", "\\le", "\\ge", "\\approx", "\\equiv", "≤", "≥", "≈"];
/// Percent in Chinese, before its number.
const PERCENT: &str = "百分之";
/// The most environments of one text.
const ROUNDS_MAX: usize = 8;

/// The text with such layouts in their plain form.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    if memchr::memchr(b'\\', text.as_bytes()).is_some() {
        for _ in 0..ROUNDS_MAX {
            let Some(next) = aligned(&text).or_else(|| plain_matrix(&text)) else { break };
            text = Cow::Owned(next);
        }
    }
    match percent(&text) {
        Some(next) => Cow::Owned(next),
        None => text,
    }
}

/// The rows of an aligned environment, side by side.
fn aligned(text: &str) -> Option<String> {
    let (head, name, tail) = ALIGNED.iter().find_map(|name| {
        let (head, tail) = text.split_once(&format!("\\begin{{{name}}}"))?;
        Some((head, *name, tail))
    })?;
    let (body, rest) = tail.split_once(&format!("\\end{{{name}}}"))?;
    let mut out = head.to_owned();
    let rows = body.split("\\\\").map(|row| row.replace('&', ""));
    for row in rows {
        let row = without_gap(row.trim()).trim_end_matches([',', ' ']);
        if row.is_empty() {
            continue;
        }
        let goes_on = RELATIONS.iter().any(|sign| row.starts_with(sign));
        let ends = out.len() == head.len() || goes_on;
        out.push_str(if ends { " " } else { ", " });
        out.push_str(row);
    }
    out.push_str(rest);
    Some(out)
}

/// A row without the gap above it: `[4pt]`.
fn without_gap(row: &str) -> &str {
    let Some(inner) = row.strip_prefix('[') else { return row };
    match inner.split_once(']') {
        Some((gap, rest)) if is_gap(gap) => rest.trim_start(),
        _ => row,
    }
}

/// Whether a text between brackets is a length: `4pt`, `0.5em`.
pub(crate) fn is_gap(text: &str) -> bool {
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || ".- ".contains(c));
    unit.len() < text.len() && ["pt", "em", "ex", "cm", "mm", "in"].contains(&unit.trim())
}

/// `\pmatrix{1 & 2 \cr 3 & 4}` as an environment.
fn plain_matrix(text: &str) -> Option<String> {
    let (at, open, name) = COMMANDS.iter().find_map(|(open, name)| {
        let at = text.find(open)?;
        Some((at, *open, *name))
    })?;
    let tail = text.get(at + open.len()..)?;
    let mut depth = 1usize;
    let end = tail.bytes().position(|byte| {
        match byte {
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        depth == 0
    })?;
    let (head, body, rest) = (text.get(..at)?, tail.get(..end)?, tail.get(end + 1..)?);
    Some(format!("{head}\\begin{{{name}}}{body}\\end{{{name}}}{rest}"))
}

/// `百分之二十五` as `25\%`.
fn percent(text: &str) -> Option<String> {
    let (head, tail) = text.split_once(PERCENT)?;
    let digits = tail.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(tail.len());
    let (number, length) = match tail.get(..digits).filter(|digits| !digits.is_empty()) {
        Some(digits) => (digits.to_owned(), digits.len()),
        None => number_words::chinese(tail).map(|(value, length)| (value.to_string(), length))?,
    };
    Some(format!("{head}{number}\\%{}", tail.get(length..)?))
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn layouts_have_a_plain_form() {
        for (text, wanted) in [
            (r"\begin{aligned}x&=1\\y&=2\end{aligned}", " x=1, y=2"),
            (r"\begin{align*}x&=2+3\\[4pt]&=5\end{align*}", " x=2+3 =5"),
            (r"\pmatrix{1&{2}\cr3&4}", r"\begin{pmatrix}1&{2}\cr3&4\end{pmatrix}"),
            ("百分之二十五", r"25\%"),
            ("百分之12.5", r"12.5\%"),
            (r"\begin{cases}x&1\end{cases}", r"\begin{cases}x&1\end{cases}"),
            ("x+1", "x+1"),
        ] {
            assert_eq!(plain(text), wanted, "{text}");
        }
    }
}
