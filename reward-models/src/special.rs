//! Special tokens, which no sample may write: they are taken apart in its text, also where it is only
//! the tokenizer's normaliser that makes one of it.

use std::collections::BTreeSet;

use aho_corasick::{AhoCorasick, MatchKind};
use tokenizers::normalizer::Range;
use tokenizers::{NormalizedString, Normalizer as _, NormalizerWrapper, Tokenizer};

use crate::error::ModelError;

/// What may be within a token that is taken apart, the best first: a space of no width is not
/// seen, but there are normalisers that drop it.
const SEPARATORS: [char; 4] = ['\u{200B}', '\u{2060}', ' ', '_'];
/// How often a text is looked through for what its normaliser makes of it.
const ROUNDS_MAX: usize = 8;

/// Takes special tokens apart in the texts of samples.
#[derive(Default)]
pub struct SpecialTokens {
    /// As they are written; `None` where there are none.
    written: Option<AhoCorasick>,
    /// As they are after the normaliser, and the normaliser; `None` where it changes nothing.
    normal: Option<(AhoCorasick, NormalizerWrapper)>,
    separator: char,
}

impl SpecialTokens {
    /// Those of a tokenizer.
    ///
    /// # Errors
    /// A token that a text can spell however it is taken apart.
    pub fn of(tokenizer: &Tokenizer) -> Result<Self, String> {
        let added = tokenizer.get_added_tokens_decoder();
        let special = added.iter().filter(|(_, token)| token.special && !token.content.is_empty());
        let (mut tokens, mut ids, mut normal) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for (id, token) in special {
            ids.insert(*id);
            tokens.insert(token.content.clone());
            normal.insert(token.content.clone());
            if let (true, Some(normalizer)) = (token.normalized, tokenizer.get_normalizer()) {
                normal.insert(normal_form(normalizer, &token.content)?.get().to_owned());
            }
        }
        normal.remove("");
        let tokens: Vec<String> = tokens.into_iter().collect();
        let mut own = Self::plain(&tokens)?;
        if let Some(normalizer) = tokenizer.get_normalizer().filter(|_| !tokens.is_empty()) {
            own.normal = Some((matcher(normal.iter())?, normalizer.clone()));
        }
        let mut spelt = None;
        for separator in SEPARATORS {
            own.separator = separator;
            spelt = own.spelt(tokenizer, &tokens, &ids)?;
            if spelt.is_none() {
                return Ok(own);
            }
        }
        let token = spelt.unwrap_or_default();
        Err(format!(
            "a text can spell the special token \"{token}\": its normaliser or its vocabulary makes it \
             of separate parts"
        ))
    }

    /// Tokens that are only looked for as they are written.
    ///
    /// # Errors
    /// More tokens than can be looked for.
    pub fn plain(tokens: &[String]) -> Result<Self, String> {
        let written = if tokens.is_empty() { None } else { Some(matcher(tokens)?) };
        Ok(Self { written, normal: None, separator: SEPARATORS[0] })
    }

    /// The first token that the tokenizer finds in a text in which it was taken apart.
    fn spelt(
        &self,
        tokenizer: &Tokenizer,
        tokens: &[String],
        ids: &BTreeSet<u32>,
    ) -> Result<Option<String>, String> {
        let found = |text: &str| {
            let found = tokenizer.encode_fast(text, false).map_err(|error| error.to_string())?;
            Ok::<BTreeSet<u32>, String>(found.get_ids().iter().copied().collect())
        };
        // What no vocabulary has comes to a special token of its own.
        let unknown = found(&format!("{0}\u{E000}{0}", self.separator))?;
        for token in tokens {
            let Ok(apart) = self.taken_apart(token.clone()) else { return Ok(Some(token.clone())) };
            let found = found(&apart)?;
            if found.iter().any(|id| ids.contains(id) && !unknown.contains(id)) {
                return Ok(Some(token.clone()));
            }
        }
        Ok(None)
    }

    /// A text in which nothing is a special token, whatever becomes of it before it is tokenised.
    ///
    /// # Errors
    /// A text that spells a token in whatever way it is taken apart.
    pub fn taken_apart(&self, text: String) -> Result<String, ModelError> {
        let Some(written) = &self.written else { return Ok(text) };
        let mut apart = String::with_capacity(text.len());
        written.replace_all_with(&text, &mut apart, |_, token, out| {
            let mut chars = token.chars();
            let first = chars.next();
            let rest = chars.as_str();
            // One sign cannot be taken apart.
            out.push(first.filter(|_| !rest.is_empty()).unwrap_or('\u{FFFD}'));
            out.push(self.separator);
            out.push_str(rest);
            true
        });
        let Some((normal, normalizer)) = &self.normal else { return Ok(apart) };
        for _ in 0..ROUNDS_MAX {
            let form = normal_form(normalizer, &apart).map_err(refused)?;
            let mut places: Vec<usize> = normal
                .find_iter(form.get())
                .filter_map(|found| form.convert_offsets(Range::Normalized(found.range())))
                .map(|range| {
                    let text = &apart[range.clone()];
                    range.start + text.chars().next().map_or(0, char::len_utf8)
                })
                .collect();
            if normal.find(form.get()).is_none() {
                return Ok(apart);
            }
            places.dedup();
            for place in places.into_iter().rev() {
                apart.insert(place.min(apart.len()), self.separator);
            }
        }
        Err(refused("it spells a special token once it is normalised"))
    }
}

