//! Answer extraction: where the answer stands in a completion, for all checks.
//!
//! [`Spoken`] is the visible part of a completion: without thinking ([`thinking`]) and without
//! hidden text ([`hidden`]). Its [`Scope`] ends before another question that the completion runs on
//! into, and knows the code and the quotations, in which nothing is announced. [`announced`] gives the announced candidates, the best first: boxes, formats that a
//! prompt asks for, sentences ("the answer is 18") in many languages. [`unannounced`] gives the
//! candidates of a completion without any of these. Checks differ in what they compare alone:
//!
//! ```
//! use assay_verifiers::Meter;
//! use assay_verifiers::extract::{Policy, Scope, Spoken, Thinking, announced};
//!
//! let spoken = Spoken::of("<think>3?</think>The answer is not 3 but 4", Thinking::Skip);
//! let scope = Scope::of(&spoken, "What is 2+2?");
//! let found = announced(&scope, Policy::Auto, &mut Meter::default())?;
//! assert_eq!(found[0].text, "4");
//! # Ok::<(), assay_verifiers::Fault>(())
//! ```
//!
//! The text of a candidate extends to the end of its sentence. The check reads its own kind of
//! value at the start of the text (or, for a number in prose, the last one), and [`qualify`] tells
//! whether the words around that value disqualify it: "less than 18" and "equation (4)" are not
//! answers. Denied and retracted candidates are left out; of several values that are offered, "17, or
//! maybe 18", the text is a list with "or". Spans are byte offsets in
//! [`Scope::text`]; [`Scope::place`] gives those in the completion.

mod afterthought;
mod announcement;
mod boxes;
mod candidate;
pub mod code;
mod conclusion;
mod emphasis;
mod grouped;
pub mod hidden;
mod hypothesis;
mod joined;
mod labelled;
mod last_box;
mod last_sentence;
mod markers;
mod negation;
mod places;
mod prose;
pub mod qualify;
mod resolved;
mod retraction;
mod run_on;
mod scope;
mod sentence;
pub mod thinking;
mod words;

use std::borrow::Cow;
use std::ops::Range;

pub(crate) use afterthought::{repeats_in_words, stands};
use candidate::slice;
pub use candidate::{Candidate, Provenance};
pub use code::Code;
pub use last_sentence::{last_number, signed};
pub use markers::{Tag, is_answer_tag, last_tag};
pub(crate) use prose::number_in_prose;
pub(crate) use run_on::next_question;
pub use scope::{Scope, Spoken};
pub use thinking::Thinking;

pub(crate) use words::{is_negated, is_one_of, is_unspaced, offers};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fault::Fault;
use crate::language::conclude;
use crate::language::cues::{self, Cue, Role};
use crate::language::guess::Languages;
use crate::language::sentences;
use crate::language::{remarks, standing};
use crate::math::syntax::text::trimmed_start;
use crate::math::syntax::units;
use crate::meter::Meter;

/// Where the answer is looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// The last box or announced answer; without one, a bare answer or the number that ends the
    /// last sentence.
    #[default]
    Auto,
    /// `\boxed{}` and its like only.
    Boxed,
    /// Announced answers only: "the answer is", `#### 18`, `"answer": "18"`, `<answer>`.
    Anchor,
    /// The last number of the text.
    LastNumber,
    /// The whole text is the answer.
    Whole,
}

/// A reference of more words is a solution, where it has formulas or announces its answer.
const SOLUTION_WORDS: usize = 20;
/// What a solution announces is a value of at most this many words.
const ANNOUNCED_WORDS: usize = 6;
/// The fuel of a search for announcements in a text for whose length the caller pays.
const SEARCH_FUEL: u64 = 10_000;
/// The answer before another question is looked for in so many bytes.
const ANSWER_WITHIN: usize = 1000;
/// Announcements by other words than "answer" are looked for in so many bytes at the end.
const FOREIGN_WITHIN: usize = 1000;
/// The longest completion that is tried as a bare answer, in bytes.
const WHOLE_BYTES_MAX: usize = 4000;

