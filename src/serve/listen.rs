//! Sockets: TCP, TLS or Unix; limits of time and number; and the orderly end.

use std::io;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use arc_swap::ArcSwapOption;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use super::ahead::{Ahead, Watch};
use super::app::App;
use super::head_limit::{Late, Noted, Times};
use super::runtime::ConnectionThreads;
use super::shared::Shared;
use crate::engine::Bind;

/// How long accepting rests after an error such as too many open files.
const ACCEPT_REST: Duration = Duration::from_millis(50);
/// How long a request runs before it is looked whether its client is still there.
const LOOK_AFTER: Duration = Duration::from_millis(100);
/// How long connections that idle are still served once the drain began: a request that was sent when it
/// did is told to go elsewhere, and is not lost with its connection.
const FIRST_MOMENT: Duration = Duration::from_millis(100);
/// How often the drain looks whether requests are open.
const DRAIN_LOOK: Duration = Duration::from_millis(20);
/// How long those that came in the last moment of the drain are waited for.
const LAST_MOMENT: Duration = Duration::from_millis(250);

/// An open socket.
pub(crate) enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener, PathBuf),
}

impl Listener {
    pub(crate) async fn open(bind: &Bind) -> io::Result<Self> {
        match bind {
            Bind::Tcp(address) => Ok(Self::Tcp(TcpListener::bind(address).await?)),
            Bind::Unix(path) => {
                remove_stale(path)?;
                Ok(Self::Unix(UnixListener::bind(path)?, path.clone()))
            }
        }
    }

