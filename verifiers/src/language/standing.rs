//! Whether an answer still stands at the end of its text: what is said before it in its sentence, and
//! in the sentences behind it.
//!
//! A remark is innocent unless it takes the answer back or offers another one; numbers in it are no
//! answers.

use std::ops::Range;

use super::cues::{self, Cue, Role};
use super::guess::Languages;
use super::sentences::{self, foreign_digit, is_unspaced};

/// So many bytes behind an answer are read.
const TAIL_MAX: usize = 1500;
/// The most sentences behind it.
const SENTENCES_MAX: usize = 16;
/// The most bytes of its own sentence before it.
const LEAD_MAX: usize = 240;
/// Between a phrase that offers or denies and the value stand at most so many letters.
const GAP_LETTERS_MAX: usize = 24;
/// Marks that judge a value wrong.
const CROSSES: [char; 6] = ['❌', '✗', '✘', '✖', '❎', '👎'];
/// What may stand between a denial and the value.
const OPENERS: &str = "*_`$\\({[\"'“«「";
/// Signs by which a number is a part of a formula, or another form of the answer.
const PARTS: &str = "/%^=+×·÷\\";

/// What a text says of an answer. The ranges are those of the phrases by which it does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nothing is said against it.
    Stands,
    /// It is taken back: "17. I made a mistake."
    Retracted(Range<usize>),
    /// Another one is offered beside it: "17. It could also be 18."
    Hedged(Range<usize>),
    /// It is only supposed, or said by another: "if the answer were 17".
    Supposed(Range<usize>),
    /// It is denied: "the answer is not 17".
    Denied(Range<usize>),
}

impl Standing {
    /// Why the answer is not paid; `None` where it stands.
    pub fn reason(&self) -> Option<&'static str> {
        match self {
            Self::Stands => None,
            Self::Retracted(_) => Some("retracted"),
            Self::Hedged(_) => Some("hedge"),
            Self::Supposed(_) => Some("supposed"),
            Self::Denied(_) => Some("denied"),
        }
    }
}

/// What a text says of the answer at `span`.
pub fn of(text: &str, span: Range<usize>) -> Standing {
    let own = text.get(span.clone()).unwrap_or_default();
    let languages = Languages::of(text);
    match before(text, span.start, &languages) {
        Standing::Stands => after(text, own, span.end, &languages),
        standing => standing,
    }
}

/// What its own sentence says before it.
fn before(text: &str, at: usize, languages: &Languages<'_>) -> Standing {
    let from = text.ceil_char_boundary(at.saturating_sub(LEAD_MAX));
    let near = text.get(from..at).unwrap_or_default();
    let start = sentences::last_start(near);
    let lead = near.get(start..).unwrap_or_default();
    let place = |cue: &Cue| from + start + cue.span.start..from + start + cue.span.end;
    let found = cues::of(lead, languages);
    // What is contrasted with what was supposed or denied stands, "not 3 but 4", and what is said to be right.
    let turns = |cue: &Cue| cue.is(Role::Contrast) || cue.is(Role::Reaffirm);
    let turn = found.iter().rposition(turns);
    let found = found.get(turn.map_or(0, |turn| turn + 1)..).unwrap_or_default();
    let gap = |cue: &Cue| lead.get(cue.span.end..).unwrap_or_default();
    // What is supposed in another clause is a condition of the question.
    let governs = |cue: &&Cue| !gap(cue).contains([',', ';', ':', '，', '；', '、', '：']);
    // What another says is his, in which clause ever.
    let supposes = |cue: &&Cue| cue.is(Role::Report) || cue.is(Role::Suppose) && governs(cue);
    if let Some(supposed) = found.iter().find(supposes) {
        return Standing::Supposed(place(supposed));
    }
    let against = |cue: &&Cue| {
        let is_clause = lead.get(cue.span.clone()).is_some_and(|said| said.contains([',', '，']));
        let is_next = gap(cue).chars().all(|c| c.is_whitespace() || OPENERS.contains(c));
        cue.is(Role::Deny) && (is_next || is_clause && governs(cue))
    };
    let denied = found.iter().rfind(against);
    denied.map_or(Standing::Stands, |denied| Standing::Denied(place(denied)))
}

