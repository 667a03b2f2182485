//! Rubrics of others that are wrong: each is refused with its place in the file.

use assay_rubrics::formats::{Format, read, read_as, read_text};
use assay_rubrics::rubric::RubricError;
use proptest::prelude::*;
use serde_json::{Value, json};

fn refused(value: Value) -> RubricError {
    let told = value.to_string();
    read(value).expect_err(&told)
}

/// The place and a part of the message.
fn assert_refused(value: Value, place: &str, part: &str) {
    let error = refused(value);
    assert_eq!(error.place, place, "{error}");
    assert!(error.message.contains(part), "{error}");
}

#[test]
fn a_value_of_no_known_format_says_what_is_known() {
    let error = refused(json!({"colour": "red", "size": 3}));
    for part in
        ["has: colour, size", "healthbench (a list of `criterion` and `points`)", "openai_grader"]
    {
        assert!(error.message.contains(part), "{error}");
    }
    assert!(refused(json!([{"colour": "red"}])).message.contains("a list of 1"));
    assert!(refused(json!(3)).message.contains("neither an object nor a list"));
    assert_eq!(Format::detect(&json!({"colour": "red"})), None);
}

#[test]
fn keys_that_are_missing_are_named() {
    let health = json!({"rubrics": [{"criterion": "x", "points": 1}, {"criterion": "y"}]});
    assert_refused(health, "rubrics[1]", "`points` is missing; has: criterion");
    let tree = json!({"id": "a", "requirements": "x", "weight": 1,
        "sub_tasks": [{"id": "b", "weight": 1}]});
    assert_refused(tree, "sub_tasks[0]", "`requirements` is missing");
    let biggen = json!({"score_rubric": {"criteria": "x", "score1_description": "a"}});
    assert_refused(biggen, "score_rubric", "`score2_description` is missing");
    let turn = json!({"turns": [{"items": [{"id": "a", "question": "x"}]}]});
    assert_refused(turn, "turns[0].items[0]", "`weight` is missing");
    let multi = json!({"type": "multi", "graders": {}});
    assert_refused(multi, "the rubric", "`calculate_output` is missing");
    let levels = json!({"criterion": "x", "levels": {"1": "a", "3": "b"}});
    assert_refused(levels, "levels", "`2` is missing");
    assert_refused(json!({"tests": [{"vars": {}}]}), "tests[0]", "`assert` is missing");
    let error = read_as(Format::Healthbench, json!({"x": 1})).unwrap_err();
    assert_eq!(error.to_string(), "the rubric: expected a list, found an object");
}

#[test]
fn values_of_another_type_are_named() {
    let health = json!([{"criterion": "x", "points": "many"}]);
    assert_refused(health, "[0].points", "expected a number, found text");
    let tree = json!({"tree": {"id": "a", "requirements": 7, "weight": 1}});
    assert_refused(tree, "tree.requirements", "expected text, found a number");
    let weighed = json!([{"title": "t", "description": "d", "weight": "Huge"}]);
    assert_refused(weighed, "[0].weight", "Essential");
    let check = json!({"type": "string_check", "input": "x", "reference": "y", "operation": "is"});
    assert_refused(check, "operation", "found \"is\"");
    assert_refused(json!({"checklist": ["a", 3]}), "checklist[1]", "expected text");
    let inspect = json!({"name": "model_graded_qa", "options": {"partial_credit": "yes"}});
    assert_refused(inspect, "options.partial_credit", "expected true or false");
}

#[test]
fn an_expression_names_criteria_alone() {
    let expression = |source: &str| {
        json!({
            "criterion": [{"name": "a", "text": "x"}, {"name": "b", "text": "y"}],
            "aggregate": {"how": "expression", "expression": source},
        })
    };
    assert_refused(expression("a + c"), "aggregate.expression", "no `c` is there");
    assert!(read(expression("if a > 0.5 { value.b } else { b }")).is_ok());
}

#[test]
fn names_that_are_used_twice_are_refused() {
    let verifiers = json!({"criteria": [{"name": "a", "text": "x"}, {"name": "a", "text": "y"}]});
    assert_refused(verifiers, "criteria[1].name", "used twice, first in criteria[0]");
    let gym = json!([{"id": "a", "criteria": "x"}, {"id": "a", "criteria": "y"}]);
    assert_refused(gym, "[1].id", "used twice");
    let choices = json!([{"name": "a", "text": "x", "choices": ["no", "No"]}]);
    assert_refused(choices, "[0].choices[1]", "used twice");
}

