//! Where two outputs differ first.

use serde::Serialize;

/// Characters that are kept of each side.
const SHOWN_MAX: usize = 200;
/// Characters that are kept before the first one that differs.
const BEFORE: usize = 40;

/// Where two outputs differ first: evidence for a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// A fixed word: `different-token`, `missing-token`, `extra-token`, the same for `-line`,
    /// `different-text`, `not-utf8`, `too-long`, `comparator`,
    /// `comparator-failed`, `checker`, or `checker-failed`.
    pub reason: &'static str,
    /// The line, from 1, of the expected output, or of the program's where it has more.
    pub line: usize,
    /// The token, from 1, where tokens are compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<usize>,
    /// What was expected there, at most 200 characters; empty where nothing more was.
    pub expected: String,
    /// What was found there, or the message of the comparator.
    pub got: String,
}

impl Difference {
    pub(crate) fn new(reason: &'static str, line: usize, expected: &str, got: &str) -> Self {
        let same = expected.chars().zip(got.chars()).take_while(|(a, b)| a == b).count();
        let from = same.saturating_sub(BEFORE);
        let (expected, got) = (window(expected, from), window(got, from));
        Self { reason, line, token: None, expected, got }
    }

    pub(super) fn at_token(mut self, index: usize) -> Self {
        self.token = Some(index + 1);
        self
    }

    pub(super) fn not_utf8(expected: &str, got: &[u8], valid: usize) -> Self {
        let start = valid.saturating_sub(BEFORE);
        let (_, shown) = got.split_at(start);
        let (shown, _) = shown.split_at(shown.len().min(SHOWN_MAX));
        let line = 1 + got.iter().take(valid).filter(|b| **b == b'\n').count();
        let wanted = expected.lines().nth(line - 1).unwrap_or_default();
        let mut difference = Self::new("not-utf8", line, "", &String::from_utf8_lossy(shown));
        difference.expected = window(wanted, 0);
        difference
    }
}

fn window(text: &str, from: usize) -> String {
    let shown: String = text.chars().skip(from).take(SHOWN_MAX).collect();
    let more = text.chars().nth(from + SHOWN_MAX).is_some();
    let (before, after) = (if from > 0 { "…" } else { "" }, if more { "…" } else { "" });
    format!("{before}{shown}{after}")
}
