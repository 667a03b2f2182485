//! Which of two outputs a judge prefers, read from what it wrote.
//!
//! The last verdict counts. Marks that a prompt asks for (`[[A]]`, `[RESULT] A`, `<answer>`, `\boxed`,
//! a JSON member) come before sentences ("Therefore, Output (a) is better"). What is denied, asked,
//! conditional, reported of others, or one of several possible answers is no verdict. A hedged
//! sentence ("seems better", "is better at"), and a tie in words, counts only as a conclusion, and
//! only where no plain sentence states a verdict.

mod label;
mod marks;
mod sentence;
mod shapes;
mod statement;
mod types;

use std::borrow::Cow;

use assay_verifiers::extract::hidden;
use assay_verifiers::extract::thinking::{self, Thinking};

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
        marks::Marked::None => statement::last(&text).map(PairReply::of),
    }
}

/// What words say that should be a verdict and nothing else: `A`, `Output (b)`, `A>>B`, `tie`; or a
/// sentence that states one.
pub fn of_label(words: &str) -> Option<PairReply> {
    let words: Cow<'_, str> = hidden::shown(words)?;
    label::read(&words).or_else(|| statement::last(&words).map(PairReply::of))
}
