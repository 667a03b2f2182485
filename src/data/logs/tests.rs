//! Samples of logs as rows.

use assay_verifiers::Content;
use proptest::prelude::*;
use serde_json::json;

use super::samples::Slim;
use super::*;

fn line(value: &Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

/// The row of a sample, in the format by which it is recognised.
fn row(value: &Value) -> Result<Map<String, Value>, String> {
    let format = of_line(value.to_string().as_bytes()).unwrap();
    format.row(line(value)).map_err(|defect| defect.to_string())
}

#[test]
fn the_table_is_read() {
    assert_eq!(FORMATS.format.len(), 7);
    for format in &FORMATS.format {
        assert!(format.has.len() > 1, "{}: one member tells no format", format.name);
        assert!(
            format.within.is_some() || format.columns.contains_key("completion"),
            "{}",
            format.name
        );
    }
}

#[test]
fn rows_of_no_log_are_left_alone() {
    for own in [
        json!({ "prompt": "p", "completion": "c" }),
        json!({ "response": "r", "note": "responses_create_params" }),
        json!({ "response": "r", "responses_create_params": {}, FORMAT: "nemo_gym" }),
    ] {
        assert!(of_line(own.to_string().as_bytes()).is_none(), "{own}");
    }
    assert!(of_line(b"{\"response\": 1, \"responses_create_params\": ").is_none(), "broken");
}

#[test]
fn answers_of_the_input_are_examples() {
    let message = |role: &str, text: &str| json!({ "role": role, "content": text });
    let input = [message("user", "1?"), message("assistant", "one"), message("user", "2?")];
    let call =
        json!([{ "id": "c", "function": "add", "arguments": { "x": 1 }, "type": "function" }]);
    let own = json!({ "role": "assistant", "content": "", "tool_calls": call });
    let mut messages = vec![message("system", "s")];
    messages.extend(input.iter().cloned());
    messages.extend([own, message("tool", "2"), message("assistant", "two")]);
    let sample = json!({
        "id": 7, "epoch": 2, "input": input, "target": "two", "output": {}, "messages": messages,
        "scores": { "match": { "value": "C", "answer": "two" } },
    });
    let row = row(&sample).unwrap();
    assert_eq!(row["id"], "7#2");
    assert_eq!(row["prompt"].as_array().unwrap().len(), 4);
    let answer = row["completion"].as_array().unwrap();
    assert_eq!((answer.len(), &answer[0]["tool_calls"][0]["name"]), (3, &json!("add")));
    assert_eq!((&row["reference"], &row["their_score"]), (&json!("two"), &json!(1.0)));
    let verdict = json!({ "outcome": "scored", "reward": 1.0, "evidence": { "answer": "two" } });
    assert_eq!((&row["group"], &row["their_scores"]["match"]), (&json!("7"), &verdict));
    let content = Content::from_value(row["completion"].clone()).unwrap();
    assert_eq!((content.text(), content.messages().unwrap().len()), ("two", 3));
}

#[test]
fn a_trace_is_the_path_to_its_last_message() {
    let node = |parent: Value, role: &str, text: &str, sampled: bool| {
        let message = json!({ "role": role, "content": text });
        json!({ "parent": parent, "message": message, "sampled": sampled })
    };
    let nodes = json!([
        node(Value::Null, "user", "q", false),
        node(json!(0), "assistant", "given up", true),
        node(json!(0), "assistant", "kept", true),
    ]);
    let rewards = json!({ "a": { "score": 0.5, "weight": 2.0 }, "b": { "score": 0.25 } });
    let task = json!({ "type": "T", "data": { "answer": "kept" } });
    let trace = json!({ "id": "t", "agent": {}, "nodes": nodes, "rewards": rewards, "task": task });
    let episode = |traces: Value| json!({ "env": {}, "task": task, "ok": true, "traces": traces });
    for sample in [trace.clone(), episode(json!([trace]))] {
        let row = row(&sample).unwrap();
        assert_eq!(row["completion"], json!([{ "role": "assistant", "content": "kept" }]));
        assert_eq!((&row["their_score"], &row["reference"]), (&json!(1.25), &json!("kept")));
    }
    // A parent that comes later would be a circle.
    let circle = json!([node(json!(0), "assistant", "x", true)]);
    let sample = json!({ "agent": {}, "nodes": circle, "rewards": {}, "task": task });
    assert!(row(&sample).is_ok());
    let why = row(&episode(json!([trace, trace]))).unwrap_err();
    assert!(why.contains("traces has 2 elements") && why.contains("jq -c '.traces[]'"), "{why}");
    let why = row(&episode(json!([]))).unwrap_err();
    assert!(why.contains("verifiers") && why.contains("one element in traces"), "{why}");
}

#[test]
fn what_has_no_answer_says_what_was_expected() {
    let harness = |resps: Value| {
        json!({
            "doc_id": 3, "doc": {}, "target": "4", "arguments": {}, "resps": resps, "filtered_resps": [],
            "filter": "none",
        })
    };
    for (sample, told) in [
        (
            harness(json!([[[-1.5, false]]])),
            "sample \"3#none\": no answer: expected one text in resps.0",
        ),
        (harness(json!([["4", "5"]])), "found a list of 2"),
        (
            json!({ "response": { "output": [] }, "responses_create_params": {}, "failure_reason": "late" }),
            "expected items of a response in response.output; found a list of 0; the log says: late",
        ),
        (
            json!({
                "id": "a\u{1b}[2J", "epoch": 1, "input": "q", "target": "4", "output": {}, "messages": [],
                "error": { "message": "\u{202e}stopped" },
            }),
            "sample \"a\\u{1b}[2J#1\": no answer: expected a message of the assistant",
        ),
    ] {
        let why = row(&sample).unwrap_err();
        assert!(why.starts_with("completion: a log of") && why.contains(told), "{why}");
        assert!(!why.contains(['\u{1b}', '\u{202e}']), "{why:?}");
    }
}

#[test]
fn a_score_is_a_number_where_the_format_says_so() {
    let rollout = json!({
        "responses_create_params": { "input": "2 + 2 = ?", "instructions": "Be brief." },
        "response": { "output": [
            { "type": "reasoning", "summary": [{ "type": "summary_text", "text": "hm" }] },
            { "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "4" }] },
        ] },
        "reward": 0.5, "expected_answer": "4", "_ng_task_index": 1, "_ng_rollout_index": 0,
    });
    let row = row(&rollout).unwrap();
    assert_eq!(row["prompt"][0], json!({ "role": "system", "content": "Be brief." }));
    assert_eq!(row["completion"][0]["reasoning_content"], "hm");
    assert_eq!((&row["their_score"], &row["reference"]), (&json!(0.5), &json!("4")));
    assert_eq!((&row["id"], &row[FORMAT]), (&json!("1#0"), &json!("nemo_gym")));
}

proptest! {
    #[test]
    fn members_that_are_dropped_leave_the_others_as_they_are(
        kept in "[a-z\"\\\\{}\\[\\],: \n]{0,12}", dropped in "[a-z\"\\\\{}\\[\\],: \n]{0,12}", step in 1_usize..9,
    ) {
        static DROP: LazyLock<Vec<String>> = LazyLock::new(|| vec!["events".to_owned()]);
        let sample = json!({
            "a": [{ "events": kept }], "events": { "x": [dropped, 1] }, "z": { "events": kept, "n": null },
        });
        let text = format!("{sample}\n{sample}\n");
        let (mut slim, mut out) = (Slim::new(&DROP), Vec::new());
        for bytes in text.as_bytes().chunks(step) {
            slim.push(bytes, &mut out);
        }
        let mut expected = sample.clone();
        expected["events"] = Value::Null;
        let rows: Vec<Value> =
            out.split(|byte| *byte == b'\n').filter(|row| !row.is_empty())
                .map(|row| serde_json::from_slice(row).unwrap()).collect();
        prop_assert_eq!(rows, vec![expected.clone(), expected]);
    }
}