impl<'a> Scope<'a> {
    /// The visible text without code and quotations of the prompt. It ends where the completion runs
    /// on into another question behind its answer.
    pub fn of(spoken: &'a Spoken<'a>, prompt: &'a str) -> Self {
        let scope = Self::visible(spoken, prompt);
        let other = run_on::other_question(scope.text, prompt).filter(|at| !scope.in_code(*at));
        match other {
            Some(at) if scope.text.get(..at).is_some_and(ends_with_answer) => scope.up_to(at),
            _ => scope,
        }
    }
}

/// Whether a text is a bare answer, or ends with one that it announces.
fn ends_with_answer(text: &str) -> bool {
    let near = &text[text.ceil_char_boundary(text.len().saturating_sub(ANSWER_WITHIN))..];
    let scope = Scope::all(near);
    let mut found: Vec<_> = last_box::last_group(&scope).into_iter().collect();
    let searched = said(&scope, &mut found, &mut Meter::new(SEARCH_FUEL));
    let settled = |said: &Candidate<'_>| {
        near.get(said.span.1..).is_some_and(|behind| run_on::is_settled(said, behind))
    };
    run_on::is_value(text) || (searched.is_ok() && found.iter().any(settled))
}

/// The answers that a completion announces, the best first.
pub fn announced<'a>(
    scope: &Scope<'a>,
    policy: Policy,
    meter: &mut Meter<'_>,
) -> Result<Vec<Candidate<'a>>, Fault> {
    let mut found = Vec::new();
    if matches!(policy, Policy::Auto | Policy::Boxed) {
        found.extend(last_box::last_group(scope));
    }
    if matches!(policy, Policy::Auto | Policy::Anchor) {
        said(scope, &mut found, meter)?;
        // An announcement of a box is the box again, and sentences around a JSON object with an
        // answer are commentary.
        let json = found.iter().any(|candidate| candidate.provenance == Provenance::Json);
        found.retain(|candidate| {
            candidate.provenance != Provenance::Anchor
                || !(json || candidate.text.contains("\\box"))
        });
        // The one that ends last was said last.
        found.sort_by_key(|candidate| {
            std::cmp::Reverse((candidate.span.1, candidate.provenance == Provenance::Boxed))
        });
        hypothesis::settle(scope.text, &mut found);
        unvalued(scope.text, &mut found);
        let said = found.first().map(|last| last.span.1);
        if let Some(new) = said.and_then(|said| retraction::replaced(scope.text, said)) {
            found.insert(0, new);
        } else {
            reconsidered(scope.text, &mut found);
        }
    }
    Ok(found)
}

/// Drops the last announcement where it says something of the answer before it, and no value: "the answer
/// is unique".
fn unvalued(text: &str, found: &mut Vec<Candidate<'_>>) {
    let [last, _, ..] = found.as_slice() else { return };
    let has_value = last.text.contains(|c: char| c.is_ascii_digit() || "$\\".contains(c));
    if last.provenance != Provenance::Anchor
        || has_value
        || last.text.starts_with(char::is_uppercase)
    {
        return;
    }
    let near = &text[..last.span.1];
    let start = sentences::last_start(&near[..last.span.0]);
    let said = cues::of(&near[start..], &Languages::of(text));
    let is_remark =
        |cue: &Cue| [Role::Reaffirm, Role::Remark, Role::Verify].iter().any(|role| cue.is(*role));
    if said.iter().any(is_remark) {
        found.remove(0);
    }
}

/// Joins what is offered beside the last answer to it.
fn reconsidered(text: &str, found: &mut Vec<Candidate<'_>>) {
    let Some(last) = found.first_mut() else { return };
    // Another value below a marked one is another answer.
    let behind = &text[last.span.1..];
    let below = behind.trim();
    if last.provenance == Provenance::Marker
        && behind.starts_with('\n')
        && run_on::is_value(below)
        && below.starts_with(|c: char| !c.is_alphabetic())
        && below != last.text
    {
        last.text = Cow::Owned(format!("{} or {below}", last.text));
        return;
    }
    if let Some(other) = afterthought::offered(text, last.span.1) {
        let value = &text[other.clone()];
        // "18. So it is 18."
        if bare(value) != bare(&last.text) {
            last.text = Cow::Owned(format!("{} or {value}", last.text));
            last.span.1 = other.end;
        }
    }
}

