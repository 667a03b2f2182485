//! Letters as answers: the letter of a choice, and sequences such as `HHT`.

/// Wrappers around a sequence of letters.
const WRAPPERS: [&str; 9] = [
    "\\text{",
    "\\mathrm{",
    "\\textbf{",
    "\\overrightarrow{",
    "\\vec{",
    "\\triangle",
    "{",
    " ",
    "\\ ",
];
/// The longest row of letters.
const ROW_MAX: usize = 40;

/// Large letters side by side, and nothing else: `HHT`, `\overrightarrow{AB}`. As a product their
/// order would not matter.
pub(crate) fn in_a_row(text: &str) -> Option<&str> {
    let mut row = text;
    while let Some(rest) = WRAPPERS.iter().find_map(|open| row.strip_prefix(open)) {
        row = rest;
    }
    let row = row.trim_end_matches(['}', ' ']);
    ((2..=ROW_MAX).contains(&row.len()) && row.bytes().all(|byte| byte.is_ascii_uppercase()))
        .then_some(row)
}

/// `(C) 42`, `C. 42`, `\textbf{(C)}\ 42`: the letter and what it stands for.
pub(crate) fn choice(text: &str) -> Option<(&str, &str)> {
    let mut head = text;
    for wrapper in ["\\textbf{", "\\text{", "\\mathbf{", "\\mathrm{", "\\textrm{"] {
        head = head.strip_prefix(wrapper).unwrap_or(head);
    }
    let bracket = head.starts_with('(');
    let head = head.strip_prefix('(').unwrap_or(head);
    let letter =
        head.get(..1).filter(|letter| letter.starts_with(|c: char| ('A'..='J').contains(&c)))?;
    let tail = head.get(1..)?;
    let rest = match (tail.strip_prefix(')'), tail.strip_prefix(['.', ':'])) {
        (Some(rest), _) => rest,
        (None, Some(rest)) if !bracket && rest.starts_with(' ') => rest,
        _ => return None,
    };
    let rest = rest.trim_start_matches(['}', '.', ':', '\\', ' ', '~', ',']);
    let is_one = !is_letters(rest, letter) && !offers_another(rest, letter, bracket);
    (is_one && (!rest.is_empty() || tail.starts_with(')'))).then_some((letter, rest))
}

/// Whether a text is letters of choices alone, of which one is another: with the letter before them they are
/// two choices.
fn is_letters(text: &str, letter: &str) -> bool {
    let is_command = |word: &&str| is_style(word) || matches!(*word, "quad" | "qquad");
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let mut words = words.filter(|word| !is_command(word)).peekable();
    // The numeral I is not a letter of a choice here.
    let is_letter = |word: &str| word.len() == 1 && matches!(word.as_bytes(), [b'A'..=b'H' | b'J']);
    let mut others = false;
    words.peek().is_some()
        && words.all(|word| {
            others |= word != letter;
            is_letter(word)
        })
        && others
}

/// Words and signs that join two choices.
const JOINTS: [&str; 22] = [
    "and", "or", "to", "not", "but", "maybe", "also", "else", "nor", "then", "vs", "cup", "cap",
    "lor", "land", "vee", "wedge", "mid", "option", "choice", "Option", "Choice",
];

/// Whether the text after a choice offers another one: "and (B)", "5, (B) 6". `bracket` says
/// whether letters are in brackets. "Both A and B" is what one choice says.
fn offers_another(rest: &str, letter: &str, bracket: bool) -> bool {
    let (mut only_joints, mut joined) = (true, false);
    let mut at = 0;
    while let Some(c) = rest.get(at..).and_then(|rest| rest.chars().next()) {
        let start = at;
        at += c.len_utf8();
        if !c.is_alphanumeric() {
            continue;
        }
        let tail = &rest[start..];
        let end = tail.find(|c: char| !c.is_alphanumeric()).unwrap_or(tail.len());
        let (word, after) = tail.split_at(end);
        let before = &rest[..start];
        at = start + end;
        let follows = only_joints && joined;
        if is_other_letter(word, letter) && (follows || is_marked(before, after, bracket)) {
            return true;
        }
        joined |= JOINTS.contains(&word);
        only_joints &= JOINTS.contains(&word) || is_style(word);
    }
    false
}

