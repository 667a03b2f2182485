//! No text makes a judgement panic, and nothing unknown is right.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "the helpers read rows of tests")]

use assay_instructions::{
    Alphabet, Demand, Edition, follow, language_share, languages, sentences, words,
};
use proptest::prelude::*;
use serde_json::{Value, json};

const ROWS: [&str; 2] = [include_str!("data/ifeval.jsonl"), include_str!("data/ifbench.jsonl")];

/// Functions of Tulu 3 with all that any of them asks for.
fn functions() -> Vec<(&'static str, Value)> {
    vec![
        ("verify_keywords", json!({ "keyword_list": ["a"] })),
        ("validate_forbidden_words", json!({ "forbidden_words": ["b"] })),
        ("verify_keyword_frequency", json!({ "word": "the", "N": 2 })),
        ("verify_letter_frequency", json!({ "letter": "!", "N": 2 })),
        ("validate_response_language", json!({ "language": "en" })),
        ("verify_paragraph_count", json!({ "N": 2 })),
        ("validate_word_constraint", json!({ "N": 4, "quantifier": "around" })),
        ("verify_sentence_constraint", json!({ "N": 2, "quantifier": "at least" })),
        ("validate_paragraphs", json!({ "N": 2, "first_word": "b", "i": 2 })),
        ("verify_postscript", json!({ "postscript_marker": "P.S." })),
        ("validate_placeholders", json!({ "N": 1 })),
        ("verify_bullet_points", json!({ "N": 2 })),
        ("validate_title", json!({})),
        ("validate_choice", json!({ "options": ["yes", "no"] })),
        ("validate_highlighted_sections", json!({ "N": 1 })),
        ("validate_sections", json!({ "N": 2, "section_splitter": "Part" })),
        ("validate_json_format", json!({})),
        ("validate_repeat_prompt", json!({ "original_prompt": "Say" })),
        ("validate_two_responses", json!({})),
        ("validate_uppercase", json!({})),
        ("validate_lowercase", json!({})),
        ("validate_frequency_capital_words", json!({ "N": 1, "quantifier": "at most" })),
        ("validate_end", json!({ "end_phrase": "." })),
        ("validate_quotation", json!({})),
        ("validate_no_commas", json!({})),
    ]
}

