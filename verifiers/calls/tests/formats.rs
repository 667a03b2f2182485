//! Every notation: right calls, and refusals with their reasons.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use assay_calls::{Call, Calls, Format, Reading, Refusal, read};
use serde_json::Value;

/// Texts, with what is read: the notation and the calls, or the word of the refusal.
fn rows() -> Vec<Value> {
    let rows = include_str!("data/formats.jsonl").lines();
    rows.map(|row| serde_json::from_str(row).unwrap()).collect()
}

fn how(row: &Value) -> Reading {
    Reading {
        format: row["format"].as_str().map(|name| Format::named(name).unwrap()),
        names: row["names"] == true,
        text_after: row["text_after"] == true,
    }
}

fn said(text: &str, read: &Result<Calls, Refusal>) -> String {
    let found = match read {
        Err(refusal) => {
            assert!(text.get(refusal.span.clone()).is_some(), "{text}: {refusal}");
            return refusal.code.as_str().to_owned();
        }
        Ok(found) => found,
    };
    let mut shown = format!("{}:", found.format.map_or("none", Format::name));
    for call in &found.calls {
        assert!(text.get(call.span.clone()).is_some_and(|own| !own.is_empty()), "{text}");
        shown.extend([" ", &call.name, &call.arguments.to_string()]);
        shown.extend(call.positional.iter().map(|value| format!("[{value}]")));
    }
    shown
}

#[test]
fn every_text_gives_its_calls_or_its_reason() {
    for row in rows() {
        let text = row["text"].as_str().unwrap();
        let wanted = row["said"].as_str().unwrap();
        assert_eq!(said(text, &read(text, how(&row))), wanted, "{text}");
        // The same, where the notation is named.
        let named = wanted.split_once(':').and_then(|(name, _)| Format::named(name));
        if let Some(format) = named.filter(|_| row["format"].is_null()) {
            let how = Reading { format: Some(format), ..how(&row) };
            assert_eq!(said(text, &read(text, how)), wanted, "{text} as {}", format.name());
        }
    }
}

#[test]
fn a_part_of_a_text_is_never_another_call() {
    for row in rows() {
        let text = row["text"].as_str().unwrap();
        let Ok(whole) = read(text, how(&row)) else { continue };
        for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
            let Ok(part) = read(&text[..end], how(&row)) else { continue };
            let is_own = |call: &Call| {
                whole
                    .calls
                    .iter()
                    .any(|own| own.name == call.name && own.arguments == call.arguments)
            };
            let is_part = part.calls.iter().all(is_own);
            // What a fence, a quotation, a thought or the end of a turn hides shows without its end.
            let is_hidden = whole.calls.is_empty() || text.contains("```");
            assert!(is_part || is_hidden, "{}\n{part:?}", &text[..end]);
        }
    }
}

/// A text in the shape of a notation, made wrong as a case says.
fn malformed(shape: &Value, case: &Value) -> String {
    let part = |key: &str| shape[key].as_str().unwrap_or_default().to_owned();
    let mut text = part("text");
    if let Some(name) = case["without"].as_str() {
        text = text.replacen(&part(name), "", 1);
    }
    if let Some(name) = case["cut"].as_str() {
        text.truncate(text.find(&part(name)).unwrap() + part(name).len() - 1);
    }
    if let Some(key) = case["key"].as_str() {
        let open = part("open");
        text = text.replacen(&format!("{open}a"), &format!("{open}{key}"), 1);
    }
    let args = case["args"].as_str().unwrap_or(r#"{"a": 1, "b": "x"}"#);
    text = text.replace("NAME", case["name"].as_str().unwrap_or("f"));
    // `[ARGS]` is a mark of one of them.
    text = text.replace("ARGS", args).replace(&format!("[{args}]{args}"), &format!("[ARGS]{args}"));
    if case["quote"] == true {
        text = format!("It said:\n> {}\nNo call.", text.replace('\n', "\n> "));
    }
    if case["is_line"] == true {
        text = text.replace('\n', " ");
    }
    case["wrap"]
        .as_str()
        .filter(|_| case["quote"].is_null())
        .unwrap_or("CALL")
        .replace("CALL", &text)
}

#[test]
fn a_malformed_call_of_any_notation_is_refused_or_no_call() {
    let rows: Vec<Value> = include_str!("data/malformed.jsonl")
        .lines()
        .map(|row| serde_json::from_str(row).unwrap())
        .collect();
    let (shapes, cases): (Vec<&Value>, Vec<&Value>) =
        rows.iter().partition(|row| row["format"].is_string());
    let mut wrong = Vec::new();
    for shape in shapes {
        let name = shape["format"].as_str().unwrap();
        let how = Reading { format: Format::named(name), ..Reading::default() };
        let right = malformed(shape, &Value::Null);
        let call = format!("{name}: f");
        let own = said(&right, &read(&right, how));
        assert!(own.starts_with(&call), "{right}: {own}");
        for case in &cases {
            if case["kind"].is_string() && case["kind"] != shape["kind"] {
                continue;
            }
            let text = malformed(shape, case);
            let known = case["case"].as_str().unwrap();
            let due = shape["but"][known].as_str().or(case["said"].as_str()).unwrap();
            for format in [how.format, None] {
                let own = said(&text, &read(&text, Reading { format, ..how }));
                // Without its name, a malformed one may be text.
                let is_text = format.is_none() && shape["is_quiet"] == true && own == "none:";
                if own != due && !is_text {
                    wrong.push(format!("{name}, {known}: {own}, not {due} ({format:?}) {text:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_text_panics() {
    let mut state = 1_u64;
    let mut next = |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    let texts: Vec<String> =
        rows().iter().map(|row| row["text"].as_str().unwrap().to_owned()).collect();
    for _ in 0..4000 {
        let mut chars: Vec<char> = texts[next(texts.len())].chars().collect();
        let other: Vec<char> = texts[next(texts.len())].chars().collect();
        for _ in 0..next(4) {
            let at = next(chars.len() + 1);
            match next(3) {
                0 if at < chars.len() => drop(chars.remove(at)),
                1 => chars.splice(at..at, other.iter().copied().take(next(40))).for_each(drop),
                _ => chars.insert(at, ['\0', '"', '\\', '{', '<', '\u{202e}', ')', '\n'][next(8)]),
            }
        }
        let text: String = chars.into_iter().collect();
        let format = [None, Some(Format::Java), Some(Format::JavaScript)][next(3)];
        let _ =
            said(&text, &read(&text, Reading { format, names: next(2) == 0, text_after: false }));
    }
}

#[test]
fn hostile_sizes_are_read_or_refused() {
    let many = vec!["{\"name\":\"f\",\"arguments\":{}}"; 100_000].join(",");
    assert_eq!(read(&format!("[{many}]"), Reading::default()).unwrap().calls.len(), 100_000);
    let units = [
        "[",
        "{\"a\":",
        "(",
        "g(",
        "<",
        "<think>",
        "</think>{\"",
        "`",
        "<tool_call>",
        "```\n",
        "[f(a=",
        "— <a",
    ];
    for unit in units {
        for head in ["", "{\"name\": \"f\", \"arguments\": {\"a\": ", "<tool_call>", "[f(a="] {
            let text = format!("{head}{}", unit.repeat(100_000));
            for format in [None, Some(Format::Java)] {
                let _ =
                    said(&text, &read(&text, Reading { format, names: true, text_after: false }));
            }
        }
    }
}
