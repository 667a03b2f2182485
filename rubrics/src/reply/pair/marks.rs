//! Verdicts in the marks that prompts ask for.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use assay_verifiers::Pattern;

use super::label;
use super::sentence;
use super::statement;
use super::types::{PairReply, Winner};
use crate::reply::revision;

/// What the marks of a text say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Marked {
    /// They are a verdict.
    Verdict(PairReply),
    /// They should be a verdict, and are none that is on offer, or two.
    Unreadable,
    /// There are no marks.
    None,
}

/// What kind of mark it is.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// `[[A]]`: "MT-Bench" and "Arena-Hard". `C` is a tie.
    Brackets,
    /// `[RESULT] A`: "Prometheus 2".
    Result,
    /// `<answer>A</answer>`.
    Tag,
    /// `\boxed{A}`.
    Box,
    /// `"winner": "A"`.
    Member,
}

/// Each form with its pattern; the label is the last group.
static FORMS: LazyLock<Vec<(Form, Pattern)>> = LazyLock::new(|| {
    let forms = [
        (Form::Brackets, r"(?:\\?\[){2}\s*([^\[\]\n]{1,40}?)\s*(?:\\?\]){2}"),
        (Form::Result, r#"(?i)\[RESULT\][\s:*\[("']*([^\n\[]{1,40})"#),
        (
            Form::Tag,
            r"(?isx)<(?:answer|verdict|winner|preference|preferred|choice|decision|result|
            final_answer|final_verdict|judge?ment)>\s*(.{1,400}?)\s*</[a-z_]+>",
        ),
        (Form::Box, r"\\boxed\s*\{\s*((?:[^{}\n]|\{[^{}\n]*\}){1,60}?)\s*\}"),
        (
            Form::Member,
            r#"(?ix)["'](?:winner|final_verdict|verdict|preference|preferred|preferred_\w+|choice|
            better|better_\w+|best|best_\w+|decision|answer|result|judge?ment|selection|selected)["']
            \s*:\s*("[^"\n]{1,60}"|'[^'\n]{1,60}'|[12]\b)"#,
        ),
    ];
    let compiled = |(form, pattern)| Some((form, Pattern::new(pattern).ok()?));
    forms.into_iter().filter_map(compiled).collect()
});

/// A line of a list of what may be answered, as in the prompt of "Arena-Hard": a number, words, one
/// mark.
static OFFER: LazyLock<Option<Pattern>> = LazyLock::new(|| {
    Pattern::new(
        r"(?i)^\s*\d\s*[.)]\s+(?:assistant|response|output|answer|tie)\b[^\[\n]*\[\[[^\[\n]*$",
    )
    .ok()
});

/// The text without the list of what may be answered, where it repeats one.
pub(super) fn without_offers(text: &str) -> Cow<'_, str> {
    let is_offer = |line: &&str| OFFER.as_ref().is_some_and(|pattern| pattern.is_match(line));
    if text.lines().filter(is_offer).count() < 2 {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.lines().filter(|line| !is_offer(line)).collect::<Vec<_>>().join("\n"))
}

/// What the marks say: the last one, where no other says something else or what does is taken back.
pub(super) fn last(text: &str) -> Marked {
    let mut found: Vec<(usize, Marked)> = Vec::new();
    for (form, pattern) in FORMS.iter() {
        for captures in pattern.captures_iter(text) {
            let (Some(whole), Some(inner)) = (captures.get(0), captures.get(1)) else { continue };
            let marked = read(*form, inner.as_str());
            if marked != Marked::None && !is_unsaid(text, &whole.range()) {
                found.push((whole.start(), marked));
            }
        }
    }
    found.sort_by_key(|(at, _)| *at);
    let Some((last_at, last)) = found.last() else { return Marked::None };
    let differs = |(_, other): &&(usize, Marked)| matches!((other, last), (Marked::Verdict(a), Marked::Verdict(b)) if a.winner != b.winner);
    match found.iter().rev().find(differs) {
        Some((at, _)) if !revision::takes_back(&text[*at..*last_at]) => Marked::Unreadable,
        _ => *last,
    }
}

fn read(form: Form, inner: &str) -> Marked {
    if label::is_hedge(inner) {
        return Marked::Unreadable;
    }
    let words = inner.trim_matches(label::is_wrapping);
    let tie = words.eq_ignore_ascii_case("c") && form != Form::Member;
    let reply = if tie { Some(PairReply::of(Winner::Tie)) } else { label::read(inner) };
    let reply = match form {
        // What follows the verdict on its line is not part of it.
        Form::Result => reply.or_else(|| label::read(inner.split_whitespace().next()?)),
        Form::Tag => reply.or_else(|| statement::last(inner).map(PairReply::of)),
        _ => reply,
    };
    match (reply, form) {
        (Some(reply), _) => Marked::Verdict(reply),
        (None, Form::Brackets | Form::Result | Form::Tag) if label::is_like_label(inner) => {
            Marked::Unreadable
        }
        (None, _) => Marked::None,
    }
}

/// Whether the words around a mark say that it is one of those on offer, or denied.
fn is_unsaid(text: &str, mark: &Range<usize>) -> bool {
    let before = &text[..mark.start];
    let after = &text[mark.end..];
    is_quoted(before, after) || sentence::is_denied(before) || sentence::is_option(before, after)
}

/// Whether a mark is in quotation marks within a line that goes on: it repeats what somebody wrote.
fn is_quoted(before: &str, after: &str) -> bool {
    const QUOTES: [char; 7] = ['"', '\'', '`', '“', '”', '‘', '’'];
    let rest = after.lines().next().unwrap_or_default();
    before.ends_with(QUOTES) && rest.starts_with(QUOTES) && !rest.chars().all(label::is_wrapping)
}
