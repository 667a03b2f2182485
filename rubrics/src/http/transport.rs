//! Connections: TLS, and a pool for each runtime.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::{Client, redirect, retry};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use tokio::runtime::{self, Handle};

use super::address::CheckedResolver;

/// Servers close idle connections, the common ones after 5 seconds: ours are given up before.
const IDLE: Duration = Duration::from_secs(4);

/// How often an HTTP/2 connection in use is pinged, and how long the answer may take. Requests that
/// wait share one connection: where it is dead without a word, they must not wait for it for ever.
const PING: Duration = Duration::from_secs(5);

/// Runtimes whose pools are kept.
const RUNTIMES_MAX: usize = 4;

/// Makes requests. A connection is driven by a task of the runtime in which it was opened, so each
/// runtime has a pool of its own: a runtime that is gone takes only its own connections with it.
#[derive(Debug)]
pub(super) struct Transport {
    tls: ClientConfig,
    clients: Mutex<VecDeque<(runtime::Id, Client)>>,
}

impl Transport {
    /// Trusts the roots of the web, and the certificates of `ca`.
    ///
    /// # Errors
    /// What is wrong with `ca`.
    pub(super) fn new(ca: Option<&[u8]>) -> Result<Self, String> {
        let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        for certificate in ca.into_iter().flat_map(CertificateDer::pem_slice_iter) {
            let certificate = certificate.map_err(|error| format!("not PEM: {error}"))?;
            roots.add(certificate).map_err(|error| format!("not a certificate: {error}"))?;
        }
        if ca.is_some() && roots.len() == webpki_roots::TLS_SERVER_ROOTS.len() {
            return Err("it holds no certificate in PEM".to_owned());
        }
        let mut tls =
            ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
                .with_safe_default_protocol_versions()
                .map_err(|error| error.to_string())?
                .with_root_certificates(roots)
                .with_no_client_auth();
        tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Self { tls, clients: Mutex::default() })
    }

    /// The client of the runtime that polls.
    ///
    /// # Errors
    /// There is no runtime, or the client cannot be made.
    pub(super) fn client(&self) -> Result<Client, String> {
        let runtime = Handle::try_current().map_err(|error| error.to_string())?.id();
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, client)) = clients.iter().find(|(of, _)| *of == runtime) {
            return Ok(client.clone());
        }
        let client = self.make().map_err(|error| error.to_string())?;
        if clients.len() >= RUNTIMES_MAX {
            clients.pop_front();
        }
        clients.push_back((runtime, client.clone()));
        Ok(client)
    }

    fn make(&self) -> reqwest::Result<Client> {
        Client::builder()
            .tls_backend_preconfigured(self.tls.clone())
            .dns_resolver(Arc::new(CheckedResolver))
            .redirect(redirect::Policy::none())
            .retry(retry::never())
            .referer(false)
            .no_proxy()
            .pool_idle_timeout(IDLE)
            .http2_keep_alive_interval(PING)
            .http2_keep_alive_timeout(PING)
            .user_agent(concat!("assay/", env!("CARGO_PKG_VERSION")))
            .build()
    }
}
