//! Rubrics of others: what is read, and the reward by the formula of their authors, written here
//! again.

use std::path::PathBuf;

use assay_rubrics::Rubric;
use assay_rubrics::aggregate::How;
use assay_rubrics::formats::{Format, prune, read, read_as, read_text, to_toml};
use assay_rubrics::rubric::{Answer, AnswerKind, Answers, Criterion};
use assay_verifiers::Meter;
use serde_json::{Value, json};

use crate::support::{assert_close, bytes, reward, rows, rubric};

fn names(rubric: &Rubric) -> Vec<&str> {
    rubric.criteria.iter().map(|one| one.name.as_str()).collect()
}

#[test]
fn healthbench_is_points_over_positive_points_without_a_clip() {
    let read = rubric("healthbench/row.json");
    let wanted = ["criterion-1", "criterion-2", "criterion-3", "criterion-4"];
    assert_eq!(names(&read), wanted);
    assert_eq!(read.criteria[0].text, "[10] Says to call emergency services at once.");
    assert_eq!(read.criteria[2].text, "[2.5] Keeps the answer short enough to act on.");
    assert_eq!(read.criteria[3].tags, ["level:example", "axis:accuracy"]);
    let points = [10.0, 4.0, 2.5, -9.0];
    for met in 0..16_u32 {
        let yes = |at: usize| met >> at & 1 == 1;
        let said: Vec<(&str, &str)> =
            (0..4).map(|at| (wanted[at], if yes(at) { "yes" } else { "no" })).collect();
        let sum: f64 = (0..4).filter(|at| yes(*at)).map(|at| points[at]).sum();
        assert_close(reward(&read, &said), sum / 16.5);
    }
}

#[test]
fn research_rubrics_pay_half_for_a_part() {
    let read = rubric("research_rubrics/row.json");
    let said = [
        ("criterion-1", "Satisfied"),
        ("criterion-2", "Partially satisfied"),
        ("criterion-3", "Not satisfied"),
        ("criterion-4", "Partially satisfied"),
    ];
    assert_close(reward(&read, &said), (5.0 + 0.5 * 3.0 - 0.5 * 4.0) / (5.0 + 3.0 + 2.0));
    assert_eq!(read.criteria[1].tags, ["Citation Quality"]);
}

#[test]
fn rubrics_as_rewards_sum_over_the_sum_of_the_weights() {
    let read = rubric("rubrics_as_rewards/row.json");
    assert_eq!(read.reference.as_deref(), Some("Vitamin C."));
    let wanted = ["names-the-vitamin", "explains-collagen", "names-the-vitamin-2", "wrong-vitamin"];
    assert_eq!(names(&read), wanted);
    assert_eq!(read.criteria[3].tags, ["pitfall"]);
    let said = [(wanted[0], "yes"), (wanted[1], "no"), (wanted[2], "yes"), (wanted[3], "yes")];
    assert_close(reward(&read, &said), (5.0 + 1.0 - 2.0) / (5.0 + 3.0 + 1.0 - 2.0));
    let read = rubric("rubrics_as_rewards/words.json");
    let said =
        [("right-unit", "yes"), ("shows-steps", "no"), ("says-why", "no"), ("no-rounding", "yes")];
    assert_close(reward(&read, &said), (1.0 + 0.9) / (1.0 + 0.7 + 0.3 + 0.9));
}

#[test]
fn rubrics_as_rewards_rate_the_whole_where_they_are_implicit() {
    let read = rubric("rubrics_as_rewards/implicit.json");
    assert!(read.criteria[0].text.contains("(0.7) Shows each step"));
    for rating in 1..=10_i32 {
        let wanted = (f64::from(rating) - 1.0) / 9.0;
        assert_close(reward(&read, &[("rating", &rating.to_string())]), wanted);
    }
}

