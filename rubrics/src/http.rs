//! The HTTP client of all services that are asked: judges, and what else answers JSON with JSON.
//!
//! A call has one deadline for all its tries, a bounded answer, and words for its failure that do
//! not change from run to run. Endpoints of one origin (scheme, host and port) share their permits
//! and their circuit breaker. No redirects are followed, no proxy is taken from the environment, and
//! no cookies are kept.

mod address;
mod answer;
mod breaker;
mod error;
mod permits;
mod retry;
mod secret;
mod settings;
mod transport;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use assay_verifiers::{BuildError, Digest};
use bytes::Bytes;
use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue,
};
use reqwest::{Method, Request, Url};
use serde::de::DeserializeOwned;
use tokio::time::{Instant, sleep_until, timeout_at};

pub use error::HttpError;
pub use secret::Secret;
pub use settings::HttpSettings;

use breaker::{Admission, Breaker, FAILURES_MAX};
use error::Retry;
use permits::{Permit, Permits};
use transport::Transport;

/// A deadline beyond which a call would wait for ever.
const TIMEOUT_MAX: Duration = Duration::from_hours(24);

/// Makes endpoints, and knows which of them share an origin. A clone is the same client.
#[derive(Clone, Debug, Default)]
pub struct HttpClient {
    origins: Arc<Mutex<BTreeMap<String, Arc<Origin>>>>,
}

/// What the endpoints of one origin share.
#[derive(Debug)]
struct Origin {
    permits: Permits,
    breaker: Breaker,
}

/// A URL that is called.
#[derive(Debug)]
pub struct HttpEndpoint {
    url: Url,
    headers: HeaderMap,
    secret: Option<Secret>,
    timeout_ms: u64,
    retries: u32,
    origin: Arc<Origin>,
    transport: Transport,
}

/// One call: a permit, a deadline, and the tries made so far.
#[derive(Debug)]
pub struct HttpCall<'a> {
    endpoint: &'a HttpEndpoint,
    digest: Digest,
    deadline: Instant,
    tries: u32,
    /// Whether the last answer was an outage; `None` before the first.
    is_outage: Option<bool>,
    admission: Option<Admission<'a>>,
    _permit: Permit<'a>,
}

impl HttpClient {
    /// A client that knows no endpoint.
    pub fn new() -> Self {
        Self::default()
    }

    /// An endpoint. Nothing is connected to before the first call.
    ///
    /// # Errors
    /// A URL, a key or a certificate that cannot be used.
    pub fn endpoint(&self, settings: HttpSettings) -> Result<HttpEndpoint, BuildError> {
        let url = address::read_url(&settings.url).map_err(|why| BuildError::new("url", why))?;
        let ca = settings.ca.as_deref();
        let transport = Transport::new(ca).map_err(|why| BuildError::new("ca_file", why))?;
        Ok(HttpEndpoint {
            origin: self.origin(&url, settings.in_flight_max),
            headers: headers(settings.secret.as_ref())?,
            url: with_path(url, settings.path),
            secret: settings.secret,
            timeout_ms: settings.timeout_ms,
            retries: settings.retries,
            transport,
        })
    }

    fn origin(&self, url: &Url, in_flight_max: usize) -> Arc<Origin> {
        let name = url.origin().ascii_serialization();
        let mut origins = self.origins.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(origin) = origins.get(&name) {
            origin.permits.lower_to(in_flight_max);
            return Arc::clone(origin);
        }
        let permits = Permits::new(in_flight_max);
        let origin = Arc::new(Origin { permits, breaker: Breaker::default() });
        origins.insert(name, Arc::clone(&origin));
        origin
    }
}