#[test]
fn weights_that_cannot_be_divided_by_are_refused() {
    let health = json!({"rubrics": [{"criterion": "x", "points": -1}]});
    assert_refused(health, "rubrics", "the positive points of the criteria add up to 0");
    let words = json!({"rubric": [
        {"title": "a", "description": "x", "weight": 1},
        {"title": "b", "description": "y", "weight": -1},
    ]});
    assert_refused(words, "rubric", "add up to 0");
    let negative = json!({"criteria": [{"name": "a", "text": "x", "weight": -1}]});
    assert_refused(negative, "criteria[0].weight", "0 or more");
    let nothing = json!({"criteria": [{"name": "a", "text": "x", "weight": 0}]});
    assert_refused(nothing, "criteria", "add up to 0");
    let tree = json!({"id": "a", "requirements": "x", "weight": 1,
        "sub_tasks": [{"id": "b", "requirements": "y", "weight": -1}]});
    assert_refused(tree, "sub_tasks[0].weight", "0 or more");
    let turn = json!({"turns": [{"items": [{"id": "a", "question": "x", "weight": 0.5}]}]});
    assert_refused(turn, "turns[0].items", "add up to 0.5, not to 1");
}

#[test]
fn prerequisites_that_are_unknown_or_circular_are_refused() {
    let turn = |dependence: Value| {
        json!({"turns": [{
            "items": [{"id": "a", "question": "x"}, {"id": "b", "question": "y"}],
            "weights": {"a": 0.5, "b": 0.5},
            "dependence": dependence,
        }]})
    };
    assert_refused(
        turn(json!({"a": ["c"], "b": []})),
        "turns[0].dependence",
        "no item is called \"c\"",
    );
    assert_refused(turn(json!({"a": []})), "turns[0].dependence", "\"b\" is missing");
    assert_refused(
        turn(json!({"a": ["b"], "b": ["a"]})),
        "turns[0].items[0]",
        "the prerequisites form a cycle",
    );
}

#[test]
fn a_tree_that_is_too_deep_is_refused() {
    let mut tree = json!({"id": "leaf", "requirements": "x", "weight": 1});
    for depth in 0..40 {
        tree =
            json!({"id": depth.to_string(), "requirements": "x", "weight": 1, "sub_tasks": [tree]});
    }
    let error = refused(tree);
    assert!(error.message.contains("deeper than 32"), "{error}");
    assert!(error.place.starts_with("sub_tasks[0].sub_tasks[0]"), "{error}");
}

#[test]
fn assertions_that_cannot_be_answered_are_refused() {
    for (kind, part) in [
        ("similar", "embeddings"),
        ("javascript", "Python"),
        ("not-similar", "embeddings"),
        ("latency", "about the call"),
        ("select-best", "several outputs"),
        ("nonsense", "not known"),
        ("not-g-eval", "cannot be answered"),
    ] {
        let value =
            json!({"assert": [{"type": "contains", "value": "x"}, {"type": kind, "value": "x"}]});
        assert_refused(value, "assert[1].type", part);
    }
    for (kind, value) in [
        ("contains", json!(" ")),
        ("contains-any", json!(["a", ""])),
        ("regex", json!("(?<!a)b")),
        ("regex", json!("{{ pattern }}")),
        ("equals", json!("file://x.txt")),
        ("llm-rubric", json!("{% if x %}")),
        ("equals", json!("{{ name | upper }}")),
        ("word-count", json!({"most": 3})),
        ("is-json", json!("type: [")),
    ] {
        let told = json!({"assert": [{"type": kind, "value": value}]});
        let error = refused(told.clone());
        assert!(error.place.starts_with("assert[0]"), "{told}: {error}");
    }
    let tests = json!({"tests": [{"assert": [{"type": "is-json"}]}, {"assert": []}]});
    assert_refused(tests, "tests[1]", "one test");
}

