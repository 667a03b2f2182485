//! Literals, equality, extraction and questions, one table each.

use assay_verifiers::Meter;
use proptest::prelude::*;
use serde_json::json;

use super::find::{self, Find, Source, Want};
use super::question::{Ask, Task};
use crate::value::literal::{self, Words, read};
use crate::value::{Equality, PyValue};

fn value(text: &str) -> PyValue {
    read(text, Words::Python).unwrap_or_else(|error| panic!("{text}: {error:?}"))
}

#[test]
fn literals_are_read_as_python_reads_them() {
    for (text, shown) in [
        ("  [1, -2, +3,]  # all", "[1, -2, 3]"),
        ("1, 2", "(1, 2)"),
        ("1,", "(1,)"),
        ("(1)", "1"),
        ("()", "()"),
        ("0xFF, 0b1_0, 0o17, 1_000, 00", "(255, 2, 15, 1000, 0)"),
        ("1., .5, 1e3, 1_0.0_1, -0.0, 1e999", "(1.0, 0.5, 1000.0, 10.01, -0.0, inf)"),
        ("-inf, float('nan'), nan", "(-inf, nan, nan)"),
        ("3j, 1+2j, (-1 - 2j)", "((0.0+3.0j), (1.0+2.0j), (-1.0-2.0j))"),
        (r#"'a' "b" u'c' '''d'e'''"#, r#""abcd'e""#),
        (
            r"'\x41\102\u0043\U00000044\n\d\
'",
            r"'ABCD\n\\d'",
        ),
        (r"r'\d', b'\x00\xff', rb'\n', B'a' b'b'", r"('\\d', b'\x00\xff', b'\\n', b'ab')"),
        ("{1: None, 'a': {True, ...}, (1, 2): {}}", "{1: None, 'a': {True, ...}, (1, 2): {}}"),
        ("set(), frozenset(), frozenset({1})", "(set(), frozenset({}), frozenset({1}))"),
        ("'a\nb'", r"'a\nb'"),
        ("[\n1,\n# two\n2\n]", "[1, 2]"),
    ] {
        assert_eq!(value(text).to_string(), shown, "{text}");
    }
}

#[test]
fn what_is_no_literal_is_refused() {
    for text in [
        "",
        " ",
        "x",
        "dict()",
        "[1",
        "1]",
        "[1 2]",
        "[,]",
        "(,)",
        "{1:}",
        "{1: 2, 3}",
        "{1, 2: 3}",
        "{[1]: 2}",
        "{{}}",
        "{{1}}",
        "{(1, [2])}",
        "01",
        "1__0",
        "1_",
        "0x",
        "0b2",
        "--1",
        "-True",
        "1 + 2",
        "'a' + 'b'",
        "'a' b'b'",
        "f'a'",
        "ur'a'",
        "'a",
        "b'é'",
        r"'\x4'",
        r"'\N{DIGIT ONE}'",
        r"'\U00110000'",
        "1abc",
        "[*x]",
        "a.b",
        "true",
        "null",
        "lambda: 1",
        "1\n2",
        "not 1",
        "'a'*3",
    ] {
        assert!(read(text, Words::Python).is_err(), "{text}");
    }
    let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(read(&deep(150), Words::Python).is_ok());
    assert!(read(&deep(151), Words::Python).is_err());
    assert!(read(&deep(1_000_000), Words::Python).is_err());
    assert!(read(&"9".repeat(4300), Words::Python).is_ok());
    assert!(read(&"9".repeat(4301), Words::Python).is_err());
}

#[test]
fn values_are_equal_as_the_setting_says() {
    use Equality::{Lenient, Python, Strict};
    let all: &[Equality] = &[Strict, Python, Lenient];
    for (one, other, holds) in [
        ("1", "1", all),
        ("1", "1.0", &[Python, Lenient]),
        ("True", "1", &[Python, Lenient]),
        ("[1, (2,)]", "[1, [2]]", &[Lenient]),
        ("0.0", "-0.0", all),
        ("nan", "nan", all),
        ("{1, 2}", "{2, 1}", all),
        ("{1, True}", "{1}", all),
        ("{1: 'a', True: 'b'}", "{1: 'b'}", all),
        ("{'a': 1, 'b': 2}", "{'b': 2, 'a': 1}", all),
        ("{'a': 1}", "{'a': 1.0}", &[Python, Lenient]),
        ("{1: 0}", "{1.0: 0}", &[Python, Lenient]),
        ("{1}", "frozenset({1})", &[Python, Lenient]),
        ("'a'", "b'a'", &[]),
        ("'1'", "1", &[]),
        ("'true'", "True", &[Lenient]),
        ("'[1, true]'", "[1, True]", &[Lenient]),
        ("0.3", "0.3000001", &[Lenient]),
        ("0.3", "0.30001", &[]),
        ("1e300", "1.0000001e300", &[Lenient]),
        ("inf", "1e308", &[]),
        ("inf", "inf", all),
        ("10000000000000001", "1e16", &[Lenient]),
        ("[]", "()", &[Lenient]),
        ("None", "False", &[]),
        ("(1+0j)", "1", &[Python, Lenient]),
    ] {
        for how in all {
            let (one, other) = (value(one), value(other));
            assert_eq!(how.holds(&one, &other), holds.contains(how), "{how:?}: {one:?} {other:?}");
            assert_eq!(how.holds(&other, &one), holds.contains(how), "{how:?}: {other:?} {one:?}");
        }
    }
}

fn found(text: &str, from: Source) -> Vec<String> {
    let how = Find { from, ..Find::default() };
    let answers = find::find(text, &how, Want::Value, &mut Meter::default()).unwrap();
    answers.into_iter().map(|answer| answer.text.into_owned()).collect()
}

#[test]
fn damaged_json_is_read() {
    for (text, answer) in [
        (r#"{"answer": "5"}"#, "5"),
        (r#"{"answer": "5", "reasoning": "r"}"#, "5"),
        (r#"{"answer": "5",}"#, "5"),
        (r#"{"answer": "{}".}"#, "{}"),
        ("{\"answer\": \"a\nb\"\n}", "a\nb"),
        (r#"{"answer": "["f", "g"]"}"#, r#"["f", "g"]"#),
        (r#"{"answer": "{"a": "x", "b": "y"}"}"#, r#"{"a": "x", "b": "y"}"#),
        (r#"{"answer": ""816""}"#, r#""816""#),
        (r#"{"answer": "say \"hi\" \u00e9\ud83d\ude00"}"#, "say \"hi\" é😀"),
        (r#"{"answer": """[1]"""}"#, "[1]"),
        (r"{'answer': 'it's'}", "it's"),
        (r#"{"reasoning": "the \"answer\": 4", "answer": [1, 2]}"#, "[1, 2]"),
        (r#"{"answer": "1"} then {"answer": "2"}"#, "2"),
        ("{\"answer\": \"5\"\n\nDone.", "5"),
        (r#"{"answer": hello}"#, "hello"),
        (r#"{"output": "7"}"#, "7"),
    ] {
        assert_eq!(found(text, Source::Json), [answer], "{text}");
    }
    assert!(found("no braces: \"answer\": 5", Source::Json).is_empty());
    for text in [
        r#"{"answer": "1", "answer": "2"}"#,
        r#"{"answer": [1, {"a": 2}], "note": "}", "answer": 2}"#,
    ] {
        assert!(found(text, Source::Json).is_empty(), "{text} answers twice");
    }
    let nested = r#"{"parts": [{"answer": "1"}, {"answer": "2"}], "answer": "3"}"#;
    assert_eq!(found(nested, Source::Json), ["3"]);
}

#[test]
fn sentences_and_assertions_are_read() {
    for (text, answer) in [
        ("The output is [1, 2].", "[1, 2]"),
        ("**Answer:** `'a b'`", "'a b'"),
        ("it returns 3 at first. Finally, it returns the list [4]", "[4]"),
        ("The result is:\n```python\n(1, 2)\n```", "(1, 2)\n"),
        (r"so \boxed{{'a': 1}}", "{'a': 1}"),
        ("assert f([1, '=='], k={}) == [2]  # since", "assert f([1, '=='], k={}) == [2]"),
        ("assert f(1) == ??\nThe answer is 5", "5"),
        (">>> f(1)\n[2]", "[2]"),
        ("In a session:\n```python\n>>> f(0)\n[1]\n>>> f(\n... 1)\n[2]\n```\nDone.", "[2]"),
        (">>> f(1)\n[2]\n\nSo the output is [3]", "[3]"),
    ] {
        assert_eq!(found(text, Source::Auto).first().map(String::as_str), Some(answer), "{text}");
    }
}

#[test]
fn inputs_are_read_as_arguments() {
    let calls = |text: &str| {
        let answer = find::Answer {
            text: text.to_owned().into(),
            value: None,
            span: (0, 0),
            from: "whole",
            quoted: false,
        };
        let calls = find::calls(&answer, "f");
        calls.iter().map(|call| (call.args.len(), call.kwargs.len())).collect::<Vec<_>>()
    };
    assert_eq!(calls("f(1, [2], k='x')"), [(2, 1)]);
    assert_eq!(calls("assert f(1, 2) == 3"), [(2, 0)]);
    assert_eq!(calls("`1, 2`"), [(2, 0)]);
    assert_eq!(calls("(1, 2)"), [(1, 0), (2, 0)]);
    assert_eq!(calls("f(g(1))"), []);
    assert_eq!(calls("f(k=1, 2)"), []);
}

#[test]
fn questions_name_what_is_wrong_with_them() {
    let refused =
        |value: serde_json::Value| Task::read(&value, None, false).unwrap_err().to_string();
    for (value, word) in [
        (json!({"program": "x", "ask": "valu"}), "valu"),
        (json!({"program": "x", "ask": "value", "line": 1}), "variable"),
        (json!({"program": "x", "ask": "next_line"}), "line"),
        (json!({"program": "x", "ask": "next_line", "line": 0}), "from 1"),
        (json!({"program": "x", "ask": "return"}), "call"),
        (json!({"program": "x", "cal": "f()"}), "cal"),
        (json!({"questions": []}), "questions"),
        (json!({"questions": [{"ask": "return"}]}), "needed"),
        (json!({"questions": [{"id": 1, "answer": "1"}, {"id": "1", "answer": "2"}]}), "twice"),
    ] {
        let why = refused(value.clone());
        assert!(why.contains(word), "{value}: {why}");
    }
    let literal = Task::read(&json!("{'program': 1}"), None, false).unwrap();
    assert!(!literal.must_run() && !literal.is_sheet);
    assert_eq!(literal.questions[0].ask, Ask::Output);
}

fn plain() -> impl Strategy<Value = PyValue> {
    let atom = prop_oneof![
        Just(PyValue::None),
        any::<bool>().prop_map(PyValue::Bool),
        any::<i64>().prop_map(|value| PyValue::Int(value.into())),
        any::<f64>().prop_map(PyValue::Float),
        ".{0,8}".prop_map(|text| PyValue::Str(text.into_bytes())),
        prop::collection::vec(any::<u8>(), 0..8).prop_map(PyValue::Bytes),
    ];
    atom.prop_recursive(4, 32, 4, |inner| {
        let items = prop::collection::vec(inner.clone(), 0..4);
        let key =
            prop_oneof![Just(PyValue::None), any::<i32>().prop_map(|key| PyValue::Int(key.into()))];
        prop_oneof![
            items.clone().prop_map(PyValue::List),
            items.prop_map(PyValue::Tuple),
            prop::collection::vec((key, inner), 0..4).prop_map(PyValue::Dict),
        ]
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(value in plain()) {
        let text = value.to_string();
        let again = read(&text, Words::Python);
        let same = again.is_ok_and(|again| Equality::Strict.holds(&again, &value));
        prop_assert!(same, "{}", text);
        let found = found(&format!("So the output is `{text}`."), Source::Whole);
        prop_assert_eq!(found.len(), 1);
    }

    #[test]
    fn no_text_makes_the_readers_panic(
        text in "[\\[\\](){}<>'\"\\\\`*:,.=# \nanswerfx01eju_|]{0,80}|\\PC{0,60}",
    ) {
        let _ = literal::prefix(&text, Words::Json);
        let _ = literal::arguments(&text, Words::Python);
        for from in [Source::Auto, Source::Json, Source::Fence, Source::Phrase, Source::Assertion] {
            found(&text, from);
            found(&format!("{{\"answer\": \"{text}"), from);
        }
    }
}