#[test]
fn paperbench_trees_agree_node_by_node() {
    for file in
        ["all-in-one", "semantic-self-consistency", "stay-on-topic-with-classifier-free-guidance"]
    {
        let name = format!("paperbench/graded-{file}.json");
        let tree: Value = serde_json::from_slice(&bytes(&format!("rubrics/{name}"))).unwrap();
        let read = rubric(&name);
        let mut graded = Vec::new();
        collect(&tree, &mut graded);
        let mut answers: Answers = Answers::new();
        for (id, score, is_leaf) in &graded {
            if *is_leaf {
                answers.insert(id.clone(), Some(Answer { share: *score, value: *score }));
            }
        }
        let of = read.aggregate.of(&read, &answers, &mut Meter::default()).unwrap().unwrap();
        let inner: Vec<&(String, f64, bool)> = graded.iter().filter(|one| !one.2).collect();
        assert_eq!(of.nodes.len(), inner.len(), "{name}");
        for ((id, share), (wanted_id, wanted, _)) in of.nodes.iter().zip(inner) {
            assert_eq!(id, wanted_id, "{name}");
            assert_close(share.unwrap(), *wanted);
        }
        assert_close(of.reward, tree["score"].as_f64().unwrap());
    }
}

fn collect(node: &Value, graded: &mut Vec<(String, f64, bool)>) {
    let below = node["sub_tasks"].as_array().cloned().unwrap_or_default();
    let id = node["id"].as_str().unwrap().to_owned();
    graded.push((id, node["score"].as_f64().unwrap(), below.is_empty()));
    for below in &below {
        collect(below, graded);
    }
}

#[test]
fn paperbench_for_code_alone_has_only_such_leaves() {
    let whole = rubric("paperbench/plain-sequential-neural-score-estimation.json");
    let code = prune(&whole, &["Code Development"]).unwrap();
    code.check().unwrap();
    let is_code = |leaf: &&Criterion| leaf.tags.iter().any(|tag| tag == "Code Development");
    let kept: Vec<&str> = code.leaves().iter().map(|leaf| leaf.name.as_str()).collect();
    let leaves = whole.leaves();
    let wanted: Vec<&str> = leaves
        .iter()
        .copied()
        .filter(|leaf| is_code(leaf))
        .map(|leaf| leaf.name.as_str())
        .collect();
    assert_eq!(kept, wanted);
    assert!(kept.len() < leaves.len());
    assert_eq!(prune(&whole, &["Cooking"]), None);
}

#[test]
fn weights_below_a_node_may_all_be_nothing() {
    let tree = json!({"id": "a", "requirements": "all", "weight": 1, "sub_tasks": [
        {"id": "b", "requirements": "x", "weight": 0, "sub_tasks": [], "task_category": "Code Development"},
        {"id": "c", "requirements": "y", "weight": 0, "sub_tasks": []},
    ]});
    let read = read(tree).unwrap();
    assert_close(reward(&read, &[("b", "yes"), ("c", "yes")]), 0.0);
}

#[test]
fn prometheus_and_biggen_pay_the_level() {
    for row in rows("rubrics/prometheus/rubric-absolute.jsonl") {
        assert_eq!(Format::detect(&row), Some(Format::Prometheus));
        let read = read(row.clone()).unwrap();
        assert_eq!(read.criteria[0].text, row["reference"]["criterion"].as_str().unwrap());
        assert_eq!(read.reference.as_deref(), row["reference"]["answer"].as_str());
        for vote in row["votes"].as_array().unwrap() {
            assert_close(reward(&read, &[("score", &vote.to_string())]), vote.as_f64().unwrap());
        }
    }
    for row in rows("rubrics/biggen/instances.jsonl") {
        assert_eq!(Format::detect(&row), Some(Format::Biggen));
        let read = read(row.clone()).unwrap();
        let AnswerKind::Scale(scale) = &read.criteria[0].kind else { panic!("no scale") };
        let rubric = &row["reference"]["rubric"];
        for level in 1..=5_u8 {
            let told = rubric[format!("score{level}_description")].as_str().unwrap();
            assert_eq!(scale.levels[usize::from(level) - 1], told);
            assert_close(reward(&read, &[("score", &level.to_string())]), f64::from(level));
        }
    }
}

