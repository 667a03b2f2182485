//! Texts as a page takes them: cut at a length, around the spans that verdicts name.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::data::RowText;

/// Spans of one text that are kept.
const SPANS_MAX: usize = 64;
/// Bytes around a span that stay where a text is cut.
const AROUND_BYTES: usize = 80;
/// How deep values are nested before they are cut.
const DEPTH_MAX: usize = 16;
/// Names and reasons of a row, in bytes.
const NAME_BYTES_MAX: usize = 500;

/// The parts of a text that stay, with the place of each in bytes.
type TextParts = Vec<(usize, String)>;

/// The texts of a row. The page marks in them what verdicts name.
#[derive(Serialize)]
pub(crate) struct ShownTexts {
    prompt: TextParts,
    completion: TextParts,
    reference: Option<TextParts>,
    /// The length of the completion in characters.
    chars: usize,
}

impl ShownTexts {
    /// The texts, each cut at `bytes`; of the completion stays what `verdicts` name.
    pub(crate) fn new(text: &RowText, verdicts: &Value, bytes: usize) -> Self {
        let mut named = Vec::new();
        spans(verdicts, &mut named);
        Self {
            prompt: parts(&text.prompt, &[], bytes),
            completion: parts(&text.completion, &named, bytes),
            reference: text.reference.as_ref().map(|reference| parts(reference, &[], bytes)),
            chars: text.completion.chars().count(),
        }
    }
}

/// About `bytes_max` bytes of a text: its start, its end, and what is around spans.
fn parts(text: &str, spans: &[(usize, usize)], bytes_max: usize) -> TextParts {
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
    let mut cut = cut_value(line, &ValueLimits { bytes, values: (bytes / 4).max(24) });
    for key in ["id", "group", "why"] {
        if let Some(Value::String(text)) = cut.get_mut(key) {
            *text = cut_text(text, NAME_BYTES_MAX.min(bytes));
        }
    }
    cut
}

/// What a value may take.
pub(crate) struct ValueLimits {
    /// Bytes of a text.
    pub(crate) bytes: usize,
    /// Values in all.
    pub(crate) values: usize,
}

/// A value cut to its limits. What is left out is said in its place.
pub(crate) fn cut_value(value: &Value, limits: &ValueLimits) -> Value {
    let mut left = limits.values;
    cut(value, limits.bytes, DEPTH_MAX, &mut left)
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
mod tests {
    use super::*;

    #[test]
    fn a_long_text_keeps_its_edges_and_its_spans() {
        let text = format!("{}X{}", "é".repeat(2000), "b".repeat(4000));
        let found = parts(&text, &[(1, 2), (9, 99_999), (4000, 4001)], 1000);
        assert_eq!((found.len(), found[1].0), (3, 4000 - AROUND_BYTES), "{found:?}");
        assert!(found.iter().all(|(start, part)| text[*start..].starts_with(part)));
        assert!(found[1].1.contains('X') && found[2].1.ends_with('b'));
        let shown: usize = found.iter().map(|(_, part)| part.len()).sum();
        assert!(shown <= 1000, "{shown}");
        assert_eq!(parts("", &[], 9), [(0, String::new())]);
    }

    #[test]
    fn values_are_cut_by_length_count_and_depth() {
        let mut deep = Value::Null;
        for _ in 0..100 {
            deep = Value::Array(vec![deep]);
        }
        let value =
            serde_json::json!({ "text": "é".repeat(50), "list": vec![0; 1000], "deep": deep });
        let cut = cut_value(&value, &ValueLimits { bytes: 11, values: 40 });
        assert!(cut.to_string().len() < 400, "{cut}");
        assert_eq!(cut_text("ééé", 3), "é[... 4 bytes ...]");
    }

    #[test]
    fn spans_are_found_in_parts_and_steps() {
        let verdicts = serde_json::json!({ "m": {
            "evidence": { "span": [1, 2] },
            "components": { "c": { "evidence": { "span": [3, 4] } } },
            "steps": [{ "span": [5, 6] }],
        }, "odd": { "evidence": { "span": [-1, 2] } }, "odder": { "evidence": { "span": "x" } } });
        let mut found = Vec::new();
        spans(&verdicts, &mut found);
        found.sort_unstable();
        assert_eq!(found, [(1, 2), (3, 4), (5, 6)]);
    }
}
