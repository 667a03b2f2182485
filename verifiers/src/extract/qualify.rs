//! Qualification of values by the words around them: a value that is denied, bounded, a name, a
//! count or only tried is not an answer.
//!
//! Checks share these functions of the text before and behind a value. They read a few words only,
//! so that a check can afford them for every value of a text.

pub(super) use super::words::is_unspaced;
use super::words::{is_negated, is_one_of};
use crate::language::{deny, hedge, remark, retract, suppose, value};

/// Why a value is not an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Qualifier {
    /// "not 4", "4 is wrong", "neither 4".
    Denied,
    /// "less than 4", "at least 4", "4 or more".
    Bounded,
    /// "between 3 and 4".
    Ranged,
    /// "the 4th prime".
    Ordinal,
    /// "equation (4)", "Theorem 4", "page 4".
    Named,
    /// "for example 4", "try x = 4".
    Example,
    /// "half of 4", "4 squared", "4 out of 5".
    Computed,
    /// "in 4 steps", "I tried 4 times".
    Counted,
    /// "4 or 5", "4, maybe", "4 (or maybe 5)".
    Hedged,
}

/// How much text before an announcement is looked at, in bytes.
const CLAUSE_MAX: usize = 120;

/// The longest value that a remark denies, in bytes.
const VALUE_MAX: usize = 60;

/// Why a value is not an answer, by the text of its sentence before it and behind it.
pub fn qualifier(before: &str, after: &str) -> Option<Qualifier> {
    let named = before.trim_end_matches([' ', '\n', '$', '\\', '(', '[', '#', '*']);
    let before = before
        .trim_end_matches([' ', '\n', '$', '\\', '(', '[', '{', '}', '*', '_', '`', '"', ':']);
    let assigned = unassigned(before);
    let after = after.trim_start_matches([' ', '$', '\\', ')', ']', '}', '*', '_', '`', '"', ',']);
    // "4\text{ or more}".
    let after = after.strip_prefix("text{").map_or(after, str::trim_start);
    // "between 3 and 4".
    let ranged = ends_with(before, value::RANGE_JOINS) && clause(before).contains("between ");
    let summed = ends_with(before, value::SUMMING);
    let compound =
        after.strip_prefix('-').is_some_and(|rest| rest.starts_with(char::is_alphabetic));
    let led = |phrases| ends_with(before, phrases) || ends_with(assigned, phrases);
    let followed = |phrases| starts_with(after, phrases);
    let denied = led(deny::BEFORE) || is_mislabelled(before);
    let aside = after.strip_prefix(['(', '[']).unwrap_or_default();
    let doubted = starts_with(aside, hedge::ASIDE);
    let found = [
        (denied || followed(deny::AFTER), Qualifier::Denied),
        (followed(value::ORDINALS), Qualifier::Ordinal),
        (led(value::BOUND_BEFORE) && !summed || followed(value::BOUND_AFTER), Qualifier::Bounded),
        (ranged || led(value::RANGE_BEFORE), Qualifier::Ranged),
        (compound || ends_with(named, value::NAME_BEFORE), Qualifier::Named),
        (led(value::OPERATION_BEFORE) || followed(value::OPERATION_AFTER), Qualifier::Computed),
        (followed(value::COUNTED_AFTER), Qualifier::Counted),
        (led(suppose::EXAMPLE_BEFORE), Qualifier::Example),
        (followed(hedge::AFTER) || doubted, Qualifier::Hedged),
    ];
    found.into_iter().find_map(|(holds, why)| holds.then_some(why))
}

/// Whether a text ends in a label that denies the value behind it: "wrong: 4", but not "the number
/// of answers that are wrong: 4".
fn is_mislabelled(before: &str) -> bool {
    deny::LABELS.iter().any(|label| {
        let lead = ends_with(before, &[*label]).then(|| before.get(..before.len() - label.len()));
        lead.flatten().is_some_and(|lead| {
            let clause = lead.trim_end_matches([' ', '*', '_', '{', '"', '(', '$']);
            clause.is_empty()
                || clause.ends_with(['\n', '.', ':', ';', '!'])
                || ends_with(clause, deny::LABEL_LEADS)
        })
    })
}

