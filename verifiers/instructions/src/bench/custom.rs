//! Instructions of one task each.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::passage::lower;
use crate::rule::{Judge, judge};
use crate::{csv, punkt, py};

pub(super) fn read(name: &str) -> Option<Result<Judge, String>> {
    Some(match name {
        "multiples" => judge(|passage| {
            let wanted = (14..=50).step_by(7).map(|number: u32| number.to_string());
            py::digit_runs(passage.text()).map(str::to_owned).eq(wanted)
        }),
        "mcq_count_length" => judge(|passage| are_questions(passage.text())),
        "reverse_newline" => judge(|passage| counts_down(passage.text())),
        "word_reverse" => judge(|passage| {
            let text = py::without_punctuation(passage.lower());
            let words: Vec<&str> = py::words(&text).rev().collect();
            words.join(" ").contains("bald eagle")
        }),
        "character_reverse" => judge(|passage| passage.lower().contains("elgae dlab")),
        "sentence_alphabet" => judge(|passage| {
            let first = |sentence: &str| lower(py::strip(sentence)).chars().next();
            punkt::sentences(passage.text()).into_iter().map(first).eq(('a'..='z').map(Some))
        }),
        "european_capitals_sort" => judge(|passage| {
            let text = ascii(passage.text());
            let named = text.split(',').map(py::strip).filter(|name| !name.is_empty());
            named.eq(CAPITALS.split(' '))
        }),
        "csv_city" => judge(|passage| {
            let rows = csv::rows(passage.text(), ',').unwrap_or_default();
            let header =
                rows.first().is_some_and(|row| *row == ["ID", "Country", "City", "Year", "Count"]);
            header && rows.len() == 8 && rows.iter().all(|row| row.len() == 5)
        }),
        "csv_special_character" => judge(|passage| is_product_table(passage.text())),
        "csv_quotes" => judge(|passage| is_quoted_table(passage.text())),
        "date_format_list" => {
            judge(|passage| passage.stripped().split(',').map(py::strip).all(is_date))
        }
        _ => return None,
    })
}

const CAPITALS: &str = "Reykjavik Helsinki Oslo Tallinn Stockholm Riga Moscow Copenhagen Vilnius Minsk \
    Dublin Berlin Amsterdam Warsaw London Brussels Prague Luxembourg Paris Vienna Bratislava Budapest \
    Vaduz Chisinau Bern Ljubljana Zagreb";

static DECOMPOSED: LazyLock<HashMap<char, &str>> = LazyLock::new(|| {
    let line = |line: &'static str| {
        let (ascii, characters) = line.split_once('\t')?;
        Some(characters.chars().map(move |c| (c, ascii)))
    };
    include_str!("../../data/ascii.txt").split('\n').filter_map(line).flatten().collect()
});

/// The ASCII of a text once characters are decomposed.
fn ascii(text: &str) -> String {
    let mut made = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii() {
            made.push(c);
        } else {
            made.push_str(DECOMPOSED.get(&c).copied().unwrap_or_default());
        }
    }
    made
}

/// Four questions of growing length, each with five options.
fn are_questions(text: &str) -> bool {
    if !text.starts_with("Question") {
        return false;
    }
    let (mut lengths, mut rest) = (Vec::new(), text);
    while let Some((before, after)) = next_question(rest) {
        lengths.push(before);
        rest = after;
    }
    lengths.push(rest);
    let asked = lengths.into_iter().map(py::strip).filter(|question| !question.is_empty());
    let measured: Vec<Option<usize>> = asked.map(question_length).collect();
    measured.len() == 4
        && measured.iter().all(Option::is_some)
        && measured.is_sorted_by(|one, next| one < next)
}

/// What is before and after `Question 1.` and its like.
fn next_question(text: &str) -> Option<(&str, &str)> {
    let heads = text.match_indices("Question ").map(|(at, head)| (at, &text[at + head.len()..]));
    for (at, rest) in heads {
        let after = rest.trim_start_matches(py::is_digit);
        if after.len() < rest.len() {
            let after = after.strip_prefix(['.', '|', ')', ':', ';']).unwrap_or(after);
            return Some((&text[..at], after.trim_start_matches(py::is_space)));
        }
    }
    None
}

