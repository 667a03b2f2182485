//! References that are sentences: what is said of the subject is the answer.

/// The longest sentence that is read, in bytes.
const TEXT_MAX: usize = 300;

/// The parts of a sentence that answer the question which it answers: "odd" of "The function is
/// odd", `R=1` of "R=1 is a necessary condition", "Alice" of "Alice wins".
pub(super) fn answers(text: &str) -> Vec<&str> {
    let text = text.trim().trim_end_matches(['.', '。', ' ']);
    if text.len() > TEXT_MAX || denies(text) {
        return Vec::new();
    }
    if let Some(kind) = kind_of_number(text) {
        return vec![kind];
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

/// Whether a word turns the sentence around, or leaves it open.
fn denies(text: &str) -> bool {
    const WORDS: [&str; 12] = [
        "not", "no", "neither", "nor", "never", "none", "nothing", "nobody", "or", "if", "unless",
        "cannot",
    ];
    text.split(|c: char| !c.is_alphabetic())
        .any(|word| WORDS.iter().any(|known| word.eq_ignore_ascii_case(known)))
}

/// The text before and behind the first of `verbs` that stands as a word.
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

/// One word with a capital letter that is no article or pronoun.
fn is_name(subject: &str) -> bool {
    const OTHERS: [&str; 10] =
        ["The", "A", "An", "It", "He", "She", "They", "There", "This", "Each"];
    subject.starts_with(char::is_uppercase)
        && subject.chars().all(char::is_alphabetic)
        && !OTHERS.contains(&subject)
}

/// "any odd number of participants": which numbers they are.
fn kind_of_number(text: &str) -> Option<&str> {
    const KINDS: [&str; 6] = ["odd", "even", "prime", "composite", "positive", "negative"];
    let text = text.strip_prefix("\\text{").unwrap_or(text).trim_start_matches("\text{");
    let mut words = text.split([' ', '}']).filter(|word| !word.is_empty());
    let first = words.next()?;
    let kind = match first.to_ascii_lowercase().as_str() {
        "any" | "all" | "every" | "only" => words.next()?,
        _ => first,
    };
    let noun = words.next()?;
    let numbers = matches!(noun, "number" | "numbers" | "integer" | "integers" | "values");
    let rest = words.next();
    (numbers && KINDS.contains(&kind) && rest.is_none_or(|word| word == "of")).then_some(kind)
}

#[cfg(test)]
mod tests {
    use super::answers;

    #[test]
    fn what_is_said_of_the_subject() {
        assert_eq!(answers("The function $f(x+1)-1$ is odd."), ["odd"]);
        assert_eq!(answers(r"x=3 \text{ is the only solution of it}"), ["x=3"]);
        assert_eq!(answers("Alice wins the first game"), ["Alice"]);
        assert_eq!(answers("Any odd number of participants"), ["odd"]);
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
}
