//! The judge behind a server: what it sends, and what it makes of the answers.

use std::sync::Arc;

use assay_rubrics::http::{HttpClient, HttpSettings, Secret};
use assay_rubrics::judge::{
    Judge as _, JudgeApi, JudgeCounters, JudgeReply, JudgeRequest, OpenAiJudge, OpenAiSettings,
    Structured, TokensMember,
};
use assay_verifiers::{Fault, FaultKind, Usage};
use serde_json::{Value, json};

use crate::asking::question;
use crate::server::{self, Action, Server, chat};

const KEY: &str = "sk-planted-secret-0123456789";

fn settings(api: JudgeApi) -> OpenAiSettings {
    OpenAiSettings { api, model: "m".into(), ..OpenAiSettings::default() }
}

fn judge(server: &Server, settings: OpenAiSettings) -> (OpenAiJudge, Arc<JudgeCounters>) {
    let secret = Some(Secret::new(KEY));
    let http = HttpSettings { secret, ..HttpSettings::new(&server.url, "") };
    let counters = Arc::<JudgeCounters>::default();
    (OpenAiJudge::new(settings, &HttpClient::new(), http, Arc::clone(&counters)).unwrap(), counters)
}

fn sent(server: &Server, at: usize) -> Value {
    serde_json::from_str(&server.requests.lock().unwrap()[at].body).unwrap()
}

/// What is made of one answer.
async fn reply(api: JudgeApi, body: Value) -> Result<JudgeReply, Fault> {
    let server = Server::start(move |_, _| Action::Write(server::json(200, &body.to_string())));
    let reply = judge(&server, settings(api)).0.ask(question("polite")).await;
    assert_eq!(server.count(), 1, "what came whole is not asked again");
    reply
}

fn with_logprobs() -> JudgeRequest {
    let mut request = question("polite");
    request.sampling.top_logprobs = 5;
    request
}

#[tokio::test]
async fn a_chat_request_says_all_that_decides_the_reply() {
    let server = Server::start(|_, _| Action::Write(chat("{}")));
    judge(&server, settings(JudgeApi::Chat)).0.ask(with_logprobs()).await.unwrap();
    let schema = question("polite").schema;
    let expected = json!({
        "model": "m", "temperature": 0.0, "seed": 3, "max_tokens": 64,
        "logprobs": true, "top_logprobs": 5,
        "response_format": {"type": "json_schema",
            "json_schema": {"name": "reply", "strict": true, "schema": schema}},
        "messages": [{"role": "user", "content": "is it polite?"}],
    });
    assert_eq!(sent(&server, 0), expected);
    assert!(server.requests.lock().unwrap()[0].head.starts_with("POST /v1/chat/completions "));
}

#[tokio::test]
async fn a_responses_request_says_the_same_in_its_own_words() {
    let body = json!({"status": "completed", "output": []});
    let server = Server::start(move |_, _| Action::Write(server::json(200, &body.to_string())));
    judge(&server, settings(JudgeApi::Responses)).0.ask(with_logprobs()).await.unwrap();
    let schema = question("polite").schema;
    let expected = json!({
        "model": "m", "temperature": 0.0, "max_output_tokens": 64, "store": false,
        "include": ["message.output_text.logprobs"], "top_logprobs": 5,
        "text": {"format": {"type": "json_schema", "name": "reply", "strict": true, "schema": schema}},
        "input": [{"role": "user", "content": "is it polite?"}],
    });
    assert_eq!(sent(&server, 0), expected);
    assert!(server.requests.lock().unwrap()[0].head.starts_with("POST /v1/responses "));
}

#[tokio::test]
async fn members_are_replaced_added_and_left_out() {
    let server = Server::start(|_, _| Action::Write(chat("{}")));
    let Value::Object(extra) = json!({"seed": 9, "chat_template_kwargs": {"thinking": false}})
    else {
        unreachable!()
    };
    let settings = OpenAiSettings {
        structured: Structured::JsonObject,
        tokens_member: TokensMember::MaxCompletionTokens,
        extra,
        omit: vec!["temperature".into()],
        ..settings(JudgeApi::Chat)
    };
    judge(&server, settings).0.ask(question("polite")).await.unwrap();
    let expected = json!({
        "model": "m", "seed": 9, "max_completion_tokens": 64,
        "response_format": {"type": "json_object"}, "chat_template_kwargs": {"thinking": false},
        "messages": [{"role": "user", "content": "is it polite?"}],
    });
    assert_eq!(sent(&server, 0), expected);
    assert_eq!(server.requests.lock().unwrap()[0].body.matches("\"seed\"").count(), 1);
}

