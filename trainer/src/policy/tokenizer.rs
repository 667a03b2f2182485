//! The tokenizer of a policy: `tokenizer.json` of a Hugging Face folder, or one token a character.

mod token_bytes;

use std::path::Path;

use serde_json::{Map, Value, json};
use tokenizers::decoders::fuse::Fuse;
use tokenizers::models::wordlevel::WordLevel;
use tokenizers::pre_tokenizers::split::{Split, SplitPattern};
use tokenizers::{AddedToken, SplitDelimiterBehavior, Tokenizer};

use self::token_bytes::TokenBytes;
use super::files;
use super::{PolicyError, TextTokenizer};

/// The file of a tokenizer.
pub const TOKENIZER_FILE: &str = "tokenizer.json";
const CONFIG_FILE: &str = "tokenizer_config.json";
const TEMPLATE_FILE: &str = "chat_template.jinja";
/// The token that [`PolicyTokenizer::characters`] pads with.
pub const PAD_TOKEN: &str = "<|pad|>";
/// The token that ends a completion of [`PolicyTokenizer::characters`].
pub const END_TOKEN: &str = "<|end|>";

/// Texts to token ids and back.
#[derive(Clone)]
pub struct PolicyTokenizer {
    tokenizer: Tokenizer,
    token_bytes: TokenBytes,
    vocabulary_size: usize,
    stop_tokens: Vec<u32>,
    /// What `tokenizer_config.json` holds.
    config: Map<String, Value>,
    chat_template: Option<String>,
}

impl PolicyTokenizer {
    /// Reads a `tokenizer.json`, or the one of a folder with what is beside it: the end-of-sequence
    /// token of `tokenizer_config.json`, and the chat template.
    ///
    /// # Errors
    /// A file that cannot be read or is not a tokenizer.
    pub fn load(path: &Path) -> Result<Self, PolicyError> {
        if !path.is_dir() {
            return Self::new(read_tokenizer(path)?, Map::new(), None);
        }
        let tokenizer = read_tokenizer(&path.join(TOKENIZER_FILE))?;
        let config = files::read_object(&path.join(CONFIG_FILE))?.unwrap_or_default();
        let template = files::read_text(&path.join(TEMPLATE_FILE))?;
        Self::new(tokenizer, config, template)
    }

    /// One token for each character of an alphabet, in its order, behind [`PAD_TOKEN`] (0) and
    /// [`END_TOKEN`] (1), which ends completions.
    ///
    /// # Errors
    /// An alphabet that is empty or has a character twice.
    pub fn characters(alphabet: &str) -> Result<Self, PolicyError> {
        let wrong = |why: String| PolicyError::invalid("alphabet", why);
        if alphabet.is_empty() {
            return Err(wrong("has no characters".to_owned()));
        }
        let specials = [PAD_TOKEN, END_TOKEN].map(str::to_owned);
        let mut tokens = specials.to_vec();
        for character in alphabet.chars().map(String::from) {
            if tokens.contains(&character) {
                return Err(wrong(format!("has {character:?} twice")));
            }
            tokens.push(character);
        }
        let tokenizer = character_tokenizer(tokens).map_err(|error| wrong(error.to_string()))?;
        let config = json!({
            "clean_up_tokenization_spaces": false,
            "eos_token": END_TOKEN,
            "pad_token": PAD_TOKEN,
            "tokenizer_class": "PreTrainedTokenizerFast",
        });
        Self::new(tokenizer, config.as_object().cloned().unwrap_or_default(), None)
    }

    /// The ids of a text. Special tokens are those that the text writes; none is added.
    ///
    /// # Errors
    /// A character that the vocabulary cannot write.
    pub fn encode(&self, text: &str) -> Result<Vec<u32>, PolicyError> {
        match self.tokenizer.encode_fast(text, false) {
            Ok(encoding) => Ok(encoding.get_ids().to_vec()),
            Err(error) => Err(self.refused(text, &error.to_string())),
        }
    }

    /// The text of ids, special tokens and unknown ids left out. Bytes that are no UTF-8 become
    /// U+FFFD.
    pub fn decode(&self, tokens: &[u32]) -> String {
        self.tokenizer.decode(tokens, true).unwrap_or_default()
    }

    /// For each token the byte of [`Self::decode`]'s text at which it ends, ascending; the last is the
    /// length of the text. With byte-level BPE a token may end within a character, at the byte where
    /// its own bytes end. A special token has no bytes: it ends where the one before it does.
    pub fn token_ends(&self, tokens: &[u32]) -> Vec<usize> {
        self.token_bytes.ends(&self.tokenizer, tokens, &self.decode(tokens))
    }

    /// The text of a token as the vocabulary has it, such as `<|end|>`.
    pub fn token(&self, id: u32) -> Option<String> {
        self.tokenizer.id_to_token(id)
    }

    /// The tokens that end a completion: those of the configuration of the generation where a folder
    /// has one, else the end-of-sequence token. Ascending.
    pub fn stop_tokens(&self) -> &[u32] {
        &self.stop_tokens
    }

    /// Ends completions with these tokens.
    pub(super) fn set_stop_tokens(&mut self, mut tokens: Vec<u32>) {
        tokens.sort_unstable();
        tokens.dedup();
        self.stop_tokens = tokens;
    }

