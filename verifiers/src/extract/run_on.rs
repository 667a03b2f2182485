//! Another question behind an answer: "5\n\nQuestion: What is 3 + 3?\nAnswer: 6".
//!
//! Raw completions of a base model go on in the manner of their few-shot prompt, and what they say
//! there answers nothing that was asked.

use std::cell::OnceCell;

use memchr::memchr_iter;

use super::candidate::{Candidate, Provenance};
use super::qualify::{self, is_unspaced};
use crate::language::{announce, question};

/// The longest head of a question, in bytes.
const HEAD_MAX: usize = 48;
/// The most heads that are looked up in the prompt.
const HEADS_MAX: usize = 16;
/// The shortest question that is looked up in the prompt, in bytes.
const QUESTION_MIN: usize = 12;
/// The most words of a value.
const VALUE_WORDS_MAX: usize = 8;

/// The head of a question.
struct Head<'a> {
    /// Where its line starts.
    at: usize,
    /// What stands behind it on its line.
    said: &'a str,
}

/// Where the next question is headed, at or behind the byte `from`.
pub(crate) fn next_question(text: &str, from: usize) -> Option<usize> {
    heads(text, from).next().map(|head| head.at)
}

/// Where the first question is headed that is not the one of the prompt, if something stands before
/// it. A completion that begins with such a question asks itself.
pub(super) fn other_question(text: &str, prompt: &str) -> Option<usize> {
    let mut heads = heads(text, 0).take(HEADS_MAX);
    let other = heads.find(|head| !restates(text, head, prompt))?;
    text.get(..other.at).is_some_and(|before| !before.trim().is_empty()).then_some(other.at)
}

/// Whether a question is the last one of the prompt.
fn restates(text: &str, head: &Head<'_>, prompt: &str) -> bool {
    let below = || text[head.at..].lines().skip(1);
    let mut said = std::iter::once(head.said).chain(below()).map(str::trim);
    let Some(said) = said.find(|line| !line.is_empty()) else { return false };
    said.len() >= QUESTION_MIN
        && prompt.rfind(said).is_some_and(|at| next_question(prompt, at + said.len()).is_none())
}

/// The heads of questions whose lines start at or behind `from`.
fn heads(text: &str, from: usize) -> impl Iterator<Item = Head<'_>> {
    let last_answer = OnceCell::new();
    lines(text, from).filter_map(move |(at, line)| {
        if let Some(said) = headed(line, question::QUESTIONS) {
            return Some(Head { at, said });
        }
        let said = headed(line, question::PROBLEMS)?;
        let last_answer = last_answer.get_or_init(|| last_answer_head(text));
        last_answer.is_some_and(|last| last > at).then_some(Head { at, said })
    })
}

/// Where the last line starts that heads an answer.
fn last_answer_head(text: &str) -> Option<usize> {
    let marked = |line: &str| {
        let value =
            line.strip_prefix("####").map(|value| value.trim_start_matches([' ', '$', '-']));
        value.is_some_and(|value| value.starts_with(|c: char| c.is_ascii_digit()))
    };
    let answers = lines(text, 0)
        .filter(|(_, line)| headed(line, question::ANSWERS).is_some() || marked(line));
    answers.last().map(|(at, _)| at)
}

/// The lines that start at or behind `from`, and where.
fn lines(text: &str, from: usize) -> impl Iterator<Item = (usize, &str)> {
    let base = from.saturating_sub(1);
    let (_, rest) = text.as_bytes().split_at(base);
    let starts = memchr_iter(b'\n', rest).map(move |at| base + at + 1);
    (from == 0).then_some(0).into_iter().chain(starts).map(move |at| {
        let line = &text[at..];
        (at, line.split_once('\n').map_or(line, |(line, _)| line))
    })
}

/// What follows the head with which a line begins, where that is one of these words: "Q2: ", "###
/// Question", "**Question:** ", "[Question]".
fn headed<'a>(line: &'a str, words: &[&str]) -> Option<&'a str> {
    let name = line.trim_start_matches([' ', '\t', '#', '*', '_', '>', '[', '【']);
    let near = name.get(..name.floor_char_boundary(HEAD_MAX))?;
    let is_marked = line.get(..line.len() - name.len())?.contains(['#', '*', '[', '【']);
    // Few lines have a colon near their start, and most cost no more than this.
    if !is_marked && !near.contains([':', '：']) && !near.starts_with(['q', 'Q']) {
        return None;
    }
    let word = words.iter().filter(|word| begins(near, word)).max_by_key(|word| word.len())?;
    let rest = name.get(word.len()..)?;
    let number = rest.trim_start_matches([' ', '#']);
    let behind = number.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = behind.len() < number.len();
    let rest = if is_numbered { behind } else { rest };
    let rest = rest.trim_start_matches([' ', '*', '_', ']', '】', '\r']);
    let said = match rest.chars().next() {
        None => is_marked.then_some(rest),
        Some('.' | ')') if is_numbered => rest.get(1..),
        Some('.') if question::DOTTED.contains(word) => rest.get(1..),
        Some(sign @ (':' | '：')) => rest.get(sign.len_utf8()..),
        Some(_) => None,
    };
    Some(said?.trim_start_matches(['*', '_', ' ']))
}

