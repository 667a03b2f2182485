//! The reward servers that trainers know: what each is told, and that it is what `/v1/verify` says.

use serde_json::{Value, json};

use super::daemon::{Answer, Daemon};

const RULES: &str = "[data]\nreference = 'expected_answer'\n\
                     [[reward]]\nname = 'correct'\nverifier = 'exact'\n\
                     [[reward]]\nname = 'form'\nverifier = 'regex'\nweight = 0.5\n\
                     config = { pattern = '^[0-9]' }\n";
/// A script that fails, and programs, which run as long as they are let.
const FAULTY: &str = "[[reward]]\nname = 'broken'\nverifier = 'rhai'\n\
                      config = { script = 'throw \"no\"' }\n";
const PROGRAMS: &str = "[[reward]]\nname = 'runs'\nverifier = 'unit_tests'\n";

/// A program without an end, and its tests.
const ENDLESS: &str = "```python\ndef f():\n    while True:\n        pass\n```";

fn tests_of_endless() -> Value {
    json!({ "entry_point": "f", "cases": [{ "args": [], "expected": 1 }] })
}

/// Posts with little time to answer in.
fn hurry(daemon: &Daemon, path: &str, body: &Value) -> Answer {
    let headers = [("content-type", "application/json"), ("x-request-timeout", "300ms")];
    daemon.send("POST", path, &headers, body.to_string().as_bytes())
}

/// What `/v1/verify` says of one row.
fn verified(daemon: &Daemon, row: &Value) -> Value {
    let answer = daemon.post("/v1/verify", &json!({ "samples": [row] }));
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()["results"][0].clone()
}

fn assert_refused(answer: &Answer, status: u16, field: &str) {
    assert_eq!(answer.status, status, "{}", answer.text());
    let error = answer.json()["error"].clone();
    assert_eq!(error["field"], field, "{error}");
}

/// A rollout as an agent of `NeMo`-Gym sends it.
fn rollout(text: &str) -> Value {
    let content = json!([{ "type": "output_text", "text": text, "annotations": [] }]);
    json!({
        "responses_create_params": { "input": [{ "role": "user", "content": "1+1?" }], "tools": [] },
        "response": {
            "id": "resp", "object": "response", "created_at": 1_756_093_415.25, "model": "m",
            "output": [
                { "type": "reasoning", "id": "r", "summary": [{ "type": "summary_text", "text": "3?" }] },
                { "type": "message", "id": "m", "role": "assistant", "status": "completed",
                  "content": content, "generation_log_probs": [-0.1, -1e-17] },
            ],
        },
        "expected_answer": "2",
        "_ng_task_index": 4,
    })
}

#[test]
fn openrlhf_is_told_the_reward_of_what_follows_the_prompt() {
    let daemon = Daemon::start(&[("a", RULES)], &[]);
    let body = json!({
        "query": ["<s>Q:  1+1?\nA: 2</s>", "Q: 1+1? A: 2", "2<|im_end|>\n", "two"],
        "prompts": ["<s>Q: 1+1? A: ", "Q: 1+1? A: ", "", ""],
        "labels": ["2", "3", "2", ""],
    });
    let answer = daemon.post("/get_reward", &body);
    assert_eq!(answer.status, 200, "{}", answer.text());
    let told = answer.json();
    // Where a reward does not apply, the mean of the others stands.
    let logged = &told["extra_logs"]["assay/reward/correct"];
    assert_eq!(*logged, json!([1.0, 0.0, 1.0, 2.0 / 3.0]));
    let rows = [(" 2", "2"), ("2", "3"), ("2", "2"), ("two", "")];
    let lines: Vec<Value> = rows
        .iter()
        .map(|(response, label)| {
            let label = Some(label).filter(|label| !label.is_empty());
            verified(&daemon, &json!({ "completion": response, "expected_answer": label }))
        })
        .collect();
    let rewards: Vec<&Value> = lines.iter().map(|line| &line["reward"]).collect();
    assert_eq!(told["rewards"].as_array().unwrap().iter().collect::<Vec<_>>(), rewards);
    assert_eq!(told["scores"], told["rewards"]);
    let logs = told["extra_logs"].as_object().unwrap();
    let names: Vec<&String> = logs.keys().collect();
    let expected = [
        "assay/abstained_rate",
        "assay/fault_rate",
        "assay/latency_ms",
        "assay/reward/correct",
        "assay/reward/form",
        "assay/sample_ms",
    ];
    assert_eq!(names, expected);
    assert!(logs.values().all(|values| values.as_array().unwrap().len() == 4));
}