/// A value without the signs around formulas and the end of its sentence.
fn bare(value: &str) -> &str {
    value.trim_matches(['$', ' ', '*', '.', '\n'])
}

/// Whether what announcements of a text deny or suppose includes this place: "I doubt that the
/// answer is 4".
pub(crate) fn is_unsaid_at(text: &str, place: usize) -> bool {
    let near = text.ceil_char_boundary(text.len().saturating_sub(FOREIGN_WITHIN));
    announcement::unsaid(text, near).into_iter().any(|unsaid| {
        // "Not 5, it is 4": the next clause says what the answer is.
        let between = text.get(unsaid.start..place);
        unsaid.contains(&place) && between.is_some_and(|between| !between.contains([',', ';']))
    })
}

/// Every announcement near the end but boxes, in no order.
fn said<'a>(
    scope: &Scope<'a>,
    found: &mut Vec<Candidate<'a>>,
    meter: &mut Meter<'_>,
) -> Result<(), Fault> {
    let text = scope.text;
    let mut looked = 0;
    let mut counts = |candidate: &Candidate<'_>| {
        !scope.in_code(candidate.span.0) && !scope.quoted(candidate.span, &mut looked)
    };
    found.extend(markers::find(text).filter(&mut counts));
    for at in announcement::english(text) {
        meter.spend(200)?;
        if let Some(value) = markers::json_member(text, at) {
            let named = markers::is_answer_member(text, at).then_some(value);
            found.extend(named.and_then(|value| markers::json_value(text, value)));
        } else if !scope.in_code(at) {
            let said = announcement::by_answer(text, at)
                .and_then(|said| announcement::sentence(text, &said));
            found.extend(said.filter(&mut counts));
        }
    }
    found.extend(labelled::find(text).into_iter().filter(&mut counts));
    if !found.iter().any(|candidate| candidate.provenance == Provenance::Json) {
        found.extend(labelled::member(text));
    }
    if found.is_empty() || has_other_scripts(text) {
        let near = text.ceil_char_boundary(text.len().saturating_sub(FOREIGN_WITHIN));
        meter.spend((text.len() - near) as u64)?;
        let said = announcement::foreign(text, near).into_iter();
        found.extend(
            said.filter_map(|said| announcement::sentence(text, &said)).filter(&mut counts),
        );
    }
    Ok(())
}

/// Whether a text has letters of scripts other than Latin and Greek.
fn has_other_scripts(text: &str) -> bool {
    !text.is_ascii()
        && text.bytes().any(|byte| matches!(byte, 0xd0..=0xdf | 0xe0 | 0xe1 | 0xe3..=0xed))
}

/// The candidates of a completion without announcements, the best first: the whole completion, or
/// the value of its last sentence.
pub fn unannounced<'a>(scope: &Scope<'a>, policy: Policy) -> Vec<Candidate<'a>> {
    whole(scope, policy).into_iter().chain(concluded(scope, policy)).collect()
}

/// The completion as a bare answer, where it may be one.
pub fn whole<'a>(scope: &Scope<'a>, policy: Policy) -> Option<Candidate<'a>> {
    let bare = matches!(policy, Policy::Auto | Policy::Whole)
        && !scope.code.has_blocks
        && scope.text.len() <= WHOLE_BYTES_MAX
        && !(policy == Policy::Auto && (is_sentence(scope.text) || has_sentences(scope.text)));
    let found = bare.then(|| slice(scope.text, 0, scope.text.len(), Provenance::Whole)).flatten();
    // A box that was disqualified is not a bare answer either, nor is a sentence with its value in bold.
    found.filter(|found| {
        policy == Policy::Whole
            || !(found.text.contains("\\box")
                || found.text.contains(char::is_whitespace) && scope.has_bold())
    })
}

