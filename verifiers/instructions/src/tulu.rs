//! The 25 functions of Tulu 3 (`allenai/RLVR-IFeval`), read from `if_functions.py` of open-instruct.

use crate::detect;
use crate::json::is_json;
use crate::kwargs::Kwargs;
use crate::passage::{Passage, lower};
use crate::py;
use crate::rule::{Judge, judge};

/// The judge of a function; `None` where there is none of that name.
pub(crate) fn read(name: &str, kwargs: &mut Kwargs<'_>) -> Option<Result<Judge, String>> {
    Some(match name {
        "verify_keywords" => words(kwargs, "keyword_list").and_then(|words| {
            judge(move |passage| words.iter().all(|word| passage.lower().contains(word)))
        }),
        "validate_forbidden_words" => words(kwargs, "forbidden_words").and_then(|words| {
            judge(move |passage| !words.iter().any(|word| passage.lower().contains(word)))
        }),
        "verify_keyword_frequency" => keyword_frequency(kwargs),
        "verify_letter_frequency" => letter_frequency(kwargs),
        "validate_response_language" => language(kwargs),
        "verify_paragraph_count" => exactly(kwargs, |passage| {
            let parts: Vec<&str> = passage.text().split("* * *").collect();
            let is_blank = |part: &&str| py::strip(part).is_empty();
            if parts.iter().any(is_blank) { usize::MAX } else { parts.len() }
        }),
        "validate_word_constraint" => {
            compared(kwargs, tenth, |passage| py::words(passage.text()).count())
        }
        "verify_sentence_constraint" => {
            compared(kwargs, |_| 1, |passage| count_sentences(passage.text()))
        }
        "validate_paragraphs" => paragraphs(kwargs),
        "verify_postscript" => kwargs.text("postscript_marker").and_then(|marker| {
            let marker = marker.to_owned();
            judge(move |passage| {
                let tail = passage.text().find(&marker).map(|at| py::strip(&passage.text()[at..]));
                tail.is_some_and(|tail| tail.len() > marker.len())
            })
        }),
        "validate_placeholders" => at_least(kwargs, |passage| spans(passage.text(), "[", "]")),
        "verify_bullet_points" => exactly(kwargs, |passage| {
            let is_bullet = |line: &&str| py::strip(line).starts_with(['*', '-']);
            passage.text().split('\n').filter(is_bullet).count()
        }),
        "validate_title" => judge(|passage| spans(passage.text(), "<<", ">>") > 0),
        "validate_choice" => kwargs.texts("options").and_then(|options| {
            let options: Vec<String> = options.into_iter().map(str::to_owned).collect();
            judge(move |passage| options.iter().any(|option| option.contains(passage.text())))
        }),
        "validate_highlighted_sections" => {
            at_least(kwargs, |passage| spans(passage.text(), "*", "*"))
        }
        "validate_sections" => sections(kwargs),
        "validate_frequency_capital_words" => compared(
            kwargs,
            |_| 0,
            |passage| {
                let is_capital = |run: &&str| run.bytes().all(|byte| byte.is_ascii_uppercase());
                py::word_runs(passage.text()).filter(is_capital).count()
            },
        ),
        _ => return whole(name, kwargs),
    })
}

/// Functions of the whole text.
fn whole(name: &str, kwargs: &mut Kwargs<'_>) -> Option<Result<Judge, String>> {
    Some(match name {
        "validate_json_format" => judge(|passage| is_json(passage.text(), true)),
        "validate_repeat_prompt" => kwargs.text("original_prompt").and_then(|prompt| {
            let prompt = prompt.to_owned();
            judge(move |passage| passage.text().starts_with(&prompt))
        }),
        "validate_two_responses" => judge(|passage| {
            let parts: Vec<&str> = passage.text().split("******").map(py::strip).collect();
            matches!(parts.as_slice(), [first, second] if first != second)
        }),
        "validate_uppercase" => judge(|passage| passage.text() == passage.text().to_uppercase()),
        "validate_lowercase" => judge(|passage| passage.text() == passage.lower()),
        "validate_end" => kwargs.text("end_phrase").and_then(|phrase| {
            let phrase = phrase.to_owned();
            judge(move |passage| passage.text().ends_with(&phrase))
        }),
        "validate_quotation" => judge(|passage| {
            let text = passage.text();
            text.starts_with('"') && text.ends_with('"')
        }),
        "validate_no_commas" => judge(|passage| !passage.text().contains(',')),
        _ => return None,
    })
}

fn words(kwargs: &mut Kwargs<'_>, name: &'static str) -> Result<Vec<String>, String> {
    Ok(kwargs.texts(name)?.into_iter().map(lower).collect())
}

