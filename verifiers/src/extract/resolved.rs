//! The value on which a sentence settles after another one: "not 3 but 4", "one might think it is 3,
//! but it is 4", "either 3 or 4; checking shows that it is 4".

use std::ops::Range;

use super::afterthought::{begins_value, value_end};
use super::candidate::{Candidate, Provenance, slice};
use crate::language::cues::{self, Cue, Role};
use crate::language::guess::Languages;
use crate::language::sentences;

/// The most bytes before an announcement that belong to its sentence.
const LEAD_MAX: usize = 160;
/// Between the word that turns and the value stand at most so many letters.
const GAP_LETTERS_MAX: usize = 30;

/// The value on which the sentence of an announcement settles, where it turns from another one.
pub(super) fn find<'a>(text: &'a str, said: &Range<usize>) -> Option<Candidate<'a>> {
    let near = text.ceil_char_boundary(said.start.saturating_sub(LEAD_MAX));
    let start = near + sentences::last_start(text.get(near..said.start)?);
    let sentence = text.get(start..said.end)?;
    // What turns is a word behind the announcement.
    let has_words = |text: &str| text.contains(|c: char| c.is_ascii_lowercase() || !c.is_ascii());
    if !sentence.contains([',', ';', '，', '；', '、', ' ']) || !has_words(text.get(said.clone())?)
    {
        return None;
    }
    let found = cues::of(sentence, &Languages::of(text));
    let doubts = |cue: &Cue| {
        [Role::Deny, Role::Suppose, Role::Report, Role::Offer, Role::NotOffer]
            .iter()
            .any(|role| cue.is(*role))
    };
    let turn = found.iter().rposition(|cue| {
        let lead = sentence[..cue.span.start].trim_end();
        let is_clause = lead.ends_with([',', ';', '，', '；', '—', '–']);
        cue.is(Role::Contrast) || is_clause && (cue.is(Role::Verify) || cue.is(Role::Conclude))
    })?;
    let (before, behind) = found.split_at_checked(turn)?;
    let turn = behind.first()?;
    if !before.iter().any(doubts) || start + turn.span.end <= said.start {
        return None;
    }
    // What is behind denies or offers again.
    if behind.get(1..)?.iter().any(doubts) {
        return None;
    }
    let rest = sentence.get(turn.span.end..)?;
    let from = value_start(rest)?;
    let at = start + turn.span.end + from;
    let end = value_end(text, at).min(said.end);
    // A name may have several words.
    let end = if rest.get(from..)?.starts_with(begins_value) {
        end
    } else {
        name_end(text, at, said.end)
    };
    slice(text, at, end, Provenance::Anchor)
}

/// Where a value begins: a number, a formula, the letter of an option, or a name.
fn value_start(rest: &str) -> Option<usize> {
    let mut letters = 0;
    let mut before = ' ';
    for (at, c) in rest.char_indices() {
        if begins_value(c) && !before.is_alphanumeric()
            || c.is_uppercase() && !before.is_alphabetic()
        {
            let has_sign = matches!(before, '-' | '−');
            return Some(at - if has_sign { before.len_utf8() } else { 0 });
        }
        letters += usize::from(c.is_alphabetic());
        if letters > GAP_LETTERS_MAX {
            return None;
        }
        before = c;
    }
    None
}

/// The end of the words with capitals that begin at a place.
fn name_end(text: &str, at: usize, to: usize) -> usize {
    let rest = &text[at..to];
    let mut end = 0;
    for word in rest.split_inclusive([' ', ')', '.', ',', ';', '*']) {
        let is_name = word.starts_with(char::is_uppercase) || word.starts_with("de ");
        if end > 0 && !is_name {
            break;
        }
        let ended = word.strip_suffix([')', '.', ',', ';', '*']);
        end += ended.unwrap_or(word).len();
        if ended.is_some() {
            break;
        }
    }
    at + rest.get(..end).unwrap_or(rest).trim_end().len()
}

#[cfg(test)]
mod tests {
    use super::name_end;

    #[test]
    fn a_name_keeps_its_last_letter() {
        for (text, name) in
            [("Paris", 5), ("Paris.", 5), ("New York", 8), ("Bogotá", 7), ("Rome is", 4)]
        {
            assert_eq!(name_end(text, 0, text.len()), name, "{text}");
        }
    }
}
