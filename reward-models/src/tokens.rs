//! Tokenization: from the text of a sample to token ids and the positions at which scores are read.

use assay_verifiers::tokenizer;
use tokenizers::{EncodeInput, Encoding, Tokenizer};

use crate::error::ModelError;
use crate::generation::SamplingParams;
use crate::manifest::TokenizerFile;
use crate::special::SpecialTokens;
use crate::template::Text;

/// A text as a graph takes it.
#[derive(Clone, Default)]
pub struct Tokens {
    /// The ids.
    pub ids: Vec<u32>,
    /// 1 in the second text of a pair; empty where all are 0.
    pub types: Vec<u32>,
    /// Where scores are read, in the order of the marks.
    pub positions: Vec<usize>,
    /// Which ids are special tokens that the tokenizer put around the text.
    pub special: Vec<usize>,
    /// Where likelihoods are asked for: the token after each position but the last.
    pub targets: Vec<u32>,
    /// Where the text is to be continued.
    pub sampling: Option<SamplingParams>,
}

impl Tokens {
    /// The same text, asked how likely each token from the first mark to the last one is.
    #[must_use]
    #[expect(clippy::indexing_slicing, reason = "marks are places of tokens")]
    pub fn likelihoods(mut self) -> Self {
        if let (Some(&first), Some(&last)) = (self.positions.first(), self.positions.last()) {
            self.positions = (first..=last).collect();
            self.targets = self.positions.iter().skip(1).map(|at| self.ids[*at]).collect();
        }
        self
    }
}

/// How many tokens more the beginning of a text may have than the same bytes have within the whole: where it
/// is cut, a word falls apart.
const CUT_TOKENS_MAX: usize = 1_024;

/// A tokenizer and how the model uses it.
pub struct Encoder {
    tokenizer: Tokenizer,
    add_special: bool,
    /// The token of which the second of two is dropped.
    bos: Option<u32>,
}

impl Encoder {
    /// Reads `tokenizer.json`.
    ///
    /// # Errors
    /// A file that is not a tokenizer, or does not know the token that pads or the BOS that is to be
    /// stripped.
    pub fn new(bytes: &[u8], manifest: &TokenizerFile) -> Result<Self, String> {
        tokenizer::check(bytes)?;
        let mut tokenizer = Tokenizer::from_bytes(bytes).map_err(|error| error.to_string())?;
        tokenizer.with_padding(None);
        tokenizer.with_truncation(None).map_err(|error| error.to_string())?;
        // A tokenizer without a BOS has none to strip.
        let bos = manifest.tokens.get("bos_token").filter(|_| manifest.strip_bos);
        let bos = bos.map(|token| {
            let id = tokenizer.token_to_id(token);
            id.ok_or_else(|| format!("no token is called \"{token}\""))
        });
        let bos = bos.transpose()?;
        let pad = manifest.pad_token_id;
        if tokenizer.id_to_token(pad).is_none() {
            return Err(format!("no token has the id {pad}, which is the manifest's pad_token_id"));
        }
        Ok(Self { tokenizer, add_special: manifest.add_special_tokens, bos })
    }

    /// The special tokens, which no sample may write.
    ///
    /// # Errors
    /// A token that a sample can write in spite of it.
    pub fn special(&self) -> Result<SpecialTokens, String> {
        SpecialTokens::of(&self.tokenizer)
    }

    /// Whether a text is a token that was added to the vocabulary: it is one wherever it stands.
    pub fn is_added(&self, text: &str) -> bool {
        let added = self.tokenizer.get_added_tokens_decoder();
        !text.is_empty() && added.values().any(|token| token.content == text)
    }

    /// How many tokens the vocabulary holds.
    pub fn vocabulary(&self) -> usize {
        self.tokenizer.get_vocab_size(true)
    }

    /// The ids of a plain text, without the tokenizer's own special tokens.
    ///
    /// # Errors
    /// What the tokenizer says.
    pub fn plain(&self, text: &str) -> Result<Encoding, ModelError> {
        self.tokenizer.encode(text, false).map_err(failed)
    }

