//! What stays of texts and values that are cut.

use super::*;

#[test]
fn a_long_text_keeps_its_edges_and_its_spans() {
    let text = format!("{}X{}", "é".repeat(2000), "b".repeat(4000));
    let found = parts(&text, &[(1, 2), (9, 99_999), (4000, 4001)], 1000);
    assert_eq!((found.len(), found[1].0), (3, 4000 - AROUND_BYTES), "{found:?}");
    assert!(found.iter().all(|(start, part)| text[*start..].starts_with(part)));
    assert!(found[1].1.contains('X') && found[2].1.ends_with('b'));
    let shown: usize = found.iter().map(|(_, part)| part.len()).sum();
    assert!(shown <= 1000, "{shown}");
    assert_eq!(parts("", &[], 9), [(0, String::new())]);
}

#[test]
fn values_are_cut_by_length_count_and_depth() {
    let mut deep = Value::Null;
    for _ in 0..100 {
        deep = Value::Array(vec![deep]);
    }
    let value = serde_json::json!({ "text": "é".repeat(50), "list": vec![0; 1000], "deep": deep });
    let cut = cut_value(&value, (11, 40));
    assert!(cut.to_string().len() < 400, "{cut}");
    assert_eq!(cut_text("ééé", 3), "é[... 4 bytes ...]");
}

#[test]
fn spans_are_found_in_parts_and_steps() {
    let verdicts = serde_json::json!({ "m": {
        "evidence": { "span": [1, 2] },
        "components": { "c": { "evidence": { "span": [3, 4] } } },
        "steps": [{ "span": [5, 6] }],
    }, "odd": { "evidence": { "span": [-1, 2] } }, "odder": { "evidence": { "span": "x" } } });
    let mut found = Vec::new();
    spans(&verdicts, &mut found);
    found.sort_unstable();
    assert_eq!(found, [(1, 2), (3, 4), (5, 6)]);
}