#[test]
fn prometheus_is_read_as_text_and_as_columns() {
    let text =
        "[Is it kind?]\nScore 1: rude\nScore 2: cold\nScore 3: fair\nScore 4: warm\nScore 5: kind";
    let shown = read(json!({"rubric": text, "reference_answer": "Dear you"})).unwrap();
    let mut columns = json!({"orig_criteria": "Is it kind?", "orig_reference_answer": "Dear you"});
    for (at, level) in ["rude", "cold", "fair", "warm", "kind"].iter().enumerate() {
        columns[format!("orig_score{}_description", at + 1)] = json!(level);
    }
    assert_eq!(read(columns).unwrap(), shown);
    let AnswerKind::Scale(scale) = &shown.criteria[0].kind else { panic!("no scale") };
    assert_eq!(scale.levels, ["rude", "cold", "fair", "warm", "kind"]);
}

#[test]
fn wildbench_takes_five_off_and_doubles() {
    let read = rubric("wildbench/row.json");
    assert_eq!(read.instructions.lines().count(), 6);
    for score in 1..=10_i32 {
        let wanted = (f64::from(score) - 5.0) * 2.0;
        assert_close(reward(&read, &[("score", &score.to_string())]), wanted);
    }
}

#[test]
fn verifiers_pay_the_rank() {
    let read = rubric("verifiers/review.toml");
    let choices =
        ["no", "partly", "mostly", "fully"].iter().enumerate().map(|(rank, label)| (rank, *label));
    for (rank, label) in choices {
        let said = [("correct", label), ("tested", "yes"), ("small", "a little else")];
        let rank = f64::from(u32::try_from(rank).unwrap()) / 3.0;
        assert_close(reward(&read, &said), (3.0 * rank + 1.0 + 0.5 * 0.5) / 4.5);
    }
}

#[test]
fn cm2_is_the_mean_over_turns() {
    let read = rubric("cm2/dialogue.json");
    assert_eq!(names(&read), ["t0", "t1"]);
    let items = &read.criteria[0].criteria;
    assert_eq!(items[2].needs, ["t0-C1", "t0-C2"]);
    assert_eq!(items[1].turn, Some(0));
    let told = "Does it use the prices that came back?\nLook at: tool result\n\
        It is met when: A price of the result is named.\n\
        It is not met in cases such as: an invented price; no price\nIt stems from: 3 flights";
    assert_eq!(items[1].text, told);
    let said = [("t0-C1", "yes"), ("t0-C2", "yes"), ("t0-C3", "no"), ("t1-C1", "no")];
    assert_close(reward(&read, &said), f64::midpoint(0.5 + 0.3, 0.0));
}

#[test]
fn cm2_is_the_mean_over_variants() {
    let read = rubric("cm2/variants.json");
    let said = [("v0-t0-a", "no"), ("v0-t0-b", "yes"), ("v0-t1-a", "yes"), ("v1-t0-a", "no")];
    assert_close(reward(&read, &said), f64::midpoint(f64::midpoint(0.75, 1.0), 0.0));
}

#[test]
fn inspect_pays_the_grade() {
    let read = rubric("inspect/partial.json");
    for (grade, wanted) in [("C", 1.0), ("P", 0.5), ("I", 0.0)] {
        assert_close(reward(&read, &[("grade", grade)]), wanted);
    }
    assert!(read.instructions.contains("GRADE: "));
    let fact = rubric("inspect/fact.yaml");
    assert!(fact.criteria[0].text.ends_with("The treaty was signed in 1648."));
    assert_eq!(fact.criteria[0].kind.answer("P"), None, "it was not offered");
}

