//! A formula as people read it: with numbers in place of its names.

/// The source on one line, with what is known of its names put in. Comments are left out; a name that is
/// defined, called, or not known stays.
pub fn with_numbers(source: &str, number: impl Fn(&str) -> Option<String>) -> String {
    let mut shown = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let (token, after) = rest.split_at(token(rest, first));
        if is_start(first) {
            let is_defined = shown.trim_end().ends_with("let") && shown.ends_with(' ');
            let is_called = after.trim_start().starts_with('(');
            let put = if is_defined || is_called { None } else { number(token) };
            shown.push_str(put.as_deref().unwrap_or(token));
        } else if first.is_whitespace() || token.starts_with("//") {
            if !shown.is_empty() && !shown.ends_with(' ') {
                shown.push(' ');
            }
        } else {
            shown.push_str(token);
        }
        rest = after;
    }
    shown.truncate(shown.trim_end().len());
    shown
}

/// How many bytes the token at the start of a text takes: a name with its members, a number, a string, a
/// comment, white space, or one character.
fn token(text: &str, first: char) -> usize {
    let until = |ends: &dyn Fn(char) -> bool| text.find(ends).unwrap_or(text.len());
    if is_start(first) || first.is_ascii_digit() {
        return until(&|own| !(is_start(own) || own.is_ascii_digit() || own == '.'));
    }
    if first.is_whitespace() {
        return until(&|own| !own.is_whitespace());
    }
    if text.starts_with("//") {
        return until(&|own| own == '\n');
    }
    let width = first.len_utf8();
    match text.split_at(width).1.find(first).filter(|_| first == '"') {
        Some(end) => width + end + width,
        None => width,
    }
}

fn is_start(own: char) -> bool {
    own.is_alphabetic() || own == '_'
}

#[cfg(test)]
mod tests {
    use super::with_numbers;

    #[test]
    fn numbers_take_the_place_of_names() {
        let known = |name: &str| match name {
            "r" => Some("1".to_owned()),
            "rewards.style" => Some("0.5".to_owned()),
            "over" => Some("20".to_owned()),
            _ => None,
        };
        for (source, shown) in [
            (
                "let over = length - 100; // too long\nr - over / 10",
                "let over = length - 100; 1 - 20 / 10",
            ),
            ("r * rewards.style + r2", "1 * 0.5 + r2"),
            ("over(r) == \"r over\"", "over(1) == \"r over\""),
            ("1.5 - \"r", "1.5 - \"1"),
            ("", ""),
        ] {
            assert_eq!(with_numbers(source, known), shown);
        }
    }
}
