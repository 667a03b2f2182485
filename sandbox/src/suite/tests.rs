//! Suites in every shape, and what is said of broken ones.

use num_bigint::BigInt;
use serde_json::json;

use super::*;
use crate::value::{AnswerOrder, PyValue};

#[expect(clippy::needless_pass_by_value, reason = "every caller makes one")]
fn read(value: Value) -> Suite {
    let from_text = Suite::from_value(&Value::String(value.to_string())).unwrap();
    let twice = Value::String(Value::String(value.to_string()).to_string());
    assert_eq!(Suite::from_value(&twice).unwrap(), from_text, "text of text");
    assert_eq!(Suite::from_value(&value).unwrap(), from_text, "an object");
    from_text
}

#[expect(clippy::needless_pass_by_value, reason = "every caller makes one")]
fn refused(value: Value) -> String {
    Suite::from_value(&value).unwrap_err().to_string()
}

fn int(number: i64) -> PyValue {
    PyValue::Int(BigInt::from(number))
}

fn assertions(value: Value) -> Assertions {
    match read(value).kind {
        Kind::Assertions(tests) => tests,
        other => panic!("{other:?}"),
    }
}

fn calls(value: Value) -> Calls {
    match read(value).kind {
        Kind::Calls(calls) => calls,
        other => panic!("{other:?}"),
    }
}

fn runs(value: Value) -> Vec<(String, String)> {
    match read(value).kind {
        Kind::Stdio { cases } => cases.into_iter().map(|case| (case.stdin, case.stdout)).collect(),
        other => panic!("{other:?}"),
    }
}

fn run(stdin: &str, stdout: &str) -> (String, String) {
    (stdin.to_owned(), stdout.to_owned())
}

#[test]
fn the_stable_shapes() {
    let tests = assertions(json!({"entry_point": "add", "test": "def check(candidate): ..."}));
    assert_eq!(tests.entry_point.as_deref(), Some("add"));
    assert_eq!(assertions(json!({"test": "assert f(1)"})).entry_point, None);
    let case = json!({"args": [1, 2], "kwargs": {"k": null}, "expected": 3});
    let suite = read(
        json!({"entry_point": "add", "setup": "import math", "cases": [case, {"expected": null}]}),
    );
    assert_eq!(suite.setup.as_deref(), Some("import math"));
    assert_eq!(suite.entry_point(), Some("add"));
    let Kind::Calls(calls) = suite.kind else { panic!() };
    assert_eq!(calls.cases[0].arguments.args, [int(1), int(2)]);
    assert_eq!(calls.cases[0].arguments.kwargs, [("k".to_owned(), PyValue::None)]);
    assert_eq!((&calls.cases[0].expected, &calls.cases[1].expected), (&int(3), &PyValue::None));
    // Rows keep no nulls; a text keeps them.
    let kept = json!({"entry_point": "add", "cases": [{"args": []}]});
    let Kind::Calls(calls) = Suite::from_value(&kept).unwrap().kind else { panic!() };
    assert_eq!(calls.cases[0].expected, PyValue::None);
    assert!(refused(Value::String(kept.to_string())).contains("expected"));
    let cases = runs(json!({"cases": [{"stdin": "1 2\n", "stdout": "3\n"}, {"stdout": ""}]}));
    assert_eq!(cases, [run("1 2\n", "3\n"), run("", "")]);
}

#[test]
fn a_program_of_tests_is_a_suite() {
    for text in [
        "from solution import rev\n\ndef test_a():\n    assert rev('ab') == 'ba'\n",
        "assert f(1) == 2\nassert f(2) == 3",
        "\"\"\"Tests.\"\"\"\nimport unittest\nclass Sums(unittest.TestCase):\n    pass\n",
        "def check(candidate):\n    assert candidate(1) == 1\ncheck(f)\n",
    ] {
        let Ok(Suite { kind: Kind::Assertions(tests), .. }) = Suite::from_value(&json!(text))
        else {
            panic!("{text}")
        };
        assert_eq!((tests.test.as_str(), tests.entry_point), (text, None));
    }
    for text in ["def f(x): return x", "[\"assert f(1) == 2\", ]", "{'test': 'assert f(1)'}"] {
        assert!(refused(json!(text)).starts_with("tests: not JSON"), "{text}");
    }
}