/// What is said behind it.
fn after(text: &str, own: &str, end: usize, languages: &Languages<'_>) -> Standing {
    let tail = text.get(end..text.floor_char_boundary(end + TAIL_MAX)).unwrap_or_default();
    let marks = tail.trim_start_matches(|c: char| c.is_whitespace() || c.is_ascii_punctuation());
    let line = marks.split('\n').next().unwrap_or_default();
    if marks.starts_with(CROSSES) && !line.contains(char::is_alphanumeric) {
        return Standing::Retracted(end + tail.len() - marks.len()..end + tail.len());
    }
    if !tail.contains(char::is_alphabetic) {
        return Standing::Stands;
    }
    let own = Value::own(own);
    let mut ends: Vec<usize> = sentences::ends(tail).take(SENTENCES_MAX).collect();
    ends.push(tail.len());
    let mut start = 0;
    let sentences: Vec<(Range<usize>, Vec<Cue>)> = ends
        .into_iter()
        .map(|end| {
            let range = start..end;
            start = end;
            let said = cues::of(tail.get(range.clone()).unwrap_or_default(), languages);
            (range, said)
        })
        .collect();
    for (at, (range, found)) in sentences.iter().enumerate() {
        let sentence = tail.get(range.clone()).unwrap_or_default();
        let place = |cue: &Cue| {
            let from = end + range.start;
            from + cue.span.start..from + cue.span.end
        };
        let next = sentences.get(at + 1).map_or(&[][..], |(_, next)| next);
        if let Some(taken) = retracts(sentence, found, next) {
            return Standing::Retracted(place(taken));
        }
        if let Some(denied) = denies_again(sentence, found, &own) {
            return Standing::Denied(place(denied));
        }
        if let Some(offered) = offers(sentence, found, &own, at == 0) {
            return Standing::Hedged(place(offered));
        }
    }
    Standing::Stands
}

/// The phrase by which a sentence takes back what was said before it.
fn retracts<'c>(sentence: &str, found: &'c [Cue], next: &[Cue]) -> Option<&'c Cue> {
    let at = found.iter().position(|cue| cue.is(Role::Retract))?;
    let (lead, behind) = found.split_at_checked(at)?;
    let cue = behind.first()?;
    let is_other = found.iter().any(|cue| cue.is(Role::Past))
        || lead.iter().any(|cue| cue.is(Role::Suppose) || cue.is(Role::Report));
    let reaffirms = |cues: &[Cue]| cues.iter().any(|cue| cue.is(Role::Reaffirm));
    let is_asked = sentence.trim_end().ends_with(['?', '？', '؟']);
    let is_resolved = reaffirms(behind) || reaffirms(next);
    (!is_other && !is_asked && !is_resolved).then_some(cue)
}

/// The phrase by which a sentence denies the answer: "15. The answer is not 15."
fn denies_again<'c>(sentence: &str, found: &'c [Cue], own: &[Value]) -> Option<&'c Cue> {
    found.iter().filter(|cue| cue.is(Role::Deny)).find(|cue| {
        let behind = sentence.get(cue.span.end..).unwrap_or_default();
        let value = behind.trim_start_matches(|c: char| c.is_whitespace() || OPENERS.contains(c));
        let word = value.split(|c: char| c.is_whitespace() || ".;!。，".contains(c)).next();
        let denied = Value::own(word.unwrap_or_default());
        // "Not 15 apples but 15 pears" says of what there are 15.
        !denied.is_empty()
            && denied.iter().all(|one| own.contains(one))
            && !found.iter().any(|cue| cue.is(Role::Contrast))
    })
}