/// The candidates of the last sentence of a completion.
pub fn concluded<'a>(scope: &Scope<'a>, policy: Policy) -> Vec<Candidate<'a>> {
    let mut found = Vec::new();
    if policy == Policy::Auto && qualify::admits(scope.text) {
        return found;
    }
    let statement = (policy == Policy::Auto).then(|| scope.statement()).flatten();
    let end = statement.map_or(scope.text.len(), |statement| statement.sentence.end);
    let text = &scope.text[..end];
    let is_followed = end < scope.text.trim_end().len();
    match policy {
        Policy::Auto if last_sentence::is_one_of_cases(text) => {
            found.extend(joined::items(text));
        }
        Policy::Auto => {
            let bold = statement.and_then(|statement| statement.bold);
            let only = match statement {
                Some(statement) => only_number(scope.text, statement.sentence.clone()),
                None => remarks::valued(scope.text)
                    .and_then(|sentence| only_number(scope.text, sentence))
                    .filter(|only| {
                        !standing::leaves_open(scope.text, only.span.1, &standing::OPEN)
                    }),
            };
            let bold = bold
                .and_then(|(from, to)| slice(scope.text, from, to, Provenance::Anchor))
                .filter(|bold| !is_in_words(&bold.text));
            found.extend(bold);
            found.extend(conclusion::several(text));
            let concluded = conclusion::find(text);
            let last = last_sentence::last_sentence(text);
            // Where remarks follow, the sentence is not the last, and must conclude by itself.
            if is_followed {
                found.extend(concluded);
                found.extend(last.filter(|_| !conclusion::doubts(text)));
            } else {
                found.extend(last);
                found.extend(concluded);
            }
            found.extend(only);
        }
        Policy::LastNumber => found.extend(last_sentence::last_number(scope.text, 0)),
        _ => {}
    }
    let mut looked = 0;
    found.retain(|candidate| {
        !candidate.text.contains("\\box")
            && !(is_followed & scope.in_code(candidate.span.0))
            && !scope.quoted(candidate.span, &mut looked)
            && !is_unsaid_at(scope.text, candidate.span.0)
            && afterthought::offered(scope.text, candidate.span.1).is_none()
    });
    found
}

/// Whether a text is rather a sentence than a value: "the total is 42".
fn is_in_words(text: &str) -> bool {
    let words = text.split_whitespace().filter(|word| word.chars().all(char::is_alphabetic));
    text.contains(|c: char| c.is_ascii_digit()) && words.count() > 2
}

/// The number of a sentence that states one and nothing else, with the blanks between its thousands.
fn only_number(text: &str, sentence: Range<usize>) -> Option<Candidate<'_>> {
    let said = text.get(sentence.clone())?;
    // "So n = 6."
    let start = said.find(|c: char| c.is_ascii_digit())?;
    let name = said.get(..start)?.trim_end().strip_suffix('=').map(str::trim_end);
    let is_named = name.is_some_and(|lead| {
        let mut last = lead.chars().rev();
        last.next().is_some_and(char::is_alphabetic)
            && last.next().is_none_or(|c| !c.is_alphanumeric())
    });
    if said.matches('=').count() > usize::from(is_named)
        || said.contains(['$', '\\', '<', '>', '^', '/', '%', '?', '？', '{', '"'])
        || conclusion::is_doubted(said)
    {
        return None;
    }
    let rest = said.get(start..)?;
    let run = |text: &str| {
        let end =
            text.find(|c: char| !(c.is_ascii_digit() || ".,".contains(c))).unwrap_or(text.len());
        text[..end].trim_end_matches(['.', ',']).len()
    };
    let mut end = run(rest);
    while let Some(next) =
        rest.get(end..).and_then(|rest| rest.strip_prefix([' ', '\u{a0}', '\u{202f}']))
        && run(next) >= 3
        && next.get(..3).is_some_and(|group| group.bytes().all(|byte| byte.is_ascii_digit()))
    {
        end = rest.len() - next.len() + run(next);
    }
    let behind = rest.get(end..)?;
    let before = said.get(..start)?;
    let others = behind.contains(|c: char| c.is_ascii_digit());
    let is_joined =
        |c: char| !(c.is_whitespace() || ".,;:!)*。，、！）".contains(c) || is_unspaced(c));
    let is_operand = |c: char| {
        !(c.is_alphanumeric() && c.is_alphabetic() || "(.,;:!)*".contains(c)) || "πe".contains(c)
    };
    // "300mです", "0.33（四捨五入）"
    let (unit, rest) =
        behind.split_at(behind.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(0));
    let is_unit = units::known(unit) && rest.starts_with(is_unspaced);
    let is_aside =
        behind.strip_prefix(['(', '（']).is_some_and(|said| said.starts_with(is_unspaced));
    let is_part = before
        .ends_with(|c: char| c.is_alphabetic() && !is_unspaced(c) || "-−_+".contains(c))
        || behind.starts_with(is_joined) && !is_unit && !is_aside
        || behind.starts_with(' ') && behind.trim_start().starts_with(is_operand);
    let disqualified = qualify::qualifier(before, behind).is_some();
    (!others && !is_part && !disqualified)
        .then(|| {
            slice(
                text,
                sentence.start + start,
                sentence.start + start + end,
                Provenance::LastNumber,
            )
        })
        .flatten()
}

