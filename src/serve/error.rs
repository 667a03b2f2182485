//! What a request is told when it is refused: one body everywhere, and the one table from faults to
//! statuses.

use std::time::Duration;

use assay_verifiers::code::Code;
use assay_verifiers::{BuildError, Fault, FaultKind, Outcome, Scored};
use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::dialect::{self, Detail, Dialect};
use crate::data::check_exact;

/// Why a request is refused.
#[derive(Clone, Debug)]
pub(crate) struct ApiError {
    pub(crate) status: StatusCode,
    pub(crate) kind: ErrorKind,
    pub(crate) message: String,
    /// What is wrong more closely: a word of `docs/codes.md`.
    pub(crate) code: Option<Cause>,
    /// The field of the body at fault, as a path such as `samples[3].completion`.
    pub(crate) field: Option<String>,
    /// What would be taken there.
    pub(crate) expected: Vec<String>,
    /// The body is not what the path takes.
    pub(crate) is_unreadable: bool,
    /// The sample has no reward, and nothing failed that belongs to it.
    pub(crate) is_abstained: bool,
}

/// What is wrong more closely.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cause {
    Code(Code),
    Fault(FaultKind),
}

impl Cause {
    fn word(self) -> &'static str {
        match self {
            Self::Code(code) => code.word(),
            Self::Fault(kind) => kind.code(),
        }
    }

    fn code(self) -> Option<Code> {
        match self {
            Self::Code(code) => Some(code),
            Self::Fault(_) => None,
        }
    }
}

/// The kinds of refusal. The names are part of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ErrorKind {
    /// The request cannot be read, or asks for what there is not.
    BadRequest,
    /// The token is missing or wrong.
    Unauthorized,
    /// No such path, or no such profile.
    NotFound,
    /// The path is there, and takes another method.
    MethodNotAllowed,
    /// The body is too large, or has too many samples.
    TooLarge,
    /// The body is of another type.
    UnsupportedMediaType,
    /// The body did not arrive in time.
    RequestTimeout,
    /// Too much is under way: try again later.
    Overloaded,
    /// The daemon is about to stop: ask another one.
    Draining,
    /// The sample has no reward, for a fault.
    Fault,
    /// A defect of ours.
    Internal,
}

/// The body of every refusal.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ErrorBody {
    error: ErrorDetails,
    /// The sentence of the error once more, as Piston has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// The kind of the error, as text-embeddings-inference has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    error_type: Option<&'static str>,
    /// The error as `FastAPI` has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<Detail>,
}

/// What was refused, and why.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ErrorDetails {
    kind: ErrorKind,
    /// What is wrong more closely, as a word of a closed list; that of a fault is its kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    /// A sentence for people.
    message: String,
    /// The field of the body at fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<String>,
    /// What would be taken there: types, words or members.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    expected: Vec<String>,
    /// The id of the request, as in the header `x-request-id` and in the log.
    request_id: String,
    /// Whether the same request may succeed later.
    retryable: bool,
}

/// How long a client that is refused should wait.
const RETRY_AFTER: Duration = Duration::from_secs(1);
/// The same for a fault `Overloaded`: so long a judge is left alone whose calls failed one after the other.
const RETRY_AFTER_OVERLOAD: Duration = Duration::from_secs(10);

/// The most bytes of a message: values of the request that it repeats may be of any length.
const MESSAGE_BYTES_MAX: usize = 1000;

/// A message that is not too long to be read, or kept in a log.
fn cut(mut message: String) -> String {
    if message.len() > MESSAGE_BYTES_MAX {
        message.truncate(message.floor_char_boundary(MESSAGE_BYTES_MAX));
        message.push('…');
    }
    message
}

