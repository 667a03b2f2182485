//! Which of two outputs a judge prefers, read from what it wrote.
//!
//! Verdicts in marks and labels must agree, unless the first is taken back; of sentences the last one
//! counts. Marks that a prompt asks for (`[[A]]`, `[RESULT] A`, `<answer>`, `\boxed`,
//! a JSON member) come before sentences ("Therefore, Output (a) is better"). What is denied, asked,
//! conditional, reported of others, or one of several possible answers is not a verdict. A hedged
//! sentence ("seems better", "is better at"), and a tie in words, counts only as a conclusion, and
//! only where no plain sentence states a verdict.

mod label;
mod marks;
pub(super) mod sentence;
mod shapes;
mod statement;
mod types;

use std::borrow::Cow;

use assay_verifiers::extract::hidden;
use assay_verifiers::extract::thinking::{self, Thinking};
use assay_verifiers::language::judge;

use super::label::plain;
use super::revision::takes_back;

pub use types::{PairReply, Winner};

/// Which output the text prefers. `None` where it states no verdict: never a tie by default.
pub fn winner(text: &str) -> Option<Winner> {
    Some(read(text)?.winner)
}

/// The same, with the strength where the form of the verdict has one.
///
/// Thinking between `<think>` marks is not read; a text whose thinking never ends has no verdict, nor
/// has one that is displayed in another order than it is stored.
pub fn read(text: &str) -> Option<PairReply> {
    let text = text.get(thinking::answer(text, Thinking::Skip)?)?;
    let text: Cow<'_, str> = hidden::shown(text)?;
    let text = marks::without_offers(&text);
    match marks::last(&text) {
        marks::Marked::Verdict(reply) => Some(reply),
        marks::Marked::Unreadable => None,
        marks::Marked::None if labels_disagree(&text) => None,
        marks::Marked::None => statement::last(&text).map(PairReply::of),
    }
}

/// What words say that should be a verdict and nothing else: `A`, `Output (b)`, `A>>B`, `tie`; or a
/// sentence that states one.
pub fn of_label(words: &str) -> Option<PairReply> {
    let words: Cow<'_, str> = hidden::shown(words)?;
    if labels_disagree(&words) {
        return None;
    }
    label::read(&words).or_else(|| statement::last(&words).map(PairReply::of))
}

/// Whether labels with a value (`Winner: A`) name two outputs, and nothing between them takes back the
/// first; or a whole text, or its last line, names two.
fn labels_disagree(text: &str) -> bool {
    let mut before: Option<(usize, Winner)> = None;
    for (at, _) in text.match_indices([':', '=']) {
        let value = text[at + 1..].lines().next().unwrap_or_default();
        let head = &text[text.ceil_char_boundary(at.saturating_sub(60))..at];
        let head = plain(head.rsplit('\n').next().unwrap_or_default());
        if !judge::PAIR_LABELS.iter().any(|label| head.ends_with(label))
            || head.split(' ').count() > 5
        {
            continue;
        }
        if label::is_hedge(value) {
            return true;
        }
        let Some(PairReply { winner, .. }) = label::read(value) else { continue };
        let taken_back = |earlier: usize| {
            let between = &text[earlier..at];
            head.contains("final") || takes_back(between)
        };
        if before.is_some_and(|(earlier, other)| other != winner && !taken_back(earlier)) {
            return true;
        }
        before = Some((at, winner));
    }
    let last = text.trim_end().lines().next_back().unwrap_or_default();
    let taken_back = |at: usize| text.get(at..).is_some_and(takes_back);
    let differs = |(at, other): (usize, Winner)| {
        label::read(last).is_some_and(|last| last.winner != other) && !taken_back(at)
    };
    label::is_hedge(text) || label::is_hedge(last) || before.is_some_and(differs)
}
