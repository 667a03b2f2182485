//! One row as a page takes it.

use serde::Serialize;
use serde_json::Value;

use crate::error::ViewError;
use crate::text::{Mark, Piece, ValueLimits, cut_text, cut_value, pieces};

/// Names and reasons of a row, in bytes.
const NAME_BYTES_MAX: usize = 500;

/// A row of the data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowText {
    /// Its number over the whole input, from 0.
    pub number: u64,
    /// The id under which a run has it.
    pub id: String,
    /// What was asked.
    pub prompt: String,
    /// What was judged.
    pub completion: String,
    /// What a right completion comes to.
    pub reference: Option<String>,
}

/// The rows of the data, in their order.
pub type DataRows<'a> = Box<dyn Iterator<Item = Result<RowText, ViewError>> + 'a>;

/// The texts of a row.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ShownTexts {
    prompt: Vec<Piece>,
    completion: Vec<Piece>,
    reference: Option<Vec<Piece>>,
    /// The length of the completion in characters.
    chars: usize,
}

impl ShownTexts {
    /// The texts, each cut at `bytes`, with what verdicts name in the completion marked.
    pub(crate) fn new(text: &RowText, marks: &[Mark], bytes: usize) -> Self {
        let reference = text.reference.as_ref();
        Self {
            prompt: pieces(&text.prompt, &[], bytes),
            completion: pieces(&text.completion, marks, bytes),
            reference: reference.map(|reference| pieces(reference, &[], bytes)),
            chars: text.completion.chars().count(),
        }
    }
}

/// What is shown of a row.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ShownRow {
    /// Its place in the run, from 0.
    pub(crate) at: u64,
    /// Its number over the whole input, from 0.
    pub(crate) number: u64,
    pub(crate) us: Option<u64>,
    /// Why a report has it.
    pub(crate) why: Vec<String>,
    /// The line of the run, cut.
    pub(crate) line: Value,
    pub(crate) texts: Option<ShownTexts>,
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
