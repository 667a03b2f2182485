//! In whose words a refusal is told beside our own: clients of other services look for what those send.

use assay_verifiers::code::Code;
use axum::http::{HeaderMap, StatusCode, header};
use schemars::JsonSchema;
use serde::Serialize;

/// Whose words they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Ours alone.
    Own,
    /// Ours, to `OpenRLHF`.
    OpenRlhf,
    /// Ours, to clients of vLLM.
    Vllm,
    /// Those of `FastAPI`: `detail`, and 422 for a body that cannot be read.
    FastApi,
    /// The same, to clients of `SandboxFusion`.
    SandboxFusion,
    /// Those of Piston: `message`.
    Piston,
    /// The same, for a client that takes nothing else for a refusal.
    PistonAlone,
    /// Those of text-embeddings-inference: `error_type`.
    Tei,
}

/// What `FastAPI` says.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Detail {
    /// Why the request is refused.
    Text(String),
    /// What cannot be read.
    Places(Vec<Place>),
}

/// A place of a body that cannot be read.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Place {
    /// The kind of the mistake, as pydantic names it.
    r#type: &'static str,
    /// The way to the place: `body`, then members and numbers.
    loc: Vec<Step>,
    /// A sentence for people.
    msg: String,
}

/// A member, or the number of an item.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
enum Step {
    Member(String),
    Item(usize),
}

impl Dialect {
    /// The words for a request to this route.
    pub(crate) fn of(route: &str, headers: &HeaderMap) -> Self {
        match route.strip_prefix("/profiles/{profile}").unwrap_or(route) {
            "/get_reward" => Self::OpenRlhf,
            "/classify" | "/score" | "/v1/score" | "/pooling" | "/v1/embeddings" => Self::Vllm,
            "/verify" | "/seed_session" | "/close_session" | "/aggregate_metrics"
            | "/reverify_mode" => Self::FastApi,
            "/run_code" => Self::SandboxFusion,
            "" | "/" | "/info" | "/predict" | "/rerank" | "/similarity" | "/embed" => Self::Tei,
            "/api/v2/execute" if BodyType::of(headers).is("x-www-form-urlencoded") => {
                Self::PistonAlone
            }
            "/api/v2/execute" | "/api/v2/runtimes" => Self::Piston,
            _ => Self::Own,
        }
    }

    /// Whether a refusal has `detail`.
    pub(crate) fn has_detail(self) -> bool {
        matches!(self, Self::FastApi | Self::SandboxFusion)
    }

    /// The status that makes clients ask again where `status` asks for that.
    pub(crate) fn again(self, status: StatusCode) -> StatusCode {
        match self {
            // As the Python adapter has it for every fault.
            Self::OpenRlhf => StatusCode::SERVICE_UNAVAILABLE,
            // The client of verl's reward models takes every status below 500 for its own mistake.
            Self::Vllm if status == StatusCode::TOO_MANY_REQUESTS => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            // verl's client asks again after 504 alone, and takes all else for a program that failed.
            Self::SandboxFusion => StatusCode::GATEWAY_TIMEOUT,
            _ => status,
        }
    }

    /// The word of text-embeddings-inference for a status.
    pub(crate) fn error_type(self, status: StatusCode) -> Option<&'static str> {
        let word = match status {
            StatusCode::TOO_MANY_REQUESTS => "Overloaded",
            StatusCode::SERVICE_UNAVAILABLE => "Unhealthy",
            status if status.is_server_error() => "Backend",
            _ => "Validation",
        };
        (self == Self::Tei).then_some(word)
    }
}