/// Whether a text ends in words that deny the value behind it: "not", "instead of", "答案不是".
pub fn is_denied_before(before: &str) -> bool {
    ends_with(before, deny::BEFORE)
}

/// Whether a text begins with words that deny the value before it: "is wrong", "cannot be".
pub fn is_denied_after(after: &str) -> bool {
    starts_with(after, deny::AFTER)
}

/// The text before "x =".
fn unassigned(before: &str) -> &str {
    let Some(named) = before.strip_suffix('=') else { return before };
    let named = named.trim_end();
    let head = named.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_');
    // "9 times 2 =" is no name.
    let is_name = named.get(head.len()..).is_some_and(|name| name.starts_with(char::is_alphabetic));
    if is_name { head.trim_end_matches([' ', '$', '\\', '(']) } else { before }
}

/// Whether the words before an announcement negate it or make it hypothetical: "I do not think that
/// (the answer is 4)", "suppose (the answer is 4)". Words of another clause do not count.
pub fn is_unsaid(before: &str) -> bool {
    // The value of a quotation belongs to the clause in front of it.
    let lead = before.trim_end_matches([' ', '*']);
    let quoted = ["the", "The"].iter().find_map(|article| lead.strip_suffix(article));
    let quoted = quoted.filter(|lead| lead.ends_with(['"', '“']));
    let words = clause(quoted.unwrap_or(before))
        .rsplit(|c: char| !(c.is_alphanumeric() || matches!(c, '\'' | '’')));
    let mut words = words.filter(|word| !word.is_empty()).peekable();
    let told = words.clone().skip_while(|word| is_one_of(suppose::REFERRING, word));
    if reports(told) {
        return true;
    }
    while let Some(word) = words.next() {
        let is = |other: &&str| other.eq_ignore_ascii_case(word);
        if suppose::OPINIONS.iter().any(is) || is_negated(word) {
            // There is no doubt that the answer is 4.
            let turned = words
                .peek()
                .is_some_and(|before| is_one_of(suppose::UNDOUBTING, before) || is_negated(before));
            return !(turned && suppose::DOUBTING.iter().any(is));
        }
        if !suppose::LIGHT.iter().any(is) {
            return false;
        }
    }
    false
}

/// Whether a text begins with a remark, or with a value that it denies: "8 is wrong".
fn is_other_value(remark: &str) -> bool {
    let near = &remark[..remark.floor_char_boundary(VALUE_MAX)];
    let value = near.split(' ').next().unwrap_or_default();
    let after = &remark[value.len()..];
    starts_with(remark, remark::BEGINNINGS)
        || value.contains(|c: char| c.is_ascii_digit())
            && after.strip_prefix(' ').is_some_and(|after| starts_with(after, deny::AFTER))
}

/// Whether the last words of a clause, in their reverse order, report what somebody says.
fn reports<'a>(mut words: impl Iterator<Item = &'a str>) -> bool {
    let says = words.next().is_some_and(|word| is_one_of(suppose::SAYING, word));
    says && words.take(2).any(|word| is_one_of(suppose::REPORTERS, word))
}

/// Whether a remark denies the value before it: "which is false".
pub(super) fn denies(remark: &str) -> bool {
    let near = &remark[..remark.floor_char_boundary(2 * CLAUSE_MAX)];
    let lower = near.to_ascii_lowercase();
    starts_with(remark.trim_start_matches([' ', ',', ';', '(', '*', '$']), deny::REMARKS)
        || retract::SECOND_THOUGHTS.iter().any(|thought| lower.contains(thought))
}

/// Whether the end of a text says that there is no answer: "I do not know", "I give up".
pub(super) fn admits(text: &str) -> bool {
    let from = text.ceil_char_boundary(text.len().saturating_sub(2 * CLAUSE_MAX));
    let near = text[from..].to_ascii_lowercase();
    hedge::ADMISSIONS.iter().any(|admission| near.contains(admission))
}

/// Whether a text begins with a remark: "since", "(see", "rather than".
pub(super) fn is_remark(text: &str) -> bool {
    starts_with(text.trim_start_matches([' ', ',', ';', '(', '*', '$']), remark::BEGINNINGS)
}