impl HttpEndpoint {
    /// Waits for a permit, and starts the clock of the call. `digest` is that of the request: it
    /// spreads the pauses between tries.
    ///
    /// # Errors
    /// `Overloaded` while the breaker is open.
    pub async fn call(&self, digest: Digest) -> Result<HttpCall<'_>, HttpError> {
        let Origin { permits, breaker } = &*self.origin;
        if breaker.refuses() {
            return Err(left_alone());
        }
        let permit = permits.acquire().await.ok_or_else(left_alone)?;
        let admission = Some(breaker.admit().ok_or_else(left_alone)?);
        let timeout = Duration::from_millis(self.timeout_ms).min(TIMEOUT_MAX);
        Ok(HttpCall {
            endpoint: self,
            digest,
            deadline: Instant::now() + timeout,
            tries: 0,
            is_outage: None,
            admission,
            _permit: permit,
        })
    }

    /// `text` without the key of this endpoint.
    pub(crate) fn mask(&self, text: String) -> String {
        match &self.secret {
            Some(secret) => secret.mask(&text).into_owned(),
            None => text,
        }
    }

    /// The start of what the server said, escaped and without the key.
    pub(crate) fn shown(&self, words: &str) -> String {
        answer::shown(words, self.secret.as_ref())
    }

    async fn once<T: DeserializeOwned>(&self, body: Bytes) -> Result<T, HttpError> {
        let mut request = Request::new(Method::POST, self.url.clone());
        *request.headers_mut() = self.headers.clone();
        *request.body_mut() = Some(body.into());
        let client = self.transport.client().map_err(HttpError::unusable)?;
        let sent = client.execute(request).await;
        let response = sent.map_err(|error| answer::transport_error(&error))?;
        let body = answer::read(response, self.secret.as_ref()).await?;
        serde_json::from_slice(&body).map_err(|error| match error.classify() {
            serde_json::error::Category::Data => HttpError::unusable(format!(
                "the answer has another shape: {}",
                self.shown(&error.to_string())
            )),
            _ => HttpError::broken("the body of the answer is not complete JSON"),
        })
    }
}

impl HttpCall<'_> {
    /// Posts JSON and reads JSON, with tries as far as the settings and the deadline go.
    ///
    /// # Errors
    /// Why the last try failed, or that the deadline passed.
    pub async fn post<T: DeserializeOwned>(&mut self, body: Bytes) -> Result<T, HttpError> {
        let answered = match timeout_at(self.deadline, self.tried(body)).await {
            Ok(answered) => answered,
            Err(_) => Err(HttpError::final_outage(format!(
                "no answer within {} ms",
                self.endpoint.timeout_ms
            ))),
        };
        self.is_outage = Some(answered.as_ref().is_err_and(|error| error.is_outage));
        answered
    }

    /// How many requests were sent.
    pub fn tries(&self) -> u32 {
        self.tries
    }

    async fn tried<T: DeserializeOwned>(&mut self, body: Bytes) -> Result<T, HttpError> {
        let tries_max = self.tries.saturating_add(self.endpoint.retries).saturating_add(1);
        loop {
            self.tries = self.tries.saturating_add(1);
            let error = match self.endpoint.once(body.clone()).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let pause = match error.retry {
                Retry::Never => return Err(error),
                Retry::Soon => retry::pause(&self.digest, self.tries),
                Retry::After(pause) => pause,
            };
            let Some(next) = Instant::now().checked_add(pause) else { return Err(error) };
            if self.tries >= tries_max || next >= self.deadline {
                return Err(error);
            }
            sleep_until(next).await;
        }
    }
}

impl Drop for HttpCall<'_> {
    fn drop(&mut self) {
        match (self.admission.take(), self.is_outage) {
            (Some(admission), Some(true)) => admission.failed(),
            (Some(admission), Some(false)) => admission.answered(),
            _ => {}
        }
    }
}

fn left_alone() -> HttpError {
    let message = format!(
        "the endpoint is not asked for a while, because {FAILURES_MAX} calls in a row failed"
    );
    HttpError::overloaded(message)
}

fn with_path(mut url: Url, path: &str) -> Url {
    if !path.is_empty()
        && let Ok(mut segments) = url.path_segments_mut()
    {
        segments.pop_if_empty().extend(path.split('/'));
    }
    url
}

fn headers(secret: Option<&Secret>) -> Result<HeaderMap, BuildError> {
    let json = HeaderValue::from_static("application/json");
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, json.clone());
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    headers.insert(CONTENT_TYPE, json);
    if let Some(secret) = secret {
        let bearer = HeaderValue::from_str(&format!("Bearer {}", secret.expose()));
        let mut bearer = bearer.map_err(|_| {
            BuildError::new("key_env", "the key holds characters that no header may have")
        })?;
        bearer.set_sensitive(true);
        headers.insert(AUTHORIZATION, bearer);
    }
    Ok(headers)
}
