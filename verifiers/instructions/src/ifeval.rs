//! The 25 instructions of `IFEval`.

use memchr::memchr;

use crate::detect;
use crate::json::is_json;
use crate::kwargs::{Kwargs, Limit};
use crate::needle::{Needle, is_literal, regex};
use crate::passage::{Passage, lower};
use crate::rule::{Edition, Judge, judge};
use crate::{punkt, py, tokens};

/// The judge of an instruction; `None` where `IFEval` has none of that id.
pub(crate) fn read(
    id: &str,
    kwargs: &mut Kwargs<'_>,
    edition: Edition,
) -> Option<Result<Judge, String>> {
    let (family, name) = id.split_once(':')?;
    let fixed = edition == Edition::Fixed;
    Some(match (family, name) {
        ("keywords", _) => keywords(name, kwargs, fixed)?,
        ("length_constraints", _) => lengths(name, kwargs, fixed)?,
        ("language", "response_language") => language(kwargs, fixed),
        ("detectable_content" | "detectable_format", _) => formats(name, kwargs, fixed)?,
        ("combination", "two_responses") => judge(two_responses),
        ("combination", "repeat_prompt") => kwargs.text("prompt_to_repeat").and_then(|prompt| {
            let prompt = lower(py::strip(prompt));
            judge(move |passage| lower(passage.stripped()).starts_with(&prompt))
        }),
        ("startend", "end_checker") => kwargs.text("end_phrase").and_then(|phrase| {
            let phrase = lower(py::strip(phrase));
            judge(move |passage| lower(passage.stripped().trim_matches('"')).ends_with(&phrase))
        }),
        ("startend", "quotation") => judge(move |passage| is_quoted(passage.stripped(), fixed)),
        ("change_case", "capital_word_frequency") => {
            Limit::read(kwargs, "capital_frequency", "capital_relation").and_then(|limit| {
                judge(move |passage| limit.holds(tokens::count_capitals(passage.text())))
            })
        }
        ("change_case", "english_capital") => {
            judge(|passage| py::is_upper(passage.text()) && is_in(passage, "en", true))
        }
        ("change_case", "english_lowercase") => {
            judge(|passage| py::is_lower(passage.text()) && is_in(passage, "en", true))
        }
        ("punctuation", "no_comma") => {
            judge(|passage| memchr(b',', passage.text().as_bytes()).is_none())
        }
        _ => return None,
    })
}

/// Whether the text is in a language. One that cannot be told is what `unknown` says.
fn is_in(passage: &Passage<'_>, code: &str, unknown: bool) -> bool {
    passage.language().map_or(unknown, |found| found == code)
}

fn language(kwargs: &mut Kwargs<'_>, fixed: bool) -> Result<Judge, String> {
    let code = kwargs.text("language")?.to_owned();
    if !detect::codes().contains(&code.as_str()) {
        return Err(format!("the language \"{code}\" is none that can be told"));
    }
    judge(move |passage| is_in(passage, &code, !fixed))
}

fn keywords(name: &str, kwargs: &mut Kwargs<'_>, fixed: bool) -> Option<Result<Judge, String>> {
    Some(match name {
        "existence" => needles(kwargs, "keywords", |word| {
            if fixed { Ok(Needle::word(word)) } else { Needle::pattern(word) }
        })
        .and_then(|needles| {
            judge(move |passage| {
                needles.iter().all(|needle| {
                    if fixed { needle.is_word_in(passage) } else { needle.is_in(passage) }
                })
            })
        }),
        "frequency" => frequency(kwargs, fixed),
        "forbidden_words" => needles(kwargs, "forbidden_words", |word| {
            if fixed { Ok(Needle::word(word)) } else { Needle::between_borders(word) }
        })
        .and_then(|needles| {
            judge(move |passage| !needles.iter().any(|needle| needle.is_word_in(passage)))
        }),
        "letter_frequency" => letters(kwargs, fixed),
        _ => return None,
    })
}

fn needles(
    kwargs: &mut Kwargs<'_>,
    name: &'static str,
    read: impl Fn(&str) -> Result<Needle, String>,
) -> Result<Vec<Needle>, String> {
    kwargs.texts(name)?.into_iter().map(read).collect()
}

