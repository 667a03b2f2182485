//! How long a text is: in characters, words, sentences, bytes or tokens.

mod tokens;

use unicode_segmentation::UnicodeSegmentation as _;

use self::tokens::Tokens;
use crate::extract::hidden;
use crate::prelude::*;

/// How a text is measured.
#[derive(Debug, Default)]
pub(crate) struct Measure {
    unit: Unit,
    tokens: Option<Tokens>,
}

/// What is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Unit {
    /// Unicode scalar values.
    #[default]
    Characters,
    /// Runs of text between white space, of which something is seen.
    Words,
    /// Sentences by the rules of Unicode (UAX 29).
    Sentences,
    /// Bytes of UTF-8.
    Bytes,
    /// Tokens of the tokenizer, without special tokens around the text.
    Tokens,
}

impl Measure {
    /// Counts `unit`; tokens are those of the tokenizer file that is named.
    ///
    /// # Errors
    /// Tokens without a tokenizer, a tokenizer without tokens, a file that is none.
    pub(crate) fn new(
        unit: Unit,
        tokenizer: Option<&str>,
        files: &dyn Files,
    ) -> Result<Self, BuildError> {
        let tokens = match (unit, tokenizer) {
            (Unit::Tokens, Some(file)) => Some(Tokens::read(file, files)?),
            (Unit::Tokens, None) => {
                return Err(BuildError::new("tokenizer", "tokens need a tokenizer"));
            }
            (_, Some(_)) => {
                return Err(BuildError::new("tokenizer", "only tokens need a tokenizer"));
            }
            (_, None) => None,
        };
        Ok(Self { unit, tokens })
    }

    /// The length of `text`.
    ///
    /// # Errors
    /// The meter runs out, or the tokenizer fails.
    pub(crate) fn length(&self, text: &str, meter: &mut Meter<'_>) -> Result<u32, Fault> {
        let bytes = text.len() as u64;
        let length = match self.unit {
            Unit::Bytes => text.len(),
            Unit::Characters => {
                meter.spend(bytes / 8)?;
                text.chars().count()
            }
            Unit::Words => {
                meter.spend(bytes)?;
                text.split_whitespace().filter(|word| !word.chars().all(hidden::is_blank)).count()
            }
            Unit::Sentences => {
                meter.spend(8 * bytes)?;
                text.unicode_sentences().count()
            }
            Unit::Tokens => {
                meter.spend(20 * bytes)?;
                let tokenizer = self
                    .tokens
                    .as_ref()
                    .ok_or_else(|| Fault::internal("the tokenizer was not loaded"))?;
                tokenizer.count(text)?
            }
        };
        Ok(u32::try_from(length).unwrap_or(u32::MAX))
    }
}
