//! What a caller says about an endpoint.

use super::secret::Secret;

/// How an endpoint is called.
#[derive(Clone, Debug)]
pub struct HttpSettings {
    /// The base, with `http` or `https`; it may have a query.
    pub url: String,
    /// What follows the path of the base, such as `chat/completions`.
    pub path: &'static str,
    /// The key, sent as `Authorization: Bearer`.
    pub secret: Option<Secret>,
    /// The most calls in flight. Endpoints of one origin share their permits, and the least of their
    /// numbers counts.
    pub in_flight_max: usize,
    /// The deadline of a call, of all its tries together, from when it has its permit.
    pub timeout_ms: u64,
    /// The most tries after the first.
    pub retries: u32,
    /// Certificates (PEM) that are trusted beside those of the web.
    pub ca: Option<Vec<u8>>,
}

impl HttpSettings {
    /// The usual settings: 64 in flight, 20 seconds, two retries.
    pub fn new(url: impl Into<String>, path: &'static str) -> Self {
        Self {
            url: url.into(),
            path,
            secret: None,
            in_flight_max: 64,
            timeout_ms: 20_000,
            retries: 2,
            ca: None,
        }
    }
}
