//! The options of a question: from a column of the row, or from the prompt.

use std::borrow::Cow;
use std::cell::OnceCell;

use super::plain::plain;
use crate::prelude::*;
use crate::sample::value_text;

/// The options of a question, in the order of their letters.
pub(super) struct Options<'a> {
    texts: Vec<Cow<'a, str>>,
    /// The texts as [`plain`] has them, once they are asked for.
    plains: OnceCell<Vec<String>>,
    /// What references call the options, where that is not their letters.
    labels: Vec<Cow<'a, str>>,
    count: usize,
    /// Whether the prompt lists them by their letters.
    pub(super) lettered: bool,
    /// Whether several options may be named, as in "AC".
    pub(super) several: bool,
    /// The number of the first option, where answers name options by numbers.
    first: Option<u64>,
}

impl<'a> Options<'a> {
    pub(super) fn of(
        sample: &'a Sample,
        column: &str,
        letters: u8,
        meter: &mut Meter<'_>,
    ) -> Result<Self, Fault> {
        let mut labels = Vec::new();
        let mut texts = match sample.column(column) {
            Some(Value::Array(values)) => values.iter().map(text_of).collect(),
            Some(Value::Object(members)) => match members.get("text") {
                Some(Value::Array(values)) => {
                    labels = labels_of(members.get("label"));
                    values.iter().map(text_of).collect()
                }
                _ => members.values().map(text_of).collect(),
            },
            Some(Value::String(text)) if text.trim_start().starts_with(['[', '{']) => {
                let why = format!(
                    "column \"{column}\": expected a list of options, found text that holds one: \
                     write the list itself"
                );
                return Err(Fault::bad_input(why));
            }
            _ => Vec::new(),
        };
        meter.spend(sample.prompt().len() as u64)?;
        let listed = in_prompt(sample.prompt());
        let lettered = listed.len() > 1;
        if !labels.is_empty() {
            check_labels(&labels, listed.len() == texts.len())?;
        }
        if texts.is_empty() {
            texts = listed;
        }
        meter.spend(texts.iter().map(|text| text.len() as u64).sum())?;
        texts.truncate(26);
        let plains = OnceCell::new();
        let count = if texts.len() < 2 { usize::from(letters) } else { texts.len() };
        Ok(Self { texts, plains, labels, count, lettered, several: false, first: None })
    }

    fn plains(&self) -> &[String] {
        self.plains.get_or_init(|| self.texts.iter().map(|text| plain(text)).collect())
    }

    /// Reads numbers from `first` on as names of options, unless a number may be what an option says.
    pub(super) fn number_from(&mut self, first: u64) {
        let has_digit = |text: &Cow<'_, str>| text.contains(|c: char| c.is_ascii_digit());
        let are_words = !self.texts.iter().any(has_digit);
        let is_number = |text: &String| text.parse::<f64>().is_ok();
        let are_numbered = !self.lettered && !self.plains().iter().any(is_number);
        self.first = (are_words || are_numbered).then_some(first);
    }

    /// Whether numbers are read as names of options.
    pub(super) fn are_numbered(&self) -> bool {
        self.first.is_some()
    }

    /// The option of this number as a bit, where answers name options by numbers.
    pub(super) fn numbered(&self, digits: &str) -> Option<u32> {
        let at = digits.parse::<u64>().ok()?.checked_sub(self.first?)?;
        (at < self.count as u64).then(|| 1 << at)
    }

    /// The option that a reference names by a label, where options have labels of their own.
    pub(super) fn labelled(&self, reference: &str) -> Option<u32> {
        let at = self.labels.iter().position(|label| label.trim() == reference.trim())?;
        (at < self.count).then(|| 1 << at)
    }

    pub(super) fn have_labels(&self) -> bool {
        !self.labels.is_empty()
    }

    /// Whether every option is a number.
    pub(super) fn are_numbers(&self) -> bool {
        !self.texts.is_empty() && self.plains().iter().all(|text| text.parse::<f64>().is_ok())
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn are_unknown(&self) -> bool {
        self.texts.is_empty()
    }

    /// The text of the option that is this bit.
    pub(super) fn text(&self, letters: u32) -> Option<&str> {
        self.texts.get(letters.trailing_zeros() as usize).map(|text| text.trim())
    }

    /// What stands behind the marks between a letter and its text. A dash is a sign where an option
    /// begins with it: "D. -36".
    pub(super) fn text_behind<'t>(&self, text: &'t str, is_mark: impl Fn(char) -> bool) -> &'t str {
        let signed = text.trim_start_matches(|c| is_mark(c) && !"-–—".contains(c));
        let unsigned = signed.strip_prefix('-').unwrap_or_default();
        if unsigned.starts_with(|c: char| !c.is_whitespace()) {
            let said = plain(signed.split('\n').next().unwrap_or_default());
            let mut negative = self.plains().iter().filter(|option| option.starts_with('-'));
            if negative.any(|option| said.starts_with(option.as_str())) {
                return signed;
            }
        }
        text.trim_start_matches(is_mark)
    }

    /// Whether a text has that of another option in it.
    pub(super) fn names_other(&self, text: &str, letters: u32) -> bool {
        let text = plain(text);
        let own = letters.trailing_zeros() as usize;
        let mut others = self.plains().iter().enumerate().filter(|(at, _)| *at != own);
        others.any(|(_, option)| !option.is_empty() && text.contains(option.as_str()))
    }

    /// What follows the text of the option that is this bit, where a text begins with it.
    pub(super) fn behind_text<'t>(&self, text: &'t str, letters: u32) -> Option<&'t str> {
        let (head, behind) = text.split_at_checked(self.text(letters)?.len())?;
        (self.matching(head) == Some(letters)).then_some(behind)
    }

    /// The letter as a bit, where it is one of an option.
    pub(super) fn bit(&self, letter: char) -> Option<u32> {
        let at = u32::from(letter.to_ascii_uppercase()).checked_sub(u32::from('A'))?;
        ((at as usize) < self.count).then(|| 1 << at)
    }

    /// The one option with this text.
    pub(super) fn matching(&self, text: &str) -> Option<u32> {
        if self.texts.is_empty() {
            return None;
        }
        let wanted = plain(text);
        if wanted.is_empty() {
            return None;
        }
        let mut found = self.plains().iter().enumerate().filter(|(_, own)| **own == wanted);
        match (found.next(), found.next()) {
            (Some((at, _)), None) => Some(1 << at),
            _ => None,
        }
    }
}