fn frequency(kwargs: &mut Kwargs<'_>, fixed: bool) -> Result<Judge, String> {
    let keyword = py::strip(kwargs.text("keyword")?);
    let limit = Limit::read(kwargs, "frequency", "relation")?;
    if fixed {
        let word = py::fold(keyword);
        return judge(move |passage| {
            limit.holds(py::count_word(passage.folded(), &word, limit.bound()))
        });
    }
    let needle = Needle::pattern(keyword)?;
    if matches!(needle, Needle::Pattern(_)) {
        kwargs.repeat(limit.bound());
    }
    judge(move |passage| limit.holds(needle.count(passage, limit.bound())))
}

fn letters(kwargs: &mut Kwargs<'_>, fixed: bool) -> Result<Judge, String> {
    let letter = kwargs.text("letter")?;
    let limit = Limit::read(kwargs, "let_frequency", "let_relation")?;
    let lowered = lower(letter);
    let mut characters = lowered.chars();
    match (characters.next(), characters.next()) {
        (Some(only), None) if only.is_ascii_lowercase() => judge(move |passage| {
            let (small, capital) = (only as u8, only.to_ascii_uppercase() as u8);
            let text = passage.text();
            let count = memchr::memchr2_iter(small, capital, text.as_bytes()).count();
            // The Kelvin sign is a `k` in lower case, and a capital I with a dot starts with an `i`.
            let others = match only {
                'k' if !text.is_ascii() => text.matches('\u{212a}').count(),
                'i' if !text.is_ascii() => text.matches('\u{130}').count(),
                _ => 0,
            };
            limit.holds(count + others)
        }),
        (Some(only), None) if fixed => {
            judge(move |passage| limit.holds(passage.lower().matches(only).count()))
        }
        _ => Err(format!(
            "the letter {letter:?} is none from a to z: the official code draws another at random"
        )),
    }
}

fn lengths(name: &str, kwargs: &mut Kwargs<'_>, fixed: bool) -> Option<Result<Judge, String>> {
    Some(match name {
        "number_sentences" => Limit::read(kwargs, "num_sentences", "relation").and_then(|limit| {
            judge(move |passage| limit.holds(punkt::sentences(passage.text()).len()))
        }),
        "number_words" => Limit::read(kwargs, "num_words", "relation")
            .and_then(|limit| judge(move |passage| limit.holds(py::count_words(passage.text())))),
        "number_paragraphs" => kwargs.positive("num_paragraphs").and_then(|wanted| {
            judge(move |passage| filled_parts(passage.text(), "***") == Some(wanted))
        }),
        "nth_paragraph_first_word" => first_word(kwargs, fixed),
        _ => return None,
    })
}

/// How many parts between separators are not blank. Only the first and the last may be blank.
fn filled_parts(text: &str, separator: &str) -> Option<usize> {
    let parts: Vec<bool> = text.split(separator).map(|part| py::strip(part).is_empty()).collect();
    let inner = parts.get(1..parts.len().max(2) - 1);
    let is_blank = |part: &bool| *part;
    if inner.is_some_and(|inner| inner.iter().any(is_blank)) {
        return None;
    }
    Some(parts.iter().filter(|is_blank| !**is_blank).count())
}

fn first_word(kwargs: &mut Kwargs<'_>, fixed: bool) -> Result<Judge, String> {
    let count = kwargs.positive("num_paragraphs")?;
    let nth = kwargs.positive("nth_paragraph")?;
    let word = lower(kwargs.text("first_word")?);
    if nth > count {
        return Err(format!("there is no paragraph {nth} of {count}"));
    }
    judge(move |passage| {
        let parts = || passage.text().split("\n\n");
        let filled = parts().filter(|part| !py::strip(part).is_empty());
        // The official code counts without blank parts, and looks the paragraph up with them.
        let found = if fixed { filled.clone().nth(nth - 1) } else { parts().nth(nth - 1) };
        let paragraph = py::strip(found.unwrap_or_default());
        filled.count() == count && !paragraph.is_empty() && leading_word(paragraph) == word
    })
}

/// The first word without quotes before it and marks after it, in lower case.
fn leading_word(paragraph: &str) -> String {
    let first = py::words(paragraph).next().unwrap_or_default();
    let first = first.trim_start_matches('\'').trim_start_matches('"');
    let end = first.find(['.', ',', '?', '!', '\'', '"']).unwrap_or(first.len());
    first[..end].chars().flat_map(char::to_lowercase).collect()
}

