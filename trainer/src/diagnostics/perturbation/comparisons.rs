//! Comparisons and their negations.

/// Phrases and what negates them; of several that match, the first.
const PHRASES: [(&str, &str); 20] = [
    ("greater than or equal to", "less than"),
    ("less than or equal to", "greater than"),
    ("greater than", "at most"),
    ("more than", "at most"),
    ("larger than", "at most"),
    ("bigger than", "at most"),
    ("higher than", "at most"),
    ("less than", "at least"),
    ("fewer than", "at least"),
    ("smaller than", "at least"),
    ("lower than", "at least"),
    ("at least", "less than"),
    ("at most", "more than"),
    ("is not equal to", "is equal to"),
    ("is equal to", "is not equal to"),
    ("does not equal", "equals"),
    ("equals", "does not equal"),
    ("does not exceed", "exceeds"),
    ("exceeds", "does not exceed"),
    ("is not divisible by", "is divisible by"),
];

/// Signs and what negates them; of several that match, the first.
const SIGNS: [(&str, &str); 16] = [
    (r"\leq", ">"),
    (r"\geq", "<"),
    (r"\neq", "="),
    (r"\le", ">"),
    (r"\ge", "<"),
    (r"\ne", "="),
    (r"\lt", "≥"),
    (r"\gt", "≤"),
    ("<=", ">"),
    (">=", "<"),
    ("!=", "=="),
    ("==", "!="),
    ("≤", ">"),
    ("≥", "<"),
    ("<", "≥"),
    (">", "≤"),
];

/// The text with each comparison negated.
pub(super) fn negated(text: &str) -> String {
    let mut changed = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let found = phrase(&changed, rest).or_else(|| sign(&changed, rest));
        let (taken, put) = match found {
            Some((length, put)) => (length, put),
            None => (first.len_utf8(), first.to_string()),
        };
        changed.push_str(&put);
        // What was put is not compared again, nor is it a boundary that the text did not have.
        rest = &rest[taken..];
    }
    changed
}

fn phrase(before: &str, rest: &str) -> Option<(usize, String)> {
    if before.ends_with(char::is_alphanumeric) {
        return None;
    }
    let fits = |phrase: &str| {
        rest.split_at_checked(phrase.len()).is_some_and(|(own, after)| {
            own.eq_ignore_ascii_case(phrase) && !after.starts_with(char::is_alphanumeric)
        })
    };
    let (phrase, negation) = PHRASES.iter().find(|(phrase, _)| fits(phrase))?;
    let is_capital = rest.starts_with(|char: char| char.is_uppercase());
    Some((phrase.len(), if is_capital { capital(negation) } else { (*negation).to_owned() }))
}

fn capital(phrase: &str) -> String {
    let mut chars = phrase.chars();
    chars.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(chars).collect()
}

fn sign(before: &str, rest: &str) -> Option<(usize, String)> {
    let (sign, negation) = SIGNS.iter().find(|(sign, _)| rest.starts_with(sign))?;
    let after = &rest[sign.len()..];
    let stands_alone = match *sign {
        // Tags, arrows and shifts are no comparisons.
        "<" | ">" => {
            let is_free = |char: Option<char>| {
                char.is_none_or(|char| char.is_whitespace() || char.is_ascii_digit() || char == '$')
            };
            is_free(before.chars().next_back()) && is_free(after.chars().next())
        }
        "==" | "!=" | "<=" | ">=" => {
            !after.starts_with(['=', '>']) && !before.ends_with(['=', '<', '>', '!', '-'])
        }
        sign if sign.starts_with('\\') => !after.starts_with(|c: char| c.is_ascii_alphabetic()),
        _ => true,
    };
    stands_alone.then(|| (sign.len(), (*negation).to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_are_negated() {
        for (text, expected) in [
            ("x is greater than 3", "x is at most 3"),
            ("At least 3 are fewer than 9", "Less than 3 are at least 9"),
            ("x is greater than or equal to 2", "x is less than 2"),
            ("a < b and 3<4", "a ≥ b and 3≥4"),
            (r"x \leq 3 \le y", "x > 3 > y"),
            ("if a == b", "if a != b"),
            ("it equals 5", "it does not equal 5"),
        ] {
            assert_eq!(negated(text), expected);
        }
    }

    #[test]
    fn what_compares_nothing_stays() {
        for text in ["<think>a</think>", r"\left(x\right)", "a -> b => c", "x === y", "lessthan"] {
            assert_eq!(negated(text), text);
        }
    }
}