#[test]
fn openrlhf_is_never_told_the_reward_of_a_prompt() {
    let daemon = Daemon::start(&[("a", RULES)], &[]);
    let odd = json!({ "query": ["2", "something else"], "prompts": ["", "Q: 1+1? A:"] });
    assert_refused(&daemon.post("/get_reward", &odd), 400, "query[1]");
    for (body, field) in [
        (json!({ "query": "2" }), "query"),
        (json!({ "query": ["2", 3] }), "query[1]"),
        (json!({ "query": ["2"], "prompts": ["", ""] }), "prompts"),
        (json!({ "query": ["2"], "labels": ["", ""] }), "labels"),
        (json!({ "query": ["2"], "labels": [] }), "labels"),
        (json!({ "query": ["2"], "prompts": [] }), "prompts"),
    ] {
        assert_refused(&daemon.post("/get_reward", &body), 400, field);
    }
    // Lists that are null are none; what else a client sends is not ours to judge.
    let bare = json!({ "query": ["2"], "prompts": null, "labels": null, "images": [] });
    assert_eq!(daemon.post("/get_reward", &bare).status, 200);
}

#[test]
fn a_label_that_was_rounded_is_no_reference() {
    let number = "[[reward]]\nname = 'correct'\nverifier = 'number'\n";
    let daemon = Daemon::start(&[("a", number)], &[]);
    let kind = [("content-type", "application/json")];
    for label in ["123456789012345678901234567890", "[[18446744073709551616]]"] {
        let body = format!(
            "{{\"query\": [\"Q 123456789012345678901234567891\"], \"prompts\": [\"Q\"], \"labels\": [{label}]}}"
        );
        let answer = daemon.send("POST", "/get_reward", &kind, body.as_bytes());
        assert_refused(&answer, 400, "labels[0]");
    }
    let list = json!([["Q 2"], ["Q"], ["2"]]);
    assert_eq!(daemon.post("/get_reward", &list).status, 400);
}