#[test]
fn promptfoo_is_the_mean_by_weight() {
    let read = rubric("promptfoo/assertions.yaml");
    assert_eq!(
        names(&read),
        [
            "contains",
            "not-icontains",
            "contains-any",
            "starts-with",
            "regex",
            "equals",
            "politeness",
            "assert-set"
        ]
    );
    assert!(read.templates);
    assert_eq!(read.criteria[6].text, "Is it polite to the owner of a {{ item.product }}?");
    assert_eq!(read.criteria[5].config["reference"], "Dear {{ item.product }} owner");
    let said = [
        ("contains", "1"),
        ("not-icontains", "1"),
        ("contains-any", "0"),
        ("starts-with", "1"),
        ("regex", "1"),
        ("equals", "0"),
        ("politeness", "yes"),
        ("is-json", "0"),
        ("word-count", "1"),
    ];
    // The second one is inverted; the set is the mean of its two by 1 and 3.
    let set = 3.0 / 4.0;
    let score =
        (2.0 + 0.0 + 0.0 + 0.5 + 1.0 + 3.0 + 2.0 * set) / (2.0 + 1.0 + 1.0 + 0.5 + 1.0 + 3.0 + 2.0);
    let mut unbounded = read.clone();
    assert_eq!(unbounded.aggregate.threshold.take(), Some(0.75));
    assert_close(reward(&unbounded, &said), score);
    assert_close(reward(&read, &said), if score >= 0.75 { 1.0 } else { 0.0 });
}

#[test]
fn promptfoo_asks_a_judge() {
    let read = rubric("promptfoo/judged.json");
    let said = [
        ("g-eval-1", "8"),
        ("g-eval-2", "5"),
        ("factuality", "B"),
        ("not-llm-rubric", "no"),
        ("model-graded-closedqa", "no"),
        ("python", "0.5"),
    ];
    let g_eval = f64::midpoint(0.8, 0.5);
    assert_close(reward(&read, &said), (2.0 * g_eval + 1.0 + 1.0 + 0.0 + 0.5) / 6.0);
    let script = read.criteria[4].config["script"].as_str().unwrap();
    assert!(script.contains("return (len(output) < 200)"), "{script}");
}

#[test]
fn an_openai_multi_calculates() {
    let read = rubric("openai_grader/multi.json");
    assert_eq!(names(&read), ["alike", "name_match", "quality", "tone"]);
    assert!(read.templates);
    let told = "You rate summaries.\n\nRate the summary (the completion) of {{ item.article }} from 0 to 10.";
    assert_eq!(read.criteria[2].text, told);
    assert_eq!(read.criteria[0].pass, Some(0.8));
    for (name, alike, quality, label) in
        [(0.0, 0.6, 7.5_f64, "rude"), (1.0, 0.25, 10.0, "kind"), (0.0, 0.0, 0.0, "neutral")]
    {
        let tone = if label == "rude" { 0.0 } else { 1.0 };
        let wanted = f64::max(name, 0.5 * alike) * (quality / 10.0).powi(2)
            - 1.0 / 4.0 * (1.0 - tone)
            + f64::min(f64::min(alike, tone), 0.5);
        let (name, alike, quality) = (name.to_string(), alike.to_string(), quality.to_string());
        let said = [
            ("name_match", name.as_str()),
            ("alike", alike.as_str()),
            ("quality", quality.as_str()),
            ("tone", label),
        ];
        assert_close(reward(&read, &said), wanted);
    }
}

