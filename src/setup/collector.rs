//! The client of a collector of traces. It works on the thread that sends them, so that whatever the
//! collector does no request waits for it.

use std::error::Error;
use std::io::Write as _;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use reqwest::header::{CONTENT_ENCODING, HeaderValue};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use tokio::runtime::{self, Runtime};

/// How much of an answer is read: it says how many spans were refused, and why.
const ANSWER_BYTES_MAX: usize = 64 << 10;

/// Posts spans.
#[derive(Debug)]
pub(super) struct Collector {
    client: reqwest::Client,
    runtime: Runtime,
    is_gzip: bool,
    /// Whether the last spans were not taken: it is told when this changes, and not for each of them.
    is_lost: AtomicBool,
}

impl Collector {
    /// A client that trusts the roots of the web, and the certificates of `ca`.
    ///
    /// # Errors
    /// What is wrong with `ca`, and what the operating system refuses.
    pub(super) fn new(timeout: Duration, ca: Option<&[u8]>, is_gzip: bool) -> Result<Self, String> {
        let client = reqwest::Client::builder()
            .tls_backend_preconfigured(tls(ca)?)
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .timeout(timeout)
            // Between two batches nobody looks after a connection.
            .pool_max_idle_per_host(0)
            .build()
            .map_err(|error| causes(&error))?;
        let runtime = runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        Ok(Self { client, runtime, is_gzip, is_lost: AtomicBool::new(false) })
    }

    async fn post(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let mut request = if self.is_gzip { gzip(request)? } else { request };
        // One of them may be a token, which no log of what is sent shows.
        request.headers_mut().values_mut().for_each(|value| value.set_sensitive(true));
        // The address may hold a password.
        let plain = |error: reqwest::Error| causes(&error.without_url());
        let request = request.try_into().map_err(plain)?;
        let mut answer = self.client.execute(request).await.map_err(plain)?;
        let mut told = Response::new(Bytes::new());
        *told.status_mut() = answer.status();
        *told.headers_mut() = std::mem::take(answer.headers_mut());
        let mut body = Vec::new();
        while body.len() < ANSWER_BYTES_MAX
            && let Some(bytes) = answer.chunk().await.map_err(plain)?
        {
            body.extend_from_slice(&bytes);
        }
        *told.body_mut() = body.into();
        Ok(told)
    }

    /// Tells what changed.
    fn note(&self, answered: &Result<Response<Bytes>, HttpError>) {
        let why = match answered {
            Ok(answer) if answer.status().is_success() => None,
            Ok(answer) => Some(answer.status().to_string()),
            Err(error) => Some(error.to_string()),
        };
        let was_lost = self.is_lost.swap(why.is_some(), Ordering::Relaxed);
        match why {
            Some(why) if !was_lost => {
                tracing::warn!(why, "the collector takes no traces: they are lost until it does");
            }
            None if was_lost => tracing::info!("the collector takes traces again"),
            _ => {}
        }
    }
}

impl HttpClient for Collector {
    fn send_bytes<'this, 'sent>(
        &'this self,
        request: Request<Bytes>,
    ) -> Pin<Box<dyn Future<Output = Result<Response<Bytes>, HttpError>> + Send + 'sent>>
    where
        'this: 'sent,
        Self: 'sent,
    {
        let answered = self.runtime.block_on(self.post(request));
        self.note(&answered);
        Box::pin(std::future::ready(answered))
    }
}

/// The same request with a body that is compressed.
fn gzip(request: Request<Bytes>) -> std::io::Result<Request<Bytes>> {
    let (mut head, body) = request.into_parts();
    head.headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(&body)?;
    Ok(Request::from_parts(head, packed.finish()?.into()))
}

fn tls(ca: Option<&[u8]>) -> Result<ClientConfig, String> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    for certificate in ca.into_iter().flat_map(CertificateDer::pem_slice_iter) {
        let certificate = certificate.map_err(|error| format!("certificate: {error}"))?;
        roots.add(certificate).map_err(|error| format!("certificate: {error}"))?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut tls = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(tls)
}

/// An error with what caused it.
fn causes(error: &dyn Error) -> String {
    let mut all = vec![error.to_string()];
    let mut next = error.source();
    while let Some(cause) = next {
        all.push(cause.to_string());
        next = cause.source();
    }
    all.join(": ")
}