#[test]
fn methods_of_solution_are_functions() {
    let test = "def check(candidate):\n    assert candidate(1) == 1\n";
    for name in ["Solution().f", "Solution.f", "f"] {
        let tests = assertions(json!({"entry_point": name, "test": test}));
        assert_eq!(tests.entry_point.as_deref(), Some("f"), "{name}");
        let tests = calls(json!({"fn_name": name, "inputs": [[1]], "outputs": [2]}));
        assert_eq!(tests.entry_point, "f", "{name}");
        let class = name.starts_with("Solution").then_some("Solution");
        let case = json!([{"args": [1], "expected": 2}]);
        for row in [
            json!({"entry_point": name, "cases": case}),
            json!({"entry_point": name, "inputs": [[1]], "outputs": [2]}),
        ] {
            let tests = calls(row);
            assert_eq!(
                (tests.entry_point.as_str(), tests.class.as_deref()),
                ("f", class),
                "{name}"
            );
        }
    }
    for name in ["Solution().", "Solution()", "Other().f", "Solution().f.g", "solution.f"] {
        let error = refused(json!({"entry_point": name, "test": test}));
        assert!(error.contains("the name of a function"), "{name}: {error}");
    }
}

#[test]
fn rows_of_human_eval_and_mbpp() {
    let tests = assertions(json!({
        "task_id": "HumanEval/0", "prompt": "def f(x):\n", "canonical_solution": "    return x\n",
        "test": "def check(candidate):\n    assert candidate(1) == 1\n", "entry_point": "f",
    }));
    assert_eq!(tests.prompt.as_deref(), Some("def f(x):\n"));
    let full = json!({
        "task_id": 1, "text": "Write f.", "code": "def f(x): return x", "test_setup_code": "import math",
        "test_list": ["assert f(1) == 1", "assert f(2) == 2"], "challenge_test_list": ["assert f(3) == 3"],
    });
    let suite = read(full);
    assert_eq!(suite.setup.as_deref(), Some("import math"));
    let Kind::Assertions(tests) = suite.kind else { panic!() };
    assert_eq!(tests.test, "assert f(1) == 1\nassert f(2) == 2\nassert f(3) == 3\n");
    let sanitized = json!({
        "prompt": "Write f.", "code": "...", "test_imports": ["import re"], "test_list": ["assert f(1)"],
    });
    let tests = assertions(sanitized);
    assert_eq!((tests.test.as_str(), tests.prompt), ("import re\nassert f(1)\n", None));
}

#[test]
fn rows_of_apps_and_taco() {
    let row =
        |input_output: Value| json!({"question": "?", "input_output": input_output.to_string()});
    let cases = runs(row(json!({"inputs": ["1\n", ["2", "3"]], "outputs": ["1\n", ["a", "b"]]})));
    assert_eq!(cases, [run("1\n", "1\n"), run("2\n3", "a\nb")]);
    let wrapped = json!({"fn_name": "f", "inputs": [[1, [2]], ["x", []]], "outputs": [[3], [[4]]]});
    let tests = calls(row(wrapped.clone()));
    assert_eq!((tests.entry_point.as_str(), tests.class.as_deref()), ("f", Some("Solution")));
    assert_eq!(tests.cases[0].arguments.args, [int(1), PyValue::List(vec![int(2)])]);
    assert_eq!(tests.cases[0].expected, int(3));
    assert_eq!(tests.cases[0].or_expected, [PyValue::List(vec![int(3)])]);
    assert_eq!(calls(wrapped).cases.len(), 2);
    let plain = calls(row(json!({"fn_name": "f", "inputs": [[1], [2]], "outputs": [[3], [4, 5]]})));
    assert_eq!(plain.cases[0].expected, PyValue::List(vec![int(3)]));
    assert_eq!(plain.cases[0].or_expected, []);
    let text = calls(json!({"fn_name": "f", "inputs": ["[1, 2]\n\"x\"\n"], "outputs": ["[true]"]}));
    assert_eq!(text.cases[0].arguments.args.len(), 2);
    assert_eq!(text.cases[0].expected, PyValue::List(vec![PyValue::Bool(true)]));
}

#[test]
fn rows_of_live_code_bench() {
    let public = json!([{"input": "1\n", "output": "2\n", "testtype": "stdin"}]).to_string();
    let row = json!({"public_test_cases": public, "private_test_cases": "[]", "metadata": "{}"});
    assert_eq!(runs(row), [run("1\n", "2\n")]);
    let public = json!([{"input": "[1]\n2", "output": "3", "testtype": "functional"}]).to_string();
    let row = json!({"public_test_cases": public, "private_test_cases": public, "metadata": "{\"func_name\": \"f\"}"});
    let tests = calls(row);
    assert_eq!((tests.entry_point.as_str(), tests.cases.len()), ("f", 2));
    assert_eq!(tests.cases[1].arguments.args, [PyValue::List(vec![int(1)]), int(2)]);
    let packed = "eJxrYEouSSxJVbBSUCpKLCnNKVGyUihJLS5RqOUCAH+sCUY=";
    let error = refused(json!({"public_test_cases": public, "private_test_cases": packed}));
    assert!(
        error.contains("key \"private_test_cases\"") && error.contains("zlib.decompress"),
        "{error}"
    );
    let deep = json!([{"input": "1", "output": "1", "testtype": "functional", "metadata": {"func_name": "g"}}]);
    assert_eq!(calls(deep).entry_point, "g");
}

