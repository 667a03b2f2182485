//! The span of an answer in a sentence or a formula.

/// The span from the announcement to the end of its sentence; after a colon, the next lines.
pub(super) fn span_of_answer(text: &str, start: usize) -> Option<(usize, usize)> {
    let tail = text.get(start..)?;
    let bare = tail.trim_start_matches([' ', '\n', '\r', '\t', ':', '*', '…']);
    // "The answer is ... 4"; ".5" has one dot.
    let bare = if bare.starts_with("..") { bare.trim_start_matches(['.', ' ', '*']) } else { bare };
    let lead = tail.len() - bare.len();
    if tail.get(..lead)?.matches('\n').count() > 3 {
        return None;
    }
    let body = tail.get(lead..)?;
    let from = start + lead;
    for (open, close) in [("\\[", "\\]"), ("$$", "$$"), ("\\(", "\\)")] {
        if let Some(inner) = body.strip_prefix(open)
            && let Some(end) = inner.find(close)
        {
            return Some((from + open.len(), from + open.len() + end));
        }
    }
    if let Some(inner) = body.strip_prefix('$')
        && let Some(end) = inner.find('$')
        && !inner.starts_with(|c: char| c.is_ascii_digit() || c == '\\' && inner.starts_with("\\$"))
        && !inner.get(end + 1..).is_some_and(goes_on)
        && inner.get(..end).is_some_and(|math| !math.contains('\n'))
    {
        return Some((from + 1, from + 1 + end));
    }
    let line = body.split('\n').next()?;
    Some((from, from + sentence_end(line)))
}

/// Whether the answer is a list that goes on behind its first formula.
fn goes_on(rest: &str) -> bool {
    let rest = rest.trim_start();
    ["or ", "and ", ", $", ",$"].iter().any(|join| rest.starts_with(join))
}

/// The end of the first sentence of a line: a dot before a space, unless it is a decimal point.
pub(super) fn sentence_end(line: &str) -> usize {
    for (at, _) in line.match_indices(". ") {
        let before = line.get(..at).unwrap_or_default();
        let abbreviated = before.ends_with("vs") || before.ends_with("approx");
        if !abbreviated {
            return at;
        }
    }
    line.len()
}