    /// The token that sequences are padded with, where one is named.
    pub fn pad_token(&self) -> Option<u32> {
        self.named("pad_token")
    }

    /// One more than the highest id.
    pub fn vocabulary_size(&self) -> usize {
        self.vocabulary_size
    }

    /// The chat template, in Jinja, where there is one.
    pub fn chat_template(&self) -> Option<&str> {
        self.chat_template.as_deref()
    }

    /// Writes `tokenizer.json`, `tokenizer_config.json` and the chat template into a folder, so that
    /// `AutoTokenizer.from_pretrained` reads them.
    ///
    /// # Errors
    /// A folder that cannot be written.
    pub fn save(&self, folder: &Path) -> Result<(), PolicyError> {
        let path = folder.join(TOKENIZER_FILE);
        let text = self.tokenizer.to_string(true);
        let text = text.map_err(|error| invalid(&path, &error.to_string()))?;
        files::write_atomic(&path, text.as_bytes())?;
        if let Some(template) = &self.chat_template {
            files::write_atomic(&folder.join(TEMPLATE_FILE), template.as_bytes())?;
        }
        files::write_json(&folder.join(CONFIG_FILE), &Value::Object(self.config.clone()))
    }

    fn new(
        mut tokenizer: Tokenizer,
        mut config: Map<String, Value>,
        template: Option<String>,
    ) -> Result<Self, PolicyError> {
        tokenizer.with_padding(None);
        let without = tokenizer.with_truncation(None).map(|_| ());
        without.map_err(|error| PolicyError::invalid(TOKENIZER_FILE, error.to_string()))?;
        let highest = tokenizer.get_vocab(true).into_values().max();
        config.entry("tokenizer_class").or_insert("PreTrainedTokenizerFast".into());
        let named = config.get("chat_template").and_then(default_template);
        let mut made = Self {
            token_bytes: TokenBytes::of(&tokenizer),
            vocabulary_size: highest.map_or(0, |id| id as usize + 1),
            stop_tokens: Vec::new(),
            chat_template: template.or(named),
            config,
            tokenizer,
        };
        made.stop_tokens = made.named("eos_token").into_iter().collect();
        Ok(made)
    }

    /// The id of the token that the configuration names.
    fn named(&self, key: &str) -> Option<u32> {
        let token = self.config.get(key)?;
        self.tokenizer.token_to_id(token.as_str().or_else(|| token.get("content")?.as_str())?)
    }

    /// Which character of a text it is that is refused.
    fn refused(&self, text: &str, why: &str) -> PolicyError {
        let refused = |character: &char| {
            self.tokenizer.encode_fast(character.encode_utf8(&mut [0; 4]) as &str, false).is_err()
        };
        let message = match text.chars().find(refused) {
            Some(character) => format!("has no token for {character:?}"),
            None => why.to_owned(),
        };
        PolicyError::invalid("tokenizer", message)
    }
}

impl TextTokenizer for PolicyTokenizer {
    fn encode(&self, text: &str) -> Result<Vec<u32>, PolicyError> {
        Self::encode(self, text)
    }

    fn decode(&self, tokens: &[u32]) -> String {
        Self::decode(self, tokens)
    }

    fn ends(&self, tokens: &[u32]) -> Vec<usize> {
        self.token_ends(tokens)
    }

    fn stop_tokens(&self) -> &[u32] {
        Self::stop_tokens(self)
    }
}

fn read_tokenizer(path: &Path) -> Result<Tokenizer, PolicyError> {
    let Some(text) = files::read_text(path)? else {
        return Err(invalid(path, "there is no such file"));
    };
    text.parse::<Tokenizer>().map_err(|error| invalid(path, &error.to_string()))
}

/// A tokenizer of tokens whose ids are their places. The first two are special, the others a character
/// each.
fn character_tokenizer(tokens: Vec<String>) -> tokenizers::Result<Tokenizer> {
    let specials: Vec<AddedToken> =
        tokens.iter().take(2).map(|token| AddedToken::from(token.as_str(), true)).collect();
    let vocabulary = tokens.into_iter().zip(0..).collect();
    let mut tokenizer = Tokenizer::new(WordLevel::builder().vocab(vocabulary).build()?);
    // Not "." with a flag, which dialects of regular expressions write in different ways.
    let character = SplitPattern::Regex(r"[\s\S]".to_owned());
    let split = Split::new(character, SplitDelimiterBehavior::Isolated, false)?;
    tokenizer.with_pre_tokenizer(Some(split));
    tokenizer.with_decoder(Some(Fuse::new()));
    tokenizer.add_special_tokens(specials)?;
    Ok(tokenizer)
}

/// The chat template of `tokenizer_config.json`: a text, or the one called "default" of several.
fn default_template(value: &Value) -> Option<String> {
    let of = |value: &Value, key| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let default = |value: &&Value| of(value, "name").as_deref() == Some("default");
    let text = value.as_str().map(str::to_owned);
    text.or_else(|| of(value.as_array()?.iter().find(default)?, "template"))
}

fn invalid(path: &Path, why: &str) -> PolicyError {
    PolicyError::invalid(path.display().to_string(), why)
}

#[cfg(test)]
mod tests;
