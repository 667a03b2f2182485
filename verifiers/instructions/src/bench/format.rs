//! Instructions on the form of a text.

use std::sync::LazyLock;

use crate::kwargs::Kwargs;
use crate::passage::lower;
use crate::rule::{Judge, judge};
use crate::{punkt, py, tokens};

pub(super) fn read(name: &str, kwargs: &mut Kwargs<'_>) -> Option<Result<Judge, String>> {
    Some(match name {
        "parentheses" => judge(|passage| nests(passage.text())),
        "quotes" => judge(|passage| nests_quotes(passage.text())),
        "options" => kwargs.text("options").and_then(options),
        "newline" => judge(|passage| {
            let text = py::without_punctuation(passage.text());
            let lines = py::strip(&text).split('\n').filter(|line| !line.is_empty()).count();
            // A text of marks alone has one line, which is blank.
            lines == py::words(&text).count()
        }),
        "emoji" => judge(|passage| ends_in_emoji(passage.text())),
        "line_indent" => judge(|passage| is_stairs(passage.text())),
        "quote_unquote" => judge(|passage| explains_quotes(passage.text())),
        "list" => kwargs.text("sep").and_then(|mark| {
            let mark = mark.to_owned();
            judge(move |passage| passage.text().matches(mark.as_str()).nth(1).is_some())
        }),
        "thesis" => judge(|passage| has_thesis(passage.text()).unwrap_or(false)),
        "sub-bullets" => {
            judge(|passage| passage.text().split('*').skip(1).all(|bullet| bullet.contains('-')))
        }
        "no_bullets_bullets" => judge(|passage| sentences_then_bullets(passage.text())),
        "title_case" => judge(|passage| {
            tokens::words(passage.text()).iter().all(|word| {
                let mut letters = word.chars();
                let first = letters.next().is_some_and(char::is_lowercase);
                !(first && (py::is_upper(letters.as_str()) || py::is_lower(letters.as_str())))
            })
        }),
        "output_template" => judge(|passage| {
            const LABELS: [&str; 3] = ["My Answer:", "My Conclusion:", "Future Outlook:"];
            LABELS.iter().all(|label| passage.text().contains(label))
        }),
        "no_whitespace" => judge(|passage| !passage.text().contains(py::is_space)),
        _ => return None,
    })
}

/// Brackets five deep, the innermost closed properly.
fn nests(text: &str) -> bool {
    let (mut open, mut deepest) = (Vec::new(), 0);
    for c in text.chars() {
        match c {
            '(' | '[' | '{' => {
                open.push(c);
                deepest = deepest.max(open.len());
            }
            ')' | ']' | '}' => {
                if matches!((open.pop(), c), (Some('('), ')') | (Some('['), ']') | (Some('{'), '}'))
                {
                    if deepest >= 5 {
                        return true;
                    }
                } else {
                    open.clear();
                    deepest = 0;
                }
            }
            _ => (),
        }
    }
    false
}

/// Quotes in quotes, three deep, and all closed from the deepest. Apostrophes count.
fn nests_quotes(text: &str) -> bool {
    let (mut open, mut deepest) = (Vec::new(), 0);
    for c in text.chars().filter(|c| matches!(c, '"' | '\'')) {
        if open.last() == Some(&c) {
            open.pop();
            if deepest - open.len() >= 3 {
                return true;
            }
        } else {
            open.push(c);
            deepest = deepest.max(open.len());
        }
    }
    false
}

/// One of options, between slashes, `or` or commas. `a), b), c)` are compared strictly.
fn options(text: &str) -> Result<Judge, String> {
    let mut letters = text.chars().filter(|&c| py::is_word(c));
    let is_strict = ['a', 'b', 'c']
        .iter()
        .all(|letter| letters.next().is_some_and(|c| c.eq_ignore_ascii_case(letter)));
    let separator = ["/", "or"].into_iter().find(|mark| text.contains(mark)).unwrap_or(",");
    let options: Vec<String> =
        text.split(separator).map(|option| py::strip(option).to_owned()).collect();
    judge(move |passage| {
        if is_strict {
            return options.iter().any(|option| option == passage.text());
        }
        let own = lower(py::bare(passage.text()));
        options.iter().any(|option| lower(py::bare(option)) == own)
    })
}

