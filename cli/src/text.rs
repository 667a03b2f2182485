//! Text that a model or a dataset wrote, on its way to a terminal: nothing in it is obeyed, and
//! what was judged is marked.

use std::io::IsTerminal as _;
use std::ops::Range;

use assay::data::escape;

/// Bytes shown from the start and from the end of a long text, and around what is marked.
const EDGE_BYTES: usize = 600;
const AROUND_BYTES: usize = 200;

/// The text with everything that a terminal obeys, or that deceives the eye, written as an escape.
/// Line ends stay.
pub(super) fn harmless(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for char in text.chars() {
        if char == '\n' || char == ' ' || char.is_ascii_graphic() {
            shown.push(char);
        } else {
            shown.push_str(&escape(char.encode_utf8(&mut [0; 4])));
        }
    }
    shown
}

/// The same on one line.
pub(super) fn inline(text: &str) -> String {
    harmless(text).replace('\n', "\\n")
}

/// A word as a shell takes it.
pub(super) fn quoted(word: &str) -> String {
    let is_plain = |char: char| char.is_alphanumeric() || "-_./:=@%+,".contains(char);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// What is around a marked text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marks {
    open: &'static str,
    close: &'static str,
}

impl Marks {
    /// Letters for pipes and for `NO_COLOR`.
    pub(super) const PLAIN: Self = Self { open: ">>>", close: "<<<" };
    const REVERSE: Self = Self { open: "\u{1b}[7m", close: "\u{1b}[0m" };

    /// The marks that suit stdout.
    pub(super) fn of_stdout() -> Self {
        if std::io::stdout().is_terminal() && !no_color() { Self::REVERSE } else { Self::PLAIN }
    }
}

/// Whether the user wants no colours.
pub(super) fn no_color() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

/// How much of a text is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// The start, the end, and what is around the marks.
    Long,
    /// Nothing is left out.
    Never,
}

/// A text behind a gutter, so that none of its lines passes for one of ours, with spans marked.
/// Spans that do not fit the text are left out.
pub(super) fn excerpt(text: &str, spans: &[Range<usize>], marks: Marks, cut: Cut) -> String {
    let spans: Vec<Range<usize>> = merged(
        spans
            .iter()
            .filter(|span| !span.is_empty() && text.get((*span).clone()).is_some())
            .cloned(),
    );
    let kept = match cut {
        Cut::Never => std::iter::once(0..text.len()).collect(),
        Cut::Long => kept(text, &spans),
    };
    let mut shown = String::new();
    let mut at = 0;
    for range in kept {
        if range.start > at {
            gap(&mut shown, range.start - at);
        }
        at = range.end;
        mark(&mut shown, text, range, &spans, marks);
    }
    if at < text.len() {
        gap(&mut shown, text.len() - at);
    }
    shown.lines().flat_map(|line| ["  | ", line, "\n"]).collect()
}

fn gap(shown: &mut String, bytes: usize) {
    let gap = if shown.is_empty() { "" } else { "\n" };
    shown.push_str(&format!("{gap}[... {bytes} bytes ...]\n"));
}

fn kept(text: &str, spans: &[Range<usize>]) -> Vec<Range<usize>> {
    let edges = [0..EDGE_BYTES, text.len().saturating_sub(EDGE_BYTES)..text.len()];
    let around = spans.iter().flat_map(|span| {
        [
            span.start.saturating_sub(AROUND_BYTES)..span.end.min(span.start + EDGE_BYTES),
            span.end.saturating_sub(EDGE_BYTES).max(span.start)..span.end + AROUND_BYTES,
        ]
    });
    let snap = |range: Range<usize>| {
        text.floor_char_boundary(range.start)..text.ceil_char_boundary(range.end.min(text.len()))
    };
    merged(edges.into_iter().chain(around).map(snap))
}

/// The same bytes as ranges that neither overlap nor touch, in order.
fn merged(ranges: impl Iterator<Item = Range<usize>>) -> Vec<Range<usize>> {
    let mut sorted: Vec<Range<usize>> = ranges.collect();
    sorted.sort_by_key(|range| (range.start, range.end));
    let mut merged: Vec<Range<usize>> = Vec::new();
    for range in sorted {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

fn mark(out: &mut String, text: &str, range: Range<usize>, spans: &[Range<usize>], marks: Marks) {
    let mut at = range.start;
    let push = |from: usize, to: usize| harmless(&text[from..to]);
    for span in spans {
        let (start, end) = (span.start.max(range.start), span.end.min(range.end));
        if start < end {
            out.push_str(&push(at, start));
            out.push_str(marks.open);
            out.push_str(&push(start, end));
            out.push_str(marks.close);
            at = end;
        }
    }
    out.push_str(&push(at, range.end));
}

#[cfg(test)]
mod tests {
    #![expect(clippy::single_range_in_vec_init, reason = "a list of one span")]

    use super::*;

    #[test]
    fn a_span_is_marked_behind_the_gutter() {
        let spans = [2..4, 3..5, 9..99, 1..1];
        let shown = excerpt("so\n42\u{1b}[0m", &[3..5], Marks::PLAIN, Cut::Long);
        assert_eq!(shown, "  | so\n  | >>>42<<<\\u{1b}[0m\n");
        assert_eq!(excerpt("abcdef", &spans, Marks::PLAIN, Cut::Long), "  | ab>>>cde<<<f\n");
    }

    #[test]
    fn a_span_within_a_character_is_left_out() {
        assert_eq!(excerpt("é", &[1..2], Marks::PLAIN, Cut::Never), "  | é\n");
    }

    #[test]
    fn a_long_text_keeps_its_edges_and_its_marks() {
        let text = format!("{}X{}", "é".repeat(2000), "b".repeat(4000));
        let shown = excerpt(&text, &[4000..4001], Marks::PLAIN, Cut::Long);
        assert!(shown.contains(">>>X<<<"), "{shown}");
        assert_eq!(shown.matches("bytes ...]").count(), 2);
        assert!(shown.len() < 4000);
        let whole = excerpt(&text, &[], Marks::PLAIN, Cut::Never);
        assert_eq!(whole.len(), text.len() + 5);
    }

    #[test]
    fn bidirectional_and_control_characters_are_escaped() {
        assert_eq!(harmless("a\r\u{202e}\u{9b}\tb\n"), "a\\r\\u{202e}\\u{9b}\\tb\n");
        assert_eq!(inline("a\nb"), "a\\nb");
    }
}