#[tokio::test]
async fn the_quirks_of_chat_servers_are_read() {
    let said = |message: Value, finish: &str| json!({"choices": [{"message": message, "finish_reason": finish}]});
    for (body, text, finish) in [
        (said(json!({"content": "yes"}), "stop"), "yes", "stop"),
        (said(json!({"content": null, "reasoning_content": "hm"}), "stop"), "", "stop"),
        (said(json!({"reasoning_content": "hm"}), "length"), "", "length"),
        (
            said(
                json!({"content": [{"type": "text", "text": "a"}, {"type": "x"}, {"text": "b"}]}),
                "stop",
            ),
            "ab",
            "stop",
        ),
        (said(json!({"content": "half", "refusal": null}), "length"), "half", "length"),
        (said(json!({"content": null, "refusal": "I cannot"}), "stop"), "", "refusal"),
        (said(json!({"content": "cut"}), "content_filter"), "", "content_filter"),
        (
            json!({"choices": [{"message": {"content": "x"}, "finish_reason": null}], "error": null}),
            "x",
            "",
        ),
        (said(json!({"content": format!("key {KEY}")}), "stop"), "key ***", "stop"),
    ] {
        let reply = reply(JudgeApi::Chat, body).await.unwrap();
        assert_eq!((reply.text.as_str(), reply.finish_reason.as_str()), (text, finish));
        assert_eq!(reply.usage, Usage { tokens: 0, calls: 1 }, "no usage is no fault");
    }
}

#[tokio::test]
async fn the_quirks_of_responses_servers_are_read() {
    let text = |text: &str| json!({"type": "output_text", "text": text});
    let said = |parts: Value| {
        json!({"status": "completed", "error": null, "output": [
        {"type": "reasoning", "summary": []}, {"type": "message", "content": parts}]})
    };
    let mut cut = said(json!([text("half")]));
    cut["status"] = json!("incomplete");
    cut["incomplete_details"] = json!({"reason": "max_output_tokens"});
    let mut filtered = cut.clone();
    filtered["incomplete_details"] = json!({"reason": "content_filter"});
    for (body, text, finish) in [
        (said(json!([text("a"), text("b")])), "ab", "stop"),
        (said(json!([{"type": "refusal", "refusal": "no"}])), "", "refusal"),
        (cut, "half", "length"),
        (filtered, "", "content_filter"),
    ] {
        let reply = reply(JudgeApi::Responses, body).await.unwrap();
        assert_eq!((reply.text.as_str(), reply.finish_reason.as_str()), (text, finish));
    }
    let failed =
        json!({"status": "failed", "error": {"code": "x", "message": "no gpu"}, "output": []});
    let why = reply(JudgeApi::Responses, failed).await.unwrap_err().why;
    assert_eq!(why, "the server answered with an error: no gpu");
}

#[tokio::test]
async fn log_probabilities_and_usage_are_read() {
    let token = json!({"token": "Yes", "logprob": -0.1, "bytes": [89],
        "top_logprobs": [{"token": "Yes", "logprob": -0.1}, {"token": "No", "logprob": null}]});
    let chat = json!({"choices": [{"message": {"content": "Yes"}, "finish_reason": "stop",
        "logprobs": {"content": [token.clone()]}}], "usage": {"prompt_tokens": 4, "completion_tokens": 1}});
    let responses = json!({"status": "completed", "usage": {"input_tokens": 4, "output_tokens": 1, "total_tokens": 5},
        "output": [{"type": "message", "content": [{"type": "output_text", "text": "Yes", "logprobs": [token]}]}]});
    for (api, body) in [(JudgeApi::Chat, chat), (JudgeApi::Responses, responses)] {
        let reply = reply(api, body).await.unwrap();
        assert_eq!(reply.tokens.len(), 1);
        assert_eq!(reply.tokens[0].text, "Yes");
        assert_eq!(reply.tokens[0].top, [("Yes".to_owned(), -0.1)]);
        assert_eq!(reply.usage, Usage { tokens: 5, calls: 1 });
    }
}