fn tulu((name, arguments): &(&'static str, Value)) -> Demand {
    Demand::tulu(name, arguments.as_object().unwrap()).unwrap()
}

/// Every instruction, with arguments of some row.
fn demands() -> Vec<Demand> {
    let mut demands: Vec<Demand> = functions().iter().map(tulu).collect();
    for row in ROWS.iter().flat_map(|rows| rows.lines()) {
        let row: Value = serde_json::from_str(row).unwrap();
        for (at, id) in
            row["reference"]["instruction_id_list"].as_array().unwrap().iter().enumerate()
        {
            let kwargs = row["reference"]["kwargs"][at].as_object();
            for edition in [Edition::Official, Edition::Fixed] {
                demands.extend(Demand::read(id.as_str().unwrap(), kwargs, edition));
            }
        }
    }
    for name in [
        "multiples",
        "mcq_count_length",
        "reverse_newline",
        "character_reverse",
        "sentence_alphabet",
        "csv_city",
    ] {
        demands.push(Demand::read(&format!("custom:{name}"), None, Edition::Official).unwrap());
    }
    demands
}

fn texts() -> impl Strategy<Value = String> {
    let parts = prop::sample::select(vec![
        "*",
        "**",
        "***",
        "\n",
        "\n\n",
        " ",
        ".",
        "...",
        "?!",
        "\"",
        "'",
        "''",
        "``",
        "[",
        "]",
        "<<",
        ">>",
        "-",
        "- ",
        "a",
        "A",
        "Dr.",
        "U.S.",
        "1.",
        ",",
        ":",
        "P.S.",
        "p. p. s",
        "Section 1",
        "Question 1.",
        "{\"a\": [1]}",
        "```json",
        "@",
        "a@b.co",
        "http://x.y",
        "\u{301}",
        "é",
        "İ",
        "ſ",
        "日",
        "ア",
        "😀",
        "\r",
        "\t",
        "\u{1c}",
        "cannot",
        "<i>x</i>",
        "(((((",
        ")",
        "“",
        "”",
        "’s",
        "'ll ",
        "n't ",
        "1800-01-02",
        "Zimbabwe",
        "ǅ",
    ]);
    prop_oneof![
        any::<String>(),
        prop::collection::vec(parts, 0..40).prop_map(|parts| parts.concat()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_text_panics(text in texts()) {
        let demands = demands();
        let met = follow(&demands, &text);
        prop_assert_eq!(met.len(), demands.len());
        prop_assert!(met.iter().all(|met| met.loose || !met.strict));
        let held: usize = sentences(&text).iter().map(|sentence| sentence.len()).sum();
        prop_assert!(held <= text.len());
        prop_assert!(words(&text).iter().all(|word| !word.is_empty()));
        let total: f64 = languages(&text).into_iter().flatten().map(|(_, share)| share).sum();
        prop_assert!(total <= 1.0 + 1e-9);
        let share = language_share(&text, "en", &mut |_| Ok::<(), ()>(())).unwrap();
        prop_assert!(share.is_none_or(|share| (0.0..=1.0).contains(&share)));
    }
}

#[test]
fn nothing_unknown_is_right() {
    let read =
        |id: &str, kwargs: Value| Demand::read(id, kwargs.as_object(), Edition::Official).is_ok();
    assert!(read(
        "length_constraints:number_words",
        json!({ "num_words": 3.0, "relation": "at least", "x": null })
    ));
    for (id, kwargs) in [
        ("length_constraints:number_words", json!({ "num_words": 3 })),
        ("length_constraints:number_words", json!({ "num_words": 0, "relation": "at least" })),
        ("length_constraints:number_words", json!({ "num_words": -3, "relation": "at least" })),
        ("length_constraints:number_words", json!({ "num_words": 2.5, "relation": "at least" })),
        ("length_constraints:number_words", json!({ "num_words": 3, "relation": "at most" })),
        ("punctuation:no_comma", json!({ "comma": 1 })),
        ("punctuation:none", json!({})),
        ("no_comma", json!({})),
        ("", json!({})),
        ("keywords:existence", json!({ "keywords": [] })),
        ("keywords:existence", json!({ "keywords": ["(?<=a)b"] })),
        ("language:response_language", json!({ "language": "German" })),
        ("words:start_verb", json!({})),
    ] {
        assert!(!read(id, kwargs.clone()), "{id} {kwargs}");
    }
    assert!(Demand::tulu("verify_nothing", &serde_json::Map::new()).is_err());
    assert!(Demand::tulu("verify_bullet_points", &serde_json::Map::new()).is_err());
    assert_eq!(Alphabet::named(["Latin", "Klingon"]).err(), Some("Klingon"));
}

#[test]
fn a_blank_text_follows_nothing() {
    for text in ["", " ", "\n\n", "\u{1c}"] {
        assert!(follow(&demands(), text).iter().all(|met| !met.strict && !met.loose), "{text:?}");
    }
}

#[test]
fn functions_of_tulu_are_followed() {
    for (name, text) in [
        ("verify_keywords", "An Apple"),
        ("validate_forbidden_words", "no such"),
        ("verify_keyword_frequency", "The cat, the hat"),
        ("verify_letter_frequency", "a!b!"),
        ("validate_response_language", "This is an English sentence that is long enough."),
        ("verify_paragraph_count", "a\n* * *\nb"),
        ("validate_word_constraint", "one two three"),
        ("verify_sentence_constraint", "It ends. So it does."),
        ("validate_paragraphs", "a\n\nbcd"),
        ("verify_postscript", "x P.S. y"),
        ("validate_placeholders", "[x]"),
        ("verify_bullet_points", "* a\n- b"),
        ("validate_title", "<<T>>"),
        ("validate_choice", "ye"),
        ("validate_highlighted_sections", "*a*"),
        ("validate_sections", "Part a Part b"),
        ("validate_json_format", "{}"),
        ("validate_repeat_prompt", "Say it"),
        ("validate_two_responses", "a******b"),
        ("validate_uppercase", "ABC"),
        ("validate_lowercase", "abc"),
        ("validate_frequency_capital_words", "A b"),
        ("validate_end", "a."),
        ("validate_quotation", "\"a\""),
        ("validate_no_commas", "a"),
    ] {
        let function = functions().into_iter().find(|(own, _)| *own == name).unwrap();
        assert!(follow(&[tulu(&function)], text)[0].strict, "{name}");
    }
}