fn formats(name: &str, kwargs: &mut Kwargs<'_>, fixed: bool) -> Option<Result<Judge, String>> {
    Some(match name {
        "number_placeholders" => kwargs
            .positive("num_placeholders")
            .and_then(|wanted| judge(move |passage| placeholders(passage.text()) >= wanted)),
        "postscript" => {
            kwargs.text("postscript_marker").and_then(|marker| postscript(py::strip(marker), fixed))
        }
        "number_bullet_lists" => kwargs.positive("num_bullets").and_then(|wanted| {
            judge(move |passage| {
                let text = passage.text();
                wanted
                    == if fixed {
                        plain_bullets(text)
                    } else {
                        bullets(text, '*') + bullets(text, '-')
                    }
            })
        }),
        "constrained_response" => judge(|passage| {
            const ANSWERS: [&str; 3] =
                ["My answer is yes.", "My answer is no.", "My answer is maybe."];
            ANSWERS.iter().any(|answer| passage.text().contains(answer))
        }),
        "number_highlighted_sections" => kwargs
            .positive("num_highlights")
            .and_then(|wanted| judge(move |passage| highlights(passage.text(), fixed) >= wanted)),
        "multiple_sections" => sections(kwargs, fixed),
        "json_format" => judge(move |passage| {
            let mut text = passage.stripped();
            for fence in ["```json", "```Json", "```JSON", "```"] {
                text = text.strip_prefix(fence).unwrap_or(text);
            }
            is_json(py::strip(text.strip_suffix("```").unwrap_or(text)), !fixed)
        }),
        "title" => judge(|passage| passage.text().split('\n').any(is_title)),
        _ => return None,
    })
}

/// How often `\[.*?\]` is found.
fn placeholders(text: &str) -> usize {
    let per_line = |line: &str| {
        let (mut rest, mut count) = (line, 0);
        while let Some(open) = rest.find('[') {
            let Some(close) = rest[open..].find(']') else { break };
            count += 1;
            rest = &rest[open + close + 1..];
        }
        count
    };
    text.split('\n').map(per_line).sum()
}

/// Whether a postscript begins somewhere; sanely, at the start of a line.
fn postscript(marker: &str, fixed: bool) -> Result<Judge, String> {
    if fixed {
        let marker = lower(marker);
        return judge(move |passage| {
            passage.lower().lines().any(|line| py::strip(line).starts_with(&marker))
        });
    }
    match marker {
        "P.P.S" => judge(|passage| spaced(passage.lower(), &["p.", "p.", "s"])),
        "P.S." => judge(|passage| spaced(passage.lower(), &["p.", "s."])),
        _ if is_literal(marker) => {
            let marker = lower(marker);
            judge(move |passage| passage.lower().contains(&marker))
        }
        _ => {
            let pattern = regex(&lower(marker), false)?;
            judge(move |passage| pattern.is_match(passage.lower()))
        }
    }
}

/// Whether parts follow each other somewhere, with at most one blank between two.
fn spaced(text: &str, parts: &[&str]) -> bool {
    let Some((first, others)) = parts.split_first() else { return true };
    memchr::memmem::find_iter(text.as_bytes(), first).any(|at| {
        let mut rest = Some(&text[at + first.len()..]);
        for part in others {
            rest = rest.and_then(|rest| {
                let short = rest.strip_prefix(py::is_space).unwrap_or(rest);
                short.strip_prefix(part)
            });
        }
        rest.is_some()
    })
}

/// How often `^\s*\*[^\*].*$`, or `^\s*-.*$`, is found with lines told apart.
fn bullets(text: &str, mark: char) -> usize {
    let (mut from, mut count) = (0, 0);
    loop {
        // `from` is the start of a line, and blank lines after it count as blanks.
        let line = text[from..].trim_start_matches(py::is_space);
        let at = text.len() - line.len();
        let after = line.strip_prefix(mark).map(|tail| tail.chars().next());
        let end = match (after, mark) {
            (Some(Some(next)), '*') if next != '*' => Some(at + 1 + next.len_utf8()),
            (Some(_), '-') => Some(at + 1),
            _ => None,
        };
        count += usize::from(end.is_some());
        let rest = end.unwrap_or(at);
        match text[rest..].find('\n') {
            Some(line_end) => from = rest + line_end + 1,
            None => return count,
        }
    }
}