    /// Whether a text has more than `most` tokens, told from its beginning: the tokens of a long text take
    /// hundreds of times its bytes. False where only the whole text tells.
    ///
    /// # Errors
    /// What the tokenizer says.
    pub fn exceeds(&self, text: &str, most: usize) -> Result<bool, ModelError> {
        let enough = most.saturating_add(CUT_TOKENS_MAX);
        let mut bytes = enough.saturating_mul(4);
        while bytes < text.len() {
            let part = &text[..text.floor_char_boundary(bytes)];
            if self.tokenizer.encode_fast(part, false).map_err(failed)?.len() > enough {
                return Ok(true);
            }
            bytes = bytes.saturating_mul(2);
        }
        Ok(false)
    }

    /// The text of ids, special tokens left out.
    ///
    /// # Errors
    /// What the tokenizer says.
    pub fn decode(&self, ids: &[u32]) -> Result<String, ModelError> {
        self.tokenizer.decode(ids, true).map_err(failed)
    }

    /// The tokens of a text. Without a mark, the score is read at the last token.
    ///
    /// # Errors
    /// A text of no tokens, or a mark before the first one.
    pub fn tokens(&self, text: &Text) -> Result<Tokens, ModelError> {
        let mut tokens = match (text.second, text.parts.as_slice()) {
            (Some(1), [first, second]) => self.pair(text, first, second)?,
            (Some(_), _) => {
                return Err(ModelError::Input("a pair has two texts, without cuts".into()));
            }
            (None, parts) => self.parts(text, parts)?,
        };
        if tokens.ids.is_empty() {
            return Err(ModelError::Input("the text has no tokens".into()));
        }
        if text.marks.is_empty() {
            tokens.positions = vec![tokens.ids.len() - 1];
        }
        if let (Some(bos), [first, second, ..]) = (self.bos, tokens.ids.as_slice())
            && *first == bos
            && *second == bos
        {
            tokens.ids.remove(0);
            for position in &mut tokens.positions {
                *position = position.saturating_sub(1);
            }
        }
        Ok(tokens)
    }

    fn parts(&self, text: &Text, parts: &[String]) -> Result<Tokens, ModelError> {
        let mut tokens = Tokens::default();
        for (at, part) in parts.iter().enumerate() {
            let special = self.add_special && at == 0;
            let marks = text.marks.iter().filter(|(own, _)| *own == at);
            let encoding = if marks.clone().next().is_none() {
                self.tokenizer.encode_fast(part.as_str(), special)
            } else {
                self.tokenizer.encode(part.as_str(), special)
            };
            let (encoding, base) = (encoding.map_err(failed)?, tokens.ids.len());
            for (_, before) in marks {
                let found = place(&encoding, 0, *before).map(|found| base + found);
                let found = found.or(base.checked_sub(1)).ok_or_else(no_token)?;
                tokens.positions.push(found);
            }
            tokens.special.extend(special_of(&encoding).map(|at| base + at));
            tokens.ids.extend(encoding.get_ids());
        }
        Ok(tokens)
    }

    fn pair(&self, text: &Text, first: &str, second: &str) -> Result<Tokens, ModelError> {
        let input = EncodeInput::Dual(first.into(), second.into());
        let encoding = self.tokenizer.encode(input, self.add_special).map_err(failed)?;
        let place = |(part, before): &(usize, usize)| place(&encoding, *part, *before);
        let positions = text.marks.iter().map(place).collect::<Option<Vec<_>>>();
        Ok(Tokens {
            ids: encoding.get_ids().to_vec(),
            types: encoding.get_type_ids().to_vec(),
            special: special_of(&encoding).collect(),
            positions: positions.ok_or_else(no_token)?,
            ..Tokens::default()
        })
    }
}

fn special_of(encoding: &Encoding) -> impl Iterator<Item = usize> {
    let mask = encoding.get_special_tokens_mask().iter().enumerate();
    mask.filter(|(_, special)| **special == 1).map(|(at, _)| at)
}

/// The last token that begins before a place in a text.
fn place(encoding: &Encoding, sequence: usize, before: usize) -> Option<usize> {
    let mut offsets = encoding.get_offsets().iter().enumerate();
    let own = offsets.rfind(|(at, (start, end))| {
        end > start && *start < before && encoding.token_to_sequence(*at).unwrap_or(0) == sequence
    });
    own.map(|(at, _)| at)
}

fn no_token() -> ModelError {
    ModelError::Input("a mark stands before the first token".into())
}

fn failed(error: impl std::fmt::Display) -> ModelError {
    ModelError::Input(format!("tokenizer: {error}").into())
}