#[test]
fn rows_of_others() {
    let cases = json!([{"fn_name": null, "input": "1", "output": "1", "type": "stdin_stdout"}]);
    let row = json!({"verification_info": {"language": "python", "test_cases": cases}});
    assert_eq!(runs(row), [run("1", "1")]);
    let cases = json!([{"fn_name": "f", "input": [1], "output": [2], "type": "function_call"}]);
    assert_eq!(
        calls(json!({"verification_info": {"test_cases": cases}})).cases[0].expected,
        int(2)
    );
    let gym = json!({"verifier_metadata": {"unit_tests": {"inputs": ["1"], "outputs": ["2"]}}});
    assert_eq!(runs(gym), [run("1", "2")]);
    let text = json!({"inputs": "[\"1\"]", "outputs": "[\"2\"]"});
    assert_eq!(runs(text), [run("1", "2")]);
    let own = json!({"input": ["1"], "output": ["2"]});
    let none = json!({"input": [], "output": []});
    let row = json!({"public_tests": own, "private_tests": none, "generated_tests": own});
    assert_eq!(runs(row), [run("1", "2"), run("1", "2")]);
    refused(json!({"public_tests": none, "private_tests": none}));
    refused(json!({"public_tests": {"input": ["1"], "output": []}}));
    let tests = assertions(json!({"assert_case": ["assert f(1)", "assert f(2)"]}));
    assert_eq!(tests.test, "assert f(1)\nassert f(2)\n");
    assert_eq!(assertions(json!({"test_cases": ["assert f(1)"]})).test, "assert f(1)\n");
    assert_eq!(assertions(json!(["assert f(1)"])).test, "assert f(1)\n");
    for key in ["functional", "pytest"] {
        assert_eq!(assertions(json!({ key: "assert f(1)" })).test, "assert f(1)");
    }
    let plus = calls(json!({"entry_point": "f", "inputs": [[1]], "outputs": [[2]], "atol": 1e-6}));
    assert_eq!(
        (&plus.cases[0].expected, plus.float_tolerance),
        (&PyValue::List(vec![int(2)]), Some(1e-6))
    );
    let grader =
        read(json!({"type": "python", "name": "g", "source": "def grade(s, i): return 1"}));
    assert!(matches!(grader.kind, Kind::Grader { .. }));
    let ground = json!({"ground_truth": json!({"inputs": ["1"], "outputs": ["2"]}).to_string()});
    assert_eq!(runs(ground), [run("1", "2")]);
}

#[test]
fn numbers_are_kept_in_text() {
    let huge = "123456789012345678901234567890";
    let text = format!(
        "{{\"entry_point\": \"f\", \"cases\": [{{\"args\": [{huge}, NaN, -Infinity, 1e2, -0.0, 1.5], \"expected\": 18446744073709551616}}]}}"
    );
    let Kind::Calls(calls) = Suite::from_value(&Value::String(text)).unwrap().kind else {
        panic!()
    };
    let args = &calls.cases[0].arguments.args;
    assert_eq!(args[0].to_string(), huge);
    assert!(matches!(args[1], PyValue::Float(number) if number.is_nan()));
    assert_eq!(args[2], PyValue::Float(f64::NEG_INFINITY));
    assert_eq!((&args[3], &args[5]), (&PyValue::Float(100.0), &PyValue::Float(1.5)));
    assert!(matches!(args[4], PyValue::Float(zero) if zero.is_sign_negative()));
    assert_eq!(calls.cases[0].expected.to_string(), "18446744073709551616");
    let lost: Value = serde_json::from_str("{\"entry_point\": \"f\", \"cases\": [{\"args\": [18446744073709551616], \"expected\": 1}]}").unwrap();
    let error = refused(lost);
    assert!(error.contains("\"cases[0].args[0]\"") && error.contains("JSON text"), "{error}");
    let kept: Value = serde_json::from_str("{\"entry_point\": \"f\", \"cases\": [{\"args\": [18446744073709551615, -9223372036854775808, 1e18], \"expected\": 1}]}").unwrap();
    assert!(Suite::from_value(&kept).is_ok());
}

