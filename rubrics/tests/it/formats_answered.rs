//! Criteria of others that code answers: their settings are taken by the verifiers, which say what
//! the tools of others say.

use assay_rubrics::formats::read;
use assay_rubrics::rubric::Criterion;
use assay_rubrics::verifiers::string_check::StringCheck;
use assay_rubrics::verifiers::text_similarity::TextSimilarity;
use assay_verifiers::check::build;
use assay_verifiers::verifier::{Built, Earlier, Lane};
use assay_verifiers::{Content, Meter, NoFiles, Sample, registry};
use serde_json::{Value, json};

fn built(leaf: &Criterion) -> Built {
    let settings = Value::Object(leaf.config.clone());
    let id = leaf.verifier.as_deref().unwrap();
    let built = match id {
        "string_check" => build::<StringCheck>(settings, &NoFiles),
        "text_similarity" => build::<TextSimilarity>(settings, &NoFiles),
        _ => (registry::find(id).unwrap_or_else(|| panic!("{id}")).build)(settings, &NoFiles),
    };
    built.unwrap_or_else(|error| panic!("{id}: {}: {error}", error.setting))
}

/// The share that the only criterion of a rubric earns.
fn share(rubric: Value, sample: &Sample) -> Option<f64> {
    let told = rubric.to_string();
    let rubric = read(rubric).unwrap_or_else(|error| panic!("{told}: {error}"));
    let leaf = rubric.criteria.first().unwrap();
    let Lane::Compute(verifier) = built(leaf).lane else { panic!("another lane") };
    let verdict = verifier.verify(sample, Earlier::default(), &mut Meter::default());
    let share = verdict.outcome.reward()?.get();
    Some(if leaf.negate { 1.0 - share } else { share })
}

fn assertion(kind: &str, value: &Value, output: &str) -> f64 {
    let row = json!({"name": "Ada", "brackets": "{{ item.name }}"});
    let sample = Sample::builder(output).meta(row.as_object().unwrap().clone()).build();
    let rubric = json!([{"type": kind, "value": value}]);
    share(rubric, &sample).unwrap_or_else(|| panic!("{kind} {value}: no reward"))
}

#[test]
fn assertions_of_promptfoo_say_what_they_say_there() {
    let schema = json!({"type": "object", "required": ["a"]});
    let yaml = json!("type: object\nrequired: [a]");
    let table: Vec<(&str, Value, &str, bool)> = vec![
        ("equals", json!("a b"), "a b", true),
        ("equals", json!("a b"), "a b\n", false),
        ("equals", json!(4), "4", true),
        ("equals", json!("Hello {{name}}"), "Hello Ada", true),
        ("equals", json!("{{ vars.brackets }}"), "{{ item.name }}", true),
        ("equals", json!({"a": [1]}), "{ \"a\": [1] }", true),
        ("equals", json!({"a": [1]}), "{\"a\": [1, 2]}", false),
        ("not-equals", json!("a"), "b", true),
        ("iequals", json!("A.b (c)<d>"), "a.B (C)<D>", true),
        ("iequals", json!("A.b"), "axb", false),
        ("iequals", json!("a"), "A\n", false),
        ("contains", json!("b"), "abc", true),
        ("contains", json!("B"), "abc", false),
        ("contains", json!(12), "a 123", true),
        ("contains", json!("{{name}}"), "to Ada, who", true),
        ("icontains", json!("{{name}}"), "to ADA, who", true),
        ("icontains", json!("B"), "abc", true),
        ("not-contains", json!("z"), "abc", true),
        ("contains-any", json!(["x", "b"]), "abc", true),
        ("contains-any", json!("x, \"b,c\""), "ab,c", true),
        ("contains-any", json!("x,y"), "abc", false),
        ("contains-all", json!(["a", "c"]), "abc", true),
        ("contains-all", json!(["a", "z"]), "abc", false),
        ("icontains-any", json!(["X", "B"]), "abc", true),
        ("icontains-all", json!(["A", "B"]), "abc", true),
        ("starts-with", json!("(a) <b>"), "(a) <b> c", true),
        ("starts-with", json!("b"), "a\nb", false),
        ("regex", json!("^a+$"), "aaa", true),
        ("not-regex", json!("\\d"), "abc", true),
        ("is-json", Value::Null, "[1, 2]", true),
        ("is-json", Value::Null, "Here: [1, 2]", false),
        ("is-json", schema.clone(), "{\"a\": 1}", true),
        ("is-json", schema.clone(), "{\"b\": 1}", false),
        ("is-json", yaml.clone(), "{\"a\": 1}", true),
        ("is-json", yaml, "{\"b\": 1}", false),
        ("not-is-json", schema.clone(), "no", true),
        ("contains-json", Value::Null, "Here:\n```json\n{\"a\": 1}\n```\n", true),
        ("contains-json", schema, "Here:\n```json\n{\"b\": 1}\n```\n", false),
        ("word-count", json!(3), "one two  three", true),
        ("word-count", json!({"min": 4}), "one two three", false),
        ("word-count", json!({"max": 3}), "one two three", true),
    ];
    for (kind, value, output, passes) in table {
        let wanted = if passes { 1.0 } else { 0.0 };
        let found = assertion(kind, &value, output);
        assert!((found - wanted).abs() < 1e-12, "{kind} {value} on {output:?}: {found}");
    }
}

