//! Judgements of calls, and of the ways of agents.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on has failed"
)]

use assay_calls::bfcl::{Category, Checker, UNJUDGEABLE, Version};
use assay_calls::compare::{Comparison, Expected, Prices, Rule, compare};
use assay_calls::trajectory::{Kind, Message, account, looks_like_error, steps, steps_of_text};
use assay_calls::{Call, Reading, read, schema};
use serde_json::{Value, json};

fn calls(text: &str) -> Vec<Call> {
    read(text, Reading { names: true, ..Reading::default() }).unwrap().calls
}

#[test]
fn bfcl_says_what_the_official_checker_says() {
    for row in include_str!("data/bfcl.jsonl").lines() {
        let row: Value = serde_json::from_str(row).unwrap();
        let version = if row["version"] == "current" { Version::Current } else { Version::Of2024 };
        let category = Category::named(row["category"].as_str().unwrap()).unwrap();
        let checker =
            Checker::new(&row["tools"], &row["reference"], category, version, false).unwrap();
        let own = calls(row["response"].as_str().unwrap());
        assert_eq!(checker.check(&own), row["error_type"].as_str(), "{}", row["response"]);
        if row["error_type"].is_null()
            && let Some(gold) = checker.gold()
        {
            assert_eq!(checker.check(&calls(&gold.to_string())), None, "{gold}");
        }
    }
}

#[test]
fn bfcl_refuses_what_it_cannot_judge_by() {
    let tools = json!([{"name": "f", "parameters": {"properties": {"a": {"type": "number"}}, "required": []}}]);
    let new = |answers: &Value| {
        let answers = answers.clone();
        let category = Category::named("simple").unwrap();
        let checker = Checker::new(&tools, &answers, category, Version::Current, false);
        checker.map(|checker| checker.check(&calls("[f(a=1)]")))
    };
    assert_eq!(new(&json!([{"f": {"a": [1]}}])), Ok(Some(UNJUDGEABLE)));
    for answers in [json!([]), json!(["f"]), json!([{"f": {"a": 1}}]), json!(null)] {
        assert!(new(&answers).is_err(), "{answers}");
    }
    for name in ["multi_turn_base", "exec_simple", "rest", "web"] {
        assert_eq!(Category::named(name), None);
    }
}

fn compared(
    wanted: &[(&str, Value, usize)],
    found: &str,
    rule: Rule,
    prices: &Prices,
) -> Comparison {
    let expected: Vec<Expected<'_>> = wanted
        .iter()
        .map(|(name, own, stage)| Expected {
            name,
            arguments: own.as_object().unwrap(),
            stage: *stage,
        })
        .collect();
    let mut other = |which, _: &Value, _: &assay_calls::Value| {
        Ok::<f64, ()>(if which == 7 { 0.5 } else { 0.0 })
    };
    compare(&expected, &calls(found), &|_, _| rule, prices, &mut other, &mut |_| Ok(())).unwrap()
}

#[test]
fn arguments_are_compared_by_their_rules() {
    let one = |rule, wanted: Value, found: &str| {
        compared(&[("f", json!({"a": wanted}), 0)], found, rule, &Prices::default()).score
    };
    let number = Rule::Number { rel: 0.1, abs: 0.0 };
    let cases = [
        (Rule::Exact, json!(1.0), "[f(a=1)]", 1.0),
        (Rule::Exact, json!(true), "[f(a=1)]", 0.0),
        (Rule::Exact, json!({"x": [1, null], "y": "z"}), "[f(a={'y': 'z', 'x': (1, None)})]", 1.0),
        (
            Rule::Exact,
            json!(5),
            "<tool_call>f<arg_key>a</arg_key><arg_value>5</arg_value></tool_call>",
            1.0,
        ),
        (
            Rule::Exact,
            json!("5"),
            "<tool_call>f<arg_key>a</arg_key><arg_value>5</arg_value></tool_call>",
            1.0,
        ),
        (Rule::Exact, json!(1), "[f(a=1, b=2)]", 0.5),
        (Rule::OneOf, json!([1, "x"]), "[f(a='x')]", 1.0),
        (Rule::OneOf, json!([1, "x"]), "[f(a='y')]", 0.0),
        (Rule::Set, json!([1, 2, 2]), "[f(a=[2, 1, 2])]", 1.0),
        (Rule::Set, json!([1, 2, 2]), "[f(a=[2, 1, 1])]", 0.0),
        (number, json!(10), "[f(a=10.9)]", 1.0),
        (number, json!(10), "[f(a=11.1)]", 0.0),
        (number, json!(10), "[f(a='10')]", 0.0),
        (Rule::Text, json!("New York, NY"), "[f(a='new york (ny)')]", 1.0),
        (Rule::Text, json!("!"), "[f(a='?')]", 0.0),
        (Rule::Any, json!(1), "[f()]", 1.0),
        (Rule::Any, json!(1), "[f(a=1, b=2)]", 1.0),
        (Rule::Other(7), json!(1), "[f(a=1)]", 0.5),
    ];
    for (rule, wanted, found, score) in cases {
        assert!(
            (one(rule, wanted.clone(), found) - score).abs() < 1e-12,
            "{rule:?} {wanted} {found}"
        );
    }
}