#[test]
fn a_fault_is_an_error_for_who_has_no_place_for_it() {
    let floor = format!("{FAULTY}[combine]\non_fault = 'floor'\nfloor = -1.0\n");
    let exact = "[[reward]]\nname = 'correct'\nverifier = 'exact'\n";
    let configs = [("broken", FAULTY), ("slow", PROGRAMS), ("floor", &floor), ("none", exact)];
    let daemon = Daemon::start(&configs, &[]);
    let bodies = |response: &str, label: Value| {
        let query = json!({ "query": [response], "prompts": [""], "labels": [label] });
        let sample = json!({ "prompt": "", "response": response, "label": label });
        let group = json!([sample]);
        [("get_reward", query, "query[0]"), ("slime", sample, "response"), ("slime", group, "[0]")]
    };
    let assert_fault = |answer: &Answer, field: &str, is_retryable: bool| {
        let error = answer.json()["error"].clone();
        assert_eq!(error["kind"], "fault", "{error}");
        assert_eq!(error["field"].as_str().unwrap_or_default(), field, "{error}");
        let is_told_when = answer.head.contains("retry-after: 1");
        assert_eq!((&error["retryable"], is_told_when), (&json!(is_retryable), is_retryable));
    };
    for (path, body, field) in bodies("2", Value::Null) {
        for (profile, status) in [("broken", 500), ("none", 422)] {
            let answer = daemon.post(&format!("/profiles/{profile}/{path}"), &body);
            assert_eq!(answer.status, status, "{path} {profile}: {}", answer.text());
            assert_fault(&answer, field, false);
        }
    }
    for (path, body, field) in bodies(ENDLESS, tests_of_endless()) {
        let answer = hurry(&daemon, &format!("/profiles/slow/{path}"), &body);
        let status = if path == "get_reward" { 503 } else { 504 };
        assert_eq!(answer.status, status, "{path}: {}", answer.text());
        assert_fault(&answer, field, true);
    }
    let [(_, query, _), (_, sample, _), _] = bodies("2", Value::Null);
    let text = daemon.post("/profiles/floor/get_reward", &query).text();
    assert!(text.contains(r#""rewards":[-1.0]"#), "{text}");
    assert!(text.contains(r#""assay/fault_rate":[1.0]"#), "{text}");
    assert_eq!(daemon.post("/profiles/floor/slime", &sample).json(), -1.0);
}

#[test]
fn a_group_is_refused_for_the_fault_that_dropped_it_whatever_its_place() {
    let config = "[combine]\non_fault = 'drop_group'\n[[reward]]\nname = 'a'\nverifier = 'rhai'\n\
                  config = { script = 'if completion == \"2\" { 1.0 } else { throw \"no\" }' }\n";
    let daemon = Daemon::start(&[("a", config)], &[]);
    for responses in [["2", "3"], ["3", "2"]] {
        let at = responses.iter().position(|response| *response == "3").unwrap();
        let query = json!({ "query": responses, "prompts": ["", ""] });
        assert_refused(&daemon.post("/get_reward", &query), 500, &format!("query[{at}]"));
        let samples = responses.map(|response| json!({ "prompt": "", "response": response }));
        assert_refused(&daemon.post("/slime", &json!(samples)), 500, &format!("[{at}]"));
        let texts = json!({ "input": responses });
        assert_refused(&daemon.post("/classify", &texts), 500, &format!("input[{at}]"));
    }
    let right = json!({ "query": ["2", "2"], "prompts": ["", ""] });
    assert_eq!(daemon.post("/get_reward", &right).json()["rewards"], json!([1.0, 1.0]));
}

#[test]
fn what_compares_groups_is_not_asked_for_one_sample() {
    let exact = "[[reward]]\nname = 'correct'\nverifier = 'exact'\n";
    let normalised = format!("[combine]\nnormalise = 'sum_then'\n{exact}");
    let votes = format!("{exact}[[reward]]\nname = 'votes'\nverifier = 'majority_vote'\n");
    let watched = format!("{votes}weight = 0.0\n");
    let annealed =
        format!("{votes}weight = {{ kind = 'linear', from = 0.0, to = 1.0, end = 100 }}\n");
    let configs =
        [("a", normalised.as_str()), ("b", &votes), ("annealed", &annealed), ("watched", &watched)];
    let daemon = Daemon::start(&configs, &[]);
    let mut asked = rollout("2");
    asked["reference"] = json!("2");
    let sample = json!({ "prompt": "", "response": "2", "label": "2" });
    let graded = json!({ "model_sample": "2", "item": { "reference": "2" } });
    for (path, body) in [
        ("verify", &asked),
        ("slime", &sample),
        ("v1/fine_tuning/alpha/graders/run", &graded),
        ("classify", &json!({ "text": ["2"] })),
    ] {
        for profile in ["a", "b", "annealed"] {
            let answer = daemon.post(&format!("/profiles/{profile}/{path}"), body);
            assert_eq!(answer.status, 400, "{path}: {}", answer.text());
            assert!(answer.text().contains("compares the samples of a group"), "{path}");
        }
        if path != "classify" {
            let answer = daemon.post(&format!("/profiles/watched/{path}"), body);
            assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        }
    }
    let group = json!([sample, { "prompt": "", "response": "3", "label": "2" }]);
    let rewards = daemon.post("/profiles/a/slime", &group).json();
    assert!(rewards[0].as_f64() > Some(0.0) && rewards[1].as_f64() < Some(0.0), "{rewards}");
}

#[test]
fn slime_is_told_a_number_or_an_object() {
    let daemon = Daemon::start(&[("a", RULES)], &[]);
    let sample = |response: &str| json!({ "prompt": "1+1?", "response": response, "label": "2" });
    let expected = |response: &str| {
        let row = json!({ "prompt": "1+1?", "completion": response, "expected_answer": "2" });
        verified(&daemon, &row)
    };
    for response in ["2", "3", "two"] {
        let answer = daemon.post("/slime", &sample(response));
        assert_eq!((answer.status, &answer.json()), (200, &expected(response)["reward"]));
    }
    let both = daemon.post("/slime?components=true", &json!([sample("2"), sample("3")])).json();
    let parts = |line: &Value| {
        let part = |name: &str| line["verdicts"][name]["reward"].clone();
        json!({ "reward": line["reward"], "correct": part("correct"), "form": part("form") })
    };
    assert_eq!(both, json!([parts(&expected("2")), parts(&expected("3"))]));
    // The metadata may have the reference, and messages be the prompt.
    let meta = json!({ "prompt": [{ "role": "user", "content": "1+1?" }], "response": "3", "label": "2",
                       "metadata": { "expected_answer": "3", "completion": "9" } });
    assert_eq!(daemon.post("/slime", &meta).json(), 1.5);
    assert_eq!(daemon.post("/slime", &json!([])).json(), json!([]));
    for (body, field) in [
        (json!({ "response": 3 }), "response"),
        (json!([sample("2"), { "response": "2", "metadata": 3 }]), "[1].metadata"),
    ] {
        assert_refused(&daemon.post("/slime", &body), 400, field);
    }
    let missing = daemon.post("/slime", &json!({ "prompt": "" }));
    assert!(missing.status == 400 && missing.text().contains("response"), "{}", missing.text());
    assert_eq!(daemon.post("/slime?components=odd", &sample("2")).status, 400);
}

#[test]
fn nemo_gym_gets_its_body_back_with_the_reward() {
    let daemon = Daemon::start(&[("a", RULES)], &[]);
    for text in ["2", "3"] {
        let asked = rollout(text);
        let answer = daemon.post("/verify", &asked);
        assert_eq!(answer.status, 200, "{}", answer.text());
        // Numbers come back as they were written.
        assert!(answer.text().contains("[-0.1,-1e-17]") && answer.text().contains("1756093415.25"));
        let mut told = answer.json();
        let row = json!({
            "prompt": [{ "role": "user", "content": "1+1?" }],
            "completion": [{ "role": "assistant", "content": text, "reasoning_content": "3?" }],
            "expected_answer": "2",
        });
        let line = verified(&daemon, &row);
        let members = told.as_object_mut().unwrap();
        assert_eq!(members.remove("reward").unwrap(), line["reward"]);
        let parts = members.remove("reward_components").unwrap();
        assert_eq!(parts["correct"], line["verdicts"]["correct"]["reward"]);
        assert_eq!(parts["form"], line["verdicts"]["form"]["reward"]);
        assert_eq!(members.remove("mask_sample").unwrap(), false);
        assert_eq!(told, asked);
    }
}

#[test]
fn nemo_gym_masks_what_could_not_be_judged() {
    let daemon = Daemon::start(&[("a", RULES), ("broken", FAULTY), ("slow", PROGRAMS)], &[]);
    let mut odd = rollout("2");
    odd["expected_answer"] = json!(1e300);
    let mut endless = rollout(ENDLESS);
    endless["reference"] = tests_of_endless();
    for (answer, kind, is_terminal) in [
        (hurry(&daemon, "/profiles/slow/verify", &endless), "assay:timeout", false),
        (daemon.post("/verify", &odd), "assay:bad_input", true),
    ] {
        assert_eq!(answer.status, 200, "{}", answer.text());
        let told = answer.json();
        assert_eq!((&told["reward"], &told["mask_sample"]), (&json!(0.0), &json!(true)));
        assert_eq!(
            (&told["failure_kind"], &told["_ng_failure_class"]),
            (&json!(kind), &json!(kind))
        );
        assert_eq!(told["_ng_failure_terminal"], is_terminal);
        assert_eq!(told["instance_config"]["mask_sample"], true);
        assert!(!told["failure_reason"].as_str().unwrap().is_empty());
        // Verified once more, where it can be judged, it is a rollout like any other.
        let mut again = told.clone();
        again["expected_answer"] = json!("2");
        again["response"] = rollout("2")["response"].clone();
        again.as_object_mut().unwrap().remove("instance_config");
        let told = daemon.post("/verify", &again).json();
        assert_eq!((&told["reward"], &told["mask_sample"]), (&json!(1.5), &json!(false)));
        assert!(!told.to_string().contains("failure"), "{told}");
    }
    let broken = daemon.post("/profiles/broken/verify", &rollout("2")).json();
    assert_eq!(
        (&broken["mask_sample"], &broken["reward_components"]["broken"]),
        (&json!(true), &Value::Null)
    );
    // The mask of someone else stays.
    let mut lost = rollout("2");
    lost["mask_sample"] = json!(true);
    assert_eq!(daemon.post("/verify", &lost).json()["mask_sample"], true);
}

#[test]
fn nemo_gym_finds_the_other_paths_of_a_resources_server() {
    let daemon = Daemon::start(&[("a", RULES)], &[]);
    assert_eq!(daemon.post("/seed_session", &rollout("2")).json(), json!({}));
    let session = json!({ "resources_session_id": "s", "episode_id": "e", "task_data": {} });
    for path in ["/seed_session", "/profiles/a/close_session"] {
        assert_eq!(daemon.post(path, &session).json(), json!({ "resources_session_id": "s" }));
    }
    assert_eq!(daemon.get("/reverify_mode").json(), "stateless");
    let answers: Vec<Value> =
        ["2", "3"].iter().map(|text| daemon.post("/verify", &rollout(text)).json()).collect();
    let told = daemon.post("/aggregate_metrics", &json!({ "verify_responses": answers })).json();
    assert_eq!(told["key_metrics"]["mean/reward"], 1.0);
    assert_eq!(told["group_level_metrics"][0]["_ng_task_index"], 4);
    let mut odd = rollout("2");
    for (place, value, field) in [
        ("response", json!({ "output": [3] }), "response.output[0]"),
        ("response", json!({ "id": "x" }), "response.output"),
        (
            "responses_create_params",
            json!({ "input": [], "instructions": 3 }),
            "responses_create_params.instructions",
        ),
    ] {
        let mut odd = odd.clone();
        odd[place] = value;
        assert_refused(&daemon.post("/verify", &odd), 422, field);
    }
    odd.as_object_mut().unwrap().remove("response");
    assert_refused(&daemon.post("/verify", &odd), 422, "response");
}