#[test]
fn calculate_output_is_arithmetic_with_points() {
    let of = |formula: &str, a: &str, b: &str| {
        let model = |name: &str| {
            json!({"type": "score_model", "name": name, "range": [-9, 9],
                "input": [{"role": "user", "content": "Rate."}]})
        };
        let graders = [model("a"), model("if"), model("value")];
        let rubric =
            read(json!({"type": "multi", "graders": graders, "calculate_output": formula}));
        let rubric = rubric.unwrap_or_else(|error| panic!("{formula}: {error}"));
        assert_eq!(names(&rubric), ["a", "g_if", "g_value"]);
        reward(&rubric, &[("a", a), ("g_if", b), ("g_value", "4")])
    };
    assert_close(of("a / if", "1", "2"), 0.5);
    assert_close(of("1/2 + 1/2", "1", "2"), 1.0);
    assert_close(of("2^3^2", "1", "2"), 512.0);
    assert_close(of("-2^2", "1", "2"), -4.0);
    assert_close(of("2^-1", "1", "2"), 0.5);
    assert_close(of("7 - 2 - 1 - a * -if", "1", "2"), 6.0);
    assert_close(of("8/4/2", "1", "2"), 1.0);
    assert_close(
        of("abs(a) + floor(1.7) + ceil(1.2) + exp(0) + sqrt(value) + log(1)", "-3", "2"),
        9.0,
    );
    assert_close(of("min(a, if, value) + max(a, if) * 1e1", "1", "2"), 21.0);
    assert_close(of("a", "1.5", "2"), 1.5);
    assert_close(of("a", "77", "2"), 9.0);
}

#[test]
fn other_openai_graders_are_one_criterion() {
    let exact = rubric("openai_grader/string_check.json");
    assert_eq!(exact.criteria[0].verifier.as_deref(), Some("string_check"));
    assert_close(reward(&exact, &[("exact", "1")]), 1.0);
    let python = rubric("openai_grader/python.json");
    assert_eq!(python.criteria[0].verifier.as_deref(), Some("python_check"));
    assert_eq!(python.criteria[0].config["function"], "grade");
    let score = rubric("openai_grader/score.json");
    assert_eq!(score.aggregate.how, How::Value);
    for (said, wanted) in [("0.35", 0.35), ("7", 1.0), ("-1", 0.0)] {
        assert_close(reward(&score, &[("quality", said)]), wanted);
    }
    assert_eq!(score.criteria[0].kind.answer("good"), None);
}

#[test]
fn nemo_gym_is_the_mean_unless_all_must_be_met() {
    for row in rows("rubrics/nemo_gym/inverse_if.jsonl") {
        let read = read(row.clone()).unwrap();
        assert_eq!(names(&read), ["C1", "C2", "C3"]);
        let graded = row["reference"]["rubric_evaluations"].as_array().unwrap();
        let said: Vec<(&str, &str)> = graded
            .iter()
            .map(|one| {
                let passed = one["verdict"] == "PASS";
                (one["criterion_id"].as_str().unwrap(), if passed { "yes" } else { "no" })
            })
            .collect();
        assert_close(reward(&read, &said), row["label"].as_f64().unwrap());
        assert_eq!(read.reference.as_deref(), row["reference"]["reference_response"].as_str());
    }
    let list = json!([{"id": "a", "criteria": "x"}, {"id": "b", "criteria": "y"}]);
    let said = [("a", "yes"), ("b", "no")];
    assert_close(reward(&read(list.clone()).unwrap(), &said), 0.5);
    let all = read(json!({"rubric": list, "aggregation_mode": "all"})).unwrap();
    assert_close(reward(&all, &said), 0.0);
}

/// Every fixture, with the format that it is of.
fn all() -> Vec<(String, Format, Value)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../fixtures/rubrics");
    let mut all = Vec::new();
    for format in Format::ALL {
        let mut files: Vec<PathBuf> = std::fs::read_dir(folder.join(format.name()))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        files.sort();
        assert!(!files.is_empty(), "{}", format.name());
        for file in files {
            let name = file.file_name().unwrap().to_str().unwrap().to_owned();
            let text = std::fs::read_to_string(&file).unwrap();
            let values: Vec<Value> = match file.extension().unwrap().to_str().unwrap() {
                "jsonl" => text.lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
                "json" => vec![serde_json::from_str(&text).unwrap()],
                "toml" => vec![toml::from_str(&text).unwrap()],
                _ => Vec::new(),
            };
            all.extend(values.into_iter().map(|value| (name.clone(), format, value)));
        }
    }
    all
}