#[test]
fn calls_are_matched_for_the_most() {
    let wanted =
        [("f", json!({"a": [1, 2]}), 0), ("f", json!({"a": [1]}), 0), ("g", json!({"a": [1]}), 0)];
    let own = compared(&wanted, "[f(a=1), f(a=2), h(), g(a=3)]", Rule::OneOf, &Prices::default());
    assert!(!own.is_right && own.missing == 0 && own.extra == 1);
    // (1 + 1 + 0) / (3 + 1)
    assert!((own.score - 0.5).abs() < 1e-12, "{own:?}");
    assert_eq!(
        own.pairs.iter().map(|(one, two, _)| (*one, *two)).collect::<Vec<_>>(),
        [(0, 1), (1, 0), (2, 3)]
    );
    let prices = Prices { name: 0.5, missing: 0.5, extra: 0.0 };
    // (0.5 + 0.5 * 0.5) / (1 + 0.5 * 1)
    let own = compared(
        &[("f", json!({"a": 1, "b": 2}), 0), ("g", json!({}), 0)],
        "[f(a=1, b=3), h()]",
        Rule::Exact,
        &prices,
    );
    assert!((own.score - 0.5).abs() < 1e-12, "{own:?}");
    assert!((compared(&[], "", Rule::Exact, &prices).score - 1.0).abs() < 1e-12);
    assert!(compared(&[], "[f()]", Rule::Exact, &prices).score.abs() < 1e-12);
}

#[test]
fn the_order_of_stages_counts() {
    let stages = |found| {
        let wanted =
            [("a", json!({}), 0), ("b", json!({}), 0), ("c", json!({}), 1), ("a", json!({}), 2)];
        compared(&wanted, found, Rule::Exact, &Prices::default())
    };
    assert!(stages("[b(), a(), c(), a()]").is_right);
    let own = stages("[c(), a(), b(), a()]");
    // Of five pairs of stages two are out of order.
    assert!((own.order - 0.6).abs() < 1e-12 && !own.is_right, "{own:?}");
}

/// The best sum over all assignments, by trying each.
fn best(weights: &[Vec<f64>], row: usize, used: &mut Vec<bool>) -> f64 {
    let Some(own) = weights.get(row) else { return 0.0 };
    let mut most = best(weights, row + 1, used);
    for column in 0..own.len() {
        if !used[column] {
            used[column] = true;
            most = most.max(own[column] + best(weights, row + 1, used));
            used[column] = false;
        }
    }
    most
}

#[test]
fn the_matching_is_the_best_of_all() {
    let mut state = 7_u64;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    for _ in 0..300 {
        let (rows, columns) = (1 + next(4), 1 + next(4));
        let wanted: Vec<(&str, Value, usize)> = (0..rows)
            .map(|_| ("f", json!({"a": next(2), "b": next(2), "c": next(2)}), 0))
            .collect();
        let found: Vec<[u64; 3]> = (0..columns).map(|_| [next(2), next(2), next(2)]).collect();
        let text: Vec<String> =
            found.iter().map(|[a, b, c]| format!("f(a={a}, b={b}, c={c})")).collect();
        let own =
            compared(&wanted, &format!("[{}]", text.join(", ")), Rule::Exact, &Prices::default());
        let weight = |own: &Value, found: &[u64; 3]| {
            let same =
                ["a", "b", "c"].iter().zip(found).filter(|(name, value)| own[**name] == **value);
            f64::from(u8::try_from(same.count()).unwrap()) / 3.0
        };
        let weights: Vec<Vec<f64>> = wanted
            .iter()
            .map(|(_, own, _)| found.iter().map(|found| weight(own, found)).collect())
            .collect();
        let sum: f64 = own.pairs.iter().map(|(.., weight)| weight).sum();
        assert!(
            (sum - best(&weights, 0, &mut vec![false; found.len()])).abs() < 1e-9,
            "{wanted:?} {text:?}"
        );
    }
}