/// The phrase by which a sentence offers another value than the answer. In the sentence of the answer
/// itself it comes first.
fn offers<'c>(sentence: &str, found: &'c [Cue], own: &[Value], is_own: bool) -> Option<&'c Cue> {
    let excluded = |cue: &Cue| {
        [Role::NotOffer, Role::Past, Role::Verify, Role::Report].iter().any(|role| cue.is(*role))
    };
    if found.iter().any(excluded) {
        return None;
    }
    found.iter().filter(|cue| cue.is(Role::Offer)).find(|cue| {
        let lead = sentence.get(..cue.span.start).unwrap_or_default();
        let phrase = sentence.get(cue.span.clone()).unwrap_or_default();
        let behind = sentence.get(cue.span.end..).unwrap_or_default();
        let is_strong = phrase.contains(' ') || phrase.chars().count() > 3 && !phrase.is_ascii();
        let is_early = !is_own && is_strong && lead.split_whitespace().nth(3).is_none();
        let is_first = is_early || !lead.contains(char::is_alphabetic);
        let near = |text: &str| {
            let values = Value::all(text);
            values
                .into_iter()
                .any(|value| !own.contains(&value) && own.iter().any(|own| own.is_like(&value)))
        };
        let reach: String = within(behind).collect();
        (is_first && near(&reach)) || (is_strong && !is_own && (near(&reach) || near(lead)))
    })
}

/// What stands near behind a phrase.
fn within(behind: &str) -> impl Iterator<Item = char> {
    let mut letters = 0;
    behind.chars().take_while(move |c| {
        letters += usize::from(c.is_alphabetic());
        letters <= GAP_LETTERS_MAX
    })
}

/// A value as it is compared: a number by its digits, an option by its letter, a formula as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Value {
    Number(String),
    Letter(char),
    Formula(String),
}

impl Value {
    /// Whether one may be offered in place of the other.
    fn is_like(&self, other: &Self) -> bool {
        matches!(self, Self::Letter(_)) == matches!(other, Self::Letter(_))
    }

    /// The values of an answer.
    fn own(text: &str) -> Vec<Self> {
        let bare = text.trim_matches(['$', ' ', '*', '.', '{', '}']);
        if bare.contains(['\\', '^']) && !text.contains(' ') {
            return vec![Self::formula(bare)];
        }
        Self::all(text)
    }

    fn formula(text: &str) -> Self {
        Self::Formula(text.chars().filter(|c| !c.is_whitespace()).collect())
    }

    /// The values of a text.
    fn all(text: &str) -> Vec<Self> {
        let mut values = Vec::new();
        for (at, part) in text.split('$').enumerate() {
            // Between dollars is a formula, or a number.
            let is_formula =
                at % 2 == 1 && part.contains(|c: char| c.is_alphabetic() || PARTS.contains(c));
            if is_formula {
                values.push(Self::formula(part));
            } else {
                Self::plain(part, &mut values);
            }
        }
        values
    }

    /// The numbers and letters of a text.
    fn plain(text: &str, values: &mut Vec<Self>) {
        let mut chars = text.chars().peekable();
        let mut before = ' ';
        while let Some(c) = chars.next() {
            if c.is_numeric() && (!before.is_alphabetic() || is_unspaced(before)) {
                let mut digits = String::new();
                let mut next = Some(c);
                while let Some(c) = next {
                    // Separators are left out: languages differ in them.
                    digits.extend(foreign_digit(c).or(c.is_ascii_digit().then_some(c)));
                    let goes_on = chars.peek().is_some_and(|c| c.is_numeric())
                        || chars.peek().is_some_and(|c| ".,٬٫".contains(*c)) && {
                            let mut ahead = chars.clone();
                            ahead.next();
                            ahead.next().is_some_and(char::is_numeric)
                        };
                    next = if goes_on { chars.next() } else { None };
                }
                let is_part =
                    PARTS.contains(before) || chars.peek().is_some_and(|c| PARTS.contains(*c));
                if !is_part {
                    values.push(Self::Number(digits));
                }
                before = '0';
                continue;
            }
            let ends = chars
                .peek()
                .is_none_or(|next| is_unspaced(*next) || !next.is_alphanumeric() && *next != '\'');
            if c.is_ascii_uppercase() && (is_unspaced(before) || !before.is_alphanumeric()) && ends
            {
                values.push(Self::Letter(c));
            }
            before = c;
        }
    }
}
