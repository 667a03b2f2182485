//! Texts as a page takes them: cut at a length, around the spans that verdicts name.

use serde_json::{Map, Value, json};

use crate::data::RowText;

/// Spans of one text that are kept.
const SPANS_MAX: usize = 64;
/// Bytes around a span that stay where a text is cut.
const AROUND_BYTES: usize = 80;
/// How deep values are nested before they are cut.
const DEPTH_MAX: usize = 16;
/// Names and reasons of a row, in bytes.
const NAME_BYTES_MAX: usize = 500;

/// The texts of a row, each cut at `bytes`; of the completion stays what `verdicts` name, which the page marks.
pub(crate) fn shown_texts(text: &RowText, verdicts: &Value, bytes: usize) -> Value {
    let mut named = Vec::new();
    spans(verdicts, &mut named);
    json!({
        "prompt": parts(&text.prompt, &[], bytes), "completion": parts(&text.completion, &named, bytes),
        "reference": text.reference.as_ref().map(|reference| parts(reference, &[], bytes)),
        "chars": text.completion.chars().count(),
    })
}

/// About `bytes_max` bytes of a text, its start, its end, and what is around spans, with the place of each part.
fn parts(text: &str, spans: &[(usize, usize)], bytes_max: usize) -> Vec<(usize, String)> {
    if text.len() <= bytes_max {
        return vec![(0, text.to_owned())];
    }
    let (head, share) = (bytes_max / 2, bytes_max / 4);
    let mut ranges = vec![(0, head), (text.len() - share, text.len())];
    let mut left = share;
    let fits = |(start, end): &&(usize, usize)| text.get(*start..*end).is_some();
    for (start, end) in spans.iter().filter(fits).take(SPANS_MAX) {
        let whole = (start.saturating_sub(AROUND_BYTES), end + AROUND_BYTES);
        if whole.1 - whole.0 <= left {
            left -= whole.1 - whole.0;
            ranges.push(whole);
        }
    }
    ranges.sort_unstable();
    let mut kept: Vec<(usize, usize)> = Vec::new();
    for (start, end) in ranges {
        let start = text.floor_char_boundary(start);
        let end = text.floor_char_boundary(end.min(text.len()));
        match kept.last_mut() {
            Some((_, last)) if start <= *last => *last = end.max(*last),
            _ => kept.push((start, end)),
        }
    }
    kept.into_iter().map(|(start, end)| (start, text[start..end].to_owned())).collect()
}

/// The spans that verdicts name, their parts and steps among them.
fn spans(value: &Value, found: &mut Vec<(usize, usize)>) {
    let place = |value: &Value| usize::try_from(value.as_u64()?).ok();
    match value {
        Value::Object(members) => {
            let own = members.get("span").and_then(Value::as_array).map(Vec::as_slice);
            if let Some([start, end]) = own {
                found.extend(place(start).zip(place(end)));
            }
            members.values().for_each(|value| spans(value, found));
        }
        Value::Array(values) => values.iter().for_each(|value| spans(value, found)),
        _ => {}
    }
}

/// The line of a row, cut so that it holds about so many bytes of each text.
pub(crate) fn cut_line(line: &Value, bytes: usize) -> Value {
    let mut cut = cut_value(line, (bytes, (bytes / 4).max(24)));
    for key in ["id", "group", "why"] {
        if let Some(Value::String(text)) = cut.get_mut(key) {
            *text = cut_text(text, NAME_BYTES_MAX.min(bytes));
        }
    }
    cut
}

/// A value with so many bytes of each text, and so many values in all. What is left out is said in its place.
pub(crate) fn cut_value(value: &Value, (bytes, mut values): (usize, usize)) -> Value {
    cut(value, bytes, DEPTH_MAX, &mut values)
}

fn cut(value: &Value, bytes: usize, depth: usize, left: &mut usize) -> Value {
    *left = left.saturating_sub(1);
    match value {
        Value::String(text) => cut_text(text, bytes).into(),
        Value::Array(_) | Value::Object(_) if depth == 0 => "[nested deeper]".into(),
        Value::Array(values) => {
            let mut kept = Vec::new();
            for value in values {
                if *left == 0 {
                    kept.push(format!("[{} more]", values.len() - kept.len()).into());
                    break;
                }
                kept.push(cut(value, bytes, depth - 1, left));
            }
            kept.into()
        }
        Value::Object(members) => {
            let mut kept = Map::new();
            for (name, value) in members {
                if *left == 0 {
                    let more = members.len() - kept.len();
                    kept.insert("...".to_owned(), format!("[{more} more]").into());
                    break;
                }
                kept.insert(cut_text(name, bytes.min(200)), cut(value, bytes, depth - 1, left));
            }
            kept.into()
        }
        other => other.clone(),
    }
}

/// The start of a text, and how many bytes follow.
pub(crate) fn cut_text(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(bytes);
    format!("{}[... {} bytes ...]", &text[..end], text.len() - end)
}

#[cfg(test)]
mod tests;