#[test]
fn equal_calls_are_paired_first_and_the_sum_stays_the_greatest() {
    let mut state = 11_u64;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    for _ in 0..60 {
        let mut arguments = || -> Vec<(&str, u64)> {
            ["a", "b", "c"]
                .into_iter()
                .map(|name| (name, next(3)))
                .filter(|own| own.1 < 2)
                .collect()
        };
        let wanted: Vec<(&str, Value, usize)> =
            (0..24).map(|_| ("f", arguments().into_iter().collect::<Value>(), 0)).collect();
        let named = |(name, value): (&str, u64)| format!("{name}={value}");
        let found: Vec<String> = (0..20)
            .map(|_| arguments().into_iter().map(named).collect::<Vec<_>>().join(", "))
            .map(|own| format!("f({own})"))
            .collect();
        let found = format!("[{}]", found.join(", "));
        // A rule of sets compares these values exactly too, and pairs none first.
        let sum = |rule| -> f64 {
            let own = compared(&wanted, &found, rule, &Prices::default());
            own.pairs.iter().map(|(.., weight)| weight).sum()
        };
        assert!((sum(Rule::Exact) - sum(Rule::Set)).abs() < 1e-6, "{wanted:?} {found}");
    }
}

/// What a comparison of calls of one tool with these arguments finds, and what it is asked to pay.
fn paid(wanted: &[usize], found: &[usize]) -> (Comparison, u64) {
    let arguments: Vec<Value> = wanted.iter().map(|own| json!({"a": own})).collect();
    let expected: Vec<Expected<'_>> = arguments
        .iter()
        .map(|own| Expected { name: "f", arguments: own.as_object().unwrap(), stage: 0 })
        .collect();
    let text: Vec<String> = found.iter().map(|own| format!("f(a={own})")).collect();
    let found = calls(&format!("[{}]", text.join(", ")));
    let mut all = 0;
    let mut other = |_, _: &Value, _: &assay_calls::Value| Ok::<f64, ()>(0.0);
    let mut pay = |units| {
        all += units;
        Ok(())
    };
    let own =
        compare(&expected, &found, &|_, _| Rule::Exact, &Prices::default(), &mut other, &mut pay);
    (own.unwrap(), all)
}

#[test]
fn very_many_calls_of_one_tool_are_matched_within_the_fuel() {
    // The default fuel of a row.
    const MOST: u64 = 20_000_000;
    let all = |of: fn(usize) -> usize| (0..1000).map(of).collect::<Vec<usize>>();
    for (wanted, found) in [
        (all(|_| 1), all(|_| 1)),
        (all(|_| 1), all(|at| usize::from(at > 0))),
        (all(|at| at), all(|at| at * 7 % 1000)),
        (all(|at| at), all(|at| 999 - at)),
        (all(|at| at % 2), all(|at| at * at % 7 % 2)),
        (all(|at| at), all(|at| 2 * at)),
        (all(|at| at % 10), all(|at| at / 3)),
    ] {
        let (own, units) = paid(&wanted, &found);
        let count = |list: &[usize], one| list.iter().filter(|other| **other == one).count();
        let equal: usize = (0..2000).map(|one| count(&wanted, one).min(count(&found, one))).sum();
        let pairs = own.pairs.iter().filter(|(.., weight)| *weight >= 1.0).count();
        assert_eq!(pairs, equal);
        assert!(units < MOST, "{units} for {equal}");
    }
}