fn exactly(
    kwargs: &mut Kwargs<'_>,
    count: impl Fn(&Passage<'_>) -> usize + Send + Sync + 'static,
) -> Result<Judge, String> {
    let wanted = kwargs.count("N")?;
    judge(move |passage| count(passage) == wanted)
}

fn at_least(
    kwargs: &mut Kwargs<'_>,
    count: impl Fn(&Passage<'_>) -> usize + Send + Sync + 'static,
) -> Result<Judge, String> {
    let wanted = kwargs.count("N")?;
    judge(move |passage| count(passage) >= wanted)
}

fn keyword_frequency(kwargs: &mut Kwargs<'_>) -> Result<Judge, String> {
    let word = lower(kwargs.text("word")?);
    exactly(kwargs, move |passage| {
        py::word_runs(passage.lower()).filter(|run| *run == word).count()
    })
}

fn letter_frequency(kwargs: &mut Kwargs<'_>) -> Result<Judge, String> {
    let letter = kwargs.text("letter")?;
    let mut characters = letter.chars();
    let (Some(only), None) = (characters.next(), characters.next()) else {
        return Err(format!("{letter:?} is no single letter"));
    };
    exactly(kwargs, move |passage| passage.text().matches(only).count())
}

fn language(kwargs: &mut Kwargs<'_>) -> Result<Judge, String> {
    let code = kwargs.text("language")?.to_owned();
    if !detect::codes().contains(&code.as_str()) {
        return Err(format!("the language \"{code}\" is none that can be told"));
    }
    judge(move |passage| passage.language() == Some(code.as_str()))
}

/// A count that is at least, at most or around a number; `near` says how far from it is still around.
fn compared(
    kwargs: &mut Kwargs<'_>,
    near: impl Fn(usize) -> usize,
    count: impl Fn(&Passage<'_>) -> usize + Send + Sync + 'static,
) -> Result<Judge, String> {
    let wanted = kwargs.count("N")?;
    let near = near(wanted);
    match kwargs.text("quantifier")? {
        "at least" => judge(move |passage| count(passage) >= wanted),
        "at most" => judge(move |passage| count(passage) <= wanted),
        "around" => judge(move |passage| count(passage).abs_diff(wanted) <= near),
        other => Err(format!("the quantifier {other:?} is unknown")),
    }
}

/// A tenth, rounded half to even as Python does, and one at least.
fn tenth(count: usize) -> usize {
    (count / 10 + usize::from(count % 10 > 5 || count % 20 == 15)).max(1)
}

/// Sentences end at white space after a period or a question mark, which no abbreviation is before:
/// `(?<!\w\.\w.)(?<![A-Z][a-z]\.)(?<=\.|\?)\s`.
fn count_sentences(text: &str) -> usize {
    let (mut last, mut count) = (['\n'; 4], 1);
    for c in text.chars() {
        let [first, second, third, fourth] = last;
        let is_short = py::is_word(first) && second == '.' && py::is_word(third);
        let is_title = second.is_ascii_uppercase() && third.is_ascii_lowercase() && fourth == '.';
        let ends = matches!(fourth, '.' | '?') && !is_short && !is_title;
        count += usize::from(ends && py::is_space(c));
        last = [second, third, fourth, c];
    }
    count
}

fn paragraphs(kwargs: &mut Kwargs<'_>) -> Result<Judge, String> {
    let (count, nth) = (kwargs.count("N")?, kwargs.positive("i")?);
    let first = kwargs.text("first_word")?.to_owned();
    if nth > count {
        return Err(format!("there is no paragraph {nth} of {count}"));
    }
    judge(move |passage| {
        let parts: Vec<&str> = passage.text().split("\n\n").collect();
        let part = parts.get(nth - 1).map(|part| py::strip(part));
        parts.len() == count && part.is_some_and(|part| part.starts_with(&first))
    })
}

/// How many spans on one line an opening and a closing mark enclose, as short as they can be.
fn spans(text: &str, open: &str, close: &str) -> usize {
    let per_line = |line: &str| {
        let (mut rest, mut count) = (line, 0);
        while let Some((_, tail)) = rest.split_once(open) {
            let Some((_, after)) = tail.split_once(close) else { break };
            count += 1;
            rest = after;
        }
        count
    };
    text.split('\n').map(per_line).sum()
}

fn sections(kwargs: &mut Kwargs<'_>) -> Result<Judge, String> {
    let splitter = kwargs.text("section_splitter")?.to_owned();
    exactly(kwargs, move |passage| {
        let count = passage.text().split(&splitter).count();
        count - usize::from(passage.text().starts_with(&splitter))
    })
}