/// A reference that is one letter: "C", "(C)", "C.", "C) Paris".
pub(super) fn letter_alone(text: &str, options: &Options<'_>) -> Option<u32> {
    let text = text.trim().trim_start_matches(['(', '[']);
    let mut chars = text.chars();
    let letter = chars.next()?;
    match chars.next() {
        None | Some(')' | ']' | '.' | ':') => options.bit(letter),
        Some(_) => None,
    }
}

/// A reference that is several letters: "AC", "A, C", "A and C".
pub(super) fn letters_in(text: &str, options: &Options<'_>) -> Option<u32> {
    let text = text.replace("and", ",");
    let mut letters = 0;
    for c in text.chars().filter(|c| !c.is_whitespace() && !",;&()[]".contains(*c)) {
        letters |= options.bit(c).filter(|_| c.is_ascii_uppercase())?;
    }
    Some(letters)
}

/// The letters as text, in order.
pub(super) fn letters_of(letters: u32) -> String {
    ('A'..='Z').enumerate().filter(|(at, _)| letters & (1 << at) != 0).map(|(_, c)| c).collect()
}

/// `"text"`, or `{"A": "text"}`.
fn text_of(value: &Value) -> Cow<'_, str> {
    match value {
        Value::Object(members) if members.len() == 1 => {
            members.values().next().map_or(Cow::Borrowed(""), value_text)
        }
        value => value_text(value),
    }
}

/// The labels of options, where they are others than A, B, C and so on.
fn labels_of(labels: Option<&Value>) -> Vec<Cow<'_, str>> {
    let labels = labels.and_then(Value::as_array).into_iter().flatten();
    let labels: Vec<Cow<'_, str>> = labels.map(value_text).collect();
    let is_letter = |(label, letter): (&Cow<'_, str>, char)| {
        let mut own = label.trim_matches(['(', ')', '.', ':', ' ']).chars();
        own.next().is_some_and(|first| first.to_ascii_uppercase() == letter) && own.next().is_none()
    };
    let are_letters = labels.len() <= 26 && labels.iter().zip('A'..='Z').all(is_letter);
    if are_letters { Vec::new() } else { labels }
}

/// Refuses labels that completions repeat, and that are not read there: letters in another order, and
/// those of a prompt that does not list the options by letters.
fn check_labels(labels: &[Cow<'_, str>], has_letters: bool) -> Result<(), Fault> {
    let is_letter = |label: &Cow<'_, str>| {
        label.trim().len() == 1 && label.trim().starts_with(|c: char| c.is_ascii_alphabetic())
    };
    if has_letters && !labels.iter().any(is_letter) {
        return Ok(());
    }
    let shown: Vec<&str> = labels.iter().take(4).map(|label| label.trim()).collect();
    let shown: String = shown.join(", ").chars().take(80).collect();
    Err(Fault::bad_input(format!(
        "the labels of the options are {shown}, and answers are read as A, B, C in their order: list the \
         options by these letters in the prompt, or label them so"
    )))
}

/// The last run of options in the prompt, one a line or in one: "A. text", "(A) text", "A: text".
fn in_prompt(prompt: &str) -> Vec<Cow<'_, str>> {
    let mut marks: Vec<(usize, usize)> = Vec::new();
    for (at, byte) in prompt.bytes().enumerate().filter(|(_, byte)| byte.is_ascii_uppercase()) {
        let Some((start, end)) = mark(prompt, at) else { continue };
        let nth = usize::from(byte - b'A');
        if nth == 0 {
            marks.clear();
        }
        if nth == marks.len() {
            marks.push((start, end));
        }
    }
    let ends = marks.iter().skip(1).map(|(start, _)| *start).chain([prompt.len()]);
    let texts = marks.iter().zip(ends).map(|((_, start), end)| {
        let text = prompt[*start..end].trim();
        Cow::Borrowed(text.split('\n').next().unwrap_or_default().trim())
    });
    texts.collect()
}

/// Where the mark of an option starts and ends, if the letter at `at` is one: at the start of a
/// line with a sign after it, or in brackets after a blank.
fn mark(prompt: &str, at: usize) -> Option<(usize, usize)> {
    let before = prompt.get(..at)?;
    let sign = prompt.get(at + 1..)?.chars().next()?;
    let bracketed = before.ends_with(['(', '[']);
    let outer = if bracketed { before.get(..before.len() - 1)? } else { before };
    let bare = outer.trim_end_matches([' ', '\t', '*', '-']);
    let starts_line = bare.is_empty() || bare.ends_with('\n');
    let after_blank = bracketed && outer.ends_with(char::is_whitespace);
    let is_mark = (starts_line && ").]:".contains(sign)) || (after_blank && ")]".contains(sign));
    is_mark.then_some((outer.len(), at + 1 + sign.len_utf8()))
}
