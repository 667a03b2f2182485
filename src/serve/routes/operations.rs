//! What `/openapi.json` says of our own paths.

use schemars::SchemaGenerator;
use serde_json::{Value, json};

use super::super::openapi::{Operation, query, schema};
use super::groups::{GroupsReply, GroupsRequest};
use super::health::{Alive, Ready};
use super::query::VerifyQuery;
use super::verifiers::VerifiersReply;
use super::verify::{VERIFY, VerifyRequest};

fn text(_: &mut SchemaGenerator) -> Value {
    json!({ "type": "string" })
}

fn anything(_: &mut SchemaGenerator) -> Value {
    json!({ "type": "object" })
}

fn results(_: &mut SchemaGenerator) -> Value {
    json!({
        "type": "object",
        "required": ["results"],
        "properties": { "results": { "type": "array", "items": verdict_line() } },
    })
}

fn groups(generator: &mut SchemaGenerator) -> Value {
    json!({ "anyOf": [schema::<GroupsReply>(generator), { "type": "object" }] })
}

/// A verdict line, as `docs/run-format.md` has it.
fn verdict_line() -> Value {
    let outcome = json!({ "enum": ["scored", "abstained", "failed"] });
    let reward =
        json!({ "type": ["number", "null"], "description": "null unless the outcome is scored" });
    json!({
        "type": "object",
        "required": ["id", "outcome", "reward", "verdicts"],
        "properties": {
            "id": { "type": "string" },
            "outcome": outcome,
            "reward": reward,
            "fault": { "type": "string" },
            "why": { "type": "string" },
            "verdicts": {
                "type": "object",
                "description": "by the names of the rewards",
                "additionalProperties": { "type": "object" },
            },
        },
    })
}

/// Our own paths.
pub(super) fn operations() -> Vec<Operation> {
    let get = Operation::get;
    vec![
        Operation {
            query: Some(query::<VerifyQuery>),
            has_lines: true,
            ..Operation::judged(
                VERIFY,
                "Judge samples: a verdict line for each, in their order. As application/x-ndjson, rows and verdict lines a line.",
                schema::<VerifyRequest<'static>>,
                results,
            )
        },
        Operation {
            query: Some(query::<VerifyQuery>),
            ..Operation::judged(
                "/v1/groups",
                "Judge the samples of prompts together, with the advantage of each",
                schema::<GroupsRequest<'static>>,
                groups,
            )
        },
        get(
            "/v1/verifiers",
            "The profiles, and what each judges",
            (schema::<VerifiersReply>, "application/json"),
        ),
        get("/healthz", "Whether the process answers", (schema::<Alive>, "application/json")),
        get("/readyz", "Whether work is taken on", (schema::<Ready>, "application/json")),
        Operation {
            is_judged: true,
            ..get(
                "/health",
                "The same, as text-embeddings-inference, vLLM and SGLang call it",
                (schema::<Ready>, "application/json"),
            )
        },
        get(
            "/metrics",
            "What was counted, for Prometheus; in OpenMetrics where `Accept` names it",
            (text, "text/plain"),
        ),
        get("/openapi.json", "This document", (anything, "application/json")),
        get("/docs", "This document as a page", (text, "text/html")),
    ]
}
