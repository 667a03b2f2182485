//! How long a text is: what is counted, and the counting.

mod tokens;

use unicode_segmentation::UnicodeSegmentation as _;

use crate::prelude::*;
pub(crate) use tokens::Tokens;

/// What is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Unit {
    /// Unicode scalar values.
    #[default]
    Characters,
    /// Runs of text between white space.
    Words,
    /// Sentences by the rules of Unicode (UAX 29).
    Sentences,
    /// Bytes of UTF-8.
    Bytes,
    /// Tokens of the tokenizer, without special tokens around the text.
    Tokens,
}

impl Unit {
    /// The tokenizer that counts, where tokens are counted.
    pub(crate) fn tokens(
        self,
        tokenizer: Option<&str>,
        files: &dyn Files,
    ) -> Result<Option<Tokens>, BuildError> {
        match (self, tokenizer) {
            (Self::Tokens, Some(file)) => Ok(Some(Tokens::read(file, files)?)),
            (Self::Tokens, None) => Err(BuildError::new("tokenizer", "tokens need a tokenizer")),
            (_, Some(_)) => Err(BuildError::new("tokenizer", "only tokens need a tokenizer")),
            (_, None) => Ok(None),
        }
    }

    /// The length of a text, with the tokenizer of [`Unit::tokens`].
    pub(crate) fn measure(
        self,
        text: &str,
        tokens: Option<&Tokens>,
        meter: &mut Meter<'_>,
    ) -> Result<u32, Fault> {
        let bytes = text.len() as u64;
        let length = match self {
            Self::Bytes => text.len(),
            Self::Characters => {
                meter.spend(bytes / 8)?;
                text.chars().count()
            }
            Self::Words => {
                meter.spend(bytes)?;
                text.split_whitespace().count()
            }
            Self::Sentences => {
                meter.spend(8 * bytes)?;
                text.unicode_sentences().count()
            }
            Self::Tokens => {
                meter.spend(20 * bytes)?;
                let tokens = tokens.ok_or_else(|| Fault::internal("no tokenizer was loaded"))?;
                tokens.count(text)?
            }
        };
        Ok(u32::try_from(length).unwrap_or(u32::MAX))
    }
}
