//! References that are sentences: the predicate is the answer.

/// The longest sentence that is read, in bytes.
const TEXT_MAX: usize = 300;

/// The parts of a sentence that answer the question which it answers: "odd" of "The function is
/// odd", `R=1` of "R=1 is a necessary condition", "Alice" of "Alice wins".
pub fn answers(text: &str) -> Vec<&str> {
    let text = text.trim().trim_end_matches(['.', '。', ' ']);
    if text.len() > TEXT_MAX || denies(text) {
        return Vec::new();
    }
    let copula = ["is", "are", "was", "were"];
    let Some((subject, rest)) = around_verb(text, &copula) else {
        return around_verb(text, &["wins", "win", "won", "served", "has", "can"])
            .map(|(subject, _)| subject)
            .filter(|subject| is_name(subject))
            .into_iter()
            .collect();
    };
    let mut found = Vec::new();
    if subject.contains('=') && subject.split_whitespace().count() <= 5 {
        found.push(subject);
    }
    let short = rest.split_whitespace().count() <= 3;
    if short && around_verb(rest, &copula).is_none() {
        found.push(rest);
    }
    found
}

/// Whether a word negates the sentence or makes it conditional.
fn denies(text: &str) -> bool {
    const WORDS: [&str; 12] = [
        "not", "no", "neither", "nor", "never", "none", "nothing", "nobody", "or", "if", "unless",
        "cannot",
    ];
    text.split(|c: char| !c.is_alphabetic())
        .any(|word| WORDS.iter().any(|known| word.eq_ignore_ascii_case(known)))
}

/// The text before and after the first of `verbs` that stands as a word.
fn around_verb<'a>(text: &'a str, verbs: &[&str]) -> Option<(&'a str, &'a str)> {
    let mut at = 0;
    for word in text.split_inclusive(|c: char| !c.is_alphabetic()) {
        let verb = word.trim_end_matches(|c: char| !c.is_alphabetic());
        if at > 0 && verbs.contains(&verb) {
            let head = text.get(..at)?.trim_end_matches([' ', '{', '\\']);
            let head = head.strip_suffix("\\text").unwrap_or(head).trim_end();
            let rest = text.get(at + verb.len()..)?.trim_matches([' ', '}', ':']);
            return (!head.is_empty() && !rest.is_empty()).then_some((head, rest));
        }
        at += word.len();
    }
    None
}

/// One word with a capital letter that is not an article or pronoun.
fn is_name(subject: &str) -> bool {
    const OTHERS: [&str; 10] =
        ["The", "A", "An", "It", "He", "She", "They", "There", "This", "Each"];
    subject.starts_with(char::is_uppercase)
        && subject.chars().all(char::is_alphabetic)
        && !OTHERS.contains(&subject)
}

/// The kind of integers that a text names: "odd" for "all odd numbers n" and "n is odd". The
/// text is in lower case and without articles.
pub(crate) fn kind_of_number(text: &str) -> Option<&str> {
    const KINDS: [&str; 4] = ["odd", "even", "prime", "composite"];
    const FILLERS: [&str; 15] = [
        "n", "x", "k", "m", "is", "are", "all", "any", "every", "only", "number", "numbers",
        "integer", "integers", "values",
    ];
    let mut kind = None;
    for word in text.split(' ') {
        match (kind, word) {
            (None, _) if KINDS.contains(&word) => kind = Some(word),
            // "of participants"
            (Some(_), "of") => break,
            _ if FILLERS.contains(&word) => {}
            _ => return None,
        }
    }
    kind
}

/// The winner, where a text states nothing else.
pub(crate) fn winner(text: &str) -> &str {
    const ENDINGS: [&str; 5] =
        [" wins", " will win", " can win", " always wins", " has winning strategy"];
    ENDINGS.iter().find_map(|ending| text.strip_suffix(ending)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::{answers, kind_of_number, winner};

    #[test]
    fn what_is_said_of_the_subject() {
        assert_eq!(answers("The function $f(x+1)-1$ is odd."), ["odd"]);
        assert_eq!(answers(r"x=3 \text{ is the only solution of it}"), ["x=3"]);
        assert_eq!(answers("Alice wins the first game"), ["Alice"]);
        for text in [
            "The function is not odd",
            "Neither is odd",
            "It is odd or even",
            "The winner of it has luck",
            "It is unknown whether the function is odd",
            "odd",
            "",
        ] {
            assert!(answers(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn wording_alone_says_nothing() {
        assert_eq!(kind_of_number("any odd number of participants"), Some("odd"));
        assert_eq!(kind_of_number("n is even"), Some("even"));
        assert_eq!(winner("second player wins"), "second player");
        for text in ["n is not odd", "odd and prime", "odd n geq 3", "n", ""] {
            assert_eq!(kind_of_number(text), None, "{text}");
        }
    }
}
