//! The daemon from its parts: what is loaded once and again, where it listens, how it ends.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize};

use arc_swap::{ArcSwap, ArcSwapOption};
use axum::middleware::from_fn_with_state;
use crossbeam_utils::CachePadded;
use tokio_util::sync::CancellationToken;

use super::admission::Admission;
use super::app::App;
use super::gate::gate;
use super::inline::Inline;
use super::listen::{self, Listener};
use super::metrics::{Metrics, Reload};
use super::profiles::Profiles;
use super::routes;
use super::runtime::ConnectionThreads;
use super::tokens::AccessTokens;
use super::trace::Tracing;
use crate::engine::Bind;
use crate::engine::Engine;
use crate::engine::ServeConfig;
use crate::serve::prelude::*;

/// What is read when the daemon starts, and again on a reload.
pub struct Loaded {
    /// The engines by the names of their profiles, at least one; the first answers who names none.
    pub engines: Vec<(String, Engine)>,
    /// Who is let in; without any, everybody.
    pub tokens: AccessTokens,
    /// The certificate chain and the private key, as PEM; without, connections are plain.
    pub tls: Option<(Vec<u8>, Vec<u8>)>,
    /// What runs the programs of requests; without, none are run.
    pub sandbox: Option<Arc<crate::sandbox::Sandbox>>,
}

/// Why something could not be loaded, for people.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct LoadError(pub String);

type Load = Box<dyn Fn() -> Result<Loaded, LoadError> + Send + Sync>;

/// The daemon. It is made with everything loaded; [`Server::listen`] then opens the socket.
pub struct Server {
    shared: Arc<Shared>,
    tls: ArcSwapOption<rustls::ServerConfig>,
    load: Load,
}

/// A daemon whose socket is open.
pub struct Listening<'a> {
    server: &'a Server,
    listener: Listener,
    threads: ConnectionThreads,
}

impl Server {
    /// Loads everything.
    ///
    /// # Errors
    /// What could not be loaded, and settings that let in who should not be.
    pub fn new(
        config: ServeConfig,
        load: impl Fn() -> Result<Loaded, LoadError> + Send + Sync + 'static,
    ) -> Result<Self, LoadError> {
        let loaded = load()?;
        check(&config.bind, &loaded)?;
        let metrics = Metrics::new();
        let tls = tls(&loaded)?;
        let shared = Shared {
            profiles: ArcSwap::from_pointee(Profiles::new(loaded.engines, &metrics)),
            tokens: ArcSwap::from_pointee(loaded.tokens),
            sandbox: loaded.sandbox,
            inline: Inline::default(),
            admission: Admission::new(config.in_flight_max, config.queue_max()),
            metrics,
            tracing: Tracing::default(),
            is_draining: AtomicBool::new(false),
            ended: CancellationToken::new(),
            open_requests: CachePadded::new(AtomicUsize::new(0)),
            config,
        };
        Ok(Self { shared: Arc::new(shared), tls: ArcSwapOption::new(tls), load: Box::new(load) })
    }

    /// Loads everything again. Requests that are under way end with what they began with. Where anything
    /// cannot be loaded, all stays as it was.
    ///
    /// # Errors
    /// What could not be loaded.
    pub fn reload(&self) -> Result<(), LoadError> {
        let result = self.take_over();
        let label = if result.is_ok() { "ok" } else { "refused" };
        self.shared.metrics.reloads.get_or_create(&Reload { result: label }).inc();
        result
    }

    fn take_over(&self) -> Result<(), LoadError> {
        let loaded = (self.load)()?;
        check(&self.shared.config.bind, &loaded)?;
        let tls = tls(&loaded)?;
        if tls.is_some() != self.tls.load().is_some() {
            return Err(LoadError("TLS is turned on or off by a restart alone".to_owned()));
        }
        self.tls.store(tls);
        self.shared.tokens.store(Arc::new(loaded.tokens));
        let profiles = Profiles::new(loaded.engines, &self.shared.metrics);
        let before = self.shared.profiles.swap(Arc::new(profiles));
        if serves(&before) != serves(&self.shared.profiles.load()) {
            tracing::warn!("[serve] changed, and is read at the start alone: restart for it");
        }
        Ok(())
    }

    /// Traces requests from now on.
    #[cfg(feature = "otel")]
    pub fn trace(&self, traces: &crate::setup::Traces) {
        self.shared.tracing.start(traces, self.tls.load().is_some());
    }

    /// The routes, for a server of another program.
    pub fn router(&self) -> Router {
        let gate = from_fn_with_state(Arc::clone(&self.shared), gate);
        routes::router(&self.shared).layer(gate)
    }

    /// Opens the socket, and starts the threads for its connections.
    ///
    /// # Errors
    /// What the operating system refuses.
    pub async fn listen(&self) -> io::Result<Listening<'_>> {
        let bind = &self.shared.config.bind;
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{bind}: {error}"));
        let listener = Listener::open(bind).await.map_err(named)?;
        Ok(Listening { server: self, listener, threads: ConnectionThreads::start()? })
    }
}

impl Listening<'_> {
    /// Where it listens: the port is a real one where 0 was asked for.
    ///
    /// # Errors
    /// What the operating system refuses.
    pub fn address(&self) -> io::Result<String> {
        self.listener.address(self.server.tls.load().is_some())
    }

    /// Serves until `stop`, then ends what is under way. Returns whether all of it was answered within
    /// `serve.drain_ms`.
    pub async fn serve(&self, stop: &CancellationToken) -> bool {
        let Server { shared, tls, .. } = self.server;
        let app = App::new(self.server.router(), shared);
        listen::serve(&self.listener, &self.threads, tls, app, shared, stop).await
    }
}

/// How the first configuration has the daemon serve.
fn serves(profiles: &Profiles) -> Option<serde_json::Value> {
    let first = profiles.iter().next()?;
    serde_json::to_value(&first.engine.plan().config.serve).ok()
}

fn check(bind: &Bind, loaded: &Loaded) -> Result<(), LoadError> {
    if loaded.engines.is_empty() {
        return Err(LoadError("no configuration".to_owned()));
    }
    if loaded.tokens.is_empty() && !bind.is_local() {
        let why = "serve.bind is not loopback, so that anybody in the network could ask: give \
                   --token-file or --token-env";
        return Err(LoadError(why.to_owned()));
    }
    Ok(())
}

fn tls(loaded: &Loaded) -> Result<Option<Arc<rustls::ServerConfig>>, LoadError> {
    use rustls::pki_types::pem::PemObject as _;
    use rustls::pki_types::{CertificateDer, PrivateKeyDer};

    let Some((chain, key)) = &loaded.tls else { return Ok(None) };
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(chain)
        .collect::<Result<_, _>>()
        .map_err(|error| LoadError(format!("serve.tls_cert: {error}")))?;
    if chain.is_empty() {
        return Err(LoadError("serve.tls_cert: no certificate in the file".to_owned()));
    }
    let key = PrivateKeyDer::from_pem_slice(key)
        .map_err(|error| LoadError(format!("serve.tls_key: {error}")))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
        .map_err(|error| LoadError(format!("serve.tls_cert, serve.tls_key: {error}")))?;
    Ok(Some(Arc::new(config)))
}