/// What `FastAPI` says of a body that cannot be read at a field such as `samples[3].completion`.
pub(crate) fn unreadable(field: Option<&str>, kind: &'static str, message: &str) -> Detail {
    let mut loc = vec![Step::Member("body".to_owned())];
    for part in field.unwrap_or_default().split(['.', '[']) {
        let item = part.strip_suffix(']').and_then(|number| number.parse().ok());
        match item {
            Some(item) => loc.push(Step::Item(item)),
            None if part.is_empty() => {}
            None => loc.push(Step::Member(part.trim_end_matches(']').to_owned())),
        }
    }
    Detail::Places(vec![Place { r#type: kind, loc, msg: message.to_owned() }])
}

/// What pydantic calls a mistake.
pub(crate) fn kind_of(code: Option<Code>, expected: Option<&str>) -> &'static str {
    match (code, expected) {
        (Some(Code::MissingKey), _) => "missing",
        (Some(Code::UnknownWord | Code::UnknownName), _) => "literal_error",
        (Some(Code::UnknownKey), _) => "extra_forbidden",
        (Some(Code::Syntax), _) => "json_invalid",
        (Some(Code::WrongType), Some("a string")) => "string_type",
        (Some(Code::WrongType), Some("an array")) => "list_type",
        (Some(Code::WrongType), Some("a table")) => "model_attributes_type",
        (Some(Code::WrongType), Some("a number")) => "float_type",
        _ => "value_error",
    }
}

/// The media type of a body, without its parameters, as `content-type` says it.
#[derive(Clone, Copy)]
pub(crate) struct BodyType<'a>(&'a [u8]);

impl<'a> BodyType<'a> {
    pub(crate) fn of(headers: &'a HeaderMap) -> Self {
        let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let mime = value.unwrap_or_default().as_bytes().split(|byte| *byte == b';').next();
        Self(mime.unwrap_or_default().trim_ascii())
    }

    /// Whether it has this ending: `json` is also of `application/x+json`.
    pub(crate) fn is(self, ending: &str) -> bool {
        let at = self.0.len().checked_sub(ending.len());
        let parts = at.and_then(|at| self.0.split_at_checked(at));
        let Some(([.., before], end)) = parts else { return false };
        matches!(before, b'/' | b'+' | b'-') && end.eq_ignore_ascii_case(ending.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_type_is_known_by_its_ending() {
        let is_json = |value: &[u8]| {
            let value = axum::http::HeaderValue::from_bytes(value).unwrap();
            BodyType::of(&HeaderMap::from_iter([(header::CONTENT_TYPE, value)])).is("json")
        };
        let types: [&[u8]; 4] = [
            b"application/json",
            b"text/JSON ; charset=utf-8",
            b"application/problem+json",
            b"x-json",
        ];
        assert!(types.into_iter().all(is_json));
        let others: [&[u8]; 6] = [
            b"",
            b"json",
            b"application/xjson",
            b"text/plain; a/json",
            b"application/\xff+json",
            b"a/json; a=\xff",
        ];
        assert!(!others.into_iter().any(is_json));
        assert!(!BodyType::of(&HeaderMap::new()).is("json"));
    }

    #[test]
    fn places_are_those_of_pydantic() {
        for (field, code, expected, kind, loc) in [
            (Some("code"), Code::MissingKey, None, "missing", json!(["body", "code"])),
            (
                Some("a.b[2][10].c"),
                Code::WrongType,
                Some("a string"),
                "string_type",
                json!(["body", "a", "b", 2, 10, "c"]),
            ),
            (Some("[0]"), Code::WrongType, Some("an array"), "list_type", json!(["body", 0])),
            (None, Code::Syntax, None, "json_invalid", json!(["body"])),
            (Some("x"), Code::BadValue, None, "value_error", json!(["body", "x"])),
        ] {
            let told = unreadable(field, kind_of(Some(code), expected), "m");
            let expected = json!([{ "type": kind, "loc": loc, "msg": "m" }]);
            assert_eq!(serde_json::to_value(told).unwrap(), expected);
        }
    }

    #[test]
    fn the_route_says_whose_words_are_told() {
        let form = |value| {
            let value = axum::http::HeaderValue::from_static(value);
            HeaderMap::from_iter([(axum::http::header::CONTENT_TYPE, value)])
        };
        let json = form("application/json");
        assert_eq!(Dialect::of("/profiles/{profile}/verify", &json), Dialect::FastApi);
        assert_eq!(Dialect::of("/v1/verify", &json), Dialect::Own);
        assert_eq!(Dialect::of("/profiles/{profile}/embed", &json), Dialect::Tei);
        assert!(Dialect::of("/run_code", &json).has_detail());
        for route in ["/", "/profiles/{profile}", "/profiles/{profile}/"] {
            assert_eq!(Dialect::of(route, &json), Dialect::Tei, "{route}");
        }
        assert_eq!(Dialect::of("/api/v2/execute", &json), Dialect::Piston);
        let form = form("application/x-www-form-urlencoded");
        assert_eq!(Dialect::of("/api/v2/execute", &form), Dialect::PistonAlone);
        for (status, word) in
            [(400, "Validation"), (429, "Overloaded"), (503, "Unhealthy"), (502, "Backend")]
        {
            let status = StatusCode::from_u16(status).unwrap();
            assert_eq!(Dialect::Tei.error_type(status), Some(word));
            assert_eq!(Dialect::Own.error_type(status), None);
        }
    }

    #[test]
    fn a_refusal_for_load_has_the_status_that_its_client_tries_again() {
        let (full, gone) = (StatusCode::TOO_MANY_REQUESTS, StatusCode::SERVICE_UNAVAILABLE);
        let late = StatusCode::GATEWAY_TIMEOUT;
        for (route, of_full, of_gone) in [
            ("/v1/verify", full, gone),
            ("/predict", full, gone),
            ("/api/v2/execute", full, gone),
            ("/get_reward", gone, gone),
            ("/classify", gone, gone),
            ("/profiles/{profile}/v1/embeddings", gone, gone),
            ("/run_code", late, late),
        ] {
            let dialect = Dialect::of(route, &HeaderMap::new());
            assert_eq!((dialect.again(full), dialect.again(gone)), (of_full, of_gone), "{route}");
        }
    }

    #[test]
    fn types_are_told_apart() {
        let is = |value: &'static str, ending| {
            let value = axum::http::HeaderValue::from_static(value);
            BodyType::of(&HeaderMap::from_iter([(header::CONTENT_TYPE, value)])).is(ending)
        };
        assert!(is("application/json", "json"));
        assert!(is("Application/JSON; charset=utf-8", "json"));
        assert!(is("application/problem+json", "json"));
        assert!(!is("application/x-ndjson", "json"));
        assert!(is("application/x-ndjson", "ndjson"));
        assert!(!is("text/plain", "json"));
    }
}
