//! The tokenizer that counts tokens. There is none in a build without the feature `tokenizers`.

use crate::prelude::*;

/// The setting that names a tokenizer.
const SETTING: &str = "tokenizer";

#[cfg(feature = "tokenizers")]
#[derive(Debug)]
pub(crate) struct Tokens(Box<tokenizers::Tokenizer>);

#[cfg(feature = "tokenizers")]
impl Tokens {
    pub(crate) fn read(file: &str, files: &dyn Files) -> Result<Self, BuildError> {
        let bad = |why: String| BuildError::new(SETTING, why);
        let wrong = |why: &dyn std::fmt::Display| bad(format!("file \"{file}\": {why}"));
        let bytes = files.read(file).map_err(|why| BuildError::unreadable(SETTING, why))?;
        crate::tokenizer::check(&bytes).map_err(|why| wrong(&why))?;
        let mut tokenizer =
            tokenizers::Tokenizer::from_bytes(bytes).map_err(|error| wrong(&error))?;
        // Padding and truncation would change the count.
        tokenizer.with_padding(None);
        tokenizer.with_truncation(None).map_err(|error| wrong(&error))?;
        Ok(Self(Box::new(tokenizer)))
    }

    pub(crate) fn count(&self, text: &str) -> Result<usize, Fault> {
        let encoded = self.0.encode_fast(text, false);
        let encoded = encoded.map_err(|error| Fault::internal(format!("tokenizer: {error}")))?;
        Ok(encoded.get_ids().len())
    }
}

/// Never made.
#[cfg(not(feature = "tokenizers"))]
#[derive(Debug)]
pub(crate) enum Tokens {}

#[cfg(not(feature = "tokenizers"))]
impl Tokens {
    pub(crate) fn read(_: &str, _: &dyn Files) -> Result<Self, BuildError> {
        let why = "this build counts no tokens: built without the feature `tokenizers`";
        Err(BuildError::new(SETTING, why))
    }

    pub(crate) fn count(&self, _: &str) -> Result<usize, Fault> {
        match *self {}
    }
}
