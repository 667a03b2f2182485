//! What a guest writes, kept within bounds.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use tokio::io::AsyncWrite;
use wasmtime_wasi::async_trait;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamError, StreamResult};

use super::limits::Stop;

/// The output of a guest. Writing more than the limit ends the guest.
#[derive(Clone, Debug)]
pub(super) struct Output(Arc<Mutex<Vec<u8>>>, usize);

impl Output {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self(Arc::default(), bytes_max)
    }

    /// What was written so far.
    pub(super) fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.bytes())
    }

    fn bytes(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, more: &[u8]) -> Result<(), Stop> {
        let mut bytes = self.bytes();
        let room = self.1.saturating_sub(bytes.len());
        bytes.extend(more.iter().take(room));
        if more.len() > room { Err(Stop::TooMuchOutput) } else { Ok(()) }
    }
}

#[async_trait]
impl Pollable for Output {
    async fn ready(&mut self) {}
}

#[async_trait]
impl OutputStream for Output {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.push(&bytes).map_err(|stop| StreamError::Trap(stop.into()))
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(1 << 20)
    }
}

impl AsyncWrite for Output {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Poll::Ready(self.push(bytes).map(|()| bytes.len()).map_err(io::Error::other))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl IsTerminal for Output {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Output {
    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }

    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(self.clone())
    }
}