#[test]
fn each_format_is_told_from_the_others() {
    for (name, format, value) in all() {
        assert_eq!(Format::detect(&value), Some(format), "{name}");
        assert_eq!(read_as(format, value.clone()), read(value), "{name}");
        assert_eq!(serde_json::to_value(format).unwrap(), format.name());
    }
}

#[test]
fn json_in_a_text_is_read() {
    for (name, _, value) in all() {
        let plain = read(value.clone()).unwrap();
        assert_eq!(read(Value::from(value.to_string())).as_ref(), Ok(&plain), "{name}");
        let Value::Object(mut row) = value else { continue };
        if let Some(list) = row.get_mut("rubrics") {
            *list = Value::from(list.to_string());
            assert_eq!(read(Value::Object(row)).as_ref(), Ok(&plain), "{name}");
        }
    }
}

#[test]
fn what_is_written_as_toml_is_read_again() {
    let yaml = ["promptfoo/assertions.yaml", "inspect/fact.yaml"]
        .map(|name| (name.to_owned(), rubric(name)));
    let values = all().into_iter().map(|(name, _, value)| (name, read(value).unwrap()));
    for (name, rubric) in values.chain(yaml) {
        let text = to_toml(&rubric).unwrap_or_else(|error| panic!("{name}: {error}"));
        let again = read_text("rubric.toml", text.as_bytes());
        assert_eq!(again.as_ref(), Ok(&rubric), "{name}\n{text}");
    }
}

#[test]
fn the_deepest_tree_is_written_and_read_again() {
    let mut tree = json!({"id": "leaf", "requirements": "x", "weight": 1});
    for depth in 1..32 {
        tree =
            json!({"id": depth.to_string(), "requirements": "x", "weight": 1, "sub_tasks": [tree]});
    }
    let rubric = read(tree).unwrap();
    let again = read_text("rubric.toml", to_toml(&rubric).unwrap().as_bytes());
    assert_eq!(again, Ok(rubric));
}

#[test]
fn what_toml_cannot_hold_is_an_error() {
    let rubric = read(json!([{"type": "is-json", "value": {"const": null}}])).unwrap();
    assert!(to_toml(&rubric).is_err());
}

#[test]
fn a_reference_that_is_json_stays_text() {
    let mut rubric = rubric("assay/essay.toml");
    rubric.reference = Some("[1, 2]".to_owned());
    let again = read_text("rubric.toml", to_toml(&rubric).unwrap().as_bytes());
    assert_eq!(again, Ok(rubric));
}

#[test]
fn paperbench_ids_that_come_twice_are_numbered() {
    let leaf = json!({"id": "a", "requirements": "y", "weight": 1});
    let tree = json!({"id": "a", "requirements": "x", "weight": 1, "sub_tasks": [leaf, leaf]});
    let read = read(tree).unwrap();
    let leaves: Vec<&str> = read.leaves().iter().map(|leaf| leaf.name.as_str()).collect();
    assert_eq!(leaves, ["a-2", "a-3"]);
}

#[test]
fn a_grader_is_found_in_a_job_and_in_an_evaluation() {
    let grader = json!({"type": "string_check", "name": "exact", "operation": "eq",
        "input": "{{ sample.output_text }}", "reference": "{{ item.reference }}"});
    let alone = read(grader.clone()).unwrap();
    let job = json!({"model": "m", "method": {"type": "reinforcement", "reinforcement": {"grader": grader}}});
    assert_eq!(read(job).as_ref(), Ok(&alone));
    assert_eq!(read(json!({"name": "e", "testing_criteria": [grader]})).as_ref(), Ok(&alone));
    let two = read(json!({"testing_criteria": [grader, grader]})).unwrap_err();
    assert_eq!(two.place, "testing_criteria[1]");
}
