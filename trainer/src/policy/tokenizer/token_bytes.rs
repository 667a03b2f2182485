//! The bytes that tokens stand for, and where each of them ends in the decoded text.

use tokenizers::{DecoderWrapper, Tokenizer};

/// How a text is put together from its tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenBytes {
    /// Each character of a token is a byte, by the table of GPT-2 ("byte-level BPE").
    ByteLevel,
    /// A token is its text.
    Verbatim,
    /// In a way in which a token depends on its neighbours.
    Contextual,
}

/// Tokens that are decoded before one whose end is looked for, so that it does not be at the start.
const CONTEXT: usize = 4;
/// The most bytes of a character of UTF-8, less one.
const CONTINUATIONS_MAX: usize = 3;

impl TokenBytes {
    /// That of a tokenizer.
    pub(super) fn of(tokenizer: &Tokenizer) -> Self {
        match tokenizer.get_decoder() {
            Some(DecoderWrapper::ByteLevel(_)) => Self::ByteLevel,
            Some(DecoderWrapper::Fuse(_)) => Self::Verbatim,
            _ => Self::Contextual,
        }
    }

    /// For each token the byte of `text`, which they decode to, at which it ends.
    pub(super) fn ends(self, tokenizer: &Tokenizer, tokens: &[u32], text: &str) -> Vec<usize> {
        if self == Self::Contextual {
            return contextual_ends(tokenizer, tokens, text);
        }
        let added = tokenizer.get_added_vocabulary();
        let mut bytes = Vec::with_capacity(text.len());
        let mut ends = Vec::with_capacity(tokens.len());
        for token in tokens {
            let token = tokenizer.id_to_token(*token);
            match token.filter(|token| !added.is_special_token(token)) {
                Some(token) if self == Self::ByteLevel => bytes.extend(byte_level(&token)),
                Some(token) => bytes.extend(token.as_bytes()),
                None => {}
            }
            ends.push(bytes.len());
        }
        if bytes != text.as_bytes() {
            replace_invalid(&bytes, &mut ends);
        }
        ends
    }
}

/// The bytes of a token of byte-level BPE. One with a character that is not in the table is text.
fn byte_level(token: &str) -> Vec<u8> {
    let bytes: Option<Vec<u8>> = token.chars().map(byte_of).collect();
    bytes.unwrap_or_else(|| token.as_bytes().to_vec())
}

/// The byte that a character stands for in byte-level BPE: itself where it is printable in Latin-1; the
/// others come in their order from U+0100 on (GPT-2's `bytes_to_unicode`).
fn byte_of(character: char) -> Option<u8> {
    let code = u32::from(character);
    let byte = match code {
        0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF => code,
        0x100..=0x120 => code - 0x100,
        0x121..=0x142 => code - 0x121 + 0x7F,
        0x143 => 0xAD,
        _ => return None,
    };
    u8::try_from(byte).ok()
}

/// Moves ends among bytes to the text in which each invalid sequence is a U+FFFD. `ends` ascend.
fn replace_invalid(bytes: &[u8], ends: &mut [usize]) {
    let (mut from, mut to, mut at) = (0, 0, 0);
    let mut chunks = bytes.utf8_chunks();
    let replacement = char::REPLACEMENT_CHARACTER.len_utf8();
    let mut moved = |source: usize, target: usize| {
        while let Some(end) = ends.get_mut(at).filter(|end| **end <= from + source) {
            *end = to + if *end == from + source { target } else { (*end - from).min(target) };
            at += 1;
        }
        (from, to) = (from + source, to + target);
    };
    for chunk in &mut chunks {
        moved(chunk.valid().len(), chunk.valid().len());
        if !chunk.invalid().is_empty() {
            moved(chunk.invalid().len(), replacement);
        }
    }
}

/// The ends by decoding: the last few tokens, up to each of them. A token that ends within a character
/// ends where the character begins.
#[expect(clippy::indexing_slicing, reason = "windows end with a token")]
fn contextual_ends(tokenizer: &Tokenizer, tokens: &[u32], text: &str) -> Vec<usize> {
    let decode = |tokens: &[u32]| tokenizer.decode(tokens, true).unwrap_or_default();
    let (mut start, mut known) = (0, 0);
    let mut ends = Vec::with_capacity(tokens.len());
    for at in 1..=tokens.len() {
        let window = decode(&tokens[start..at]);
        let incomplete = trailing_replacements(&window);
        let end = known + window.len() - incomplete;
        // Bytes that are invalid together may take back a character that was valid without them.
        let before = ends.last().copied().unwrap_or(0);
        ends.push(end.clamp(before, text.len()));
        if incomplete == 0 && at - start > 4 * CONTEXT {
            let dropped = decode(&tokens[at - CONTEXT..at]);
            (start, known) = (at - CONTEXT, end.saturating_sub(dropped.len()));
        }
    }
    if let Some(last) = ends.last_mut() {
        *last = text.len();
    }
    ends
}

/// The bytes of the replacement characters that a text ends with, as far as one character may have them.
fn trailing_replacements(text: &str) -> usize {
    let replaced = text.chars().rev().take_while(|c| *c == char::REPLACEMENT_CHARACTER);
    replaced.take(CONTINUATIONS_MAX).map(char::len_utf8).sum()
}

#[cfg(test)]
mod tests {
    use tokenizers::PreTokenizer as _;
    use tokenizers::pre_tokenizers::byte_level::ByteLevel;

    use super::*;

    #[test]
    fn the_table_of_bytes_is_that_of_the_tokenizers() {
        let mut bytes: Vec<Option<u8>> = ByteLevel::alphabet().into_iter().map(byte_of).collect();
        bytes.sort_unstable();
        assert_eq!(bytes, (0..=u8::MAX).map(Some).collect::<Vec<_>>());
        assert_eq!(byte_of('\u{144}'), None);
        for text in ["\0 \n\u{7f}\u{a0}\u{ad}é", "Ā߿ࠀ€\u{ffff}𐀀\u{10ffff}"] {
            let mut split = tokenizers::PreTokenizedString::from(text);
            ByteLevel::new(false, false, false).pre_tokenize(&mut split).unwrap();
            let splits = split
                .get_splits(tokenizers::OffsetReferential::Original, tokenizers::OffsetType::Byte);
            let written: String = splits.iter().map(|split| split.0).collect();
            assert_eq!(byte_level(&written), text.as_bytes());
        }
    }

    #[test]
    fn invalid_bytes_take_the_room_of_a_replacement_character() {
        // "a", the first two bytes of a character of three, "b", a lone continuation.
        let bytes = [b'a', 0xE2, 0x82, b'b', 0x80];
        let mut ends = vec![0, 1, 2, 3, 4, 5];
        replace_invalid(&bytes, &mut ends);
        assert_eq!(ends, [0, 1, 2, 4, 5, 8]);
        assert_eq!(String::from_utf8_lossy(&bytes).len(), 8);
    }
}
