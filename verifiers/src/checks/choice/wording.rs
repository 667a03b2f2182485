//! Words and signs around the letter of an option.

/// Words that may stand between "the answer is" and the option.
#[rustfmt::skip]
pub(super) const FILLERS: &[&str] = &[
    "option", "options", "choice", "choices", "answer", "answers", "letter", "letters", "the", "is",
    "be", "it's", "it’s", "it", "must", "so", "hence", "therefore", "thus", "then", "clearly",
    "certainly", "definitely", "obviously", "surely", "likely", "probably", "most", "only", "both",
    "closest to",
    "选项", "選項", "選択肢", "就是", "la", "el", "le", "die", "der", "das", "opción", "opzione",
    "opção", "alternativa", "letra", "lettre", "lettera", "réponse", "respuesta", "antwort",
    "вариант", "буква",
];

/// Commands of LaTeX that only style their argument.
pub(super) const DRESS: [&str; 8] =
    ["\\boxed", "\\textbf", "\\text", "\\mathrm", "\\mathbf", "\\mathit", "\\(", "\\["];

/// Words after a bare "A" or "I" that show that it is not the word of that spelling.
const FOLLOWERS: [&str; 12] =
    ["because", "since", "as", "for", "which", "with", "based", "due", "given", "and", "or", "but"];

pub(super) fn starts_with_word(text: &str, word: &str) -> bool {
    let same = text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    let after = text.get(word.len()..).and_then(|rest| rest.chars().next());
    same && !after.is_some_and(char::is_alphanumeric)
}

/// What brackets around all of a text hold: "(7)".
pub(super) fn in_brackets(text: &str) -> &str {
    let inner = text.trim().strip_prefix('(').and_then(|text| text.strip_suffix(')'));
    inner.unwrap_or(text)
}

/// "C, since 7 is prime."
pub(super) fn gives_reason(rest: &str) -> bool {
    let rest = rest.trim_start_matches([',', ' ']);
    ["because", "since"].iter().any(|word| starts_with_word(rest, word))
}

/// Nothing but signs follow on the line.
pub(super) fn ends(rest: &str) -> bool {
    let rest = rest.strip_prefix(" only").unwrap_or(rest);
    let mut line = rest.chars().take_while(|c| *c != '\n');
    line.all(|c| c.is_whitespace() || ".,;:!*)]}`$\"'。".contains(c))
}

/// "A" and "I" are words as well.
pub(super) fn is_word(letter: char, tail: &str) -> bool {
    let follows = tail.strip_prefix([' ', '\t']).unwrap_or_default();
    let word: String = follows.chars().take_while(|c| c.is_alphabetic()).collect();
    matches!(letter, 'A' | 'I')
        && word.chars().next().is_some_and(char::is_lowercase)
        && !FOLLOWERS.contains(&word.as_str())
}