#[test]
fn calls_are_checked_by_schemas() {
    let tools = json!([{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "required": ["a"],
        "properties": {"a": {"type": "integer", "minimum": 0}, "b": {"enum": ["x", "y"]},
            "c": {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
            "d": {"type": "object", "properties": {"e": {"type": ["number", "null"]}}, "additionalProperties": false}}}}}]);
    let tools = schema::tools(&tools).unwrap();
    for (text, rule) in [
        ("[f(a=1, b='x', c=['a', None], d={'e': 1.5})]", ""),
        ("<tool_call>f<arg_key>a</arg_key><arg_value>1</arg_value></tool_call>", ""),
        ("[g(a=1)]", "unknown-tool g"),
        ("[f(b='x')]", "missing a"),
        ("[f(a='1')]", "type a"),
        ("[f(a=-1)]", "range a"),
        ("[f(a=1, b='z')]", "enum b"),
        ("[f(a=1, c=['a', 2])]", "type c.1"),
        ("[f(a=1, d={'g': 1})]", "unknown-argument d.g"),
        ("[f(a=1, g=1)]", "unknown-argument g"),
        ("[f(1)]", "unnamed-argument "),
    ] {
        let mut own = calls(text);
        schema::resolve(&mut own, &tools);
        let wrong = schema::check(&own[0], &tools, &mut |_| Ok::<(), ()>(())).unwrap();
        assert_eq!(
            wrong.map_or(String::new(), |own| format!("{} {}", own.rule, own.path)),
            rule,
            "{text}"
        );
    }
}

#[test]
fn the_steps_of_a_text_cover_it() {
    use Kind::{Answer, Call, Observation, Text, Thought};
    let text = "Hm. <think>a < b</think>\n<search>Bern</search> <information>Error: none</information>\
                [TOOL_CALLS]f[ARGS]{\"a\": 1}<output>2</output><answer>2</answer>\n<code>open";
    let found = steps_of_text(text, &looks_like_error);
    let joined: String = found.iter().map(|step| &text[step.span.clone()]).collect();
    assert_eq!(joined, text);
    let kinds: Vec<Kind> = found.iter().map(|step| step.kind).collect();
    assert_eq!(kinds, [Text, Thought, Call, Observation, Call, Observation, Answer, Answer]);
    let own = account(&found, &|_| true);
    assert_eq!((own.calls.len(), own.turns, own.errors, own.recovered), (2, 3, 1, 1));
    assert_eq!(own.calls[0].positional.len(), 1);
    assert_eq!(&text[own.calls[1].span.clone()], "f[ARGS]{\"a\": 1}");
}

#[test]
fn messages_are_steps() {
    let messages = json!([
        {"role": "user", "content": "<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>"},
        {"role": "assistant", "content": "I look.", "reasoning_content": "hm",
            "tool_calls": [{"function": {"name": "f", "arguments": "{\"a\": 1}"}}, {"function": {"name": "g", "arguments": "{"}}]},
        {"role": "tool", "content": "{\"error\": \"no\"}"},
        {"role": "assistant", "content": [{"type": "text", "text": "again"}, {"type": "tool_use", "name": "f", "input": {"a": 1}}]},
        {"role": "user", "content": [{"type": "tool_result", "content": [{"type": "text", "text": "1"}], "is_error": false}]},
        {"role": "assistant", "content": "1"},
    ]);
    let messages: Vec<Message<'_>> =
        messages.as_array().unwrap().iter().map(Message::from_json).collect();
    let found = steps(&messages, &looks_like_error);
    let own = account(&found, &|name| name == "f");
    assert_eq!((own.calls.len(), own.invalid, own.repeats, own.turns, own.errors), (2, 1, 1, 3, 1));
    // The same call again is no other way.
    assert!(own.is_answered && own.recovered == 0);
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    assert!((own.ordered(&names(&["f", "g"])) - 0.5).abs() < 1e-12);
    assert!((own.required(&names(&["f"])) - 1.0).abs() < 1e-12);
    assert!(own.forbidden(&names(&["f"])).is_some());
    assert!((own.discounted(1.0, 0.5) - 0.25).abs() < 1e-12);
}

#[test]
fn reading_steps_is_linear() {
    for unit in [
        "<think>",
        "<tool_call>",
        "</think>",
        "<a",
        "<search>x</search>",
        "<think>a</think>",
        "[f()]<x>",
    ] {
        let text = unit.repeat(50_000);
        let found = steps_of_text(&text, &looks_like_error);
        assert_eq!(found.iter().map(|step| step.span.len()).sum::<usize>(), text.len());
        let _ = account(&found, &|_| true);
    }
}
