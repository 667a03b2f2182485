//! Samples and messages: what is judged, what is kept, and what the digest is of.

use assay_verifiers::{Content, Digest, Message, Sample, Turn};
use serde_json::{Map, Value, json};

fn meta(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

#[test]
fn the_digest_is_of_the_content_and_not_of_the_id() {
    let one = Sample::builder("c").prompt("p").reference("r").id("a").build();
    let two = Sample::builder("c").prompt("p").reference("r").id("b").build();
    assert_eq!(one.digest(), two.digest());
    let three = Sample::builder("c").prompt("pr").reference("").build();
    assert_ne!(one.digest(), three.digest());
    let canonical = String::from_utf8(one.canonical()).unwrap();
    assert_eq!(canonical, r#"{"completion":"c","meta":{},"prompt":"p","reference":"r"}"#);
}

#[test]
fn a_null_and_a_missing_member_are_the_same() {
    let null = Sample::builder("c").meta(meta(json!({"a": 1.0, "b": null}))).build();
    let missing = Sample::builder("c").meta(meta(json!({"a": 1}))).build();
    assert_eq!(null.digest(), missing.digest());
    assert!(Sample::builder("c").reference(Value::Null).build().reference().is_none());
}

#[test]
fn the_last_message_of_the_assistant_is_judged() {
    let message = |role: &str, content: &str| Message::new(role, content);
    let content = Content::from(vec![
        message("assistant", "first"),
        message("assistant", "second"),
        message("tool", "output"),
    ]);
    assert_eq!(content.text(), "second");
    let content = Content::from(vec![message("user", "question")]);
    assert_eq!(content.text(), "question");
    assert_eq!(Content::from(Vec::<Message>::new()).text(), "");
}

#[test]
fn references_as_text() {
    let sample = Sample::builder("").reference(json!(["a", 2.0, true])).build();
    assert_eq!(sample.references(), ["a", "2", "true"]);
    assert_eq!(Sample::builder("").reference(18).build().references(), ["18"]);
}

#[test]
fn different_trajectories_have_different_digests() {
    let sample = |completion: Value| {
        Sample::builder(Content::from_value(completion).unwrap()).build().digest()
    };
    let call = |name: &str, id: &str| {
        json!([{"role": "assistant", "content": "", "tool_calls": [
            {"id": id, "type": "function", "function": {"name": name, "arguments": "{}"}}
        ]}])
    };
    let part = |url: &str| json!([{"role": "assistant", "content": [{"type": "image_url", "image_url": {"url": url}}]}]);
    let message = |member: &str, value: Value| {
        let mut message = json!({"role": "assistant", "content": "x"});
        message[member] = value;
        json!([message])
    };
    let all = [
        json!("x"),
        json!([{"role": "assistant", "content": "x"}]),
        call("f", "1"),
        call("g", "1"),
        call("f", "2"),
        part("a"),
        part("b"),
        message("name", json!("a")),
        message("tool_call_id", json!("a")),
        message("reasoning_content", json!("a")),
        message("refusal", json!("a")),
        json!([{"type": "function_call", "name": "f"}]),
        json!([{"role": "function_call", "content": "{\"name\":\"f\",\"type\":\"function_call\"}"}]),
    ];
    let digests: std::collections::BTreeSet<Digest> = all.iter().cloned().map(sample).collect();
    assert_eq!(digests.len(), all.len());
    let base = || Sample::builder("x");
    let extended = [
        base().build(),
        base().token_ids([1, 2]).build(),
        base().logprobs([-0.5, 0.0]).build(),
        base().finish_reason("length").build(),
    ];
    let digests: std::collections::BTreeSet<Digest> = extended.iter().map(Sample::digest).collect();
    assert_eq!(digests.len(), extended.len());
}

#[test]
fn another_turn_is_another_judgement_of_the_same_sample() {
    let sample = Sample::builder(vec![
        Message::new("assistant", "first"),
        Message::new("tool", "output"),
        Message::new("assistant", "second"),
    ])
    .build();
    let first = sample.at_turn(Turn::FirstAssistant).unwrap();
    assert_eq!((first.completion(), first.id()), ("first", sample.id()));
    assert_ne!(first.digest(), sample.digest());
    assert_eq!(sample.at_turn(Turn::At(1)).unwrap().completion(), "output");
    assert!(sample.at_turn(Turn::At(3)).is_none());
    assert_eq!(sample.assistant_turns(), Some(vec![0, 2]));
    assert_eq!(Sample::builder("t").build().at_turn(Turn::At(3)).unwrap().completion(), "t");
}

fn read(value: Value) -> Message {
    Message::from_value(value).unwrap()
}

#[test]
fn tool_calls_are_kept_in_either_form() {
    let nested = read(json!({"role": "assistant", "content": null, "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "add", "arguments": "{\"a\":1}"}}
    ]}));
    let flat = read(json!({"role": "assistant", "tool_calls": [
        {"id": "c1", "name": "add", "arguments": "{\"a\":1}"}
    ]}));
    assert_eq!(nested, flat);
    let [call] = nested.tool_calls.as_slice() else { panic!("{nested:?}") };
    assert_eq!((call.id.as_deref(), call.name.as_str()), (Some("c1"), "add"));
    assert_eq!(call.arguments, json!("{\"a\":1}"));
    assert_eq!(read(nested.to_value()), nested);
}

#[test]
fn nothing_that_a_message_holds_is_dropped() {
    let value = json!({
        "role": "tool", "content": "4", "name": "add", "tool_call_id": "c1",
        "reasoning_content": "hm", "weight": 0, "tool_calls": "odd",
    });
    let message = read(value.clone());
    assert_eq!(message.other, *json!({"weight": 0, "tool_calls": "odd"}).as_object().unwrap());
    assert_eq!(message.to_value(), value);
    let strict = json!({"role": "assistant", "content": "", "tool_calls": [
        {"index": 0, "type": "function",
         "function": {"name": "f", "arguments": {"x": 1}, "strict": true}}
    ]});
    assert_eq!(read(strict.clone()).to_value(), strict);
}

#[test]
fn parts_that_are_not_text_are_kept_and_named() {
    let image = json!({"type": "image_url", "image_url": {"url": "x"}});
    let message = read(json!({"role": "user", "content": [
        {"type": "text", "text": "a"}, image, {"type": "output_text", "text": "b"}
    ]}));
    assert_eq!(message.text(), "ab");
    assert_eq!(message.content.unread().collect::<Vec<_>>(), ["image_url"]);
    assert_eq!(message.to_value()["content"][1], image);
    let cached = json!([{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}]);
    let message = read(json!({"role": "user", "content": cached}));
    assert_eq!((message.text(), message.content.unread().count()), ("a", 0));
    assert_eq!(message.to_value()["content"], cached);
}

#[test]
fn an_item_is_not_a_message_of_the_same_text() {
    let item = read(json!({"type": "function_call", "name": "f", "call_id": 3.0}));
    assert_eq!((item.role.as_str(), item.text().len()), ("function_call", 47));
    let forged = Message::new("function_call", item.text());
    assert_ne!(item.to_value(), forged.to_value());
}
