//! Citations: ids of sources in a text, and quotations that stand in them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::fold::{fold, words};

/// How ids are cited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// In square brackets: `[1]`, `[doc2, doc3]`, `[1-3]`, `【4】`.
    Brackets,
    /// In tags of this name: `<cite>1, 2</cite>`.
    Tags(String),
}

/// A source by its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its id.
    pub id: String,
    /// Its text.
    pub text: String,
}

/// What a text cites.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The ids of sources that are cited.
    pub cited: BTreeSet<String>,
    /// Ids that no source has, with their places.
    pub unknown: Vec<(String, Range<usize>)>,
    /// How many ids are cited, those that come again included.
    pub mentions: usize,
    /// Quotations, and whether each one stands in its source.
    pub quotes: Vec<(Range<usize>, bool)>,
    /// Words that are neither citations nor quotations.
    pub own_words: usize,
}

/// The most ids of a range.
const RANGE_MAX: u32 = 100;
/// How many bytes behind a quotation its citation may stand.
const NEAR_BYTES: usize = 40;
/// The longest text in brackets that is read as ids.
const IDS_BYTES_MAX: usize = 200;

/// Reads the citations of a text, and its quotations of at least `quote_words` words. A quotation that a
/// citation follows must stand in that source, any other in some source; white space, case,
/// quotation marks and the kind of dashes do not count, and `...` leaves something out. Pays for each search of a
/// source, by its length.
///
/// # Errors
/// What `pay` refuses.
pub fn report<E>(
    text: &str,
    sources: &[Source],
    form: &Form,
    quote_words: usize,
    pay: &mut dyn FnMut(u64) -> Result<(), E>,
) -> Result<Report, E> {
    let size: usize = sources.iter().map(|source| source.text.len() + 100).sum();
    pay(20 * (text.len() + size) as u64)?;
    let ids: BTreeMap<String, &str> =
        sources.iter().map(|source| (key(&source.id), source.id.as_str())).collect();
    let mut report = Report::default();
    // Bytes of citations, and whom each one cites first.
    let mut marks: Vec<(Range<usize>, Option<&str>)> = Vec::new();
    for (span, inner) in marked(text, form) {
        let mut first = None;
        let Some(parts) = ids_in(inner, &ids, *form == Form::Brackets) else { continue };
        for part in parts {
            report.mentions += 1;
            match ids.get(&key(&part)) {
                Some(id) => {
                    first = first.or(Some(*id));
                    report.cited.insert((*id).to_owned());
                }
                None => report.unknown.push((part, span.clone())),
            }
        }
        marks.push((span, first));
    }
    let plain: Vec<String> = sources.iter().map(|source| plain(&source.text)).collect();
    let mut covered: Vec<Range<usize>> = marks.iter().map(|(span, _)| span.clone()).collect();
    for mut span in quotations(text) {
        // A citation at the end of a block quotation stands behind it.
        while let Some((mark, _)) = marks
            .get(..marks.partition_point(|(mark, _)| mark.start < span.end))
            .and_then(<[_]>::last)
            .filter(|(mark, _)| {
                mark.start >= span.start && text[mark.end.min(span.end)..span.end].trim().is_empty()
            })
        {
            span.end = mark.start;
        }
        let first = marks.partition_point(|(mark, _)| mark.start < span.start);
        let within = marks.iter().skip(first).map(|(mark, _)| mark.clone());
        let inner = &*quoted(text, span.clone(), within.take_while(|mark| mark.start < span.end));
        if words(inner).count() < quote_words {
            continue;
        }
        let of = marks
            .get(first)
            .filter(|(mark, _)| mark.start <= span.end + NEAR_BYTES)
            .and_then(|(_, id)| *id);
        let mut found = false;
        for (source, plain) in
            sources.iter().zip(&plain).filter(|(source, _)| of.is_none_or(|id| id == source.id))
        {
            pay((plain.len() + inner.len()) as u64)?;
            found = found || !source.text.is_empty() && stands_in(plain, inner);
        }
        report.quotes.push((span.clone(), found));
        covered.push(span);
    }
    report.own_words = own_words(text, covered);
    Ok(report)
}

/// Ids are compared without case, blanks and a word before a number: `Doc 3` is `3`.
fn key(id: &str) -> String {
    let folded: String =
        fold(id, true).chars().filter(|c| !c.is_whitespace() && !"#^_:.".contains(*c)).collect();
    let number = ["document", "doc", "source", "passage", "ref"]
        .iter()
        .find_map(|word| folded.strip_prefix(word));
    let number =
        number.filter(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()));
    number.map_or(folded.clone(), str::to_owned)
}

/// The marks of citations, and the text in each.
fn marked<'t>(text: &'t str, form: &Form) -> Vec<(Range<usize>, &'t str)> {
    let (opens, closes): (Vec<String>, Vec<String>) = match form {
        Form::Brackets => {
            (vec!["[".to_owned(), "【".to_owned()], vec!["]".to_owned(), "】".to_owned()])
        }
        Form::Tags(name) => (vec![format!("<{name}>")], vec![format!("</{name}>")]),
    };
    let mut found = Vec::new();
    for (open, close) in opens.iter().zip(&closes) {
        let mut at = 0;
        while let Some(start) =
            text.get(at..).and_then(|rest| rest.find(open.as_str())).map(|start| at + start)
        {
            let from = start + open.len();
            if text[from..].starts_with(open.as_str()) {
                // `[[1]]` is `[1]`.
                at = from;
                continue;
            }
            let near = &text[from..text.floor_char_boundary(from + IDS_BYTES_MAX)];
            let Some(length) = near.find(close.as_str()) else {
                at = from;
                continue;
            };
            let end = from + length + close.len();
            // `[text](address)` is a link.
            if !(open == "[" && text[end..].starts_with('(')) {
                found.push((start..end, &text[from..from + length]));
            }
            at = end;
        }
    }
    found.sort_by_key(|(span, _)| span.start);
    found
}

