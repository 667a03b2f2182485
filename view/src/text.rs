//! Texts as a page takes them: cut at a length, with the spans that verdicts name marked.

use serde::Serialize;
use serde_json::{Map, Value};

/// Spans of one text that are marked.
const MARKS_MAX: usize = 64;
/// Bytes around a mark that stay where a text is cut.
const AROUND_BYTES: usize = 80;
/// How deep values are nested before they are cut.
const DEPTH_MAX: usize = 16;

/// A span of a text, in bytes, and what names it.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) label: String,
}

/// A piece of a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum Piece {
    Plain(String),
    /// A text with the names of its marks.
    Marked(String, String),
    /// So many bytes are left out.
    Gap(usize),
}

/// The pieces of a text of which about `bytes_max` bytes stay: its start, its end, and what is around marks.
/// Marks that do not fit the text are left out.
pub(crate) fn pieces(text: &str, marks: &[Mark], bytes_max: usize) -> Vec<Piece> {
    let fits = |mark: &&Mark| mark.start < mark.end && text.get(mark.start..mark.end).is_some();
    let marks: Vec<&Mark> = marks.iter().filter(fits).take(MARKS_MAX).collect();
    let kept = kept(text, &marks, bytes_max);
    let mut borders: Vec<usize> = marks.iter().flat_map(|mark| [mark.start, mark.end]).collect();
    borders.extend(kept.iter().flat_map(|(start, end)| [*start, *end]));
    borders.extend([0, text.len()]);
    borders.sort_unstable();
    borders.dedup();
    let mut pieces: Vec<Piece> = Vec::new();
    for pair in borders.windows(2) {
        let &[start, end] = pair else { continue };
        if !kept.iter().any(|(from, to)| *from <= start && end <= *to) {
            match pieces.last_mut() {
                Some(Piece::Gap(bytes)) => *bytes += end - start,
                _ => pieces.push(Piece::Gap(end - start)),
            }
            continue;
        }
        let within = |mark: &&&Mark| mark.start <= start && end <= mark.end;
        let labels: Vec<&str> =
            marks.iter().filter(within).map(|mark| mark.label.as_str()).collect();
        let own = &text[start..end];
        if !labels.is_empty() {
            pieces.push(Piece::Marked(own.to_owned(), labels.join(", ")));
        } else if let Some(Piece::Plain(last)) = pieces.last_mut() {
            last.push_str(own);
        } else {
            pieces.push(Piece::Plain(own.to_owned()));
        }
    }
    pieces
}

/// The ranges that stay, which neither overlap nor touch, in order.
fn kept(text: &str, marks: &[&Mark], bytes_max: usize) -> Vec<(usize, usize)> {
    if text.len() <= bytes_max {
        return vec![(0, text.len())];
    }
    let (head, share) = (bytes_max / 2, bytes_max / 4);
    let mut ranges = vec![(0, head), (text.len() - share, text.len())];
    let mut left = share;
    for mark in marks {
        let whole = (mark.start.saturating_sub(AROUND_BYTES), mark.end + AROUND_BYTES);
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
    kept
}

/// The spans that the verdicts of a row name in its completion.
pub(crate) fn marks(verdicts: &Value) -> Vec<Mark> {
    let mut marks = Vec::new();
    for (name, verdict) in verdicts.as_object().into_iter().flatten() {
        of_evidence(name, verdict, &mut marks);
        for (part, component) in
            verdict.get("components").and_then(Value::as_object).into_iter().flatten()
        {
            of_evidence(&format!("{name}.{part}"), component, &mut marks);
        }
        let steps = verdict.get("steps").and_then(Value::as_array).into_iter().flatten();
        for (at, step) in steps.enumerate() {
            if step.get("turn").is_none_or(Value::is_null) {
                let label = format!("{name} step {}", at + 1);
                marks.extend(span(step.get("span"), label));
            }
        }
    }
    marks
}

fn of_evidence(name: &str, verdict: &Value, marks: &mut Vec<Mark>) {
    let found = verdict.get("evidence").and_then(|evidence| evidence.get("span"));
    marks.extend(span(found, name.to_owned()));
}

fn span(value: Option<&Value>, label: String) -> Option<Mark> {
    let [start, end] = value?.as_array()?.as_slice() else { return None };
    let place = |value: &Value| usize::try_from(value.as_u64()?).ok();
    Some(Mark { start: place(start)?, end: place(end)?, label })
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

    fn mark(start: usize, end: usize, label: &str) -> Mark {
        Mark { start, end, label: label.to_owned() }
    }

    fn plain(text: &str) -> Piece {
        Piece::Plain(text.to_owned())
    }

    fn marked(text: &str, label: &str) -> Piece {
        Piece::Marked(text.to_owned(), label.to_owned())
    }

    #[test]
    fn marks_that_overlap_are_both_named() {
        let marks = [mark(1, 4, "a"), mark(3, 5, "b"), mark(9, 99, "no"), mark(2, 2, "no")];
        let expected =
            [plain("0"), marked("12", "a"), marked("3", "a, b"), marked("4", "b"), plain("5")];
        assert_eq!(pieces("012345", &marks, 100), expected);
        assert_eq!(pieces("é", &[mark(1, 2, "within a character")], 9), [plain("é")]);
        assert_eq!(pieces("", &[], 9), []);
    }

    #[test]
    fn a_long_text_keeps_its_edges_and_its_marks() {
        let text = format!("{}X{}", "é".repeat(2000), "b".repeat(4000));
        let found = pieces(&text, &[mark(4000, 4001, "x")], 1000);
        assert!(found.contains(&marked("X", "x")), "{found:?}");
        let (mut shown, mut gone) = (0, 0);
        for piece in &found {
            match piece {
                Piece::Plain(text) | Piece::Marked(text, _) => shown += text.len(),
                Piece::Gap(bytes) => gone += bytes,
            }
        }
        assert_eq!(shown + gone, text.len());
        assert!(shown <= 1000, "{shown}");
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
            "steps": [{ "span": [5, 6] }, { "span": [5, 6], "turn": 1 }],
        }, "odd": { "evidence": { "span": [-1, 2] } }, "odder": { "evidence": { "span": "x" } } });
        let found: Vec<_> =
            marks(&verdicts).into_iter().map(|m| (m.start, m.end, m.label)).collect();
        let expected = [(1, 2, "m"), (3, 4, "m.c"), (5, 6, "m step 1")];
        assert_eq!(found, expected.map(|(start, end, label)| (start, end, label.to_owned())));
    }
}