#[tokio::test]
async fn answers_of_another_shape_are_faults() {
    for (body, why) in [
        (json!({"choices": []}), "the answer has no choices"),
        (json!({}), "the answer has no choices"),
        (json!({"choices": [{}]}), "the first choice of the answer has no message"),
        (
            json!({"error": {"message": format!("bad {KEY}"), "code": 500}}),
            "the server answered with an error: bad ***",
        ),
        (json!({"error": "overloaded"}), "the server answered with an error: overloaded"),
        (
            json!({"object": "error", "message": "too long"}),
            "the server answered with an error: too long",
        ),
        (json!({"error": {}}), "the server answered with an error: an error without a message"),
    ] {
        let fault = reply(JudgeApi::Chat, body).await.unwrap_err();
        assert_eq!((fault.kind, fault.why.as_ref()), (FaultKind::Upstream, why));
    }
    for body in [json!([]), json!("yes"), json!({"choices": "yes"}), json!({"choices": [7]})] {
        let fault = reply(JudgeApi::Chat, body).await.unwrap_err();
        assert!(fault.why.starts_with("the answer has another shape: "), "{fault}");
    }
}

#[tokio::test]
async fn a_server_that_refuses_the_schema_is_asked_without_from_then_on() {
    let server = Server::start(|at, request| {
        if request.body.contains("response_format") {
            return Action::Write(server::json(
                400,
                r#"{"error":{"message":"Unknown field 'response_format'"}}"#,
            ));
        }
        // The refused requests have not used up the tries: two more failures are got over.
        Action::Write(if at < 4 { server::json(503, "{}") } else { chat("yes") })
    });
    let (judge, counters) = judge(&server, settings(JudgeApi::Chat));
    assert_eq!(judge.ask(question("polite")).await.unwrap().text, "yes");
    assert_eq!(server.count(), 5);
    assert_eq!(judge.ask(question("short")).await.unwrap().text, "yes");
    assert_eq!(server.count(), 6, "it is remembered");
    let counts = counters.counts();
    assert_eq!((counts.total.tries, counts.total.retries), (4, 2));
    assert_eq!(counts.subjects["polite"].retries, 2);
}

#[tokio::test]
async fn a_server_that_refuses_with_an_internal_error_gets_the_form_that_it_knows() {
    let server = Server::start(|_, request| {
        if request.body.contains("\"json_schema\":{") {
            let why = r#"{"error":{"message":"'response_format', 'type': Input should be 'text' or 'json_object'"}}"#;
            return Action::Write(server::json(500, why));
        }
        let has_schema = request.body.contains(r#""type":"json_object""#)
            && request.body.contains(r#""schema":{"#);
        Action::Write(if has_schema { chat("yes") } else { server::json(400, "{}") })
    });
    let (judge, counters) = judge(&server, settings(JudgeApi::Chat));
    for asked in [4, 5] {
        assert_eq!(judge.ask(question("polite")).await.unwrap().text, "yes");
        assert_eq!(server.count(), asked);
    }
    assert_eq!((counters.counts().total.tries, counters.counts().total.retries), (2, 0));
}

#[tokio::test]
async fn other_refusals_and_other_settings_do_not_fall_back() {
    let refusal = r#"{"error":{"message":"response_format is not supported"}}"#;
    for (status, text, structured) in [
        (400, "the context is too long", Structured::Auto),
        (400, refusal, Structured::JsonSchema),
        (401, refusal, Structured::Auto),
    ] {
        let server = Server::start(move |_, _| Action::Write(server::json(status, text)));
        let settings = OpenAiSettings { structured, ..settings(JudgeApi::Chat) };
        let fault = judge(&server, settings).0.ask(question("polite")).await.unwrap_err();
        assert_eq!((fault.kind, server.count()), (FaultKind::Upstream, 1));
    }
}

#[test]
fn the_identity_holds_neither_url_nor_key() {
    let server = Server::start(|_, _| Action::Hang);
    let identity = judge(&server, settings(JudgeApi::Chat)).0.identity();
    assert_eq!(identity, json!({"kind": "openai", "api": "chat", "model": "m", "extra": {}}));
}

#[tokio::test]
async fn a_checker_gets_the_sample_itself_and_answers_any_json() {
    let answer = r#"{"reward":0.5,"message":"line 3"}"#;
    let server = Server::start(move |_, _| Action::Write(server::json(200, answer)));
    let mut request = question("polite");
    request.messages.truncate(1);
    request.messages[0].content = r#"{"id":"a","completion":"by rfl"}"#.to_owned();
    let reply = judge(&server, settings(JudgeApi::Checker)).0.ask(request).await.unwrap();
    assert_eq!(serde_json::from_str::<Value>(&reply.text).unwrap()["message"], "line 3");
    assert_eq!(sent(&server, 0), json!({"id": "a", "completion": "by rfl"}));
    let head = server.requests.lock().unwrap()[0].head.clone();
    assert!(head.starts_with("POST /v1 "), "{head}");
}
