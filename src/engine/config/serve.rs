//! `[serve]`: where the daemon listens, whom it lets in, and how much it takes on. It moves no reward.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use smart_default::SmartDefault;

use super::bind::Bind;

/// How the daemon serves: `assay serve` reads it from the first configuration that it is given.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema, SmartDefault)]
#[serde(deny_unknown_fields, default)]
pub struct ServeConfig {
    /// The address: `IP:PORT`, or `unix:PATH` for a socket in the file system. An address that is not
    /// loopback needs a token.
    #[schemars(with = "String")]
    pub bind: Bind,
    /// The environment variable with the bearer tokens that are let in, separated by white space.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_env: Option<String>,
    /// The file with the bearer tokens that are let in, one a line. It is read again on a reload.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_file: Option<String>,
    /// The file with the certificate chain of the server (PEM); with it, connections are TLS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_cert: Option<String>,
    /// The file with the private key of the certificate (PEM).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls_key: Option<String>,
    /// The most samples that are judged at once, over all requests. A request takes as many permits as
    /// it has samples.
    #[default(512)]
    pub in_flight_max: usize,
    /// The most samples that wait for permits. What finds no place is refused with 429. By default as
    /// many as `in_flight_max`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_max: Option<usize>,
    /// The most connections at once.
    #[default(1024)]
    pub connections_max: usize,
    /// The most samples of a request with one JSON body. NDJSON has no such limit.
    #[default(1024)]
    pub samples_max: usize,
    /// The largest body, in bytes; for NDJSON the longest row.
    #[default(8 << 20)]
    pub body_bytes_max: usize,
    /// The longest deadline of a request, and the one of requests that name none, in milliseconds.
    #[default(120_000)]
    pub deadline_ms: u64,
    /// How long a connection may idle between requests, in milliseconds.
    #[default(75_000)]
    pub idle_timeout_ms: u64,
    /// How long a client may take to send the head of a request once it began, in milliseconds.
    #[default(10_000)]
    pub header_timeout_ms: u64,
    /// How long a client may take to send a body, in milliseconds; for NDJSON, from one row to the next.
    #[default(30_000)]
    pub body_timeout_ms: u64,
    /// How long a client may leave an answer unread, in milliseconds.
    #[default(30_000)]
    pub write_timeout_ms: u64,
    /// How long requests that are under way may take once the daemon is to stop, in milliseconds.
    #[default(30_000)]
    pub drain_ms: u64,
    /// Verifiers whose settings a request may bring along, as `reward` tables. None by default:
    /// settings come from the configurations alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow_inline_config: Vec<String>,
    /// Whether requests may bring programs along, which are run in the sandbox: `/run_code` and
    /// `/api/v2/execute`.
    pub run_programs: bool,
}

impl ServeConfig {
    /// What is at least 1, by its key.
    pub(crate) fn limits(&self) -> [(&'static str, u64); 9] {
        let count = |count: usize| count as u64;
        [
            ("serve.in_flight_max", count(self.in_flight_max)),
            ("serve.connections_max", count(self.connections_max)),
            ("serve.samples_max", count(self.samples_max)),
            ("serve.body_bytes_max", count(self.body_bytes_max)),
            ("serve.deadline_ms", self.deadline_ms),
            ("serve.idle_timeout_ms", self.idle_timeout_ms),
            ("serve.header_timeout_ms", self.header_timeout_ms),
            ("serve.body_timeout_ms", self.body_timeout_ms),
            ("serve.write_timeout_ms", self.write_timeout_ms),
        ]
    }

    /// The most samples that wait for permits.
    pub fn queue_max(&self) -> usize {
        self.queue_max.unwrap_or(self.in_flight_max)
    }
}
