//! The judge behind a server with the API of `OpenAI`: a chat or a response a question.

mod body;
mod reply;
mod settings;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use assay_verifiers::canonical::Digest;
use assay_verifiers::{BuildError, Fault, FaultKind, Pending};
use bytes::Bytes;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::config::{JudgeApi, Structured};
use super::report::JudgeCounters;
use super::{Judge, JudgeReply, JudgeRequest};
use crate::http::{HttpCall, HttpClient, HttpEndpoint, HttpError, HttpSettings};
use body::RequestBody;
use reply::{ChatAnswer, ResponsesAnswer};
pub use settings::OpenAiSettings;

/// How the form of a reply is asked for, until a server takes it.
const FORMS: [Structured; 3] =
    [Structured::JsonSchema, Structured::JsonObjectSchema, Structured::Text];

/// Asks a server with the API of `OpenAI`: that itself, vLLM, `SGLang`, llama.cpp, TGI.
#[derive(Clone)]
pub struct OpenAiJudge {
    shared: Arc<Shared>,
}

struct Shared {
    settings: OpenAiSettings,
    endpoint: HttpEndpoint,
    /// How many of [`FORMS`] the server has refused.
    refused: AtomicUsize,
    counters: Arc<JudgeCounters>,
}

impl OpenAiJudge {
    /// A judge at the base URL of `http`, whose `path` is set here. Requests are counted in
    /// `counters`.
    ///
    /// # Errors
    /// A URL, a key or a certificate that cannot be used.
    pub fn new(
        settings: OpenAiSettings,
        client: &HttpClient,
        http: HttpSettings,
        counters: Arc<JudgeCounters>,
    ) -> Result<Self, BuildError> {
        let path = match settings.api {
            JudgeApi::Chat => "chat/completions",
            JudgeApi::Responses => "responses",
            JudgeApi::Checker => "",
        };
        let endpoint = client.endpoint(HttpSettings { path, ..http })?;
        let refused = AtomicUsize::new(0);
        Ok(Self { shared: Arc::new(Shared { settings, endpoint, refused, counters }) })
    }
}

impl Judge for OpenAiJudge {
    fn identity(&self) -> Value {
        self.shared.settings.identity()
    }

    fn ask(&self, request: JudgeRequest) -> Pending<Result<JudgeReply, Fault>> {
        let shared = Arc::clone(&self.shared);
        // What takes computing is done here, not where the future is polled.
        let mut known = shared.refused.load(Ordering::Acquire);
        let body = shared.body(&request, shared.structured(known));
        Box::pin(async move {
            let body = body?;
            let digest: Digest = Sha256::digest(&body).into();
            let mut call = shared.endpoint.call(digest).await?;
            let mut answered = shared.post(&mut call, body).await;
            let mut refused = 0;
            while let Err(error) = &answered
                && shared.settings.structured == Structured::Auto
                && known + 1 < FORMS.len()
                && refuses_the_form(error)
            {
                known += 1;
                refused = call.tries();
                shared.refused.fetch_max(known, Ordering::AcqRel);
                answered =
                    shared.post(&mut call, shared.body(&request, shared.structured(known))?).await;
            }
            // A refused request is not a try of this one: it is not sent again.
            shared.counters.tried(&request.subject.criterion, call.tries() - refused);
            Ok(answered?)
        })
    }
}

impl Shared {
    /// How the form of a reply is asked for, where the server has refused so many of [`FORMS`].
    fn structured(&self, refused: usize) -> Structured {
        match self.settings.structured {
            Structured::Auto => FORMS.get(refused).copied().unwrap_or(Structured::Text),
            other => other,
        }
    }

    fn body(&self, request: &JudgeRequest, structured: Structured) -> Result<Bytes, Fault> {
        if let (JudgeApi::Checker, [sample]) = (self.settings.api, request.messages.as_slice()) {
            return Ok(Bytes::from(sample.content.clone()));
        }
        let body = RequestBody { settings: &self.settings, request, structured };
        let bytes = serde_json::to_vec(&body);
        let bytes = bytes.map_err(|error| {
            Fault::new(FaultKind::Internal, format!("the request cannot be written: {error}"))
        })?;
        Ok(Bytes::from(bytes))
    }

    async fn post(&self, call: &mut HttpCall<'_>, body: Bytes) -> Result<JudgeReply, HttpError> {
        let read = match self.settings.api {
            JudgeApi::Chat => call.post::<ChatAnswer>(body).await?.read(),
            JudgeApi::Responses => call.post::<ResponsesAnswer>(body).await?.read(),
            JudgeApi::Checker => {
                let text = call.post::<Value>(body).await?.to_string();
                Ok(JudgeReply { text, ..JudgeReply::default() })
            }
        };
        let reply = read.map_err(|why| HttpError::unusable(self.endpoint.shown(&why)))?;
        Ok(self.without_key(reply))
    }

    /// A server that writes the key into its reply does not get it into a record.
    fn without_key(&self, mut reply: JudgeReply) -> JudgeReply {
        reply.text = self.endpoint.mask(reply.text);
        reply.finish_reason = self.endpoint.mask(reply.finish_reason);
        reply
    }
}

/// Whether a server says that it does not know how to be told the form of a reply. llama-cpp-python says
/// so with status 500.
fn refuses_the_form(error: &HttpError) -> bool {
    const WORDS: [&str; 9] = [
        "response_format",
        "response format",
        "json_schema",
        "json schema",
        "text.format",
        "structured output",
        "structured_output",
        "guided",
        "grammar",
    ];
    let detail = error.detail.to_lowercase();
    matches!(error.status, Some(400 | 404 | 422 | 500))
        && WORDS.iter().any(|word| detail.contains(word))
}
