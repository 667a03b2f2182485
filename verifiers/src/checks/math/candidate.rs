//! Which of the candidates is taken for the answer.

use crate::extract::{Candidate, Provenance, number_in_prose};
use crate::math::algebra::Context;
use crate::math::reading::{self, Reading};
use crate::math::stop::Stop;
use crate::math::values::Value;

/// An answer that was chosen among the candidates, and what it may mean.
pub(super) struct Chosen<'a> {
    pub(super) candidate: Candidate<'a>,
    pub(super) reading: Reading,
    pub(super) values: Vec<Value>,
}

/// The first candidate that can be taken for an answer.
pub(super) fn choose<'a>(
    candidates: &[Candidate<'a>],
    textual: bool,
    cx: &mut Context,
) -> Result<Option<Chosen<'a>>, Stop> {
    for candidate in candidates {
        let reading = reading::read(&candidate.text, true, cx)?;
        let values = reading.values(cx)?;
        let text = |value: &Value| matches!(value, Value::Text(_));
        let prose = (!values.is_empty() && values.iter().all(text)) || wordy(&candidate.text);
        let taken = match candidate.provenance {
            Provenance::Boxed => true,
            _ if !prose => true,
            Provenance::Marker | Provenance::Json => {
                textual || number_in_prose(candidate, false).is_none()
            }
            Provenance::Anchor => textual && short(&candidate.text),
            Provenance::Whole => textual,
            Provenance::LastMath | Provenance::LastNumber => false,
        };
        if taken {
            return Ok(Some(Chosen { candidate: candidate.clone(), reading, values }));
        }
        let only = candidate.provenance == Provenance::Anchor;
        let announced =
            only || matches!(candidate.provenance, Provenance::Marker | Provenance::Json);
        if let (true, Some(candidate)) = (announced, number_in_prose(candidate, only)) {
            let reading = reading::read(&candidate.text, true, cx)?;
            let values = reading.values(cx)?;
            return Ok(Some(Chosen { candidate, reading, values }));
        }
    }
    Ok(None)
}

/// Whether a text is a sentence with numbers rather than a value with a few words.
fn wordy(text: &str) -> bool {
    let word = |word: &&str| word.len() > 2 && word.bytes().all(|byte| byte.is_ascii_alphabetic());
    text.split_whitespace().filter(word).count() > 5
}

fn short(text: &str) -> bool {
    text.len() <= 100 && text.split_whitespace().count() <= 6
}