impl ApiError {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let (status, message) = (kind.status(), cut(message.into()));
        Self {
            status,
            kind,
            message,
            code: None,
            field: None,
            expected: Vec::new(),
            is_unreadable: false,
            is_abstained: false,
        }
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::BadRequest, message)
    }

    /// The same, of a field of the body.
    pub(crate) fn at(mut self, field: impl Into<String>) -> Self {
        self.field = Some(cut(field.into())).filter(|field: &String| !field.is_empty());
        self
    }

    /// A body that is not what the path takes.
    pub(crate) fn unreadable(code: Code, message: impl Into<String>) -> Self {
        Self { is_unreadable: true, code: Some(Cause::Code(code)), ..Self::bad_request(message) }
    }

    /// A value of the body that is not of the type that was asked for.
    pub(crate) fn of_value(error: &BuildError) -> Self {
        let unreadable = Self::unreadable(error.code, error.in_json()).at(&error.setting);
        Self { expected: error.expected.clone(), ..unreadable }
    }

    /// Settings that something of the body is refused for.
    pub(crate) fn of_setting(error: &BuildError, field: impl Into<String>) -> Self {
        let refused = Self::bad_request(&error.message).at(field);
        Self { code: Some(Cause::Code(error.code)), expected: error.expected.clone(), ..refused }
    }

    pub(crate) fn overloaded(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Overloaded, message)
    }

    /// A sample without a reward, where the protocol has no place for that: a fault with its status, an
    /// abstention as one that the request is to blame for.
    pub(crate) fn unscored(scored: &Scored) -> Self {
        match &scored.outcome {
            Outcome::Failed(fault) => Self::fault(fault),
            Outcome::Abstained(why) => Self::abstained(no_reward(why, scored)),
            Outcome::Scored(_) => Self::new(ErrorKind::Internal, "the sample has a reward"),
        }
    }

    /// An abstention, where the protocol has no place for one.
    pub(crate) fn abstained(message: impl Into<String>) -> Self {
        let status = StatusCode::UNPROCESSABLE_ENTITY;
        Self { status, is_abstained: true, ..Self::new(ErrorKind::Fault, message) }
    }

    /// A fault, where the protocol has no place for one.
    pub(crate) fn fault(fault: &Fault) -> Self {
        let message = format!("{}: {}", fault.kind, fault.why);
        let refused = Self::new(ErrorKind::Fault, message);
        Self { status: status(fault.kind), code: Some(Cause::Fault(fault.kind)), ..refused }
    }

    /// A value of a sample that was rounded when it was read.
    pub(crate) fn exact(value: &Value) -> Result<(), Self> {
        check_exact(value).map_err(|why| Self::fault(&Fault::bad_input(why)))
    }

    /// What was made of each sample, or the error that tells most of why there is not all of it, wherever
    /// it stands: one that another try would not mend, else one that it may, else an abstention. Of a
    /// group that is dropped for one fault, the other samples abstain.
    pub(crate) fn all<T>(made: impl Iterator<Item = Result<T, Self>>) -> Result<Vec<T>, Self> {
        let (mut all, mut errors) = (Vec::new(), Vec::new());
        for one in made {
            match one {
                Ok(one) => all.push(one),
                Err(error) => errors.push(error),
            }
        }
        let told =
            errors.into_iter().min_by_key(|error| (error.is_abstained, error.is_retryable()));
        told.map_or(Ok(all), Err)
    }

    /// Whether another try may succeed.
    pub(crate) fn is_retryable(&self) -> bool {
        matches!(
            self.status,
            StatusCode::TOO_MANY_REQUESTS
                | StatusCode::SERVICE_UNAVAILABLE
                | StatusCode::BAD_GATEWAY
                | StatusCode::GATEWAY_TIMEOUT
        )
    }

    fn retry_after(&self) -> Duration {
        let is_overloaded = self.status == StatusCode::TOO_MANY_REQUESTS;
        if self.kind == ErrorKind::Fault && is_overloaded {
            RETRY_AFTER_OVERLOAD
        } else {
            RETRY_AFTER
        }
    }

    /// The answer, to the request `request_id`.
    pub(crate) fn answer(&self, request_id: &str, dialect: Dialect) -> Response {
        let is_retryable = self.is_retryable();
        let details = ErrorDetails {
            kind: self.kind,
            code: self.code.map(Cause::word),
            message: self.message.clone(),
            field: self.field.clone(),
            expected: self.expected.clone(),
            request_id: request_id.to_owned(),
            retryable: is_retryable,
        };
        let is_unreadable = dialect.has_detail() && self.is_unreadable;
        let status = match self.status {
            _ if is_unreadable => StatusCode::UNPROCESSABLE_ENTITY,
            status if is_retryable => dialect.again(status),
            status => status,
        };
        let detail = dialect.has_detail().then(|| match &self.field {
            field if is_unreadable => {
                let expected = self.expected.first().map(String::as_str);
                let kind = dialect::kind_of(self.code.and_then(Cause::code), expected);
                dialect::unreadable(field.as_deref(), kind, &self.message)
            }
            _ => Detail::Text(self.message.clone()),
        });
        let body = ErrorBody {
            error: details,
            message: (dialect == Dialect::Piston).then(|| self.message.clone()),
            error_type: dialect.error_type(status),
            detail,
        };
        let mut response = match dialect {
            Dialect::PistonAlone => {
                (status, Json(json!({ "message": self.message }))).into_response()
            }
            _ => (status, Json(body)).into_response(),
        };
        let headers = response.headers_mut();
        if is_retryable {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(self.retry_after().as_secs()));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if self.kind == ErrorKind::Draining
            || matches!(self.status, StatusCode::REQUEST_TIMEOUT | StatusCode::PAYLOAD_TOO_LARGE)
        {
            // The rest of the body is not read, or nothing more is answered here.
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}

/// Why a sample that abstained has no reward, with the words of the first verifier that abstained.
pub(crate) fn no_reward(why: &str, scored: &Scored) -> String {
    let first = scored.verdicts.iter().find_map(|(name, verdict)| match &verdict.outcome {
        Outcome::Abstained(why) => Some(format!("; {name}: {why}")),
        _ => None,
    });
    format!("no reward: abstained: {why}{}", first.unwrap_or_default())
}

impl ErrorKind {
    fn status(self) -> StatusCode {
        match self {
            Self::BadRequest => StatusCode::BAD_REQUEST,
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::RequestTimeout => StatusCode::REQUEST_TIMEOUT,
            Self::Overloaded => StatusCode::TOO_MANY_REQUESTS,
            Self::Draining => StatusCode::SERVICE_UNAVAILABLE,
            Self::Fault | Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }
}

/// The status of a fault, where a protocol has no place for the fault itself.
pub(crate) const fn status(fault: FaultKind) -> StatusCode {
    match fault {
        FaultKind::BadInput => StatusCode::BAD_REQUEST,
        FaultKind::OutOfFuel | FaultKind::OutOfMemory | FaultKind::BadReference => {
            StatusCode::UNPROCESSABLE_ENTITY
        }
        FaultKind::Overloaded => StatusCode::TOO_MANY_REQUESTS,
        FaultKind::Timeout => StatusCode::GATEWAY_TIMEOUT,
        FaultKind::Upstream => StatusCode::BAD_GATEWAY,
        FaultKind::BadModel | FaultKind::Trap | FaultKind::Internal => {
            StatusCode::INTERNAL_SERVER_ERROR
        }
    }
}

impl IntoResponse for ApiError {
    /// A response that the gate turns into an answer once it adds the id of the request.
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_list_is_refused_for_does_not_depend_on_its_order() {
        let fault = |kind| ApiError::fault(&Fault::new(kind, "why"));
        let told = |errors: [Option<ApiError>; 3]| {
            let made = errors.into_iter().map(|error| error.map_or(Ok(()), Err));
            ApiError::all(made).map_err(|error| error.status.as_u16())
        };
        let abstained = || Some(ApiError::abstained("why"));
        let (late, wrong) =
            (|| Some(fault(FaultKind::Timeout)), || Some(fault(FaultKind::BadReference)));
        assert_eq!(told([None, None, None]), Ok(vec![(), (), ()]));
        assert_eq!(told([None, abstained(), None]), Err(422));
        for errors in [[abstained(), late(), None], [late(), None, abstained()]] {
            assert_eq!(told(errors), Err(504));
        }
        for errors in [[wrong(), late(), None], [late(), abstained(), wrong()]] {
            assert_eq!(told(errors), Err(422));
        }
    }

    #[test]
    fn a_judge_that_is_left_alone_is_asked_again_later() {
        let fault = |kind| ApiError::fault(&Fault::new(kind, "why"));
        for (error, seconds) in [
            (fault(FaultKind::Overloaded), "10"),
            (fault(FaultKind::Upstream), "1"),
            (ApiError::overloaded("full"), "1"),
        ] {
            let answer = error.answer("id", Dialect::OpenRlhf);
            assert_eq!(answer.status(), 503);
            assert_eq!(answer.headers().get(header::RETRY_AFTER).unwrap(), seconds);
        }
    }
}
