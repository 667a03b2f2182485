//! A stream of which the end is seen while nobody reads it. A server that holds bytes of the next request
//! reads no further until it has answered this one, so that a client that left after them goes unnoticed,
//! and its work is done for nobody.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The most bytes that are read ahead. Behind more than that no end is seen.
const AHEAD_BYTES_MAX: usize = 64 << 10;
/// How much is read at a time.
const PIECE_BYTES: usize = 4 << 10;

/// A stream, whose [`Watch`] may have read ahead.
pub(crate) struct Ahead<S>(Arc<Mutex<Inner<S>>>);

/// Sees the end of a stream, in the task that reads it.
pub(crate) struct Watch<S>(Arc<Mutex<Inner<S>>>);

struct Inner<S> {
    stream: S,
    /// What was read ahead, and how much of it was taken.
    read: Vec<u8>,
    taken: usize,
    has_ended: bool,
}

impl<S> Clone for Watch<S> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<S> Ahead<S> {
    pub(crate) fn new(stream: S) -> (Self, Watch<S>) {
        let inner = Inner { stream, read: Vec::new(), taken: 0, has_ended: false };
        let inner = Arc::new(Mutex::new(inner));
        (Self(Arc::clone(&inner)), Watch(inner))
    }

    fn inner(&self) -> MutexGuard<'_, Inner<S>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: AsyncRead + Unpin> Watch<S> {
    /// Ready once the other side is gone.
    pub(crate) fn poll_left(&self, context: &mut Context<'_>) -> Poll<()> {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while !inner.has_ended && inner.read.len() - inner.taken < AHEAD_BYTES_MAX {
            let mut piece = [0; PIECE_BYTES];
            let mut buffer = ReadBuf::new(&mut piece);
            match Pin::new(&mut inner.stream).poll_read(context, &mut buffer) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
                    inner.read.extend_from_slice(buffer.filled());
                    // Whoever waits for these bytes was told that there are none.
                    context.waker().wake_by_ref();
                }
                Poll::Ready(_) => inner.has_ended = true,
            }
        }
        if inner.has_ended { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Ahead<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut inner = self.inner();
        let inner = &mut *inner;
        let (_, rest) = inner.read.split_at(inner.taken);
        if !rest.is_empty() {
            let count = rest.len().min(buffer.remaining());
            buffer.put_slice(rest.split_at(count).0);
            inner.taken += count;
            if inner.taken == inner.read.len() {
                (inner.read, inner.taken) = (Vec::new(), 0);
            }
            return Poll::Ready(Ok(()));
        }
        if inner.has_ended {
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut inner.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Ahead<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner().stream).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner().stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner().stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner().stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner().stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    #[tokio::test]
    async fn the_end_is_seen_behind_bytes_that_nobody_read_and_none_is_lost() {
        let (mut client, server) = tokio::io::duplex(1 << 20);
        let (mut stream, watch) = Ahead::new(server);
        let mut left = tokio_test_poll(&watch);
        assert!(left.is_pending());
        client.write_all(b"GET / HTTP/1.1\r\n").await.unwrap();
        left = tokio_test_poll(&watch);
        assert!(left.is_pending());
        client.write_all(&[b'x'; 5000]).await.unwrap();
        drop(client);
        poll_fn(|context| watch.poll_left(context)).await;
        let mut all = Vec::new();
        stream.read_to_end(&mut all).await.unwrap();
        assert_eq!(all.len(), 16 + 5000);
        assert!(all.starts_with(b"GET / HTTP/1.1\r\nxx"));
    }

    #[tokio::test]
    async fn no_more_is_read_ahead_than_a_limit() {
        let (mut client, server) = tokio::io::duplex(1 << 20);
        let (mut stream, watch) = Ahead::new(server);
        client.write_all(&vec![1; 2 * AHEAD_BYTES_MAX]).await.unwrap();
        drop(client);
        assert!(tokio_test_poll(&watch).is_pending());
        assert!(stream.inner().read.len() < AHEAD_BYTES_MAX + PIECE_BYTES);
        let mut all = Vec::new();
        stream.read_to_end(&mut all).await.unwrap();
        assert_eq!(all.len(), 2 * AHEAD_BYTES_MAX);
    }

    fn tokio_test_poll<S: AsyncRead + Unpin>(watch: &Watch<S>) -> Poll<()> {
        watch.poll_left(&mut Context::from_waker(std::task::Waker::noop()))
    }
}