/// Whether a text begins like a sentence that ends with a value: "I got 42", "In total, 42". The
/// words of other short texts may be the answer.
fn is_sentence(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or_default().trim_end_matches([',', ':']);
    let second = words.next().is_some_and(|word| {
        let letters = word.trim_end_matches([',', '.']);
        letters.len() > 1 && letters.bytes().all(|byte| byte.is_ascii_lowercase())
    });
    let named = is_one_of(conclude::SOURCES, first);
    (second || named || text.contains(" equals "))
        && text.contains(|c: char| c.is_ascii_digit())
        && (named || is_one_of(conclude::LEAD_INS, first))
}

/// Whether a text with a number has a sentence behind another: "The pool is empty after 20 hours. Regards."
fn has_sentences(text: &str) -> bool {
    let ends_in_word = |end: &usize| {
        let (lead, rest) = text.split_at(*end);
        let word = lead.trim_end_matches('.').rsplit(' ').next().unwrap_or_default();
        let is_word = word.len() > 3 && word.chars().all(char::is_lowercase);
        lead.ends_with('.') && is_word && rest.contains(char::is_alphabetic)
    };
    text.contains(|c: char| c.is_ascii_digit())
        && sentences::ends(text).any(|end| ends_in_word(&end))
}

/// The answer that a reference gives: its box, what follows `####`, or the whole of it.
pub(crate) fn reference(text: &str) -> Cow<'_, str> {
    if memchr::memchr2(b'\\', b'#', text.as_bytes()).is_none() {
        return plain_reference(text);
    }
    if let Some(found) = last_box::last_group(&Scope::all(text)) {
        return found.text;
    }
    match text.rfind("####") {
        Some(at) => Cow::Borrowed(text[at + 4..].trim()),
        None => plain_reference(text),
    }
}

/// A reference without markers: all of it; of a whole solution the announced value, else the value
/// of its last sentence.
fn plain_reference(text: &str) -> Cow<'_, str> {
    let whole = trimmed_start(text).trim_end();
    if whole.split_whitespace().nth(SOLUTION_WORDS).is_none() {
        return Cow::Borrowed(whole);
    }
    let said = announced_in_solution(whole).or_else(|| {
        let formulas = whole.contains('$');
        formulas
            .then(|| last_sentence::last_sentence(whole).or_else(|| conclusion::find(whole)))
            .flatten()
            .map(|found| found.text)
    });
    said.unwrap_or(Cow::Borrowed(whole))
}

/// The last value that a solution announces. Nothing behind it retracts the value: the reference is
/// right by definition.
fn announced_in_solution(text: &str) -> Option<Cow<'_, str>> {
    let mut found = Vec::new();
    said(&Scope::all(text), &mut found, &mut Meter::new(SEARCH_FUEL)).ok()?;
    found.retain(|candidate| {
        let words = candidate.text.split_whitespace();
        candidate.provenance == Provenance::Anchor
            && words.count() <= ANNOUNCED_WORDS
            && candidate.text.contains(|c: char| c.is_ascii_digit() || "$\\".contains(c))
    });
    found.into_iter().max_by_key(|candidate| candidate.span.1).map(|candidate| candidate.text)
}