/// Whether the words before a value say that it comes from a mistake: "a common mistake gives (4)".
/// The result of a corrected mistake may be the answer.
pub fn is_mistaken(before: &str) -> bool {
    let clause = clause(before).trim_end_matches([' ', '$', '\\', '(', '[', '*', '"']);
    let lead = deny::MISTAKEN_VERBS.iter().find(|lead| ends_with(clause, &[**lead]));
    let named = &clause[..clause.len() - lead.map_or(0, |lead| lead.len())];
    ends_with(named.trim_end(), deny::MISTAKES) && {
        let named = named.to_ascii_lowercase().replace("incorrect", "");
        !deny::MENDING.iter().any(|word| named.contains(word))
    }
}

/// The last clause of a text.
pub(super) fn clause(before: &str) -> &str {
    let near = &before[before.ceil_char_boundary(before.len().saturating_sub(CLAUSE_MAX))..];
    let ends = ['.', ',', ';', ':', '!', '?', '\n', '。', '，', '；', '！', '？', '('];
    let near = near.trim_end_matches([' ', '$', '\\', '(', '[', '*', '"', ':']);
    near.rsplit(ends).next().unwrap_or_default()
}

/// The length of what is announced without the remark behind it: "7 since 8 is too big", "7 (see
/// page 8)", "7, not 8". An alternative is no remark: "7, or 8 if ...".
pub fn value_length(text: &str) -> usize {
    let separates = |byte: &u8| matches!(byte, b' ' | b',' | b';' | b'(' | b'*');
    let bytes = text.as_bytes();
    let (mut in_math, mut at, mut end) = (false, 0, text.len());
    while let Some(byte) = bytes.get(at) {
        in_math ^= *byte == b'$';
        let run = bytes.iter().skip(at).take_while(|byte| separates(byte)).count();
        if run > 0 && !in_math && at > 0 && text.get(at + run..).is_some_and(is_other_value) {
            end = at;
            break;
        }
        at += run.max(1);
    }
    let value = text[..end].trim_end_matches([' ', ',', ';', '(', '*']);
    // "The number of apples, which is 4": the value comes behind the words.
    let is_value = value.contains(|c: char| c.is_ascii_digit() || "$\\".contains(c))
        || value.split_whitespace().nth(3).is_none();
    if is_value { value.len() } else { text.len() }
}

/// Whether a text begins with one of these phrases as whole words, the case of letters aside.
pub(super) fn starts_with(text: &str, phrases: &[&str]) -> bool {
    let bytes = text.as_bytes();
    let Some(first) = bytes.first() else { return false };
    phrases.iter().any(|phrase| {
        // Most phrases are told apart by their first letter.
        phrase.as_bytes().first().is_some_and(|byte| byte.eq_ignore_ascii_case(first))
            && bytes
                .get(..phrase.len())
                .is_some_and(|head| head.eq_ignore_ascii_case(phrase.as_bytes()))
            && is_edge(
                phrase.chars().next_back(),
                text.get(phrase.len()..).and_then(|rest| rest.chars().next()),
            )
    })
}

/// Whether a text ends with one of these phrases as whole words, the case of letters aside.
pub(super) fn ends_with(text: &str, phrases: &[&str]) -> bool {
    let bytes = text.as_bytes();
    let Some(last) = bytes.last() else { return false };
    phrases.iter().any(|phrase| {
        let Some(at) = text.len().checked_sub(phrase.len()) else { return false };
        phrase.as_bytes().last().is_some_and(|byte| byte.eq_ignore_ascii_case(last))
            && bytes.get(at..).is_some_and(|tail| tail.eq_ignore_ascii_case(phrase.as_bytes()))
            && is_edge(
                phrase.chars().next(),
                text.get(..at).and_then(|head| head.chars().next_back()),
            )
    })
}

/// Whether a word may end between two characters. Scripts without spaces end words anywhere.
fn is_edge(inner: Option<char>, outer: Option<char>) -> bool {
    let letter = |c: char| c.is_alphanumeric() || c == '\'';
    !(inner.is_some_and(|c| letter(c) && !is_unspaced(c)) && outer.is_some_and(letter))
}