    /// The address, as a client writes it.
    pub(crate) fn address(&self, is_tls: bool) -> io::Result<String> {
        Ok(match self {
            Self::Tcp(listener) => {
                let scheme = if is_tls { "https" } else { "http" };
                format!("{scheme}://{}", listener.local_addr()?)
            }
            Self::Unix(_, path) => format!("unix:{}", path.display()),
        })
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Self::Unix(_, path) = self {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Removes the socket of a daemon that is gone. Whatever else is there stays.
fn remove_stale(path: &Path) -> io::Result<()> {
    let Ok(found) = std::fs::symlink_metadata(path) else { return Ok(()) };
    if found.file_type().is_socket() && std::os::unix::net::UnixStream::connect(path).is_err() {
        return std::fs::remove_file(path);
    }
    Ok(())
}

/// Serves until `stop`, and then until the requests under way are answered or the drain is over: what is
/// left then is refused. Returns whether nothing was.
pub(crate) async fn serve(
    listener: &Listener,
    threads: &ConnectionThreads,
    tls: &ArcSwapOption<ServerConfig>,
    app: App,
    shared: &Arc<Shared>,
    stop: &CancellationToken,
) -> bool {
    let most = shared.config.connections_max.min(Semaphore::MAX_PERMITS);
    let places = Arc::new(Semaphore::new(most));
    let each = Connection { app, shared: Arc::clone(shared), places };
    let service = Connections { each, threads };
    let graceful = GracefulShutdown::new();
    loop {
        tokio::select! {
            () = stop.cancelled() => break,
            () = service.accept(listener, tls, &graceful) => {}
        }
    }
    shared.is_draining.store(true, Ordering::Relaxed);
    // Connections that idle are closed soon. New ones are still taken, and told to go elsewhere.
    let late = GracefulShutdown::new();
    let drained = async {
        tokio::time::sleep(FIRST_MOMENT).await;
        graceful.shutdown().await;
        while shared.open_requests.load(Ordering::Relaxed) > 0 {
            tokio::time::sleep(DRAIN_LOOK).await;
        }
        // Who came late is told so before the process is gone.
        let told = async {
            tokio::time::sleep(DRAIN_LOOK).await;
            while service.each.places.available_permits() < most {
                tokio::time::sleep(DRAIN_LOOK).await;
            }
        };
        let _ = tokio::time::timeout(LAST_MOMENT, told).await;
    };
    let limit = tokio::time::sleep(Duration::from_millis(shared.config.drain_ms));
    let (mut drained, mut limit) = (std::pin::pin!(drained), std::pin::pin!(limit));
    loop {
        tokio::select! {
            () = &mut drained => return true,
            () = &mut limit => break,
            () = service.accept(listener, tls, &late) => {}
        }
    }
    shared.ended.cancel();
    let _ = tokio::time::timeout(LAST_MOMENT, drained).await;
    false
}

/// Returns once a client is gone. A request of which the answer is there at once costs no look.
async fn left<S: AsyncRead + Unpin>(watch: &Watch<S>) {
    tokio::time::sleep(LOOK_AFTER).await;
    std::future::poll_fn(|context| watch.poll_left(context)).await;
}

/// Takes connections, and serves each in a task of its own.
struct Connections<'a> {
    each: Connection,
    threads: &'a ConnectionThreads,
}

/// What a connection is served with.
#[derive(Clone)]
struct Connection {
    app: App,
    shared: Arc<Shared>,
    places: Arc<Semaphore>,
}

impl Connections<'_> {
    /// Takes one connection.
    async fn accept(
        &self,
        listener: &Listener,
        tls: &ArcSwapOption<ServerConfig>,
        graceful: &GracefulShutdown,
    ) {
        let accepted = match listener {
            Listener::Tcp(listener) => listener.accept().await.and_then(|(stream, _)| {
                let _ = stream.set_nodelay(true);
                let stream = stream.into_std()?;
                let open = move || TcpStream::from_std(stream);
                match tls.load_full() {
                    Some(config) => self.spawn_tls(open, config, graceful.watcher()),
                    None => self.spawn(open, graceful.watcher()),
                }
                Ok(())
            }),
            Listener::Unix(listener, _) => listener.accept().await.and_then(|(stream, _)| {
                let stream = stream.into_std()?;
                self.spawn(move || UnixStream::from_std(stream), graceful.watcher());
                Ok(())
            }),
        };
        if let Err(error) = accepted {
            refused(&error);
            tokio::time::sleep(ACCEPT_REST).await;
        }
    }

    fn spawn_tls(
        &self,
        open: impl FnOnce() -> io::Result<TcpStream> + Send + 'static,
        config: Arc<ServerConfig>,
        watcher: Watcher,
    ) {
        let (this, time) = (self.each.clone(), self.each.times().head);
        self.threads.spawn(async move {
            let Some(stream) = opened(open) else { return };
            let handshake = TlsAcceptor::from(config).accept(stream);
            if let Ok(Ok(stream)) = tokio::time::timeout(time, handshake).await {
                this.run(stream, watcher).await;
            }
        });
    }

    /// `open` gives the stream to the thread that it is called on.
    fn spawn<S>(&self, open: impl FnOnce() -> io::Result<S> + Send + 'static, watcher: Watcher)
    where
        S: AsyncRead + AsyncWrite + Send + 'static,
    {
        let this = self.each.clone();
        self.threads.spawn(async move {
            if let Some(stream) = opened(open) {
                this.run(stream, watcher).await;
            }
        });
    }
}

fn opened<S>(open: impl FnOnce() -> io::Result<S>) -> Option<S> {
    open().inspect_err(refused).ok()
}

fn refused(error: &io::Error) {
    tracing::warn!(%error, "a connection could not be accepted");
}

impl Connection {
    fn times(&self) -> Times {
        let config = &self.shared.config;
        Times {
            idle: Duration::from_millis(config.idle_timeout_ms),
            head: Duration::from_millis(config.header_timeout_ms),
            unread: Duration::from_millis(config.write_timeout_ms),
        }
    }

    /// Serves a connection until either side closes it.
    async fn run<S>(self, stream: S, watcher: Watcher)
    where
        S: AsyncRead + AsyncWrite + Send + 'static,
    {
        // One that finds no place is closed: its client sees that at once, and nothing is read.
        let Ok(_place) = Arc::clone(&self.places).try_acquire_owned() else {
            self.shared.shed("connections");
            return;
        };
        let connections = self.shared.metrics.connections.clone();
        connections.inc();
        let (stream, watch) = Ahead::new(Box::pin(stream));
        let (stream, mut timer) = Noted::new(stream, self.times());
        let phase = stream.phase();
        let service = service_fn(|request| {
            phase.head_is_read();
            let (app, phase, watch) = (&self.app, phase.clone(), watch.clone());
            async move {
                let mut answering = std::pin::pin!(app.answer(request));
                let answer = tokio::select! {
                    biased;
                    answer = &mut answering => answer?,
                    () = left(&watch) => return Err(io::Error::from(io::ErrorKind::ConnectionAborted)),
                };
                Ok(answer.map(|body| phase.until_written(body, watch)))
            }
        });
        let connection = http1::Builder::new()
            .header_read_timeout(None)
            .max_buf_size(64 * 1024)
            .serve_connection(TokioIo::new(stream), service);
        let late = tokio::select! {
            biased;
            // What a connection fails of is its client's to see.
            _ = watcher.watch(connection) => None,
            late = std::future::poll_fn(|context| timer.poll_late(context)) => Some(late),
        };
        if late == Some(Late::Unread) {
            let after_ms = self.shared.config.write_timeout_ms;
            tracing::warn!(after_ms, "an answer was not read: its connection is closed");
            self.shared.cut("unread");
        }
        connections.dec();
    }
}