/// The ids in a mark. `None` where brackets hold something else, such as `[sic]`.
fn ids_in(inner: &str, ids: &BTreeMap<String, &str>, is_bracket: bool) -> Option<Vec<String>> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let numbers_only = ids.keys().all(|id| is_number(id));
    let mut found = Vec::new();
    for part in inner.split([',', ';']).map(str::trim).filter(|part| !part.is_empty()) {
        let range = part.split_once(['-', '–']).and_then(|(from, to)| {
            let (from, to) = (from.trim().parse::<u32>().ok()?, to.trim().parse::<u32>().ok()?);
            (from <= to && to - from < RANGE_MAX).then_some(from..=to)
        });
        let known = ids.contains_key(&key(part));
        match range.filter(|_| !known) {
            Some(range) => found.extend(range.map(|id| id.to_string())),
            None if known || !is_bracket || is_number(&key(part)) => found.push(part.to_owned()),
            None if numbers_only || part.contains(' ') => return None,
            None => found.push(part.to_owned()),
        }
    }
    (!found.is_empty() || !is_bracket).then_some(found)
}

/// A quotation without the marks of a block and its attribution; a citation in it leaves something out.
fn quoted(text: &str, span: Range<usize>, marks: impl Iterator<Item = Range<usize>>) -> String {
    let (mut out, mut at) = (String::with_capacity(span.len()), span.start);
    for mark in marks {
        // Marks of two kinds may overlap.
        out.extend(text.get(at..mark.start).into_iter().chain([" ... "]));
        at = at.max(mark.end);
    }
    out.extend(text.get(at..span.end));
    let lines = out.lines().map(|line| line.trim_start_matches(['>', ' ', '\t']));
    lines.filter(|line| !line.starts_with(['—', '–'])).collect::<Vec<_>>().join(" ")
}

/// Runs of lines that a `>` begins.
fn blocks(text: &str) -> Vec<Range<usize>> {
    let (mut found, mut at): (Vec<Range<usize>>, _) = (Vec::new(), 0);
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        if line.trim_start().starts_with('>') {
            match found.last_mut().filter(|last| last.end == at) {
                Some(last) => last.end = end,
                None => found.push(at..end),
            }
        }
        at = end;
    }
    found
}

/// Whether a quotation in single marks opens before a text: no elision such as `'tis` and `'90s`.
fn opens(rest: &str) -> bool {
    let word: String = rest.chars().take_while(|c| c.is_alphanumeric()).collect();
    let is_year =
        word.len() <= 3 && word.trim_end_matches('s').bytes().all(|byte| byte.is_ascii_digit());
    let elided = ["tis", "twas", "em", "cause", "til", "till", "n"];
    !word.is_empty() && !is_year && !elided.contains(&word.to_lowercase().as_str())
}

/// What stands between quotation marks, and in block quotations. A straight mark opens where no word is before
/// it, and a single one closes where none is behind it.
fn quotations(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut open: Option<(char, usize)> = None;
    for (at, c) in text.char_indices() {
        let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let behind = &text[at + c.len_utf8()..];
        let is_border = !is_word(text[..at].chars().next_back());
        match (open, c) {
            (Some((close, start)), c)
                if c == close && !("'’".contains(c) && is_word(behind.chars().next())) =>
            {
                found.push(start..at);
                open = None;
            }
            (_, '“' | '„') => open = Some(('”', at + c.len_utf8())),
            (_, '«') => open = Some(('»', at + c.len_utf8())),
            (None | Some(('\'' | '’', _)), '"') if is_border => open = Some(('"', at + 1)),
            (None, '\'') if is_border && opens(behind) => open = Some((c, at + 1)),
            (None, '‘') if opens(behind) => open = Some(('’', at + c.len_utf8())),
            // A quotation does not run over a paragraph.
            (Some(_), '\n') if text[at + 1..].starts_with('\n') => open = None,
            _ => {}
        }
    }
    found.extend(blocks(text));
    found.sort_by_key(|span| span.start);
    found
}

fn plain(text: &str) -> String {
    fold(text, true).replace('"', "").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether the parts of a quotation stand in a source, in order.
fn stands_in(source: &str, quote: &str) -> bool {
    let quote = plain(quote).replace("[...]", "...").replace("[…]", "...");
    let parts = quote
        .split("...")
        .map(|part| part.trim().trim_end_matches(['.', ',', ';', ':']))
        .filter(|part| !part.is_empty());
    let mut at = 0;
    let mut any = false;
    for part in parts {
        any = true;
        match source.get(at..).and_then(|rest| crate::answer::holds_words(rest, part)) {
            Some(found) => at += found + part.len(),
            None => return false,
        }
    }
    any
}

/// Words outside of some ranges.
fn own_words(text: &str, mut covered: Vec<Range<usize>>) -> usize {
    covered.sort_by_key(|range| range.start);
    let mut at = 0;
    let mut count = 0;
    for range in covered {
        if range.start > at {
            count += words(&text[at..range.start]).count();
        }
        at = at.max(range.end);
    }
    count + words(&text[at..]).count()
}