#[test]
fn graders_of_openai_read_the_row_and_the_output() {
    let calls = json!([{"role": "assistant", "content": "{\"name\": \"Ada\"}", "tool_calls": [
        {"id": "1", "type": "function", "function": {"name": "search", "arguments": "{}"}},
    ]}]);
    let messages: Content = serde_json::from_value(calls).unwrap();
    let row = json!({"name": "Ada", "list": [{"x": "search"}]});
    let sample =
        Sample::builder(messages).meta(row.as_object().unwrap().clone()).reference("Ada").build();
    let check = |input: &str, reference: &str, operation: &str| {
        let grader = json!({"type": "string_check", "name": "n", "input": input,
            "reference": reference, "operation": operation});
        share(grader, &sample)
    };
    assert_eq!(check("{{ sample.output_json.name }}", "{{ item.reference }}", "eq"), Some(1.0));
    let tool = "{{sample.output_tools[0].function.name}}";
    assert_eq!(check(tool, "{{ item.list[0].x }}", "eq"), Some(1.0));
    assert_eq!(check(tool, "{{ item.name }}", "neq"), Some(1.0));
    let said = "{{ sample.choices[0].message.content }}";
    assert_eq!(check(said, "ada", "ilike"), Some(1.0));
    assert_eq!(check(said, "ada", "like"), Some(0.0));
    assert_eq!(check(said, "{{ item.missing }}", "like"), None);
    let similar = json!({"type": "text_similarity", "name": "n", "evaluation_metric": "fuzzy_match",
        "input": "{{ sample.output_json.name }}", "reference": "Ida"});
    assert_eq!(share(similar, &sample), Some(4.0 / 6.0));
}

#[test]
fn python_of_promptfoo_becomes_a_function_of_the_sample() {
    let rubric =
        read(json!([{"type": "python", "value": "n = len(output)\nreturn n > 3"}])).unwrap();
    let leaf = rubric.criteria.first().unwrap();
    let script = leaf.config.get("script").and_then(Value::as_str).unwrap();
    let wanted = "def judged(output, context):\n    n = len(output)\n    return n > 3\n\n\
        def reward(sample):\n    \
            context = {\"prompt\": sample[\"prompt\"], \"vars\": sample[\"meta\"]}\n    \
            said = judged(sample[\"completion\"], context)\n    \
            if isinstance(said, dict):\n        \
                return float(said.get(\"score\", said.get(\"pass\", False)))\n    \
            return said if said is None else float(said)\n";
    assert_eq!(script, wanted);
}
