//! Tests of the tokenizer.

use std::path::PathBuf;

use proptest::prelude::*;

use super::*;

const ALPHABET: &str = "0123456789+-= \néa€𐀀\"\\'";

fn byte_level() -> PolicyTokenizer {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../fixtures/models/arch-qwen3");
    PolicyTokenizer::load(&folder).unwrap()
}

/// A tokenizer of the kind of Llama 2: "▁" for spaces, bytes for what is unknown.
fn sentence_pieces() -> PolicyTokenizer {
    let mut vocabulary = Map::new();
    let bytes = (0..=u8::MAX).map(|byte| format!("<0x{byte:02X}>"));
    let pieces = ["<unk>", "</s>", "▁", "a", "b", "▁a", "ab"].map(str::to_owned);
    for (id, token) in pieces.into_iter().chain(bytes).enumerate() {
        vocabulary.insert(token, id.into());
    }
    let special = |id: u32, content: &str| {
        json!({"id": id, "content": content, "special": true, "normalized": false, "lstrip": false,
            "rstrip": false, "single_word": false})
    };
    let text = json!({
        "version": "1.0", "truncation": null, "padding": null, "post_processor": null,
        "pre_tokenizer": null,
        "added_tokens": [special(0, "<unk>"), special(1, "</s>")],
        "normalizer": {"type": "Sequence", "normalizers": [
            {"type": "Prepend", "prepend": "▁"},
            {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]},
        "decoder": {"type": "Sequence", "decoders": [
            {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
            {"type": "ByteFallback"}, {"type": "Fuse"},
            {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
        "model": {"type": "BPE", "dropout": null, "unk_token": "<unk>", "fuse_unk": true,
            "continuing_subword_prefix": null, "end_of_word_suffix": null, "byte_fallback": true,
            "ignore_merges": false, "vocab": vocabulary, "merges": [["▁", "a"], ["a", "b"]]},
    });
    PolicyTokenizer::new(text.to_string().parse().unwrap(), Map::new(), None).unwrap()
}

/// Ends that ascend to the length of the text, and that are those of its beginnings.
fn assert_ends(tokenizer: &PolicyTokenizer, text: &str) {
    let tokens = tokenizer.encode(text).unwrap();
    let (decoded, ends) = (tokenizer.decode(&tokens), tokenizer.token_ends(&tokens));
    assert_eq!((decoded.as_str(), ends.len()), (text, tokens.len()));
    assert_eq!(ends.last().copied().unwrap_or(0), text.len());
    assert!(ends.is_sorted(), "{ends:?}");
    for (at, end) in ends.iter().enumerate() {
        let before = tokenizer.decode(&tokens[..=at]);
        if !before.contains(char::REPLACEMENT_CHARACTER) {
            assert_eq!(before.len(), *end, "of {text:?} up to token {at}");
        }
    }
}

/// Ends that ascend to the length of the text, whatever the tokens are.
fn assert_have_ends(tokenizer: &PolicyTokenizer, tokens: &[u32]) {
    let (text, ends) = (tokenizer.decode(tokens), tokenizer.token_ends(tokens));
    assert_eq!(ends.len(), tokens.len());
    assert!(ends.is_sorted(), "{ends:?}");
    assert_eq!(ends.last().copied().unwrap_or(0), text.len());
}

#[test]
fn characters_have_ids_in_the_order_of_the_alphabet() {
    let tokenizer = PolicyTokenizer::characters("01+ ").unwrap();
    assert_eq!(tokenizer.vocabulary_size(), 6);
    assert_eq!((tokenizer.pad_token(), tokenizer.stop_tokens()), (Some(0), &[1][..]));
    let tokens = tokenizer.encode("1 + 0<|end|>").unwrap();
    assert_eq!(tokens, [3, 5, 4, 5, 2, 1]);
    assert_eq!(tokenizer.decode(&tokens), "1 + 0");
    assert_eq!(tokenizer.token_ends(&tokens), [1, 2, 3, 4, 5, 5]);
    assert_eq!(tokenizer.token(1).as_deref(), Some(END_TOKEN));
    assert!(tokenizer.encode("").unwrap().is_empty());
    assert_eq!(tokenizer.decode(&[99]), "");
}

#[test]
fn a_character_outside_of_the_alphabet_is_named() {
    let tokenizer = PolicyTokenizer::characters("01").unwrap();
    let error = tokenizer.encode("01x1").unwrap_err().to_string();
    assert_eq!(error, "tokenizer: has no token for 'x'");
    assert!(tokenizer.encode("<|pad").unwrap_err().to_string().contains("'<'"));
}

#[test]
fn an_alphabet_has_each_character_once() {
    let error =
        |alphabet| PolicyTokenizer::characters(alphabet).map(|_| ()).unwrap_err().to_string();
    assert_eq!(error(""), "alphabet: has no characters");
    assert_eq!(error("abcb"), "alphabet: has 'b' twice".replace('\'', "\""));
}

#[test]
fn what_is_saved_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    for tokenizer in [PolicyTokenizer::characters(ALPHABET).unwrap(), byte_level()] {
        tokenizer.save(folder.path()).unwrap();
        let again = PolicyTokenizer::load(folder.path()).unwrap();
        let text = "1+1= 2\n";
        assert_eq!(again.encode(text).unwrap(), tokenizer.encode(text).unwrap());
        assert_eq!(again.stop_tokens(), tokenizer.stop_tokens());
        assert_eq!(again.vocabulary_size(), tokenizer.vocabulary_size());
        assert_eq!(again.config, tokenizer.config);
    }
}

#[test]
fn a_file_that_is_no_tokenizer_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let error = |path: &Path| PolicyTokenizer::load(path).map(|_| ()).unwrap_err().to_string();
    assert!(error(folder.path()).ends_with("tokenizer.json: there is no such file"));
    let file = folder.path().join(TOKENIZER_FILE);
    for text in ["", "{}", "[1]", "{\"model\": {\"type\": \"WordLevel\"}}"] {
        files::write_atomic(&file, text.as_bytes()).unwrap();
        assert!(error(folder.path()).contains("tokenizer.json: "), "{text}");
    }
}

#[test]
fn chat_templates_are_found_in_either_file() {
    let folder = tempfile::tempdir().unwrap();
    let tokenizer = PolicyTokenizer::characters("ab").unwrap();
    tokenizer.save(folder.path()).unwrap();
    assert_eq!(PolicyTokenizer::load(folder.path()).unwrap().chat_template(), None);
    let config = folder.path().join(CONFIG_FILE);
    let several = json!([{"name": "tools", "template": "t"}, {"name": "default", "template": "d"}]);
    for (template, expected) in [(json!("inline"), "inline"), (several, "d")] {
        files::write_json(&config, &json!({"chat_template": template})).unwrap();
        let read = PolicyTokenizer::load(folder.path()).unwrap();
        assert_eq!(read.chat_template(), Some(expected));
    }
    files::write_atomic(&folder.path().join(TEMPLATE_FILE), b"file").unwrap();
    assert_eq!(PolicyTokenizer::load(folder.path()).unwrap().chat_template(), Some("file"));
}

#[test]
fn a_character_of_several_tokens_ends_with_the_last() {
    let tokenizer = byte_level();
    let tokens = tokenizer.encode("é𐀀").unwrap();
    let ends = tokenizer.token_ends(&tokens);
    assert_eq!(ends.last(), Some(&6));
    assert_eq!(tokens.len(), 6, "no merges of these bytes: {tokens:?}");
    assert_eq!(ends, [1, 2, 3, 4, 5, 6]);
    let half = tokenizer.token_ends(&tokens[..3]);
    assert_eq!((tokenizer.decode(&tokens[..3]).as_str(), half), ("é\u{fffd}", vec![1, 2, 5]));
}

#[test]
fn ends_by_context_agree_with_the_text() {
    let tokenizer = sentence_pieces();
    for text in ["a b ab", "ab", "é a€b", "a a a a a a a a a a a a ab ab ab é é é a b a b a"]
    {
        assert_ends(&tokenizer, text);
    }
}

#[test]
fn bytes_that_are_invalid_together_have_ends() {
    // The byte 0 by itself is a character; with 0x80 behind it, both are replaced.
    assert_have_ends(&sentence_pieces(), &[7, 135, 0]);
}

proptest! {
    #[test]
    fn characters_give_their_text_back(text in "[0-9+\\-= \néa€𐀀\"\\\\']{0,40}") {
        assert_ends(&PolicyTokenizer::characters(ALPHABET).unwrap(), &text);
    }

    #[test]
    fn bytes_give_their_text_back(text in "\\PC{0,40}") {
        assert_ends(&byte_level(), &text);
    }

    #[test]
    fn any_tokens_have_ends(tokens in prop::collection::vec(0_u32..600, 0..60)) {
        assert_have_ends(&byte_level(), &tokens);
        assert_have_ends(&sentence_pieces(), &tokens);
    }
}