/// Lines that a mark and a blank begin.
fn plain_bullets(text: &str) -> usize {
    let is_bullet = |line: &&str| {
        let tail = py::strip(line).strip_prefix(['*', '-', '+', '•']);
        tail.is_some_and(|tail| tail.starts_with(py::is_space))
    };
    text.lines().filter(is_bullet).count()
}

/// How many spans between asterisks are not blank. Between two asterisks each, they are counted
/// once more; sanely, a span counts once.
fn highlights(text: &str, fixed: bool) -> usize {
    if fixed {
        return text.split('\n').map(spans).sum();
    }
    let (mut from, mut count) = (0, 0);
    while let Some(open) = text[from..].find('*').map(|at| from + at) {
        let Some(next) = text[open + 1..].find(['*', '\n']) else { break };
        let close = open + 1 + next;
        let is_span = text[close..].starts_with('*');
        count += usize::from(is_span && !py::strip(&text[open + 1..close]).is_empty());
        from = if is_span { close + 1 } else { close };
    }
    from = 0;
    while let Some(open) = text[from..].find("**").map(|at| from + at) {
        let start = open + 2;
        let Some(next) = text[start..].find(['*', '\n']) else { break };
        let close = start + next;
        if text[close..].starts_with("**") {
            count += usize::from(!py::strip(&text[start..close]).is_empty());
            from = close + 2;
        } else {
            from = open + 1;
        }
    }
    count
}

/// The spans of a line that a run of asterisks opens and one as long closes.
fn spans(line: &str) -> usize {
    let (mut rest, mut count) = (line, 0);
    while let Some(open) = rest.find('*') {
        let inner = rest[open..].trim_start_matches('*');
        let run = rest.len() - open - inner.len();
        let Some(close) = inner.find('*') else { break };
        let tail = inner[close..].trim_start_matches('*');
        let closes = inner.len() - close - tail.len() == run;
        count += usize::from(closes && !py::strip(&inner[..close]).is_empty());
        rest = if closes { tail } else { &inner[close..] };
    }
    count
}

fn sections(kwargs: &mut Kwargs<'_>, fixed: bool) -> Result<Judge, String> {
    let splitter = py::strip(kwargs.text("section_spliter")?).to_owned();
    let wanted = kwargs.positive("num_sections")?;
    if fixed || is_literal(&splitter) {
        return judge(move |passage| {
            let (mut rest, mut count) = (passage.text(), 0);
            while let Some(at) = rest.find(&splitter) {
                let tail = &rest[at + splitter.len()..];
                let short = tail.strip_prefix(py::is_space).unwrap_or(tail);
                let after = short.trim_start_matches(py::is_digit);
                count += usize::from(after.len() < short.len());
                rest = if after.len() < short.len() { after } else { tail };
            }
            count >= wanted
        });
    }
    let pattern = regex(&format!(r"\s?{splitter}\s?\d+\s?"), false)?;
    judge(move |passage| pattern.find_iter(passage.text()).take(wanted).count() == wanted)
}

/// Whether a line has a text between double angle brackets.
fn is_title(line: &str) -> bool {
    let (Some(open), Some(close)) = (line.find("<<"), line.rfind(">>")) else { return false };
    let held = line.get(open..close).filter(|held| held.len() > 2);
    held.is_some_and(|held| {
        let text = held.trim_start_matches('<').trim_end_matches('>');
        !py::strip(text).is_empty()
    })
}

fn two_responses(passage: &Passage<'_>) -> bool {
    let parts = || passage.text().split("******").map(py::strip);
    if filled_parts(passage.text(), "******") != Some(2) {
        return false;
    }
    let mut filled = parts().filter(|part| !part.is_empty());
    filled.next() != filled.next()
}

fn is_quoted(text: &str, fixed: bool) -> bool {
    let is_between =
        |open: char, close: char| text.strip_prefix(open).is_some_and(|tail| tail.ends_with(close));
    is_between('"', '"') || fixed && is_between('“', '”')
}
