//! The document of `/openapi.json`, made of the types that are read and written, and a page of it that needs
//! nothing from elsewhere.

use std::fmt::Write as _;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::deadline;
use super::error::ErrorBody;

/// The media type of rows, or verdict lines, a line.
const LINES: &str = "application/x-ndjson";

/// A path, as the document tells it.
#[derive(Clone)]
pub(crate) struct Operation {
    pub(crate) path: &'static str,
    pub(crate) method: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) request: Option<Schema>,
    /// What the query may say: an object of which each member is a parameter.
    pub(crate) query: Option<Schema>,
    /// Whether it also takes rows a line, and gives verdict lines a line.
    pub(crate) has_lines: bool,
    /// The schema of the answer, and its media type.
    pub(crate) reply: (Schema, &'static str),
    /// Whether the path is also there below `/profiles/{profile}`.
    pub(crate) is_judged: bool,
}

/// Makes the schema of a type.
pub(crate) type Schema = fn(&mut SchemaGenerator) -> Value;

impl Operation {
    /// A path that says something, of one media type.
    pub(crate) fn get(
        path: &'static str,
        summary: &'static str,
        reply: (Schema, &'static str),
    ) -> Self {
        let (method, request, query) = ("get", None, None);
        Self { path, method, summary, request, query, has_lines: false, reply, is_judged: false }
    }

    /// A path that judges: a JSON body for a JSON answer.
    pub(crate) fn judged(
        path: &'static str,
        summary: &'static str,
        request: Schema,
        reply: Schema,
    ) -> Self {
        let request = Some(request);
        Self {
            method: "post",
            request,
            is_judged: true,
            ..Self::get(path, summary, (reply, "application/json"))
        }
    }
}

/// The schema of `T` as a reference.
pub(crate) fn schema<T: JsonSchema>(generator: &mut SchemaGenerator) -> Value {
    generator.subschema_for::<T>().to_value()
}

/// The schema of `T` by itself: the document has no use for a reference to a query.
pub(crate) fn query<T: JsonSchema>(generator: &mut SchemaGenerator) -> Value {
    T::json_schema(generator).to_value()
}

/// The document of these paths.
pub(crate) fn openapi(operations: &[Operation]) -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    let mut generator = settings.into_generator();
    let mut paths: Map<String, Value> = Map::new();
    for operation in operations {
        let (path, told) = (operation.path, told(operation, &mut generator));
        let parameters = parameters(operation, &mut generator);
        let mut put = |path: String, parameters: Vec<Value>| {
            let id = operation_id(operation.method, &path);
            let entry = paths.entry(path).or_insert_with(|| json!({}));
            if let Some(members) = entry.as_object_mut() {
                let told = with(told.clone(), "parameters", parameters.into());
                let told = with(told, "operationId", id.into());
                members.insert(operation.method.to_owned(), told);
            }
        };
        if operation.is_judged {
            let profile = json!({
                "name": "profile", "in": "path", "required": true,
                "description": "the name of a profile", "schema": { "type": "string" },
            });
            put(
                format!("/profiles/{{profile}}{path}"),
                [vec![profile], parameters.clone()].concat(),
            );
        }
        put(path.to_owned(), parameters);
    }
    let error = schema::<ErrorBody>(&mut generator);
    let schemas = generator.take_definitions(true);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "assay",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Rewards of model outputs. Every path but /healthz, /readyz and /health wants a bearer token where the daemon has one.",
        },
        "security": [{}, { "token": [] }],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
            "responses": {
                "Refused": {
                    "description": "The request is refused; 429 and 503 with Retry-After",
                    "content": { "application/json": { "schema": error } },
                },
            },
        },
    })
}