/// Whether a letter is marked as that of a choice by what is around it.
fn is_marked(before: &str, after: &str, bracket: bool) -> bool {
    let gap = before.trim_end_matches(['(', ' ']);
    if bracket {
        // f(B) is not a choice, and neither is what words refer to: "both (A) and (B)".
        let called =
            before.strip_suffix('(').is_some_and(|head| head.ends_with(char::is_alphabetic));
        let refers = gap.to_ascii_lowercase();
        let refers =
            ["both", "neither", "either", "only", "than"].iter().any(|word| refers.contains(word));
        before.ends_with('(') && after.starts_with(')') && !called && !refers
    } else {
        let closes = after.starts_with(") ") || after.starts_with([':', '.']);
        closes && gap.ends_with(|c: char| c.is_ascii_digit() || ",;})".contains(c))
    }
}

fn is_style(word: &str) -> bool {
    ["text", "textbf", "mathrm", "mathbf", "textrm"].contains(&word)
}

/// Whether a word is the letter of another choice. The numeral I is none.
fn is_other_letter(word: &str, letter: &str) -> bool {
    word.len() == 1 && word != letter && matches!(word.as_bytes(), [b'A'..=b'H' | b'J'])
}

/// `\text{Option C}`, `Choice (C)`, `(c)`: the letter of a choice without its value.
pub(crate) fn named_choice(text: &str) -> Option<String> {
    let head = text.strip_prefix("\\text{").and_then(|rest| rest.strip_suffix('}')).unwrap_or(text);
    let named = ["option ", "choice ", "answer ", "答案选", "答案是", "故选", "选择", "选"]
        .iter()
        .find_map(|word| head.get(..word.len()).filter(|head| head.eq_ignore_ascii_case(word)));
    let rest = head.get(named.map_or(0, str::len)..)?;
    let rest = rest.trim_start_matches([':', '：', ' ']).trim_end_matches(['.', '。', ' ']);
    let bracketed = rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let letter = bracketed.or(named.map(|_| rest))?;
    let fits = letter.len() == 1
        && letter.starts_with(|c: char| ('a'..='j').contains(&c.to_ascii_lowercase()));
    fits.then(|| letter.to_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_choices_and_in_a_row() {
        assert_eq!(in_a_row("HHT"), Some("HHT"));
        assert_eq!(in_a_row("\\overrightarrow{AB}"), Some("AB"));
        assert_eq!(in_a_row("\\overline{AB}"), None);
        assert_eq!(in_a_row("A"), None);
        assert_eq!(in_a_row("abc"), None);
        assert_eq!(choice("(A) 42"), Some(("A", "42")));
        assert_eq!(choice("(C) I"), Some(("C", "I")));
        assert_eq!(choice("(A)"), Some(("A", "")));
        for one in ["(C) A and B", "(D) Both (A) and (B)", "(A) f(B) = 2", "(A) Paris or Rome"] {
            assert!(choice(one).is_some(), "{one}");
        }
        for two in [
            "(A)(B)",
            "(A) B",
            "A: B",
            "A. B",
            "(A)=(B)=(C)",
            "(A)\\\\(B)",
            "(A) and (B) and (C)",
            "(A)\\cup(B)",
            "A. and B.",
            "(A) 5, (B) 6",
            "A: 5, B: 6",
        ] {
            assert_eq!(choice(two), None, "{two}");
        }
        assert_eq!(named_choice("\\text{Option C}").as_deref(), Some("C"));
        assert_eq!(named_choice("(b)").as_deref(), Some("B"));
        assert_eq!(named_choice("故选：C。").as_deref(), Some("C"));
        assert_eq!(named_choice("b"), None);
        assert_eq!(named_choice("(x)"), None);
    }
}