/// The length of a question with five options.
fn question_length(question: &str) -> Option<usize> {
    let (mut asked, mut options) = (String::new(), 0);
    for line in question.split('\n').map(py::strip) {
        let tail = line.strip_prefix(|c: char| matches!(c, 'A'..='E' | 'a'..='e'));
        let tail = tail.and_then(|tail| tail.strip_prefix(['.', '|', ')']));
        if tail.is_some_and(|tail| tail.trim_start_matches(py::is_space).starts_with(py::is_word)) {
            options += 1;
        } else if options == 0 {
            asked.push(' ');
            asked.push_str(line);
        }
    }
    (options == 5).then(|| py::strip(&asked).chars().count())
}

/// From Zimbabwe on there are 52 lines and more, in reverse order.
fn counts_down(text: &str) -> bool {
    let lines = text.split('\n').map(py::bare).filter(|line| !line.is_empty());
    let from = lines.skip_while(|line| !line.contains("Zimbabwe"));
    let lines: Vec<String> = from.map(ascii).collect();
    lines.len() >= 52 && lines.is_sorted_by(|one, next| one >= next)
}

/// Whether the first line names columns, each in quotes or not.
fn has_header(text: &str, names: &[&str], delimiter: char, may_pad: &[char]) -> bool {
    let header = text.split('\n').next().map(py::strip).unwrap_or_default();
    let mut rest = Some(header);
    for (at, name) in names.iter().enumerate() {
        rest = rest.and_then(|rest| {
            let rest = if at == 0 {
                rest
            } else {
                rest.strip_prefix(delimiter)?.trim_start_matches(may_pad)
            };
            let quoted = rest.strip_prefix('"').and_then(|rest| rest.strip_prefix(name));
            let quoted = quoted.and_then(|rest| rest.strip_prefix('"'));
            quoted.or_else(|| rest.strip_prefix(name))
        });
    }
    rest == Some("")
}

fn is_product_table(text: &str) -> bool {
    let names = ["ProductID", "Category", "Brand", "Price", "Stock"];
    if !has_header(text, &names, ',', &[' ', '\t']) {
        return false;
    }
    let rows = csv::rows(&text.replace('"', "\"\"\""), ',').unwrap_or_default();
    if rows.len() != 15 {
        return false;
    }
    // A quoted field with a special character; the rows after it are not looked at.
    for row in rows.iter().skip(1) {
        if row.len() != 5 {
            return false;
        }
        if row.iter().any(|field| has_special(field)) {
            return true;
        }
    }
    false
}

/// `".*[^\d\w\s].*"` at the start of a field: on its first line.
fn has_special(field: &str) -> bool {
    let Some(tail) = field.strip_prefix('"') else { return false };
    let is_special = |c: char| !py::is_word(c) && !py::is_space(c);
    // `[^\d\w\s]` takes no line break, so all is on one line.
    let line = tail.split('\n').next().unwrap_or_default();
    line.rfind('"').is_some_and(|end| line[..end].contains(is_special))
}

fn is_quoted_table(text: &str) -> bool {
    let names = ["StudentID", "Subject", "Grade", "Semester", "Score"];
    if !has_header(text, &names, '\t', &[' ']) {
        return false;
    }
    let rows = csv::rows(&text.replace('"', "\"\"\""), '\t').unwrap_or_default();
    let is_quoted = |field: &String| {
        let field = py::strip(field);
        field.starts_with('"') && field.ends_with('"')
    };
    rows.len() == 4 && rows.iter().all(|row| row.len() == 5 && row.iter().all(is_quoted))
}

/// A day of the life of Napoleon, by its form and the ranges of its parts.
fn is_date(date: &str) -> bool {
    let parts: Vec<&str> = date.split('-').collect();
    let [year, month, day] = parts.as_slice() else { return false };
    let is_number =
        |part: &str, length| part.chars().count() == length && part.chars().all(py::is_digit);
    if !(is_number(year, 4) && is_number(month, 2) && is_number(day, 2)) {
        return false;
    }
    // Digits of other scripts are numbers in Python: they are in no range here.
    let number = |part: &str| part.parse::<u32>().ok();
    let (Some(year), Some(month), Some(day)) = (number(year), number(month), number(day)) else {
        return false;
    };
    let days = match month {
        4 | 6 | 9 | 11 => 30,
        2 => 29,
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        0 => 99,
        _ => return false,
    };
    (1769..=1821).contains(&year) && day <= days
}