#[test]
fn graders_that_cannot_be_answered_are_refused() {
    let similarity = |metric: &str| json!({"type": "text_similarity", "input": "x", "reference": "y", "evaluation_metric": metric});
    assert_refused(similarity("meteor"), "evaluation_metric", "WordNet");
    assert_refused(similarity("cosine"), "evaluation_metric", "embeddings");
    let score = |range: Value| json!({"type": "score_model", "input": "Rate.", "range": range});
    assert_refused(score(json!([0, 0.5])), "range[1]", "a whole number");
    assert_refused(score(json!([1])), "range", "two numbers");
    let label =
        json!({"type": "label_model", "input": "x", "labels": ["a", "b"], "passing_labels": ["c"]});
    assert_refused(label, "passing_labels", "not one of the labels");
    let open =
        json!({"type": "string_check", "input": "{{ item.a", "reference": "y", "operation": "eq"});
    assert_refused(open, "input", "expected `}}`");
    let nested = json!({"type": "multi", "calculate_output": "a",
        "graders": {"a": {"type": "multi", "graders": {}, "calculate_output": "1"}}});
    assert_refused(nested, "graders.a.type", "within a `multi`");
}

#[test]
fn a_formula_that_is_no_arithmetic_is_refused() {
    let deep = format!("{}a{}", "(".repeat(200), ")".repeat(200));
    let long = format!("a{}", "+a".repeat(4000));
    for formula in [
        "",
        "a +",
        "b",
        "a; a",
        "a ** 2",
        "a = 1",
        "print(a)",
        "a.b",
        "min(a)",
        "abs(a, a)",
        "(a",
        "a)",
        "a a",
        "1e999",
        "\"a\"",
        "a % 2",
        "value.a",
        "if a",
        "1..2",
        "eval(\"1\")",
        &deep,
        &long,
    ] {
        let value = json!({"type": "multi", "calculate_output": formula, "graders": {
            "a": {"type": "string_check", "input": "x", "reference": "y", "operation": "eq"},
        }});
        assert_eq!(refused(value).place, "calculate_output", "{formula}");
    }
}

#[test]
fn a_text_that_does_not_parse_is_told_by_line_and_column() {
    let place = |name: &str, text: &str| read_text(name, text.as_bytes()).unwrap_err().place;
    assert_eq!(place("a.json", "{\n  \"a\": }"), "line 2, column 8");
    assert_eq!(place("a.toml", "a = 1\nb = = 2"), "line 2, column 5");
    assert_eq!(place("a.yaml", "a: 1\nb: [1, 2"), "line 2, column 4");
    assert_eq!(read_text("a.json", b"\xff").unwrap_err().place, "byte 0");
    let rubric = "rubrics:\n  - criterion: x\n    points: lots\n";
    let error = read_text("a.yml", rubric.as_bytes()).unwrap_err();
    assert_eq!(error.to_string(), "rubrics[0].points: expected a number, found text");
}

#[test]
fn yaml_that_unfolds_without_end_is_refused() {
    let tenfold = |level: u32| {
        let below = vec![format!("*a{}", level - 1); 10].join(", ");
        format!("a{level}: &a{level} [{below}]\n")
    };
    let text: String =
        std::iter::once("a0: &a0 [x, x, x]\n".to_owned()).chain((1..12).map(tenfold)).collect();
    assert!(read_text("bomb.yaml", text.as_bytes()).is_err());
}

fn anything() -> impl Strategy<Value = Value> {
    let keys = prop_oneof![
        Just("criterion"),
        Just("points"),
        Just("weight"),
        Just("criteria"),
        Just("type"),
        Just("rubric"),
        Just("assert"),
        Just("graders"),
        Just("calculate_output"),
        Just("turns"),
        Just("items"),
        Just("id"),
        Just("requirements"),
        Just("sub_tasks"),
        Just("name"),
        Just("text"),
        Just("levels"),
        Just("checklist"),
        Just("value"),
        Just("description"),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z{} .:\\[\\]]{0,12}".prop_map(Value::from),
        Just(json!("multi")),
        Just(json!("assert-set")),
        Just(json!("llm-rubric")),
    ];
    leaf.prop_recursive(5, 40, 5, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(keys.clone(), inner, 0..5).prop_map(|map| map
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect()),
        ]
    })
}

proptest! {
    #[test]
    fn whatever_comes_is_a_rubric_or_an_error(value in anything()) {
        for format in Format::ALL {
            if let Ok(rubric) = read_as(format, value.clone()) {
                prop_assert_eq!(rubric.check(), Ok(()));
            }
        }
        if let Ok(rubric) = read(value) {
            prop_assert_eq!(rubric.check(), Ok(()));
        }
    }
}