/// Ranges of single characters that are emojis.
static EMOJIS: LazyLock<Vec<(u32, u32)>> = LazyLock::new(|| {
    let code = |text: &str| u32::from_str_radix(text, 16).ok();
    let range = |text: &'static str| match text.split_once('-') {
        Some((first, last)) => Some((code(first)?, code(last)?)),
        None => code(text).map(|only| (only, only)),
    };
    include_str!("../../data/emoji.txt").split_ascii_whitespace().filter_map(range).collect()
});

fn is_emoji(c: char) -> bool {
    let at = EMOJIS.partition_point(|&(first, _)| first <= u32::from(c));
    let range = at.checked_sub(1).and_then(|at| EMOJIS.get(at));
    range.is_some_and(|&(_, last)| u32::from(c) <= last)
}

/// The last character of each sentence or the one before is an emoji, or the first of the next.
fn ends_in_emoji(text: &str) -> bool {
    let plain = |sentence| py::strip(&py::without_punctuation(sentence)).to_owned();
    let sentences: Vec<String> = punkt::sentences(text).into_iter().map(plain).collect();
    let mut nexts = sentences.iter().skip(1);
    sentences.iter().all(|sentence| {
        let starts = nexts.next().is_some_and(|next| next.starts_with(is_emoji));
        !sentence.is_empty() && (starts || sentence.chars().rev().take(2).any(is_emoji))
    })
}

/// Lines are indented more and more. Blank lines are removed as the official code does, which skips
/// the line after each that it removes.
fn is_stairs(text: &str) -> bool {
    let mut lines: Vec<&str> = text.split('\n').collect();
    // Removal leaves half of them, and growing indents take half the square of their count.
    let least = lines.len() / 2;
    if least.saturating_mul(least.saturating_sub(1)) / 2 > text.len() {
        return false;
    }
    let mut at = 0;
    while let Some(&line) = lines.get(at) {
        if py::strip(line).is_empty() {
            let first = lines.iter().position(|other| *other == line);
            lines.remove(first.unwrap_or(at));
        }
        at += 1;
    }
    let indent = |line: &&str| line.len() - line.trim_start_matches(' ').len();
    lines.iter().map(indent).is_sorted_by(|one, next| one < next)
}

/// Text stands between quotations, and after the last.
fn explains_quotes(text: &str) -> bool {
    let text = text.replace(['“', '”'], "\"").replace("'\"'", "");
    let text: String = text.chars().filter(|&c| !py::is_space(c)).collect();
    let is_mark = |c: char| c.is_ascii_digit() || c != '"' && py::is_punctuation(c);
    let rest = text.trim_matches(is_mark);
    !text.contains("\"\"") && !rest.is_empty() && !rest.ends_with('"')
}

/// A text in italics with text after it. The tags are counted as three and four characters long.
fn has_thesis(text: &str) -> Option<bool> {
    let start = text.find("<i>").or_else(|| text.find("<em>"))?;
    let text = &text[start..];
    let end = text.find("</i>").or_else(|| text.find("</em>"))?;
    Some(!py::strip(&text[3..end]).is_empty() && !py::strip(&text[end + 4..]).is_empty())
}

/// Two sentences and more, then two lines and more that begin with an asterisk. Only a line after a
/// blank one may not be another sentence.
fn sentences_then_bullets(text: &str) -> bool {
    let (mut open, mut sentences, mut bullets) = (true, 0, 0);
    for line in text.split('\n').map(py::strip) {
        if line.starts_with('*') {
            if sentences < 2 {
                return false;
            }
            open = false;
            bullets += 1;
        } else if open {
            let count = punkt::sentences(line).len();
            open = count > 0;
            sentences += count;
        } else {
            return false;
        }
    }
    bullets >= 2
}