/// Whether a text begins with a word, the case of ASCII letters aside.
fn begins(text: &str, word: &str) -> bool {
    let head = text.as_bytes().get(..word.len());
    head.is_some_and(|head| head.eq_ignore_ascii_case(word.as_bytes()))
        && text.get(word.len()..).is_some_and(|rest| !rest.starts_with(char::is_alphabetic))
}

/// The most characters of scripts without spaces in a short value: a unit.
const UNSPACED_MAX: usize = 6;

/// Whether a text is nothing but a short value: "5", "$5 apples", "x = 5", "(B)".
pub(super) fn is_value(text: &str) -> bool {
    let text = text.trim();
    let bare = text.trim_matches(|c: char| c.is_ascii_punctuation() && c != '-' && c != '\\');
    let is_letter = bare.len() == 1 && bare.starts_with(|c: char| c.is_ascii_uppercase());
    let starts = bare.starts_with(|c: char| c.is_ascii_digit() || "-−\\".contains(c));
    let is_number = (starts || bare.contains('=')) && bare.contains(|c: char| c.is_ascii_digit());
    // The number of an item is no value.
    let is_item = bare == "1" && text.ends_with(['.', ')', ':']);
    (is_letter || is_number) && !is_item && !text.contains('\n') && is_short(text)
}

fn is_short(text: &str) -> bool {
    let unspaced = text.chars().filter(|c| is_unspaced(*c)).count();
    text.split_whitespace().nth(VALUE_WORDS_MAX).is_none() && unspaced <= UNSPACED_MAX
}

/// Whether an announced text is a value, and `behind` says no more than why. "The answer is given
/// below" announces none.
pub(super) fn is_settled(said: &Candidate<'_>, behind: &str) -> bool {
    let text = said.text.trim();
    let has_value = text.contains(|c: char| c.is_ascii_digit() || "$\\".contains(c));
    let word = text.trim_matches(|c: char| c.is_ascii_punctuation());
    let is_word = !text.contains(char::is_whitespace)
        && !announce::PLACEHOLDERS.iter().any(|other| other.eq_ignore_ascii_case(word));
    let is_value = said.provenance == Provenance::Boxed || (has_value && is_short(text)) || is_word;
    // The tag that ends the answer.
    let tag = behind.trim_start().strip_prefix("</").and_then(|tag| tag.split_once('>'));
    let behind = tag.map_or(behind, |(_, behind)| behind);
    is_value && (qualify::is_remark(behind) || !behind.contains(char::is_alphanumeric))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_of_questions() {
        for head in [
            "Question: What?",
            "Q: What?",
            "Q2. What?",
            "question 3:",
            "### Question",
            "**Question:** What?",
            "[Question]",
            "【问】",
            "Frage: Was?",
            "Вопрос: Что?",
            "  Q:",
            "Human: hi",
            "> Question: What?",
        ] {
            assert_eq!(next_question(&format!("5\n{head}\n"), 0), Some(2), "{head}");
        }
        for line in [
            "Question marks",
            "Quit: no",
            "A question: why",
            "Users: 5",
            "Q",
            "Question",
            "Questions: 5",
        ] {
            assert_eq!(next_question(&format!("5\n{line}\n"), 0), None, "{line}");
        }
        assert_eq!(next_question("5\nProblem: too big", 0), None);
        assert_eq!(next_question("5\nProblem: 3 + 3?\nAnswer: 6", 0), Some(2));
        assert_eq!(next_question("5\nProblem: 3 + 3?\n#### 6", 0), Some(2));
    }

    #[test]
    fn questions_of_the_prompt_are_repeated() {
        let prompt = "Question: What is one?\nAnswer: 1\n\nQuestion: What is five?\nAnswer:";
        let text = "5\n\nQuestion: What is five?\nIt is 5.\n\nQuestion: What is one?\n1";
        assert_eq!(other_question(text, prompt), text.rfind("Question"));
        assert_eq!(
            other_question("Question: What is six?\n\nQuestion: What is two?", prompt),
            None
        );
    }

    #[test]
    fn values_alone() {
        for text in ["5", "-5.", "$5 apples", "x = 5", "(B)", "**B**", "\\(\\frac12\\)"] {
            assert!(is_value(text), "{text}");
        }
        for text in ["", "1.", "Sure!", "Step 1", "5\n6", "I have 5", "Part 2:"] {
            assert!(!is_value(text), "{text}");
        }
    }
}
