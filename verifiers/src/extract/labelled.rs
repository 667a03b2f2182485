//! Values below a heading or in a table that name them as the answer: "### Risultato finale", then
//! "18"; "| Respuesta | 18 |".

use memchr::memmem;

use super::candidate::{Candidate, Provenance, slice};
use super::{markers, run_on};
use crate::language::cues::{self, Cue, Role};
use crate::language::guess::Languages;

/// Labels are looked for in so many bytes at the end.
const WITHIN: usize = 1000;
/// The longest name of a member, in bytes.
const NAME_MAX: usize = 40;
/// The most words of a label, and of a value that is no number.
const WORDS_MAX: usize = 4;

/// The values that labels near the end of a text name, the last one last.
pub(super) fn find(text: &str) -> Vec<Candidate<'_>> {
    let near = text.ceil_char_boundary(text.len().saturating_sub(WITHIN));
    let near = text.get(near..).and_then(|tail| tail.find('\n')).map_or(near, |line| near + line);
    let tail = &text[near..];
    let has = |sign: &[u8]| memmem::find(tail.as_bytes(), sign).is_some();
    if memchr::memchr2(b'|', b'#', tail.as_bytes()).is_none() && !has(b"**") && !has(b"  ") {
        return Vec::new();
    }
    let languages = Languages::of(text);
    let (mut found, mut label, mut at) = (Vec::new(), false, near);
    for line in tail.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let said = line.trim();
        if said.is_empty() {
            continue;
        }
        if let Some(cells) = said.strip_prefix('|') {
            let (name, rest) = cells.split_once('|').unwrap_or((cells, ""));
            let cell = rest.split('|').next().unwrap_or_default();
            if is_label(name, &languages) && !cell.trim().is_empty() {
                let from = start + line.find(rest).unwrap_or_default();
                found.extend(value(text, from, from + cell.len()));
            }
            label = false;
        } else if label {
            let plain = said.trim_matches(DRESS);
            if run_on::is_value(plain) || plain.split_whitespace().nth(WORDS_MAX).is_none() {
                found.extend(value(text, start, start + line.len()));
            }
            label = false;
        } else {
            let heads = said.starts_with(['#', '*', '_']) && !said.ends_with(['.', '!', '?']);
            label = (heads || line.starts_with("  ")) && is_label(said, &languages);
        }
    }
    found
}

/// The value of the only member of JSON near the end whose name is one of an answer: `"respuesta": 18`.
pub(super) fn member(text: &str) -> Option<Candidate<'_>> {
    let near = text.ceil_char_boundary(text.len().saturating_sub(WITHIN));
    let tail = text.get(near..).filter(|tail| tail.contains('{'))?;
    let languages = Languages::of(text);
    let is_answer = |name: &str| {
        let name = name.replace(['_', '-'], " ");
        let is_whole = |cue: &Cue| cue.is(Role::Result) && cue.span == (0..name.len());
        cues::of(&name, &languages).iter().any(is_whole)
    };
    let mut found = tail.match_indices("\":").filter(|(at, _)| {
        let name = tail[..*at].rsplit('"').next();
        name.is_some_and(|name| name.len() < NAME_MAX && is_answer(name))
    });
    let (at, sign) = found.next().filter(|_| found.next().is_none())?;
    let rest = tail.get(at + sign.len()..)?.trim_start();
    markers::json_value(text, text.len() - rest.len())
}

/// Signs around labels and values.
const DRESS: [char; 8] = ['#', '*', '_', ':', '：', ' ', '`', '|'];

/// Whether a text is the name of an answer: "Final answer", "**Risultato:**".
fn is_label(text: &str, languages: &Languages<'_>) -> bool {
    let name = text.trim_matches(DRESS);
    let is_brief = name.split_whitespace().nth(WORDS_MAX).is_none() && name.chars().count() < 40;
    is_brief
        && !name.contains(|c: char| c.is_numeric() || ".,;=$".contains(c))
        && cues::of(name, languages).iter().any(|cue| cue.is(Role::Result))
}

fn value(text: &str, from: usize, to: usize) -> Option<Candidate<'_>> {
    let inner = text.get(from..to)?;
    let lead = inner.len() - inner.trim_start_matches([' ', '*', '_', '\n']).len();
    let kept = inner.trim_end_matches([' ', '*', '_', '\n', '.', '\r']).len();
    slice(text, from + lead, from + kept.max(lead), Provenance::Anchor)
}