#[test]
fn calls_as_leetcode_has_them() {
    let by_name = calls(
        json!({"fn_name": "f", "inputs": ["a = [1, null], b = 'x'", "a = 1\nb = 2"], "outputs": ["[1,#]", "None"]}),
    );
    let [one, other] = [0, 1].map(|index| &by_name.cases[index]);
    let list = PyValue::List(vec![int(1), PyValue::None]);
    let kwargs = [("a".to_owned(), list), ("b".to_owned(), "x".into())];
    assert_eq!(one.arguments.kwargs, kwargs);
    assert_eq!(one.expected, PyValue::List(vec![int(1), "#".into()]));
    assert_eq!((other.arguments.kwargs.len(), &other.expected), (2, &PyValue::None));
    let any = calls(json!({"entry_point": "f", "compare": "any_order", "cases": [
        {"input": "1\n2", "expected_any": [1, 2, 3], "compare": "exact"}]}));
    assert_eq!(
        (any.order, any.cases[0].order),
        (Some(AnswerOrder::AnyOrder), Some(AnswerOrder::Exact))
    );
    assert_eq!((&any.cases[0].expected, any.cases[0].or_expected.len()), (&int(1), 2));
    let steps =
        json!({"operations": ["Box", "put"], "arguments": [[], [1]], "expected": [null, 2]});
    let put = CallTarget::Operation { name: "put".to_owned(), case: 1, step: 2 };
    let text = "[\"Box\", \"put\"]\n[[], [1]]";
    for value in [
        steps.clone(),
        json!({"cases": [steps]}),
        json!({"entry_point": "Box", "cases": [{"input": text, "output": "[null, 2]"}]}),
        json!({"entry_point": "Box", "inputs": [text], "outputs": ["[null, 2]"]}),
    ] {
        let found = calls(value);
        assert_eq!(found.entry_point, "Box");
        let [make, step] = found.cases.as_slice() else { panic!() };
        assert_eq!((&make.target, &step.target), (&CallTarget::Class, &put));
        assert_eq!((&step.arguments.args, &step.expected), (&vec![int(1)], &int(2)));
    }
    for (value, why) in [
        (
            json!({"operations": ["Box"], "arguments": [], "expected": [null]}),
            "0 lists of arguments",
        ),
        (
            json!({"operations": ["Box", "a b"], "arguments": [[], []], "expected": [1, 1]}),
            "the name of a function",
        ),
        (json!({"cases": [{"operations": [], "arguments": [], "expected": []}]}), "entry_point"),
        (json!({"fn_name": "f", "inputs": ["a = g(1)"], "outputs": ["1"]}), "found \"g(1)\""),
        (
            json!({"entry_point": "f", "compare": "any", "cases": [{"args": [], "expected": 1}]}),
            "any_order",
        ),
    ] {
        let error = refused(value);
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn errors_name_the_key_and_what_stands_there() {
    let cases = [
        (json!(3), "tests: expected an object, a list, or JSON text of one, found the number 3"),
        (json!(null), "tests: expected an object, a list, or JSON text of one, found null"),
        (
            json!("def f(c): ..."),
            "tests: not JSON: line 1, column 1: expected a value, found \"def f(c): ...\" (tests are a JSON list, an assert each: [\"assert f(1) == 2\"])",
        ),
        (
            json!("def check(candidate):\n    assert candidate(1) == 1\n"),
            "tests: they define check(candidate), and the function that it is given stands elsewhere: for rows with the columns test and entry_point write tests = \".\" and leave [data] reference out; else {\"test\": \"...\", \"entry_point\": \"...\"}",
        ),
        (
            json!({"test": ""}),
            "tests: key \"test\": expected text that is not empty, found text \"\"",
        ),
        (
            json!({"test": 1, "entry_point": "f"}),
            "tests: key \"test\": expected text, found the number 1",
        ),
        (
            json!({"test": "x", "entryPoint": "f"}),
            "tests: unknown key \"entryPoint\"; may have: entry_point, setup",
        ),
        (
            json!({"test": "x", "entry_point": "a b"}),
            "tests: key \"entry_point\": expected the name of a function, found text \"a b\"",
        ),
        (json!({"cases": []}), "tests: key \"cases\": is empty; a suite has at least one test"),
        (
            json!({"cases": [{"stdin": "1"}]}),
            "tests: key \"cases[0]\": key \"stdout\" missing; has: stdin",
        ),
        (
            json!({"cases": [{"stdout": "1"}, {"stdout": 1}]}),
            "tests: key \"cases[1].stdout\": expected text, found the number 1",
        ),
        (
            json!({"cases": [{"stdout": "1", "std_in": ""}]}),
            "tests: key \"cases[0]\": unknown key \"std_in\"; may have: stdin, stdout",
        ),
        (json!({"cases": [{"expected": 1}]}), "tests: key \"entry_point\" missing; has: cases"),
        (
            json!("{\"entry_point\": \"f\", \"cases\": [{\"args\": [1]}]}"),
            "tests: key \"cases[0]\": key \"expected\" missing; has: args",
        ),
        (
            json!({"entry_point": "f", "cases": [{"args": 1, "expected": 1}]}),
            "tests: key \"cases[0].args\": expected a list of arguments, found the number 1",
        ),
    ];
    for (value, message) in cases {
        assert_eq!(refused(value.clone()), message, "{value}");
    }
}

#[test]
fn errors_of_imported_rows_name_the_key_too() {
    let cases = [
        (
            json!({"inputs": ["1"], "outputs": []}),
            "tests: key \"outputs\": has 0 outputs for 1 inputs",
        ),
        (json!({"inputs": ["1"]}), "tests: key \"outputs\" missing; has: inputs"),
        (
            json!({"fn_name": "f", "inputs": ["[1"], "outputs": ["1"]}),
            "tests: key \"inputs[0], line 1\": not JSON: line 1, column 3: expected \",\" or \"]\", found the end",
        ),
        (
            json!({"input_output": "{\"inputs\": ["}),
            "tests: key \"input_output\": not JSON: line 1, column 13: expected a value, found the end",
        ),
        (
            json!([{"input": "1", "output": "1", "testtype": "functional"}]),
            "tests: key \"[0]\": key \"fn_name\" missing; has: input, output, testtype",
        ),
        (
            json!([{"input": "1", "output": "1", "testtype": "x"}]),
            "tests: key \"[0].testtype\": expected stdin, stdin_stdout, functional or function_call, found text \"x\"",
        ),
    ];
    for (value, message) in cases {
        assert_eq!(refused(value.clone()), message, "{value}");
    }
    assert!(refused(json!({"a": 1})).contains("an object with the keys a"));
    let one = json!({"stdout": ""});
    assert!(
        refused(json!({"cases": vec![one; CASES_MAX + 1]})).contains("10001 tests; at most 10000")
    );
}

#[test]
fn hostile_text_is_refused() {
    let deep = "[".repeat(100_000);
    assert!(refused(Value::String(deep)).contains("nests deeper than 128"));
    let digits = format!("[{}]", "1".repeat(20_000));
    assert!(refused(Value::String(digits)).contains("digits in one integer"));
    let many = format!("[{}1]", "1,".repeat(VALUES_MAX));
    assert!(refused(Value::String(many)).contains("values; at most"));
    for text in [
        "[1,]",
        "{\"a\":1,}",
        "[01]",
        "[1.]",
        "[.5]",
        "[+1]",
        "\"\\ud800\"",
        "\"\\u12\"",
        "\"",
        "[1] 2",
        "{1: 2}",
        "nul",
    ] {
        let error = refused(Value::String(text.to_owned()));
        assert!(error.contains("not JSON"), "{text}: {error}");
    }
}

#[test]
fn data_is_written_as_python() {
    let data =
        json::read("[null, true, {\"a'\": -1}, \"x\\n\\u00e9\\ud83d\\ude00\", 1.0, NaN]", "")
            .unwrap();
    assert_eq!(format!("{data:#}"), "[None, True, {\"a'\": -1}, 'x\\né😀', 1.0, float('NaN')]");
    let twice = json::read("{\"a\": 1, \"b\": 2, \"a\": 3}", "").unwrap();
    assert_eq!(twice.to_string(), "{'a': 3, 'b': 2}");
}

proptest::proptest! {
    #[test]
    fn our_json_agrees_with_serde(text in "[\\[\\]{}:,\"a1e.\\-\\\\ ]{0,16}|[0-9.eE+-]{1,8}|\\[[0-9,.e\\-]{0,12}\\]") {
        let ours = json::read(&text, "");
        match serde_json::from_str::<Value>(&text) {
            Ok(value) => {
                if let Ok(theirs) = bounded::from_value(&value) {
                    let zeros = |text: String| text.replace("-0.0", "0");
                    proptest::prop_assert_eq!(zeros(ours.unwrap().to_string()), zeros(theirs.to_string()));
                }
            }
            // What is out of the range of a float is infinite in Python, and an error in serde.
            Err(_) => proptest::prop_assert!(ours.is_err() || text.contains(['e', 'E'])),
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,40}") {
        let _ = Suite::from_value(&Value::String(text));
    }
}
