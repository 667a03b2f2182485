//! References as data sets have them: a list of texts, written as the text of a Python or JSON list.

/// The entries of a list of quoted texts, such as `['70']` or `["\\frac{1}{2}", "0.5"]`. `None` for any
/// other text: `[1, 2]` is an interval, and no list of texts.
pub(crate) fn listed(text: &str) -> Option<Vec<String>> {
    let mut rest = text.trim().strip_prefix('[')?.strip_suffix(']')?.trim();
    let mut entries = Vec::new();
    while !rest.is_empty() {
        let (entry, behind) = quoted(rest)?;
        entries.push(entry);
        let behind = behind.trim_start();
        rest = match behind.strip_prefix(',') {
            Some(next) => next.trim_start(),
            None if behind.is_empty() => behind,
            None => return None,
        };
    }
    (!entries.is_empty()).then_some(entries)
}

/// The text in quotation marks at the start, and the rest.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mark = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let mut rest = text.get(1..)?;
    let mut entry = String::new();
    loop {
        let c = rest.chars().next()?;
        rest = rest.get(c.len_utf8()..)?;
        match c {
            '\\' => {
                let (meant, length) = escaped(rest)?;
                entry.push(meant);
                rest = rest.get(length..)?;
            }
            c if c == mark => return Some((entry, rest)),
            c => entry.push(c),
        }
    }
}

/// What a backslash and the text after it mean, and how much of that text belongs to it. Escapes that
/// neither Python nor JSON writes belong to LaTeX that was quoted as it is: `'\frac{1}{2}'`.
fn escaped(text: &str) -> Option<(char, usize)> {
    let sign = text.chars().next()?;
    let digits = match sign {
        'x' => 2,
        'u' => 4,
        _ => 0,
    };
    let code = text.get(1..=digits).filter(|code| !code.is_empty());
    if let Some(c) = code.and_then(|code| char::from_u32(u32::from_str_radix(code, 16).ok()?)) {
        return Some((c, 1 + digits));
    }
    let begins_command = text.get(1..)?.starts_with(|c: char| c.is_ascii_lowercase());
    Some(match sign {
        '\\' | '\'' | '"' | '/' => (sign, 1),
        'n' if !begins_command => ('\n', 1),
        't' if !begins_command => ('\t', 1),
        'r' if !begins_command => ('\r', 1),
        _ => ('\\', 0),
    })
}

#[cfg(test)]
mod tests {
    use super::listed;

    #[test]
    fn lists_of_quoted_texts() {
        for (text, entries) in [
            ("['70']", &["70"][..]),
            (r#"["70", '7']"#, &["70", "7"]),
            (r#" [ "a, b" , ] "#, &["a, b"]),
            (r#"["it's", 'say "hi"', 'it\'s', "\"q\""]"#, &["it's", "say \"hi\"", "it's", "\"q\""]),
            (
                r"['\\frac{1}{2}', '\frac{1}{2}', '\times', '\neq']",
                &[r"\frac{1}{2}", r"\frac{1}{2}", r"\times", r"\neq"],
            ),
            (
                r#"["\u00e9", "\xe9", "\underline{a}", "\xi"]"#,
                &["é", "é", r"\underline{a}", r"\xi"],
            ),
            (r"['a\nB']", &["a\nB"]),
            ("['']", &[""]),
        ] {
            assert_eq!(
                listed(text).as_deref(),
                Some(entries.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>().as_slice()),
                "{text}"
            );
        }
        for text in [
            "",
            "[]",
            "[1, 2]",
            "['70'",
            "70",
            "['7' '8']",
            "['7', 8]",
            "[x']",
            "['7'],",
            r"['7\']",
        ] {
            assert_eq!(listed(text), None, "{text}");
        }
    }
}
