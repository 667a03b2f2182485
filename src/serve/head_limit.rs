//! A limit for the heads of requests alone: a connection may idle much longer than a client may take to
//! send a head once it began.

use std::future::Future as _;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

use super::ahead::Watch;

/// Whether a connection waits for a head, or is in one. Its service says when.
#[derive(Clone)]
pub(crate) struct Phase(Arc<AtomicBool>);

impl Phase {
    /// A head is there: its request is under way.
    pub(crate) fn head_is_read(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// The request is answered: what comes is another head.
    fn head_is_next(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// The body of an answer. A head is next once all of it is written: until then what comes may be
    /// more of the body of the request.
    pub(crate) fn until_written<S>(self, body: Body, watch: Watch<S>) -> Answering<S> {
        Answering { body, phase: self, watch }
    }
}

/// The body of an answer that is under way.
pub(crate) struct Answering<S> {
    body: Body,
    phase: Phase,
    watch: Watch<S>,
}

impl<S> Drop for Answering<S> {
    fn drop(&mut self) {
        self.phase.head_is_next();
    }
}

impl<S: AsyncRead + Unpin> HttpBody for Answering<S> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        if frame.is_pending() && self.watch.poll_left(context).is_ready() {
            // Nobody sends or reads how it would go on. Whoever still reads is not told that it is whole.
            let left = io::Error::from(io::ErrorKind::UnexpectedEof);
            return Poll::Ready(Some(Err(axum::Error::new(left))));
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A stream of which a head that takes too long is an error.
pub(crate) struct HeadLimit<S> {
    stream: S,
    time: Duration,
    phase: Phase,
    /// A head began.
    has_begun: bool,
    /// Runs once the rest of a head is waited for.
    end: Option<Pin<Box<Sleep>>>,
}

impl<S> HeadLimit<S> {
    pub(crate) fn new(stream: S, time: Duration) -> (Self, Phase) {
        let phase = Phase(Arc::new(AtomicBool::new(true)));
        (Self { stream, time, phase: phase.clone(), has_begun: false, end: None }, phase)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for HeadLimit<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if !self.phase.0.load(Ordering::Relaxed) {
            self.has_begun = false;
            self.end = None;
            return read;
        }
        self.has_begun |= buffer.filled().len() > before;
        // Most heads come whole, and need no timer.
        if read.is_pending() && self.has_begun {
            let time = self.time;
            let end = self.end.get_or_insert_with(|| Box::pin(tokio::time::sleep(time)));
            if end.as_mut().poll(context).is_ready() {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for HeadLimit<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    #[tokio::test]
    async fn a_head_that_began_must_end_and_idling_need_not() {
        let (mut client, server) = tokio::io::duplex(64);
        let (mut stream, phase) = HeadLimit::new(server, Duration::from_millis(5));
        let mut buffer = [0; 8];
        // Nothing was sent: no limit.
        let idle = tokio::time::timeout(Duration::from_millis(30), stream.read(&mut buffer)).await;
        assert!(idle.is_err());
        client.write_all(b"GET").await.unwrap();
        assert_eq!(stream.read(&mut buffer).await.unwrap(), 3);
        let late = stream.read(&mut buffer).await.unwrap_err();
        assert_eq!(late.kind(), io::ErrorKind::TimedOut);
        // A body has limits of its own.
        phase.head_is_read();
        let body = tokio::time::timeout(Duration::from_millis(30), stream.read(&mut buffer)).await;
        assert!(body.is_err());
        phase.head_is_next();
        let idle = tokio::time::timeout(Duration::from_millis(30), stream.read(&mut buffer)).await;
        assert!(idle.is_err());
    }
}