fn matcher(tokens: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Result<AhoCorasick, String> {
    let built = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(tokens);
    built.map_err(|error| error.to_string())
}

fn normal_form(normalizer: &NormalizerWrapper, text: &str) -> Result<NormalizedString, String> {
    let mut form = NormalizedString::from(text);
    normalizer.normalize(&mut form).map_err(|error| error.to_string())?;
    Ok(form)
}

fn refused(why: impl std::fmt::Display) -> ModelError {
    ModelError::Input(format!("tokenizer: the text cannot be read: {why}").into())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// A tokenizer whose vocabulary has its special tokens, as those of BERT and of T5 have them.
    fn tokenizer(normalizer: &Value, pre_tokenizer: &Value, after: bool) -> Tokenizer {
        let added = ["[UNK]", "[SEP]", "<|im_end|>", "</s>"];
        let mut vocabulary: Vec<String> = added.map(str::to_owned).to_vec();
        vocabulary.extend(('!'..='~').map(String::from));
        vocabulary.extend([" ", "_", "\u{200B}"].map(str::to_owned));
        let special = |(id, content): (usize, &str)| {
            json!({"id": id, "content": content, "special": true, "normalized": after,
                   "single_word": false, "lstrip": false, "rstrip": false})
        };
        let score = |text: &String| json!([text, if text.len() > 1 { -1.0 } else { -2.0 }]);
        let pieces: Vec<Value> = vocabulary.iter().map(score).collect();
        let whole = json!({
            "version": "1.0",
            "added_tokens": added.into_iter().enumerate().map(special).collect::<Vec<_>>(),
            "normalizer": normalizer,
            "pre_tokenizer": pre_tokenizer,
            "model": {"type": "Unigram", "unk_id": 0, "vocab": pieces},
        });
        Tokenizer::from_bytes(whole.to_string()).unwrap()
    }

    /// Ids of special tokens, that of the unknown left out, in a text that was taken apart.
    fn special_ids(tokenizer: &Tokenizer, text: &str) -> Vec<u32> {
        let special = SpecialTokens::of(tokenizer).unwrap();
        let text = special.taken_apart(text.to_owned()).unwrap();
        let ids = tokenizer.encode_fast(text.as_str(), false).unwrap().get_ids().to_vec();
        ids.into_iter().filter(|id| (1..4).contains(id)).collect()
    }

    #[test]
    fn no_normaliser_makes_a_special_token_of_a_sample() {
        let bert = json!({"type": "BertNormalizer", "clean_text": true, "lowercase": false,
                          "handle_chinese_chars": true, "strip_accents": false});
        let all = [
            json!(null),
            json!({"type": "NFC"}),
            json!({"type": "NFKC"}),
            bert,
            json!({"type": "Replace", "pattern": {"Regex": "\\p{Cf}"}, "content": ""}),
            json!({"type": "Sequence", "normalizers": [
                {"type": "Prepend", "prepend": "\u{2581}"}, {"type": "NFKD"}]}),
        ];
        let texts = [
            "a [SEP] b",
            "a [S\u{200B}EP] b",
            "[\u{200B}S\u{200B}E\u{200B}P\u{200B}]",
            "[S\u{2060}EP][SEP]",
            "\u{FF1C}\u{FF5C}im_end\u{FF5C}\u{FF1E}",
            "\u{FF1C}/s\u{FF1E}</\u{FF53}>",
            "<|im_end|><|im_end|>",
        ];
        for normalizer in &all {
            for after in [false, true] {
                let tokenizer = tokenizer(normalizer, &json!(null), after);
                for text in texts {
                    let found = special_ids(&tokenizer, text);
                    assert!(found.is_empty(), "{normalizer} {text:?}: {found:?}");
                }
            }
        }
    }

    #[test]
    fn a_text_without_special_tokens_stays_as_it_is() {
        let special =
            SpecialTokens::of(&tokenizer(&json!({"type": "NFKC"}), &json!(null), false)).unwrap();
        for text in ["", "a < b | c > d", "\u{FF1C}\u{FF5C}", "[sep]", "naïve \u{200B} e\u{301}"] {
            assert_eq!(special.taken_apart(text.to_owned()).unwrap(), text);
        }
    }

    #[test]
    fn a_tokenizer_that_makes_tokens_of_anything_is_refused() {
        let drops = json!({"type": "Replace", "pattern": {"Regex": "[\\p{Cf} _]"}, "content": ""});
        let error = SpecialTokens::of(&tokenizer(&drops, &json!(null), false)).err().unwrap();
        assert!(error.contains("can spell the special token"), "{error}");
    }
}