fn told(operation: &Operation, generator: &mut SchemaGenerator) -> Value {
    let (reply, media) = operation.reply;
    let content = |schema: Value, media: &str| {
        let content = json!({ media: { "schema": schema } });
        let lines = json!({ "schema": { "type": "string" } });
        if operation.has_lines { with(content, LINES, lines) } else { content }
    };
    let told = json!({
        "summary": operation.summary,
        "responses": {
            "200": { "description": "The answer", "content": content(reply(generator), media) },
            "default": { "$ref": "#/components/responses/Refused" },
        },
    });
    let Some(request) = operation.request else { return told };
    let content = content(request(generator), "application/json");
    with(told, "requestBody", json!({ "required": true, "content": content }))
}

/// The name of an operation, for clients that are made of the document: `post_v1_verify`.
fn operation_id(method: &str, path: &str) -> String {
    let words =
        path.split(|char: char| !char.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let words: Vec<&str> = words.collect();
    if words.is_empty() {
        format!("{method}_root")
    } else {
        format!("{method}_{}", words.join("_"))
    }
}

/// The headers by which a request that is judged says how long it may take.
fn deadlines() -> [Value; 2] {
    deadline::HEADERS.map(|(name, expected)| {
        json!({
            "name": name.as_str(), "in": "header", "required": false,
            "description": format!("how long the answer may take: {expected}"),
            "schema": { "type": "string" },
        })
    })
}

/// The members of the schema of a query, and the headers that are read, as parameters.
fn parameters(operation: &Operation, generator: &mut SchemaGenerator) -> Vec<Value> {
    let query = operation.query.map(|told| told(generator)).unwrap_or_default();
    let members = query.get("properties").and_then(Value::as_object).into_iter().flatten();
    let parameter = |(name, schema): (&String, &Value)| json!({ "name": name, "in": "query", "required": false, "schema": schema });
    let headers = if operation.request.is_some() { deadlines().to_vec() } else { Vec::new() };
    members.map(parameter).chain(headers).collect()
}

/// An object with one more member.
fn with(mut object: Value, key: &str, value: Value) -> Value {
    if let Some(members) = object.as_object_mut() {
        members.insert(key.to_owned(), value);
    }
    object
}

/// The document as a page.
pub(crate) fn html(document: &Value) -> String {
    let mut page = String::from(
        "<!doctype html><html lang=en><meta charset=utf-8><title>assay</title>\
         <style>body{font:15px/1.5 system-ui;max-width:60em;margin:2em auto;padding:0 1em}\
         code,pre{font:13px/1.4 ui-monospace,monospace}pre{background:#f4f4f4;padding:1em;overflow:auto}\
         b{text-transform:uppercase}</style><h1>assay</h1>\
         <p>The same as <a href=/openapi.json>/openapi.json</a>. Paths below \
         <code>/profiles/{profile}</code> are those of one profile.</p>",
    );
    let at = |value: &Value, pointer: &str| value.pointer(pointer).cloned().unwrap_or_default();
    let paths = at(document, "/paths");
    let own = paths.as_object().into_iter().flatten();
    for (path, methods) in own.filter(|(path, _)| !path.starts_with("/profiles/")) {
        for (method, told) in methods.as_object().into_iter().flatten() {
            let summary = at(told, "/summary");
            let summary = summary.as_str().unwrap_or_default();
            let _ = write!(page, "<h2><b>{method}</b> <code>{path}</code></h2><p>{summary}</p>");
            let parts = [("takes", "/requestBody/content"), ("gives", "/responses/200/content")];
            for (what, pointer) in parts {
                if let Some(content) = told.pointer(pointer) {
                    let _ = write!(
                        page,
                        "<details><summary>{what}</summary><pre>{}</pre></details>",
                        escaped(content)
                    );
                }
            }
        }
    }
    let schemas = escaped(&at(document, "/components/schemas"));
    let _ = write!(page, "<h2>Schemas</h2><pre>{schemas}</pre>");
    page
}

fn escaped(value: &Value) -> String {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.replace('&', "&amp;").replace('<', "&lt;")
}
